"""Hints, ranges and the curve on the screen: proven while the user rests, applied by a key, for every kind."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path

import pytest
from inspector_kit import (
    QUERY,
    Inspector,
    assert_golden,
    bench_of,
    inspector,
    orders_engine,
    press,
    running,
    settle,
)
from ledger_kit import WRITERS, opened
from secateur.model import Reason, State
from secateur.settings import Settings, with_values
from secateur.terminal import cell_width
from secateur.what_if.trials import HOLD
from secateur_tui.host import Pace
from secateur_tui.parts.proofs import CURVE
from secateur_tui.state.proving import ProvenHint, Proving, list_hints
from secateur_tui.styled_text import plain
from secateur_tui.widgets.proof_pages import draw_hints

SIZE = (120, 40)
GLYPHS = [state.glyph for state in State]
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
    async with running(app, SIZE):
        bench = bench_of(app)
        await to_an_item_that_something_turns(app)
        name, before, hints = bench.state.entry, bench.state.settings, list(bench.scene.hints)
        lines = await settle(app)
        assert any("kept whole" in one and "✓" in one for one in lines)
        for chosen, hint in enumerate(hints):
            await press(app, *["I"] * chosen)
            assert bench.scene.chosen_hint == chosen
            await settle(app, "h")
            assert bench.state.settings != before and (chosen or bench.state.hinted_entry == name)
            outcome = bench.state.outcome
            assert outcome is not None
            ledger = outcome.ledger
            place = ledger.number_of.get(name)  # a section that is whole again has no entries for its parts
            assert place is None or ledger.entries[place].state is hint.lever.state
            trials = bench.scene.trials if not chosen else None  # the cursor may be on another item by then
            lost = [trials.ids[item] for item in hint.lever.others.loses] if trials is not None else []
            assert all(
                ledger.entries[ledger.number_of[one]].state is State.DROPPED for one in lost if one in ledger.number_of
            )
            await settle(app, "u")
            assert bench.state.settings == before and bench.state.hinted_entry == ""


def prove_all(app: Inspector) -> dict[int, list[ProvenHint]]:
    """Proves the hints of every item, in the order in which they come."""
    trials = bench_of(app).scene.trials
    assert trials is not None
    proving = Proving(trials)
    proofs = {item: proving.proofs(item, curve=False) for item in range(len(trials.ids))}
    return {item: [proof for proof in found if isinstance(proof, ProvenHint)] for item, found in proofs.items()}


def draw(app: Inspector, hints: list[ProvenHint], chosen: int, cells: int) -> list[str]:
    bench = bench_of(app)
    knobs, trials = bench.kind_page.kind.knobs, bench.scene.trials
    lines = draw_hints(hints, trials, chosen, "", ("h", "I"), knobs, proving=False, cells=cells)
    return [plain(one) for one in lines]


async def test_no_number_of_a_hint_is_cut(app: Inspector) -> None:
    """The pane of Why has 56 cells on a screen of 80 columns, and 46 on one of 120."""
    async with running(app, SIZE):
        hints = [hint for hints in prove_all(app).values() for hint in hints]
        for hint, cells in product(hints, (28, 46, 56)):
            lever, lines = hint.lever, draw(app, [hint], 0, cells)
            heads = [one for one in lines if not one.startswith("    ")]
            assert all(cell_width(one) <= cells for one in heads)
            said = " ".join(" ".join(heads).split())
            number = lever.name.rpartition(" ")[2] if lever.name.startswith(HOLD) else lever.value
            if isinstance(number, int) or str(number).isdecimal():
                assert f"{int(number):,}: " in said
            assert "✓" in said and bench_of(app).scene.trials.ids[hint.item] not in said
            out, of = lever.portion
            if hint.gains and 0 < out < of:
                assert f"({out:,} of {of:,} tokens)" in said
            assert f"{abs(lever.tokens):,} token" in " ".join(lines) or not lever.tokens


async def test_a_changed_item_has_the_sign_of_its_state(app: Inspector) -> None:
    async with running(app, SIZE):
        trials, proven = bench_of(app).scene.trials, prove_all(app)
        assert trials is not None
        signs = set()
        for hint in (hint for hints in proven.values() for hint in hints):
            decided = trials.decide(hint.lever.name, hint.lever.value)
            assert decided is not None
            others = hint.lever.others
            items = [
                item for side in (others.loses, others.shortens, others.gains, others.restores) for item in side[:3]
            ]
            lines = draw(app, [hint], 0, 200)
            shown = [one.split()[0] for one in lines if one.startswith("    ") and one[4] in GLYPHS]
            assert shown == [State(int(decided.state[item])).glyph for item in items]
            signs |= {State(int(decided.state[item])) for item in (*others.gains[:3], *others.restores[:3])}
        assert State.SHORTENED in signs or bench_of(app).kind_page.kind.name in ("files", "envelope")


async def test_a_hint_that_adds_nothing_is_not_listed(app: Inspector) -> None:
    """A far budget beside a near one that keeps the whole, and another value that changes the same."""
    async with running(app, SIZE):
        left_out = 0
        for hints in prove_all(app).values():
            listed, levers = list_hints(hints), [hint.lever for hint in hints]
            near = any(lever.state is State.KEPT and not lever.far for lever in levers)
            effects = [(hint.lever.state, hint.lever.others, hint.lever.tokens) for hint in listed]
            assert len({*effects}) == len(effects) and not (near and any(hint.lever.far for hint in listed))
            wanted = [hint for hint in hints if not (near and hint.lever.far)]
            assert {(hint.lever.state, hint.lever.others, hint.lever.tokens) for hint in wanted} == {*effects}
            assert [hint.lever.cost for hint in listed] == sorted(hint.lever.cost for hint in listed)
            left_out += len(hints) - len(listed)
        assert left_out


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
    async with running(app, SIZE):
        lines = await settle(app, "l")
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
    async with running(inspector(settings=TIGHT, proves=True), size) as app:
        assert_golden(f"proofs_hints_{size[0]}x{size[1]}", await settle(app, "end", "i"))
        assert_golden(f"proofs_curve_{size[0]}x{size[1]}", await settle(app, "l"))


async def test_that_nothing_turns_an_item_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is proven here: the reason is enough."""
    monkeypatch.chdir(tmp_path)
    WRITERS["conversation"](tmp_path)
    async with running(opened("conversation", with_values(Settings(), SMALL)), SIZE, notifications=True) as app:
        answer = bench_of(app).state.answer
        assert answer is not None
        bench_of(app).move_cursor(next(item for item in range(len(answer)) if answer.reason_of(item) is Reason.SYSTEM))
        lines = await settle(app)
        assert any("nothing would change it: its reason" in one for one in lines)
        lines = await settle(app, "h")
        assert any("Lever: nothing would change it" in one for one in lines)


async def test_an_item_that_was_excluded_is_kept_if_it_is_pinned() -> None:
    app = inspector(settings=with_values(TIGHT, {"excludes": ["src/orders/audit.py::record"]}), proves=True)
    async with running(app, SIZE):
        lines = await settle(app, "end")
        assert any("pinned: kept whole (re-run ✓)" in one for one in lines)
        await settle(app, "h")
        settings = bench_of(app).state.settings
        assert (settings.pins, settings.excludes) == (("src/orders/audit.py::record",), ())


async def test_what_stays_is_taken_out_only_by_a_hint_that_the_user_marked() -> None:
    async with running(inspector(settings=TIGHT, proves=True), SIZE, notifications=True) as app:
        bench = bench_of(app)
        await settle(app, "home")
        before, kept = bench.state.settings, bench.state.entry
        assert bench.scene.hints and bench.scene.chosen_hint == -1
        lines = await settle(app, "h")
        assert bench.state.settings == before
        assert any("I marks one that h then applies" in one for one in lines)
        assert any("this one stays; I marks what would take it out" in one for one in lines)
        await press(app, "I")
        while bench.scene.hints[bench.scene.chosen_hint].lever.name != HOLD:
            await press(app, "I")
        await settle(app, "h")
        assert bench.state.settings.excludes == (kept,)


async def test_hints_of_another_item_do_not_stay() -> None:
    async with running(inspector(settings=TIGHT, proves=True), SIZE) as app:
        await settle(app, "end")
        bench = bench_of(app)
        had = list(bench.scene.hints)
        await settle(app, "up")
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

    async with running(inspector(proves=True), SIZE) as app:
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
