"""The page of the curve and the hints, drawn from proofs: figures are the engine's, nothing leaves its width."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.model import Pool
from secateur.selection.pool_trials import PoolTrials
from secateur.settings import Settings, with_values
from secateur_tui.state.proving import Nothing, ProvenCurve, ProvenHint, Proving, Range
from secateur_tui.styled_text import line, plain, width
from secateur_tui.widgets.proof_pages import ROWS, draw_curve, draw_hints, insert_hints
from support.pools import Row, pool_of
from support.strategies import cases


def shop() -> tuple[Pool, Settings]:
    rows = [Row(f"f{number}", tokens=30 + 17 * (number % 7), relevance=1 - number / 40) for number in range(30)]
    return pool_of(rows), with_values(Settings(), {"budget": 500})


def proven(pool: Pool, now: Settings) -> ProvenCurve:
    proofs = Proving(PoolTrials(pool, now)).proofs(0, curve=True)
    return next(proof for proof in proofs if isinstance(proof, ProvenCurve))


@pytest.mark.parametrize("cells", [38, 46, 120])
def test_the_curve_names_the_present_budget_and_its_figures(cells: int) -> None:
    curve = proven(*shop())
    lines = [plain(drawn) for drawn in draw_curve(curve, cells)]
    assert all(width(drawn) <= cells for drawn in draw_curve(curve, cells))
    present = next(point for point in curve.curve.points if point.budget == 500)
    row = next(one for one in lines if one.split()[:2] == ["500", f"{present.tokens:,}"])
    assert row.split()[2:4] == [str(present.whole), str(present.partly)]
    assert any("500 now" in one for one in lines)
    plot = lines[1 : 1 + ROWS]
    assert any("│" in one[8:] for one in plot), "the present budget stands in the curve"
    assert any(0x2800 < ord(letter) <= 0x28FF for one in plot for letter in one)


def test_the_curve_says_where_the_present_budget_stands_to_the_knee() -> None:
    pool, now = shop()
    knee = proven(pool, now).curve.knee
    assert knee is not None
    for budget, said in ((knee - 40, "is below the knee"), (knee + 40, "is above the knee"), (knee, "")):
        drawn = draw_curve(proven(pool, with_values(now, {"budget": budget})), 120)
        told = [plain(one) for one in drawn if "the knee:" in plain(one)]
        assert [text.partition(":")[0] for text in told] == ([f"{budget:,} {said}"] if said else [])


@settings(max_examples=8)
@given(cases(6), st.integers(1, 90))
def test_any_curve_and_any_hint_can_be_drawn(case: tuple[Pool, Settings], cells: int) -> None:
    pool, now = case
    if not len(pool):
        return
    trials = PoolTrials(pool, now)
    hints: list[ProvenHint] = []
    nothing = ""
    for proof in Proving(trials).proofs(0, curve=True):
        if isinstance(proof, ProvenHint):
            hints.append(proof)
        elif isinstance(proof, Nothing):
            nothing = proof.why
        elif isinstance(proof, ProvenCurve):
            assert all(width(drawn) <= cells for drawn in draw_curve(proof, cells))
    lines = draw_hints(hints, trials, 0, nothing, ("h", "I"), (), proving=False, cells=cells)
    assert lines and bool(hints) is not bool(nothing)


def test_proofs_come_in_the_order_in_which_they_are_looked_at_and_are_kept() -> None:
    pool, now = shop()
    proving = Proving(PoolTrials(pool, now))
    dropped = pool.qualname.index("f29")
    told = [type(proof) for proof in proving.proofs(dropped, curve=True)]
    assert told[0] is ProvenHint and told.index(ProvenCurve) < told.index(Range)
    runs = proving.runs.number
    assert [type(proof) for proof in proving.proofs(dropped, curve=True)] == told
    assert proving.runs.number == runs, "nothing is decided twice"
    assert ProvenCurve not in [type(proof) for proof in Proving(PoolTrials(pool, now)).proofs(0, curve=False)]


def test_hints_stand_below_the_reason() -> None:
    page = [line("head"), line("because"), (), line("terms")]
    hints = [line("kept at")]
    assert [plain(drawn) for drawn in insert_hints(page, hints)] == [
        "head",
        "because",
        "kept at",
        "",
        "terms",
    ]
    assert insert_hints([], hints) == hints
