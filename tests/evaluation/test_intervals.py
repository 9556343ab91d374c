"""Intervals: what they hold, what they are drawn by, and that they are always the same."""

from __future__ import annotations

import random
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur_lab.evaluation.measuring import RESAMPLES, Interval, differences, mean_of

values = st.lists(st.floats(0, 1, width=32), min_size=2, max_size=60)


@given(values)
def test_the_mean_lies_in_its_interval_and_the_interval_among_the_values(some: list[float]) -> None:
    found = mean_of(some)
    assert found.low is not None and found.high is not None
    assert min(some) - 1e-9 <= found.low <= found.high <= max(some) + 1e-9
    assert found.mean == pytest.approx(statistics.fmean(some))


def test_the_same_values_always_have_the_same_interval() -> None:
    # Written down once: another version of numpy, or another machine, must not move a published figure.
    found = mean_of([0.0, 0.25, 0.5, 1.0, 1.0, 0.75, 0.0, 0.5])
    assert found == Interval(0.5, 0.25, 0.75, 8)


def test_another_bootstrap_agrees() -> None:
    some = [0.0, 1.0, 1.0, 0.5, 0.25, 1.0, 0.0, 0.0, 1.0, 0.75, 0.5, 1.0]
    chance = random.Random(1)
    means = sorted(statistics.fmean(chance.choices(some, k=len(some))) for _ in range(20_000))
    found = mean_of(some)
    assert found.low == pytest.approx(means[500], abs=0.02)
    assert found.high == pytest.approx(means[19_500], abs=0.02)


def test_ninety_five_of_a_hundred_intervals_hold_the_truth() -> None:
    chance = np.random.RandomState(3)
    held = 0
    for _ in range(200):
        found = mean_of((chance.rand(60) < 0.4).astype(float).tolist())
        assert found.low is not None and found.high is not None
        held += found.low <= 0.4 <= found.high
    assert 180 <= held <= 198


def test_cases_of_one_repository_are_drawn_together() -> None:
    # Each repository is all good or all bad: by case the interval is narrow, by repository it is honest.
    some, groups = [1.0] * 40 + [0.0] * 40, ["good"] * 40 + ["bad"] * 40
    by_case, by_repository = mean_of(some), mean_of(some, groups)
    assert by_case.mean == by_repository.mean == 0.5
    assert by_case.low is not None and by_case.low > 0.35
    assert (by_repository.low, by_repository.high, by_repository.drawn) == (0.0, 1.0, 2)


def test_repositories_count_by_their_cases() -> None:
    assert mean_of([1.0, 0.0, 0.0, 0.0], ["one", "other", "other", "other"]).mean == 0.25


def test_one_case_has_no_interval() -> None:
    assert mean_of([0.5]) == Interval(0.5, None, None, 1)
    assert mean_of([0.5, 1.0], ["one", "one"]) == Interval(0.75, None, None, 1)
    assert not mean_of([0.5]).beyond_noise


@given(values)
def test_a_gain_that_all_cases_have_is_beyond_noise_and_none_is_not(some: list[float]) -> None:
    assert mean_of(differences(some, [one + 0.1 for one in some])).beyond_noise
    assert not mean_of(differences(some, some)).beyond_noise


def test_many_cases_are_drawn_in_slices_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [float(number % 3) for number in range(50)]
    whole = mean_of(some)
    monkeypatch.setattr("secateur_lab.evaluation.measuring._DRAWN_AT_ONCE", 50 * RESAMPLES // 7)
    assert mean_of(some) == whole
