"""Golden screens of the Diff bench, and the same figures taken from the packing: a deliberate change of the engine
fails both."""

import re
from pathlib import Path

import pytest
from diff_kit import LIMIT, PULL, diff_bench, opened, packing, write_pull_request, write_repository
from inspector_kit import Inspector, assert_golden, press, settle
from secateur.settings import Settings, with_values
from secateur_tui.state.diff_rows import RowKind

SIZES = [(120, 40), (80, 24)]


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_pull_request(tmp_path)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def assert_true_figures(app: Inspector, lines: list[str]) -> None:
    """Every figure of the budget line and of each visible row is that of the packing, and the bars are as full as the
    chunks."""
    ledger = packing(app)
    limit = ledger.plan.limit
    text = next(line for line in lines if "Budget ─" in line)
    found = re.search(r"Budget ─ ([\d,]+) of (?:(\d+) × )?([\d,]+)", text)
    assert found is not None and (number(found[1]), number(found[3])) == (sum(ledger.tokens), limit)
    assert int(found[2] or 1) == len(ledger.tokens)
    for word, value in (
        ("free", limit * len(ledger.tokens) - sum(ledger.tokens)),
        ("fewest", ledger.plan.fewest),
    ):
        said = re.search(rf"{word} ([\d,]+)", text)
        assert said is None or number(said[1]) == value
    shown = [
        match
        for line in lines
        if (match := re.search(r"chunk +(\d+)/(\d+) ([█▓▒░·]+) +([\d,]+) +(\d+)%  (\d+) files?", line))
    ]
    assert shown, "no chunk is on screen"
    for match in shown:
        index, tokens = int(match[1]), ledger.tokens[int(match[1]) - 1]
        assert (int(match[2]), number(match[4]), int(match[6])) == (
            len(ledger.tokens),
            tokens,
            len(ledger.plan.chunks[index - 1]),
        )
        assert match[5] == f"{tokens / limit:.0%}"[:-1]
        assert abs(len(match[3].rstrip("·")) - len(match[3]) * tokens / limit) <= 1
    costs = {
        (row.piece.cost if row.piece else row.coverage.file.tokens) for row in ledger.rows if row.coverage is not None
    }
    found_files = [re.search(r"[●◐○] +([\d,]+) [MADRCmT] ", line) for line in lines]
    assert {number(match[1]) for match in found_files if match} <= costs


@pytest.mark.parametrize(
    ("name", "settings", "keys"),
    [
        ("opened", LIMIT, ""),
        ("turned", LIMIT, "B B B w down down right"),
        ("why_part", LIMIT, "down i"),
        ("left_out", LIMIT, "G i"),
        ("preview", LIMIT, "down v"),
        ("preview_chunk", LIMIT, "v"),
        ("moved", LIMIT, "b b b b b b b b b b down down d"),
        ("held", LIMIT, "down down down K G K"),
        ("many", with_values(LIMIT, {"chunking.max_chunk_tokens": 250}), "i"),
        ("copy", LIMIT, "B down K y"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.isidentifier() else "",
)
async def test_screen(name: str, settings: Settings, keys: str) -> None:
    app = opened(settings)
    async with app.run_test(size=SIZES[0]) as pilot:
        await settle(app)
        for key in keys.split():  # each turn is decided before the next
            await press(app, key)
            await settle(app)
        lines = await settle(app)
        if name != "copy":
            assert_true_figures(app, lines)
        assert_golden(f"diff_{name}_120x40", lines)
        await pilot.resize_terminal(*SIZES[1])
        assert_golden(f"diff_{name}_80x24", await settle(app))


async def test_a_repository_shows_what_is_compared_and_what_is_injected(tmp_path: Path) -> None:
    write_repository(tmp_path)
    Path("SKILL.md").write_text("Look at the roundings.\n")
    Path("lint.txt").write_text("src/cart.py:2:5: error: too many places\nsrc/money.py:2:5: not changed\n")
    app = opened(path="shop", base="HEAD^", skill="SKILL.md", linter="lint.txt")
    async with app.run_test(size=SIZES[0]) as pilot:
        lines = await settle(app)
        assert_true_figures(app, lines)
        text = "\n".join(lines)
        for words in (
            "HEAD^...HEAD (from ",
            "headings, project rules,",
            "beside them: 1 line",
            "linter: 1 of 1 findings shown, 1 about other files",
        ):
            assert words in text
        await pilot.resize_terminal(160, 40)
        wide = "\n".join(await settle(app))
        assert "─ Instructions ─" in wide and "SKILL.md" in wide and "lint.txt" in wide


async def test_nothing_open_is_said() -> None:
    app = opened(path="")
    async with app.run_test(size=SIZES[1]):
        assert_golden("diff_blank_80x24", await settle(app))


async def test_instructions_larger_than_a_chunk_are_a_state_that_a_larger_limit_ends() -> None:
    Path("SKILL.md").write_text("Look at every line as if it were the last one. " * 300)
    app = opened(skill="SKILL.md")
    async with app.run_test(size=SIZES[0]) as pilot:
        assert_golden("diff_refused_120x40", await settle(app))
        await pilot.resize_terminal(*SIZES[1])
        assert_golden("diff_refused_80x24", await settle(app))
        await press(app, *"bbbbbbbbbbbbbbbb")
        await settle(app)
        assert packing(app).plan.limit > 3000 and diff_bench(app).state.listed


async def test_no_change_is_said(tmp_path: Path) -> None:
    write_repository(tmp_path)
    app = opened(path="shop")
    async with app.run_test(size=SIZES[1]):
        text = "\n".join(await settle(app))
        assert "No file changed." in text and "no chunk" not in text


async def test_more_chunks_than_cells_are_one_bar() -> None:
    app = opened(with_values(LIMIT, {"chunking.max_chunk_tokens": 150}))
    async with app.run_test(size=SIZES[1]):
        lines = await settle(app)
        assert_true_figures(app, lines)
        assert len(packing(app).tokens) > 30
        bar = next(line for line in lines if re.fullmatch(r"│ [█▓▌░·]+ +│", line))
        drawn = bar.strip("│ ")
        filled = sum(packing(app).tokens) / (150 * len(packing(app).tokens))
        assert len(drawn.rstrip("·")) / len(drawn) == pytest.approx(filled, abs=0.02)


async def test_the_preview_of_a_chunk_is_all_of_its_text() -> None:
    app = opened(with_values(LIMIT, {"chunking.max_chunk_tokens": 32_000}))
    async with app.run_test(size=SIZES[0]):
        await settle(app)
        await press(app, "v", "tab", "tab", "end")
        lines = await settle(app)
        text = packing(app).text(1)
        assert packing(app).rows[0].kind is RowKind.CHUNK and "    return round(amount * 89 + 1, places)" in text
        assert any("+    return round(amount * 89 + 1, places)" in line for line in lines), PULL
