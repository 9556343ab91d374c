"""Runs: what texts are made of, counted in one pass."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts import lexical
from secateur.index.facts.lexical import RUN, RunCounts, RunTable, TermBag, hash_of, runs_of, term_counts

TEXTS = st.lists(
    st.one_of(
        st.text("ab_1 .\n(Z×é订，", max_size=40),
        st.text(max_size=40),
        st.sampled_from(["parseHTTPHeader(x, y)", "", "\x1c\x1f\x00a\x7fb", "订单处理逻辑 order", "a" * 300]),
    ),
    max_size=6,
)


@given(TEXTS)
def test_runs_are_the_longest_rows_of_letters(texts: list[str]) -> None:
    assert [runs_of(text) for text in texts] == [RUN.findall(text) for text in texts]


@given(TEXTS)
def test_a_bag_holds_the_terms_of_each_text(texts: list[str]) -> None:
    bag = TermBag.of(texts)
    for text, first, end in zip(texts, bag.start[:-1], bag.start[1:], strict=True):
        expected = {hash_of(term): min(times, 255) for term, times in term_counts(text).items()}
        assert dict(zip(bag.hashes[first:end].tolist(), bag.counts[first:end].tolist(), strict=True)) == expected
        assert bag.hashes[first:end].tolist() == sorted(expected)


@given(TEXTS, st.integers(0, 6), st.integers(0, 6))
def test_a_part_of_the_counts_is_the_counts_of_a_part(texts: list[str], first: int, end: int) -> None:
    first, end = min(first, len(texts)), min(max(first, end), len(texts))
    part, alone = RunCounts.of(texts).part(first, end), RunCounts.of(texts[first:end])
    assert (part.start.tolist(), part.runs, part.times.tolist()) == (
        alone.start.tolist(),
        alone.runs,
        alone.times.tolist(),
    )


@given(st.lists(TEXTS, max_size=5))
def test_what_a_table_met_before_changes_nothing(files: list[list[str]]) -> None:
    def split(run: str) -> Counter[int]:
        return Counter(ord(letter) for letter in run)

    table = RunTable(split)
    for texts in files:
        counts = RunCounts.of(texts)
        again, new = table.count(counts), RunTable(split).count(counts)
        assert [column.tolist() for column in again] == [column.tolist() for column in new]


def test_a_full_table_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "MOST_RUNS", 3)
    table = RunTable(lambda run: {len(run): 1})
    for number in range(20):
        owner, key, times = table.count(RunCounts.of([f"a bb {'x' * (number + 3)}", "ccc"]))
        assert (owner.tolist(), key.tolist(), times.tolist()) == ([0, 0, 0, 1], [1, 2, number + 3, 3], [1] * 4)
        assert len(table._numbers.runs) <= 3 + 4


def test_counts_stay_true_when_numbers_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lexical, "MOST_RUNS", 1)
    table = RunTable(lambda run: {len(run): 1})
    old = RunCounts.of(["a bb", "bb"])
    new = RunCounts.of(["cccc"])
    assert new.numbers is not old.numbers
    for counts, expected in ((old, [1, 2, 2]), (new, [4]), (old, [1, 2, 2])):
        assert table.count(counts)[1].tolist() == expected
