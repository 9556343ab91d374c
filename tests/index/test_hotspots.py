"""Hotspots: decay, damping, ranks, and the score as its printed parts make it."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.history import (
    DAY,
    HALF_LIFE_DAYS,
    UNITS,
    CommitHistory,
    HotspotTable,
    average_rank,
    file_changes,
    rank_hotspots,
)
from secateur.sources.git import HistoryCommit

NOW = 1_750_000_000


@dataclass(frozen=True)
class Change:
    time: int
    paths: tuple[str, ...]


def days_ago(days: float) -> int:
    return NOW - int(days * DAY)


def table(
    commits: list[Change], paths: list[str], complexity: list[int], files: list[int], now: int = NOW
) -> HotspotTable:
    history = CommitHistory.of([HistoryCommit("", commit.time, (), "", commit.paths) for commit in commits])
    changes = file_changes(history.times, history.start, history.files(paths), now, len(paths))
    return rank_hotspots(changes, np.array(complexity), np.array(files))


def test_churn_halves_with_age_and_counts_revisions() -> None:
    found = table([Change(NOW, ("a",)), Change(days_ago(HALF_LIFE_DAYS), ("a", "b"))], ["a", "b", "c"], [], [])
    assert (found.units / UNITS).tolist() == [1.5, 0.5, 0.0]
    assert found.revisions.tolist() == [2, 1, 0]
    assert (found.latest / UNITS).tolist() == [1.0, 0.5, 0.0]


def test_mass_commits_are_damped() -> None:
    many = tuple(f"f{n}" for n in range(300))
    assert (table([Change(NOW, many)], ["f0"], [], []).units / UNITS).tolist() == [pytest.approx(0.1)]
    assert (table([Change(NOW, many[:30])], ["f0"], [], []).units / UNITS).tolist() == [1.0]


def test_commits_from_the_future_count_as_made_now_and_ancient_ones_still_count() -> None:
    assert (table([Change(NOW + 10**9, ("a",))], ["a"], [], []).units / UNITS).tolist() == [1.0]
    ancient = table([Change(-(10**12), ("a",))], ["a"], [5], [0])
    assert ancient.revisions.tolist() == [1]
    assert ancient.churn_rank.tolist() == [1.0]


def test_a_path_repeated_in_one_commit_is_one_revision_and_unknown_paths_are_ignored() -> None:
    found = table([Change(NOW, ("a", "a", "gone"))], ["a"], [], [])
    assert (found.revisions.tolist(), (found.units / UNITS).tolist()) == ([1], [1.0])


def test_the_score_is_the_geometric_mean_of_its_printed_ranks() -> None:
    commits = [Change(NOW, ("hot",)), Change(NOW, ("hot",)), Change(NOW, ("warm",))]
    found = table(commits, ["hot", "warm", "cold"], [9, 2, 9, 4, 0], [0, 0, 2, 1, 0])
    assert found.churn_rank.tolist() == [1.0, 1.0, 0.0, 0.5, 1.0]
    assert found.complexity_rank.tolist() == [0.875, 0.25, 0.875, 0.5, 0.0]
    assert found.score.tolist() == [pytest.approx(0.935414), 0.5, 0.0, 0.5, 0.0]


def test_no_history_and_no_fragments_are_no_hotspots() -> None:
    assert table([], ["a"], [3], [0]).score.tolist() == [0.0]
    assert table([], [], [], []).score.tolist() == []


def test_equal_values_share_the_middle() -> None:
    assert average_rank(np.array([7, 7, 7, 0])).tolist() == [0.666667, 0.666667, 0.666667, 0.0]
    assert average_rank(np.array([3])).tolist() == [1.0]


@given(
    st.lists(st.tuples(st.integers(-(10**10), 10**10), st.lists(st.sampled_from("abcdef"), max_size=6)), max_size=30),
    st.lists(st.tuples(st.integers(-3, 50), st.integers(0, 4)), max_size=20),
    st.randoms(use_true_random=False),
)
def test_scores_are_quantised_bounded_and_independent_of_the_order_of_commits(
    history: list[tuple[int, list[str]]], fragments: list[tuple[int, int]], shuffle: random.Random
) -> None:
    commits = [Change(time, tuple(paths)) for time, paths in history]
    arguments = (list("abcde"), [complexity for complexity, _ in fragments], [file for _, file in fragments])
    found = table(commits, *arguments)
    for column in (found.score, found.churn_rank, found.complexity_rank, found.latest / UNITS):
        assert ((column >= 0) & (column <= 1)).all()
        assert np.array_equal(column, np.round(column, 6))
    assert np.array_equal(found.score, np.round(np.sqrt(found.churn_rank * found.complexity_rank), 6))
    shuffle.shuffle(commits)
    again = table(commits, *arguments)
    assert np.array_equal(found.score, again.score)
    assert np.array_equal(found.units, again.units)
