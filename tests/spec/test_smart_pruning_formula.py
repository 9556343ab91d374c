"""The smart-pruning spec at the level of the formula and of `select`; tests carry the spec's names, gold vectors its
numbers."""

import pytest
from secateur import priority, select, select_greedy
from secateur.settings import PROFILES, Settings, with_values
from support.pools import Row, kept, pool_of


@pytest.mark.parametrize(
    ("relevance", "hotspot", "distance", "expected"),
    [
        (0.9, 0.8, 1, 0.90),  # SC-SP-002, fragment A
        (0.7, 0.5, 2, 0.58),  # SC-SP-002, fragment B
        (0.8, 0.6, 2, 0.65),
        (0.5, 0.5, 0, 0.65),  # a distance of 0 counts as 1
        (0.9, None, None, 0.66),
    ],
)
def test_priority_calculation(relevance, hotspot, distance, expected):
    """SC-SP-002."""
    assert round(priority(relevance, hotspot, distance), 6) == expected


def test_priority_calculation_without_hotspot_and_distance():
    assert priority(0.9) == 0.66
    assert priority(0.9, 0.8, 1) == 0.90


def test_priority_calculation_with_other_weights():
    assert round(priority(0.8, 0.4, 1, weights=(0.6, 0.2, 0.2)), 6) == 0.76


def test_priority_calculation_orders_a_before_b():
    """SC-SP-002: A comes before B, and the terms of the selection are those of the formula."""
    pool = pool_of([Row("B", relevance=0.7, hotspot=0.5, distance=2), Row("A", relevance=0.9, hotspot=0.8, distance=1)])
    selection = select(pool, Settings())
    first, second = selection.decisions
    assert kept(selection) == ["A", "B"]
    assert [round(decision.priority, 6) for decision in (first, second)] == [0.90, 0.58]
    assert {name: round(value, 6) for name, value in first.terms.items()} == {
        "relevance": 0.36,
        "hotspot": 0.24,
        "distance": 0.30,
    }
    assert {name: round(value, 6) for name, value in second.terms.items()} == {
        "relevance": 0.28,
        "hotspot": 0.15,
        "distance": 0.15,
    }


def test_the_spec_profile_is_the_spec():
    """REQ-SP-001, REQ-SP-002: 8000 tokens and 0.4 / 0.3 / 0.3 are the defaults, and the profile `spec` says the
    same."""
    settings = Settings()
    weights = settings.smart_pruning.priority_weights
    assert (settings.profile, settings.effective_budget) == ("spec", 8000)
    assert (weights.relevance, weights.hotspot, weights.distance) == (0.4, 0.3, 0.3)
    assert PROFILES["spec"]["smart_pruning"]["priority_weights"] == {"relevance": 0.4, "hotspot": 0.3, "distance": 0.3}
    assert PROFILES["spec"]["graph_rag"]["token_budget"] == 8000


@pytest.mark.parametrize(
    ("tokens", "budget", "expected", "total"),
    [
        ([400, 300, 350, 200], 1000, [0, 1, 3], 900),  # SC-SP-003
        ([100, 200, 150], 250, [0, 2], 250),
        ([1000, 100], 500, [1], 100),
    ],
)
def test_budget_boundary(tokens, budget, expected, total):
    """SC-SP-003: what does not fit is skipped, never split, and the next is tried."""
    assert select_greedy(tokens, budget) == expected
    rows = [Row(f"F{place}", tokens=size, relevance=0.9 - place / 10) for place, size in enumerate(tokens)]
    selection = select(pool_of(rows), with_values(Settings(), {"budget": budget}))
    assert kept(selection) == [f"F{place}" for place in expected]
    assert selection.used == total


def test_zero_budget():
    """SC-SP-005: an empty result and a warning, no error."""
    assert select_greedy([400, 300], 0) == []
    selection = select(pool_of([Row("A"), Row("B")]), with_values(Settings(), {"budget": 0}))
    assert (kept(selection), selection.used) == ([], 0)
    assert [notice.code for notice in selection.warnings] == ["zero_budget"]
    assert {decision.reason.label for decision in selection.decisions} == {"zero_budget"}


def test_single_fragment_exceeds_budget():
    """SC-SP-006."""
    rows = [Row("A", tokens=101), Row("B", tokens=5000)]
    selection = select(pool_of(rows), with_values(Settings(), {"budget": 100}))
    assert (kept(selection), selection.used) == ([], 0)
    assert [notice.code for notice in selection.warnings] == ["budget_too_small"]
    assert "预算过小，无法包含任何完整片段" in selection.warnings[0].message
    assert {decision.reason.label for decision in selection.decisions} == {"larger_than_budget"}


def test_intent_preference_integration():
    """SC-SP-007: preference raises the priority by a term of its own, and the selection follows."""
    rows = [Row("Plain", tokens=3000, relevance=0.60), Row("Preferred", tokens=3000, relevance=0.55, preference=1.0)]
    off = select(pool_of(rows), with_values(Settings(), {"budget": 5000}))
    on = select(
        pool_of(rows), with_values(Settings(), {"budget": 5000, "preference.enabled": True, "preference.weight": 0.2})
    )
    assert (kept(off), kept(on)) == (["Plain"], ["Preferred"])
    by_name = {on.pool.qualname[decision.row]: decision for decision in on.decisions}
    assert {name: round(value, 6) for name, value in by_name["Preferred"].terms.items()} == {
        "relevance": 0.22,
        "hotspot": 0.0,
        "distance": 0.3,
        "preference": 0.2,
    }
    assert round(by_name["Preferred"].priority - off.decision(by_name["Preferred"].row).priority, 6) == 0.2
    assert by_name["Plain"].terms["preference"] == 0.0
