import re

import numpy as np
import pytest
from msgspec.structs import replace
from secateur.errors import UsageError
from secateur.model import Reason, State
from secateur.selection import select
from secateur.selection.select import fit_to_budget
from secateur.settings import Settings, with_values
from support.pools import FOUND, REACHED, Row, fates, kept, names, pool_of


def budget(tokens: int, **more: object) -> Settings:
    """Settings with a budget; `a__b` stands for the key `a.b`."""
    return with_values(
        Settings(), {"budget": tokens} | {name.replace("__", "."): value for name, value in more.items()}
    )


def test_without_a_budget_of_the_run_the_configured_one_holds():
    assert select(pool_of([Row("A")]), Settings()).budget == 8000


def test_the_order_is_by_falling_priority_and_ties_by_relevance_then_size_then_path_then_line():
    rows = [
        Row("Far", relevance=0.9, distance=0),  # 0.36
        Row("Big", relevance=0.5, tokens=200),  # 0.50, as the four below
        Row("Small", relevance=0.5, tokens=100, path="b.py"),
        Row("Early", relevance=0.5, tokens=100, path="a.py", line=3),
        Row("Late", relevance=0.5, tokens=100, path="a.py", line=40),
        Row("Relevant", relevance=0.725, distance=2, hotspot=0.2),  # 0.29 + 0.06 + 0.15 = 0.50
    ]
    selection = select(pool_of(rows), budget(10_000))
    assert names(selection, selection.order) == ["Relevant", "Early", "Late", "Small", "Big", "Far"]
    assert [int(rank) for rank in selection.rank[selection.order]] == [1, 2, 3, 4, 5, 6]


def test_strategies_order_as_documented():
    rows = [
        Row("Relevant", relevance=0.9, hotspot=0.0, distance=0, tokens=1000),
        Row("Hot", relevance=0.5, hotspot=1.0, distance=1, tokens=4000),
        Row("Small", relevance=0.4, hotspot=0.2, distance=1, tokens=20),
    ]
    orders = {}
    for strategy in ("priority", "relevance", "density"):
        selection = select(pool_of(rows), budget(10_000, smart_pruning__strategy=strategy))
        assert selection.strategy == strategy
        orders[strategy] = names(selection, selection.order)
    # priorities: Hot 0.80, Small 0.52, Relevant 0.36
    assert orders == {
        "priority": ["Hot", "Small", "Relevant"],
        "relevance": ["Relevant", "Hot", "Small"],
        "density": [
            "Small",
            "Relevant",
            "Hot",
        ],  # priority × evidence / relevance / cost**0.2: 0.130 / 1.82, 0.240 / 3.98, 0.229 / 5.25
    }


def test_density_divides_by_the_size_to_a_power():
    rows = [Row("Small", relevance=0.4, tokens=20), Row("Large", relevance=0.9, tokens=4000)]
    orders = [
        names(selection, selection.order)
        for power in (0.0, 1.0)
        for selection in [
            select(
                pool_of(rows), budget(10_000, smart_pruning__strategy="density", smart_pruning__density_exponent=power)
            )
        ]
    ]
    assert orders == [["Large", "Small"], ["Small", "Large"]]


def test_density_leaves_size_out_of_a_short_query_and_of_no_other():
    pool = pool_of([Row("Small", relevance=0.4, tokens=20), Row("Large", relevance=0.9, tokens=4000)])
    settings = budget(10_000, smart_pruning__strategy="density", smart_pruning__density_exponent=1.0)
    orders = {
        kind: names(selection, selection.order)
        for kind in ("symbol", "question", "issue", "trace")
        for selection in [select(replace(pool, facts={"query_kind": {"kind": kind}}), settings)]
    }
    by_priority, by_size = ["Large", "Small"], ["Small", "Large"]
    assert orders == {"symbol": by_priority, "question": by_priority, "issue": by_size, "trace": by_size}


def test_every_strategy_prints_the_same_priorities():
    pool = pool_of([Row("A", relevance=0.7), Row("B", relevance=0.3, hotspot=0.9)])
    columns = [
        select(pool, budget(1000, smart_pruning__strategy=s)).priority.tolist()
        for s in ("priority", "relevance", "density")
    ]
    assert columns[0] == columns[1] == columns[2]


def test_a_dropped_candidate_says_what_it_needed_and_what_was_left():
    pool = pool_of(
        [
            Row("A", tokens=70, relevance=0.9),
            Row("B", tokens=50, relevance=0.8),
            Row("C", tokens=20, relevance=0.7),
            Row("D", tokens=400, relevance=0.6),
        ]
    )
    selection = select(pool, budget(100))
    by_name = {pool.qualname[d.row]: d for d in selection.decisions}
    assert kept(selection) == ["A", "C"]
    assert (by_name["B"].reason, by_name["B"].needed, by_name["B"].left) == (Reason.NO_ROOM, 50, 30)
    assert (by_name["D"].reason, by_name["D"].needed, by_name["D"].left) == (Reason.LARGER_THAN_BUDGET, 400, 10)
    assert by_name["B"].shape().to_dict() == {"state": "dropped", "reason": "no_room", "needed": 50, "left": 30}
    assert by_name["A"].shape().to_dict() == {"state": "kept", "reason": "fits", "needed": 70, "left": 100}
    assert [by_name[name].tokens_after for name in "ABCD"] == [70, 0, 20, 0]


def test_the_head_of_the_pack_and_wrappers_are_charged():
    pool = pool_of(
        [Row("A", tokens=60, cost=70, relevance=0.9), Row("B", tokens=15, cost=20, relevance=0.8)], overhead=10
    )
    assert (kept(select(pool, budget(100))), select(pool, budget(100)).used) == (["A", "B"], 100)
    assert (kept(select(pool, budget(99))), select(pool, budget(99)).used) == (["A"], 80)


def test_an_empty_selection_uses_nothing_not_even_the_head():
    assert select(pool_of([Row("A")], overhead=10), budget(50)).used == 0


def test_larger_than_the_budget_is_what_does_not_fit_beside_the_head_alone():
    pool = pool_of(
        [Row("A", tokens=91), Row("B", tokens=90, relevance=0.4), Row("C", tokens=90, relevance=0.3)], overhead=10
    )
    reasons = {name: reason for name, (_, reason) in fates(select(pool, budget(100))).items()}
    assert reasons == {"a.py::A": "larger_than_budget", "b.py::B": "fits", "c.py::C": "no_room"}


def test_a_budget_below_the_head_keeps_nothing_and_says_what_the_smallest_needs():
    selection = select(pool_of([Row("A", tokens=30), Row("B", tokens=20)], overhead=10), budget(5))
    assert kept(selection) == []
    assert set(fates(selection).values()) == {("dropped", "larger_than_budget")}
    assert "the smallest needs 30" in selection.warnings[0].message


def test_a_budget_of_any_size_is_a_number_like_others():
    selection = select(pool_of([Row("A"), Row("B")]), budget(10**40))
    assert (kept(selection), selection.used, selection.budget) == (["A", "B"], 200, 10**40)
    assert selection.left.min() > 0


def test_pins_are_kept_first_whatever_their_priority():
    pool = pool_of([Row("Best", tokens=80, relevance=1.0), Row("Pinned", tokens=60, relevance=0.0, distance=0)])
    selection = select(pool, budget(100, pins=("pinned.py::Pinned", "no such symbol")))
    assert fates(selection) == {"best.py::Best": ("dropped", "no_room"), "pinned.py::Pinned": ("kept", "pinned")}
    assert selection.decision(pool.row_of["best.py::Best"]).left == 40
    assert names(selection, selection.order) == ["Best", "Pinned"]  # a pin changes the turn, not the rank


def test_pins_that_do_not_fit_together_go_by_rank():
    pool = pool_of([Row("A", tokens=60, relevance=0.9), Row("B", tokens=60, relevance=0.8)])
    assert kept(select(pool, budget(100, pins=("b.py::B", "a.py::A")))) == ["A"]


def test_excludes_are_never_kept_not_even_when_pinned():
    pool = pool_of([Row("A", relevance=0.9), Row("B", relevance=0.8)])
    selection = select(pool, budget(1000, excludes=("a.py::A",), pins=("a.py::A",)))
    assert fates(selection) == {"a.py::A": ("dropped", "excluded"), "b.py::B": ("kept", "fits")}


def test_a_boost_multiplies_the_priority():
    pool = pool_of([Row("A", relevance=0.9), Row("B", relevance=0.5)])
    plain, boosted = select(pool, budget(100)), select(pool, budget(100, boosts={"b.py::B": 2.0}))
    row = pool.row_of["b.py::B"]
    assert round(boosted.priority[row] / plain.priority[row], 6) == 2.0
    assert (kept(plain), kept(boosted)) == (["A"], ["B"])


def test_a_boost_of_zero_silences():
    selection = select(pool_of([Row("A")]), budget(1000, boosts={"a.py::A": 0.0}))
    assert fates(selection) == {"a.py::A": ("dropped", "no_signal")}


def test_what_only_calls_led_to_is_cut_beyond_the_depth_even_when_pinned():
    """A search with that depth would not have met it (SC-GRAG-003); what words found too stays, without a distance
    term."""
    pool = pool_of([Row("Reached", distance=3, channels=REACHED), Row("Found", distance=3, channels=REACHED | FOUND)])
    selection = select(pool, budget(1000, graph_rag__max_depth=1, pins=("reached.py::Reached",)))
    assert fates(selection) == {"reached.py::Reached": ("dropped", "beyond_depth"), "found.py::Found": ("kept", "fits")}
    assert selection.terms["distance"].tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("rows", "settings", "code", "message"),
    [
        ([Row("A")], budget(0), "zero_budget", "0 tokens"),
        ([Row("A", tokens=500)], budget(100), "budget_too_small", "预算过小，无法包含任何完整片段"),
        (
            [Row("A"), Row("B", relevance=0, distance=0)],
            budget(100, excludes=("a.py::A",)),
            "nothing_eligible",
            "1 excluded, 1 no_signal",
        ),
    ],
)
def test_an_empty_selection_says_which_kind_of_empty_it_is(rows, settings, code, message):
    selection = select(pool_of(rows), settings)
    assert kept(selection) == []
    assert [notice.code for notice in selection.warnings] == [code]
    assert message in selection.warnings[0].message


def test_all_weights_at_zero_is_an_empty_selection_that_says_so():
    weights = {f"smart_pruning.priority_weights.{name}": 0 for name in ("relevance", "hotspot", "distance")}
    selection = select(pool_of([Row("A")]), with_values(Settings(), weights))
    assert [notice.code for notice in selection.warnings] == ["nothing_eligible"]


def test_an_empty_pool_keeps_its_own_warnings():
    selection = select(pool_of([]), budget(0))
    assert (len(selection), selection.used, selection.warnings, list(selection.decisions)) == (0, 0, (), [])


def test_the_smallest_budget_named_by_the_warning_is_enough():
    pool = pool_of([Row("A", tokens=500), Row("B", tokens=300)], overhead=12)
    needed = int(re.search(r"the smallest needs (\d+)", select(pool, budget(100)).warnings[0].message)[1])
    assert kept(select(pool, budget(needed - 1))) == []
    assert kept(select(pool, budget(needed))) == ["B"]


def test_a_nan_is_an_error_that_names_the_candidate():
    pool = replace(pool_of([Row("A"), Row("B")]), hotspot=np.array([0.1, np.nan]))
    with pytest.raises(UsageError, match="B"):
        select(pool, Settings())


# --- declarations of what did not fit whole ---------------------------------------------------------------------------


def test_declarations_take_their_share_of_the_budget():
    rows = [
        Row("A", tokens=70, relevance=0.9),
        Row("B", tokens=90, relevance=0.8, sig=15),
        Row("C", tokens=90, relevance=0.7, sig=15),
        Row("D", tokens=5, relevance=0.1),
    ]
    selection = select(pool_of(rows), budget(100, smart_pruning__signature_share=0.2))
    assert {selection.pool.qualname[d.row]: (d.state.label, d.reason.label) for d in selection.decisions} == {
        "A": ("kept", "fits"),
        "B": ("shortened", "signature"),
        "C": ("dropped", "no_room"),  # 20 tokens were set aside, 15 of them spent
        "D": ("kept", "fits"),
    }
    assert selection.used == 70 + 15 + 5


def test_a_shortened_candidate_says_why_it_does_not_go_out_whole():
    """Not the room for declarations, which it did fit: "needed 60, left 50" is why it is short."""
    rows = [Row("A", tokens=60, relevance=0.9, sig=10), Row("B", tokens=45, relevance=0.8)]
    selection = select(pool_of(rows), budget(100, smart_pruning__signature_share=0.5))
    decision = selection.decision(selection.pool.row_of["a.py::A"])
    assert (decision.state, decision.needed, decision.left) == (State.SHORTENED, 60, 50)
    assert (decision.tokens_before, decision.tokens_after) == (60, 10)
    assert decision.shape().to_dict() == {"state": "shortened", "reason": "signature", "needed": 60, "left": 50}


def test_a_declaration_as_long_as_the_whole_is_no_declaration():
    """What was set aside for declarations goes to the whole then, and hides no body."""
    rows = [Row("A", tokens=80, relevance=0.9), Row("B", tokens=20, relevance=0.8, sig=20)]
    selection = select(pool_of(rows), budget(100, smart_pruning__signature_share=0.2))
    assert fates(selection) == {"a.py::A": ("kept", "fits"), "b.py::B": ("kept", "fits")}


def test_what_declarations_leave_goes_to_whole_fragments():
    rows = [Row("A", tokens=60, relevance=0.9), Row("B", tokens=35, relevance=0.8)]
    selection = select(pool_of(rows), budget(100, smart_pruning__signature_share=0.4))
    assert kept(selection) == ["A", "B"]


def test_counts_say_how_many_and_how_much_per_state():
    rows = [
        Row("A", tokens=60, relevance=0.9),
        Row("B", tokens=90, relevance=0.8, sig=15),
        Row("C", tokens=50, relevance=0.7),
    ]
    selection = select(pool_of(rows), budget(100, smart_pruning__signature_share=0.2))
    assert [selection.counts(state) for state in (State.KEPT, State.SHORTENED, State.DROPPED)] == [
        (1, 60),
        (1, 15),
        (1, 50),
    ]


def test_rows_leave_from_the_worst_up_until_the_counted_text_fits():
    rows = [Row(name, tokens=100, relevance=relevance) for name, relevance in (("A", 0.9), ("B", 0.7), ("C", 0.5))]
    settings = budget(400)
    selection = select(pool_of(rows), settings)
    assert kept(selection) == ["A", "B", "C"]
    # Costs are upper bounds, except for a counter for which the whole is more than its parts.
    fitted = fit_to_budget(selection, settings, lambda decided: 170 * len(decided.kept_rows))
    assert kept(fitted) == ["A", "B"]
    assert fitted.budget == 400
    assert fit_to_budget(selection, settings, lambda decided: decided.used) is selection
