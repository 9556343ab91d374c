"""Shards that go through rounds together: what each is told of the others."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.model import FloatArray, IntArray
from secateur.retrieval.linked_shards import FarFigures, FarSteps
from secateur.retrieval.rounds import (
    AlikeRows,
    BestCommits,
    BestRows,
    ChosenRows,
    CloseNames,
    DocumentTexts,
    LargestFigures,
    Rounds,
    SummedFigures,
    alone,
    at_once,
    best_rows,
    together,
)

SCORES = [np.array([0.2, 0.9, 0.5]), np.zeros(0), np.array([0.9, 0.5, 0.1])]


def test_the_best_of_all_shards_are_told_apart_by_the_order_of_the_shards() -> None:
    def rows(most: int) -> list[list[int]]:
        return [found.tolist() for found in together([best_rows(score, most) for score in SCORES])]

    assert rows(1) == [[1], [], []]
    assert rows(2) == [[1], [], [0]]
    assert rows(3) == [[1, 2], [], [0]]
    assert rows(9) == [[1, 2, 0], [], [0, 1, 2]]
    assert alone(best_rows(SCORES[0], 2)).tolist() == [1, 2]


def test_a_later_key_decides_only_where_the_first_is_equal() -> None:
    first = BestRows([np.array([0.0, 1.0]), np.array([7, 0])], 2)
    second = BestRows([np.array([0.0, 2.0]), np.array([3, 0])], 2)
    one, other = BestRows.answered([first, second])
    assert (one.count, one.places.tolist()) == (1, [1])
    assert (other.count, other.places.tolist()) == (1, [0])
    assert (one.total, one.top) == (2, 0.0)


def test_sums_and_maxima_are_those_of_all() -> None:
    def shard(own: FloatArray, counts: IntArray) -> Rounds[tuple[list[float], list[int]]]:
        totals: SummedFigures = yield SummedFigures({"counts": counts})
        most: FloatArray = yield LargestFigures(own)
        return most.tolist(), totals.figures["counts"].tolist()

    found = together([shard(np.array([1.0, 5.0]), np.array([1, 2])), shard(np.array([3.0, 4.0]), np.array([10, 20]))])
    assert found == [([3.0, 5.0], [11, 22])] * 2


def test_a_near_name_is_near_wherever_it_stands() -> None:
    said = [CloseNames({"hande": (["handle", "hands"], False)}), CloseNames({"hande": (["handle", "bande"], False)})]
    first, second = CloseNames.answered(said)
    assert first == second == CloseNames.answered([CloseNames({"hande": (["bande", "handle", "hands"], False)})])[0]
    assert {name for name, _ in first["hande"]} >= {"handle"}


def test_a_copy_in_another_shard_is_a_copy() -> None:
    vectors = np.array([[100, 0], [0, 100]], dtype=np.int8)
    tokens = np.array([50.0, 50.0])
    one = AlikeRows(np.array([0.5, 0.4]), np.array([2, 1]), tokens, vectors, 0.9)
    other = AlikeRows(np.array([0.5]), np.array([1]), tokens[:1], vectors[:1], 0.9)
    assert [found.tolist() for found in AlikeRows.answered([one, other])] == [[True, False], [False]]
    assert [found.tolist() for found in AlikeRows.answered([one])] == [[False, False]]


def test_whoever_has_a_model_answers_texts() -> None:
    def shard(text: str) -> Rounds[int]:
        return (yield DocumentTexts([text]))

    def lengths(messages: list[DocumentTexts]) -> list[int]:
        return [len(one.documents[0]) for one in messages]

    assert together([shard("a"), shard("bcd")], {DocumentTexts: lengths}) == [1, 3]
    with pytest.raises(NotImplementedError):
        alone(shard("a"))


def test_all_shards_of_a_repository_are_told_its_best_commits() -> None:
    none = np.zeros(0)
    first = BestCommits("one", np.array([4, 0]), np.array([0.9, 0.5]), 3)
    others = [
        BestCommits("one", none.astype(int), none, 3),
        BestCommits("two", np.array([1, 2]), np.array([0.9, 0.5]), 3),
    ]
    found = [(one.commits.tolist(), one.score.tolist()) for one in BestCommits.answered([first, *others])]
    assert found == [([4, 0], [0.9, 0.5]), ([4, 0], [0.9, 0.5]), ([1], [0.9])]


def test_a_result_that_asks_nobody_is_there_at_once() -> None:
    def chosen() -> Rounds[int]:
        found: ChosenRows = yield BestRows([np.array([0.0])], 5)
        return found.total + (yield from at_once(10))

    assert together([chosen(), chosen()]) == [12, 12]


def test_what_a_shard_says_and_is_told_can_travel_to_another_process() -> None:
    """Through pickle, byte for byte: plain values and arrays alone."""
    vectors = np.array([[100, 0]], dtype=np.int8)
    said = [
        SummedFigures({"counts": np.array([1, 2])}),
        LargestFigures(np.array([0.5])),
        BestRows([SCORES[0]], 2),
        BestCommits("one", np.array([0]), SCORES[0][:1], 2),
        CloseNames({"hande": (["handle"], False)}),
        AlikeRows(SCORES[0][:1], np.array([1]), np.array([5.0]), vectors, 0.9),
        DocumentTexts(["a"]),
        *BestRows.answered([BestRows([SCORES[0]], 2)]),
    ]
    for one in said:
        there = pickle.loads(pickle.dumps(one))
        assert type(there) is type(one)
        assert pickle.dumps(there) == pickle.dumps(one)


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=6), min_size=1, max_size=7), st.data()
)
def test_shards_that_say_one_message_get_the_replies_that_each_would_get(
    rows: list[list[tuple[int, int]]], data: st.DataObject
) -> None:
    """Whoever says one for whom."""
    most = data.draw(st.integers(1, 9))
    columns = [np.array(sorted(some), dtype=np.int64).reshape(-1, 2).T for some in rows]
    begins = np.cumsum([0, *(len(some) for some in rows)]).tolist()
    every: list[list[Any]] = [
        [BestRows([*column], most) for column in columns],
        [SummedFigures({"rows": np.array([len(some), sum(map(sum, some))])}) for some in rows],
        [LargestFigures(np.array([max(map(max, some), default=0), len(some)], dtype=np.float64)) for some in rows],
        [
            FarFigures(np.arange(begin, begin + len(some)), column.astype(np.float64))
            for begin, some, column in zip(begins, rows, columns, strict=False)
        ],
        [
            FarSteps(begin, begin + len(some), column[0] + begin, column[1] * 3 % max(1, begins[-1]), *[column[0]] * 3)
            if data.draw(st.booleans())
            else FarSteps(0, 0, *[column[0][:0]] * 5)
            for begin, some, column in zip(begins, rows, columns, strict=False)
        ],
    ]
    cuts = [0, *sorted(data.draw(st.sets(st.integers(1, len(rows)), max_size=3)) | {len(rows)})]
    for messages in every:
        lots = [messages[one:other] for one, other in pairwise(cuts)]
        kind = type(messages[0])
        replies = kind.answered([kind.united(lot) for lot in lots])
        each = [one for lot, reply in zip(lots, replies, strict=True) for one in kind.shared(lot, reply)]
        expected = kind.answered(messages)
        for found, known in zip(each, expected, strict=True):
            assert as_values(found) == as_values(known)


def as_values(reply: Any) -> Any:
    """A reply as plain values."""
    if isinstance(reply, np.ndarray):
        return reply.tolist()
    found = msgspec.structs.asdict(reply)
    values = found.get("figures") if isinstance(reply, SummedFigures) else found
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}
