"""Figures of a decision: against examples worked out by hand, an implementation written another way, and properties."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur_lab.evaluation.measuring import AT, figures, ndcg

JUDGED = {"a": 3, "b": 1, "c": 2, "x": 0}
IDS = [*"abcdefghijklmnopqrstuvwx"]
judgements = st.dictionaries(st.sampled_from(IDS), st.integers(0, 3), min_size=1).filter(lambda j: any(j.values()))
rankings = st.lists(st.sampled_from(IDS), unique=True)


def test_figures_worked_out_by_hand() -> None:
    found = figures(["b", "x", "a", "z"], JUDGED)
    assert found.recall == pytest.approx(4 / 6)  # grades 1 and 3 of 6
    assert found.precision == 2 / 4  # x is judged 0, z is not judged
    dcg = 1 / math.log2(2) + 3 / math.log2(4)
    best = 3 / math.log2(2) + 2 / math.log2(3) + 1 / math.log2(4)
    assert found.ndcg == pytest.approx(dcg / best)
    assert (found.judged, found.found, found.leaving) == (3, 2, 4)


def test_the_published_example_of_dcg() -> None:
    # Six documents with grades 3, 2, 3, 0, 1, 2: DCG 6.861; with a further 3 and 2 judged, the best six give 8.740.
    assert ndcg([3, 2, 3, 0, 1, 2], [3, 3, 3, 2, 2, 2], at=6) == pytest.approx(6.8611 / 8.7403, abs=1e-4)


def test_nothing_that_leaves_is_nought_and_nothing_judged_is_an_error() -> None:
    assert figures([], {"a": 1}).rounded().to_dict() == {
        "recall": 0.0,
        "precision": 0.0,
        "ndcg": 0.0,
        "judged": 1,
        "found": 0,
        "leaving": 0,
    }
    with pytest.raises(ValueError, match="no grade is above 0"):
        figures(["a"], {"a": 0})


def test_what_stands_behind_the_tenth_place_counts_for_recall_alone() -> None:
    late = figures([*(f"other{number}" for number in range(AT)), "a"], {"a": 3})
    assert (late.recall, late.ndcg) == (1.0, 0.0)


@given(rankings, judgements)
def test_an_implementation_written_another_way_agrees(ranked: list[str], judged: dict[str, int]) -> None:
    found = figures(ranked, judged)
    hits = [one for one in judged if judged[one] and one in ranked]
    assert found.recall == float(Fraction(sum(judged[one] for one in hits), sum(judged.values())))
    assert found.precision == (len(hits) / len(ranked) if ranked else 0)
    gain = best = 0.0
    for place in range(10):
        if place < len(ranked):
            gain += judged.get(ranked[place], 0) * math.log(2) / math.log(place + 2)
        if place < len(judged):
            best += sorted(judged.values())[-1 - place] * math.log(2) / math.log(place + 2)
    assert found.ndcg == pytest.approx(gain / best)


@given(rankings, judgements)
def test_figures_are_shares_and_the_best_order_has_the_best_ndcg(ranked: list[str], judged: dict[str, int]) -> None:
    found = figures(ranked, judged)
    assert all(0 <= value <= 1 + 1e-12 for value in (found.recall, found.precision, found.ndcg))
    best = sorted(judged, key=lambda one: -judged[one])
    assert figures(best, judged).ndcg == pytest.approx(1)
    assert figures(best, judged).recall == 1
    assert found.ndcg <= figures(best, judged).ndcg + 1e-12


@given(rankings, judgements, st.sampled_from(IDS))
def test_one_more_item_at_the_end_never_costs_recall_or_ndcg(
    ranked: list[str], judged: dict[str, int], more: str
) -> None:
    if more not in ranked:
        before, after = figures(ranked, judged), figures([*ranked, more], judged)
        assert after.recall >= before.recall
        assert after.ndcg >= before.ndcg


@given(rankings, judgements, st.data())
def test_a_better_item_further_up_never_costs_ndcg(
    ranked: list[str], judged: dict[str, int], data: st.DataObject
) -> None:
    if len(ranked) > 1:
        place = data.draw(st.integers(0, len(ranked) - 2))
        upper, lower = ranked[place : place + 2]
        if judged.get(lower, 0) >= judged.get(upper, 0):
            swapped = [*ranked[:place], lower, upper, *ranked[place + 2 :]]
            assert figures(swapped, judged).ndcg >= figures(ranked, judged).ndcg - 1e-12
