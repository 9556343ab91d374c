"""Golden screens of the Search bench, and the same figures taken from the selection: a deliberate change of the engine
fails both."""

import re

import pytest
from inspector_kit import Inspector, assert_golden, bench_of, inspector, press, running, settle
from msgspec.structs import replace
from secateur.model import State
from secateur.settings import Settings, with_profile
from textual.pilot import Pilot

SIZES = [(120, 40), (80, 24)]
TIGHT = Settings(budget=4000)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def figures_on_screen(lines: list[str]) -> dict[str, int]:
    """The figures of the budget's headline, as far as there is room for them: items, and tokens behind the state."""
    text = next(line for line in lines if "Budget ─" in line)
    leaving = re.search(r"Budget ─ ([\d,]+) of ([\d,]+)", text)
    assert leaving is not None
    found = {"leaving": number(leaving[1]), "budget": number(leaving[2])}
    for glyph, name in (("●", "kept"), ("◐", "shortened"), ("○", "dropped")):
        if match := re.search(rf"{glyph} (?:{name} )?([\d,]+)(?: \(([\d,]+)(?: of ([\d,]+))?\))?", text):
            found |= {f"{name}{part}": number(match[part]) for part in (1, 2, 3) if match[part]}
    for name in ("wrapper", "free"):
        if match := re.search(rf"{name} ([\d,]+)", text):
            found[name] = number(match[1])
    return found


def assert_true_figures(app: Inspector, lines: list[str]) -> None:
    """Every figure of the headline and of each visible row is the selection's."""
    answer = bench_of(app).state.answer
    assert answer is not None
    selection, pool = answer.selection, answer.selection.pool
    shown = figures_on_screen(lines)
    assert (shown["leaving"], shown["budget"]) == (answer.tokens, selection.budget)
    for state in (State.KEPT, State.SHORTENED, State.DROPPED):
        count, tokens = selection.counts(state)
        assert shown.get(f"{state.label}1", 0) == count
        if state is not State.DROPPED:
            assert shown.get(f"{state.label}2", tokens) == tokens
        else:
            assert (shown.get("dropped2", 0), shown.get("dropped3", tokens)) == (0, tokens)
    assert shown.get("free", selection.budget - answer.tokens) == selection.budget - answer.tokens
    if "wrapper" in shown and "kept2" in shown:
        out = shown.get("kept2", 0) + shown.get("shortened2", 0)
        assert out + shown["wrapper"] + shown["free"] == selection.budget
    rows = [
        match
        for line in lines
        if (match := re.match(r"│.\s*(\d+) +(?:[▲▼]\d+|new)? +(!?)([●◐○]) .* ([\d,]+) (\d?\.\d{3,5})[ ▁-█]*│", line))
    ]
    assert rows, "no candidate is on screen"
    for match in rows:
        row = int(selection.order[int(match[1]) - 1])
        assert match[3] == State(int(selection.state[row])).glyph
        assert int(match[4].replace(",", "")) == pool.tokens[row]
        assert float(match[5]) == pytest.approx(selection.score[row], abs=0.00051), "what the list is ordered by"


@pytest.mark.parametrize(
    ("name", "settings", "keys"),
    [
        ("opened", TIGHT, ""),
        ("turned", TIGHT, "right right right b down down"),
        ("why", TIGHT, "end up up up up i"),
        ("weights", TIGHT, "w down right"),
        ("preview", TIGHT, "v"),
        ("diff", TIGHT, "right s b d"),
        ("recommended", replace(with_profile(TIGHT, "recommended"), budget=3000), "down down down i"),
        ("help", TIGHT, "question_mark"),
        ("copy", TIGHT, "y"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isalpha() else "",
)
async def test_screen(name: str, settings: Settings, keys: str) -> None:
    async with running(inspector(settings=settings, proves=True), SIZES[0]) as app:
        pilot = Pilot(app)
        await press(app, *keys.split())
        for size in SIZES:
            await pilot.resize_terminal(*size)
            lines = await settle(app)
            assert max(map(len, lines)) <= size[0] and len(lines) == size[1]
            if name not in ("help", "copy") and (size == SIZES[0] or name in ("opened", "turned")):
                assert_true_figures(app, lines)
            assert_golden(f"search_{name}_{size[0]}x{size[1]}", lines)


async def test_the_palette_lists_the_registry() -> None:
    async with running(inspector(settings=TIGHT), SIZES[0]) as app:
        lines = await settle(app, "ctrl+p")
        assert any("Budget+" in line for line in lines), "how the palette looks is Textual's own"
        await settle(app, *"raisethebudget")
        await settle(app, "down", "enter")
        assert bench_of(app).state.settings.budget == 4500


async def test_a_wide_terminal_shows_all_of_it() -> None:
    app = inspector(settings=TIGHT)
    async with app.run_test(size=(200, 50)):
        lines = await settle(app)
        assert any("KEPT #1 of 12" in line for line in lines), "the page beside the list"
        assert any("src/orders/refund.py:18" in line and "refund_total" in line for line in lines[:16])


async def test_too_small_a_terminal_says_so() -> None:
    app = inspector()
    async with app.run_test(size=(120, 40)) as pilot:
        for size in [(79, 24), (80, 23), (20, 3), (3, 1)]:
            await pilot.resize_terminal(*size)
            lines = await settle(app)
            assert "".join(lines).strip() and ("80×24" in "".join(lines) or size[0] < 20)
            assert not any("Candidates" in line for line in lines)
        await pilot.resize_terminal(80, 24)
        assert any("Candidates" in line for line in await settle(app))
