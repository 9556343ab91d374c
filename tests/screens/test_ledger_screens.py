"""Golden screens of the benches over a ledger, and the same figures taken from the ledger: a deliberate change of the
engine fails both."""

import json
import re
from pathlib import Path

import pytest
from inspector_kit import Inspector, Pace, assert_golden, press, settle
from ledger_kit import WRITERS, ledger_bench, opened, write_transcript
from secateur.model import State
from secateur.settings import Settings, with_values
from secateur_tui.styled_text import plain
from support.logs import LOGS, among

SIZES = [(120, 40), (80, 24)]

ZONE = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 3000})
TRUNCATE = with_values(ZONE, {"conversation_prune.strategy": "truncate"})
TIGHT = with_values(Settings(), {"context_budget.tokens": 4000})
FEW = with_values(Settings(), {"context_prune.max_tokens": 800})
DELETE = with_values(FEW, {"context_prune.strategy": "delete"})


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for write in WRITERS.values():
        write(tmp_path)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def assert_true_figures(app: Inspector, lines: list[str]) -> None:
    """Every figure of the budget line and of each visible row is the ledger's; what goes out and what is free sum to
    the budget."""
    answer = ledger_bench(app).state.answer
    assert answer is not None
    ledger = answer.ledger
    text = next(line for line in lines if "Budget ─" in line)
    leaving = re.search(r"Budget ─ ([\d,]+) of ([\d,]+)", text)
    assert leaving is not None and (number(leaving[1]), number(leaving[2])) == (ledger.after, ledger.budget)
    sums = ledger.sums
    told = re.findall(r"([●◐◍○]) (?:[a-z]+ )?([\d,]+)(?: \(([\d,]+)(?: of ([\d,]+))?\))?", text)
    assert {glyph for glyph, *_ in told} >= {state.glyph for state, total in sums.items() if total.number}
    for glyph, items, after, before in told:
        total = next(total for state, total in sums.items() if state.glyph == glyph)
        assert number(items) == total.number
        if after:  # there is room for tokens
            assert (number(after), number(before or after)) == (total.after, total.before)
    free, over = re.search(r"free ([\d,]+)", text), re.search(r"([\d,]+) over", text)
    left = number(free[1]) if free else -number(over[1]) if over else None
    assert left == ledger.budget - ledger.after
    rows = [
        match for line in lines if (match := re.match(r"│.{1,16}(!?)([●◐◍○]) .* ([\d,]+) +(·|[\d,]+)[ ▁-█]*│", line))
    ]
    assert rows, "no item is on screen"
    figures = [(entry.state.glyph, entry.before, entry.after) for entry in ledger.entries]
    for match in rows:
        before = number(match[3])
        assert (match[2], before, before if match[4] == "·" else number(match[4])) in figures


@pytest.mark.parametrize(
    ("bench", "name", "settings", "keys"),
    [
        ("conversation", "opened", ZONE, ""),
        ("conversation", "turned", ZONE, "B B w down down right right down"),
        ("conversation", "why", ZONE, "down down down i"),
        ("conversation", "preview", ZONE, "down down down v"),
        ("conversation", "diff", ZONE, "B B B B down down down d"),
        ("conversation", "truncate", TRUNCATE, "b down i"),
        ("conversation", "held", ZONE, "down down down K"),
        ("conversation", "over", with_values(ZONE, {"conversation_prune.safe_zone_tokens": 200}), ""),
        ("conversation", "copy", ZONE, "B y"),
        ("conversation", "help", ZONE, "question_mark"),
        ("envelope", "opened", Settings(), ""),
        ("envelope", "turned", TIGHT, "B B B B"),
        ("envelope", "why", TIGHT, "down i"),
        ("envelope", "diff", TIGHT, "B B d"),
        ("envelope", "exceeded", with_values(Settings(), {"context_budget.tokens": 40}), ""),
        ("envelope", "copy", TIGHT, "y"),
        ("files", "opened", FEW, ""),
        ("files", "delete", DELETE, "b down i"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isalpha() else "",
)
async def test_screen(bench: str, name: str, settings: Settings, keys: str) -> None:
    app = opened(bench, settings)
    async with app.run_test(size=SIZES[0]) as pilot:
        for key in keys.split():
            await settle(app)  # what may be copied is the text of the settings on screen, once it is decided
            await press(app, key)
        for size in SIZES:
            await pilot.resize_terminal(*size)
            lines = await settle(app)
            assert max(map(len, lines)) <= size[0] and len(lines) == size[1]
            if name in ("opened", "turned", "over", "held", "truncate") and size == SIZES[0]:
                assert_true_figures(app, lines)
            assert_golden(f"{bench}_{name}_{size[0]}x{size[1]}", lines)


async def test_lines_of_a_log_are_named_with_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "build.log").write_text(among(LOGS["pytest"], 40, 40), encoding="utf-8")
    app = Inspector(
        None,
        with_values(Settings(), {"log.max_tokens": 900}),
        bench="log",
        path="build.log",
        pace=Pace(0.001, 0.001, 0, proves=False),
    )
    async with app.run_test(size=SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            lines = await settle(app)
            assert any(re.search(r" 46 +tests/test_cart", line) for line in lines)
            assert any(re.search(r" 51-63 +test_refund", line) for line in lines)  # not the rule it stands in
            assert_golden(f"log_opened_{size[0]}x{size[1]}", lines)


@pytest.mark.parametrize("bench", list(WRITERS))
async def test_nothing_open_says_what_can_be(bench: str) -> None:
    app = opened(bench, path="", model="", query="")
    async with app.run_test(size=SIZES[1]):
        assert_golden(f"{bench}_blank_80x24", await settle(app))


async def test_an_empty_bench_says_when_a_digit_is_typed_and_when_it_opens_a_bench() -> None:
    app = opened("conversation", path="")
    async with app.run_test(size=SIZES[0]):
        lines = await settle(app)
        assert any("then a digit opens a bench" in line for line in lines)
        title = app.screen.query_one("#title")._lines[0]
        assert {span.role for span in title if span.action} == {"faint"}
        lines = await settle(app, "escape")
        assert not any("then a digit" in line for line in lines)
        title = app.screen.query_one("#title")._lines[0]
        assert "accent" in {span.role for span in title if span.action}


async def test_a_summary_stands_for_what_it_tells() -> None:
    app = opened("conversation", with_values(ZONE, {"conversation_prune.strategy": "summarize"}))
    async with app.run_test(size=SIZES[0]):
        lines = await settle(app)
        assert_true_figures(app, lines)
        bench = ledger_bench(app)
        answer = bench.state.answer
        assert answer is not None
        summary = next(item for item, entry in enumerate(answer.entries) if entry.id.startswith("summary of"))
        charged = answer.entries[summary].after
        listing = bench.kind_page.listing(bench.scene)
        column = next(column for column in listing.columns if column.id == "share")
        share = "".join(span.text for span in listing.cell(summary, column, 8))
        assert charged and share == f"{charged / answer.ledger.budget:.1%}", "its share is what the bar charges"
        told = next(
            item for item, entry in enumerate(answer.entries) if entry.state is State.SUMMARISED and not entry.after
        )
        text = "\n".join(await settle(app, *["down"] * told, "i"))
        assert "SUMMARISED" in text and "this summary stands for it" in text and "[Summary of " in text


async def test_notices_without_room_above_the_list_stand_in_the_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_transcript(tmp_path)
    app = opened("conversation", with_values(ZONE, {"conversation_prune.safe_zone_tokens": 200}))
    async with app.run_test(size=SIZES[1]):
        assert any("more lines of warnings: ? shows them" in line for line in await settle(app))
        told = [plain(line) for line in ledger_bench(app).notices(200)]
        shown = " ".join(" ".join(line.strip("│┃ ") for line in await settle(app, "question_mark")).split())
        assert "About this answer" in shown and all(" ".join(one.split())[:60] in shown for one in told)


async def test_tools_of_a_request_are_told_apart() -> None:
    tools = [
        {
            "name": f"mcp__warehouse__count_parcels_{number}",
            "description": f"Counts shelf {number}.",
            "input_schema": {},
        }
        for number in range(3)
    ]
    body = {"model": "claude-sonnet-4", "tools": tools, "messages": [{"role": "user", "content": "How many?"}]}
    Path("tools.json").write_text(json.dumps(body), encoding="utf-8")
    app = opened("conversation", path="tools.json")
    async with app.run_test(size=(120, 40)):
        text = "\n".join(await settle(app))
        assert all(f"Counts shelf {number}." in text and f"parcels_{number}" in text for number in range(3)), text
