"""Hints, ranges and the curve on the screen: proven while the user rests, applied by a key, for every kind."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from inspector_kit import QUERY, Inspector, assert_golden, bench_of, inspector, orders_engine, press, settle
from ledger_kit import WRITERS, opened
from secateur.model import Reason, State
from secateur.settings import Settings, with_values
from secateur_tui.host import Pace
from secateur_tui.parts.proofs import CURVE
from secateur_tui.state.proving import ProvenHint

SIZE = (120, 40)
TIGHT = Settings(budget=2500)
SMALL = {
    "conversation_prune.safe_zone_tokens": 1500,
    "conversation_prune.strategy": "truncate",
    "context_prune.max_tokens": 700,
    "context_budget.tokens": 4000,
}


@pytest.fixture(params=["search", *WRITERS])
def app(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inspector]:
    """Each kind with a budget that cuts."""
    if request.param == "search":
        yield inspector(settings=TIGHT, proves=True)
        return
    monkeypatch.chdir(tmp_path)
    WRITERS[request.param](tmp_path)
    yield opened(request.param, with_values(Settings(), SMALL), proves=True)


async def to_an_item_that_something_turns(app: Inspector) -> ProvenHint:
    """Puts the cursor on an item that does not go out whole and that something lets out."""
    bench = bench_of(app)
    answer = bench.state.answer
    assert answer is not None
    for item in range(len(answer)):
        bench.move_cursor(item)
        await settle(app)
        if bench.scene.hints and bench.scene.hints[0].gains:
            return bench.scene.hints[0]
    raise AssertionError("nothing turns any item")


async def test_every_hint_is_applied_with_one_key_and_holds(app: Inspector) -> None:
    async with app.run_test(size=SIZE):
        await settle(app)
        bench = bench_of(app)
        await to_an_item_that_something_turns(app)
        name, before, hints = bench.state.entry, bench.state.settings, list(bench.scene.hints)
        lines = await settle(app)
        assert any("kept whole" in one and "(re-run ✓)" in one for one in lines)
        for chosen, hint in enumerate(hints):
            await press(app, *["I"] * chosen)
            assert bench.scene.chosen_hint == chosen
            await press(app, "h")
            await settle(app)
            assert bench.state.settings != before and (chosen or bench.state.hinted_entry == name)
            outcome = bench.state.outcome
            assert outcome is not None
            ledger = outcome.ledger
            place = ledger.place_of.get(name)  # a section that is whole again has no entries for its parts
            assert place is None or ledger.entries[place].state is hint.lever.state
            trials = bench.scene.trials if not chosen else None  # the cursor may be on another item by then
            lost = [trials.ids[item] for item in hint.lever.others.loses] if trials is not None else []
            assert all(
                ledger.entries[ledger.place_of[one]].state is State.DROPPED for one in lost if one in ledger.place_of
            )
            await press(app, "u")
            await settle(app)
            assert bench.state.settings == before and bench.state.hinted_entry == ""


async def test_the_ranges_stand_beside_the_knobs(app: Inspector) -> None:
    async with app.run_test(size=SIZE):
        lines = await settle(app)
        bench = bench_of(app)
        assert bench.scene.ranges and not bench.scene.proving
        assert any("range: selection unchanged inside (re-run ✓)" in one for one in lines)
        assert not any("re-running" in one for one in lines)
        for name, (low, high) in bench.scene.ranges.items():
            knob = next(knob for knob in bench.kind_page.kind.knobs if name in (knob.signal, knob.key))
            assert low <= float(knob.value(bench.state.settings)) <= high


async def test_the_curve_is_a_page(app: Inspector) -> None:
    async with app.run_test(size=SIZE):
        await settle(app)
        await press(app, "l")
        lines = await settle(app)
        bench = bench_of(app)
        assert bench.page == CURVE and bench.scene.curve is not None
        now = f"{bench.scene.curve.trials.budget:,}"
        assert any(f"{now} now" in one for one in lines)
        present = next(point for point in bench.scene.curve.curve.points if f"{point.budget:,}" == now)
        outcome = bench.state.outcome
        assert outcome is not None
        whole = sum(entry.state is State.KEPT for entry in outcome.ledger.entries[:-1])
        assert present.whole == whole


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_curve_and_the_hints_look(size: tuple[int, int]) -> None:
    app = inspector(settings=TIGHT, proves=True)
    async with app.run_test(size=size):
        await settle(app)
        await press(app, "end", "i")
        assert_golden(f"proofs_hints_{size[0]}x{size[1]}", await settle(app))
        await press(app, "l")
        assert_golden(f"proofs_curve_{size[0]}x{size[1]}", await settle(app))


async def test_that_nothing_turns_an_item_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is proven here: the reason is enough."""
    monkeypatch.chdir(tmp_path)
    WRITERS["conversation"](tmp_path)
    app = opened("conversation", with_values(Settings(), SMALL))
    async with app.run_test(size=SIZE, notifications=True):
        await settle(app)
        answer = bench_of(app).state.answer
        assert answer is not None
        bench_of(app).move_cursor(next(item for item in range(len(answer)) if answer.reason_of(item) is Reason.SYSTEM))
        lines = await settle(app)
        assert any("nothing would change it: its reason" in one for one in lines)
        await press(app, "h")
        lines = await settle(app)
        assert any("Hint: nothing would change it" in one for one in lines)


async def test_an_item_that_was_excluded_is_kept_if_it_is_pinned() -> None:
    app = inspector(settings=with_values(TIGHT, {"excludes": ["src/orders/audit.py::record"]}), proves=True)
    async with app.run_test(size=SIZE):
        await settle(app)
        await press(app, "end")
        lines = await settle(app)
        assert any("kept whole if it is pinned (re-run ✓)" in one for one in lines)
        await press(app, "h")
        await settle(app)
        settings = bench_of(app).state.settings
        assert (settings.pins, settings.excludes) == (("src/orders/audit.py::record",), ())


async def test_hints_of_another_item_do_not_stay() -> None:
    app = inspector(settings=TIGHT, proves=True)
    async with app.run_test(size=SIZE):
        await settle(app)
        await press(app, "end")
        await settle(app)
        bench = bench_of(app)
        had = list(bench.scene.hints)
        await press(app, "up")
        await settle(app)
        assert {hint.item for hint in bench.scene.hints} <= {bench.state.cursor} and bench.scene.hints != had


async def test_what_is_not_known_in_time_is_said_and_nothing_waits_for_it() -> None:
    app = Inspector(orders_engine(), TIGHT, path="orders", query=QUERY, pace=Pace(0.001, 0.001, 0, proof=0))
    async with app.run_test(size=SIZE):
        lines = await settle(app)
        bench = bench_of(app)
        assert not bench.scene.proving and not bench.scene.ranges and not bench.scene.hints
        assert any("range: not known: the search ended after 0 s" in one for one in lines)
        assert any("something else may" in one for one in lines)


async def test_a_job_whose_place_is_taken_before_it_begins_never_begins() -> None:
    """Neither does one whose session is left: nothing is created that nobody awaits, which would be a warning."""
    begun = []

    async def work(name: str) -> None:
        begun.append(name)

    app = inspector(proves=True)
    async with app.run_test(size=SIZE):
        await settle(app)
        for name in ("first", "second"):
            bench_of(app).jobs.start(partial(work, name), "group")
        await settle(app)
    assert begun == ["second"]
    gc.collect()


async def test_a_hint_that_is_not_proven_yet_is_applied_when_it_is() -> None:
    app = inspector(settings=Settings(budget=2000), proves=True)
    app.pace = Pace(0.001, 0.4, 0)
    async with app.run_test(size=(120, 40), notifications=True):
        bench = bench_of(app)
        await settle(app)
        while bench.state.answer.state_of(bench.state.cursor) is not State.DROPPED:
            await press(app, "down")
        await press(app, "h")
        assert not bench.scene.hints, "too early"
        before, name = bench.state.settings, bench.state.entry
        lines = await settle(app)
        assert bench.state.settings != before and bench.state.entry == name
        assert bench.state.answer.state_of(bench.state.cursor) is not State.DROPPED
        assert not any("nothing is proven" in one for one in lines)
        await press(app, "down", "h", "up")
        before = bench.state.settings
        await settle(app)
        assert bench.state.settings == before, "another item is looked at by now"
