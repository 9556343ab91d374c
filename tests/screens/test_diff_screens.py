"""Golden screens of the Diff bench, and the same figures taken from the packing: a deliberate change of the engine
fails both."""

import re
from pathlib import Path

import pytest
from diff_kit import LIMIT, diff_bench, opened, packing, write_pull_request, write_repository
from inspector_kit import Inspector, assert_golden, press, running, settle
from secateur.settings import Settings, with_values
from textual.pilot import Pilot

SIZES = [(120, 40), (80, 24)]


@pytest.fixture(autouse=True)
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_pull_request(tmp_path)


def number(text: str) -> int:
    return int(text.replace(",", ""))


def assert_true_figures(app: Inspector, lines: list[str]) -> None:
    """Every figure of the budget line and of each visible heading is that of the packing, and the bars are as full as
    the chunks."""
    planned = packing(app).outcome.payload
    plan, tokens = planned.plan, planned.tokens
    text = next(line for line in lines if "Budget ─" in line)
    found = re.search(r"Budget ─ ([\d,]+) of (?:(\d+) × )?([\d,]+)", text)
    assert found is not None and (number(found[1]), number(found[3])) == (sum(tokens), plan.limit)
    assert int(found[2] or 1) == len(tokens)
    for word, value in (("free", plan.limit * len(tokens) - sum(tokens)), ("fewest", plan.fewest)):
        said = re.search(rf"{word} ([\d,]+)", text)
        assert said is None or number(said[1]) == value
    heading = r"│ chunk +(\d+)/(\d+) ([█▓▒░·]+) +([\d,]+) +(\d+)%  (\d+) files?"
    shown = [match for line in lines if (match := re.search(heading, line))]
    assert shown, "no chunk is on screen"
    for match in shown:
        index, filled = int(match[1]), tokens[int(match[1]) - 1]
        assert (int(match[2]), number(match[4])) == (len(tokens), filled)
        assert int(match[6]) == len(plan.chunks[index - 1]) and match[5] == f"{filled / plan.limit:.0%}"[:-1]
        assert abs(len(match[3].rstrip("·")) - len(match[3]) * filled / plan.limit) <= 1


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
    async with running(opened(settings), SIZES[0]) as app:
        pilot = Pilot(app)
        for key in keys.split():  # each turn is decided before the next
            await settle(app, key)
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
        text = "\n".join(lines)
        for words in (
            "HEAD^...HEAD (from ",
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
        await settle(app, *"bbbbbbbbbbbbbbbb")
        assert packing(app).outcome.payload.plan.limit > 3000 and diff_bench(app).state.listed


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
        tokens = packing(app).outcome.payload.tokens
        assert len(tokens) > 30
        bar = next(line for line in lines if re.fullmatch(r"│ [█▓▌░·]+ +│", line))
        drawn = bar.strip("│ ")
        assert len(drawn.rstrip("·")) / len(drawn) == pytest.approx(sum(tokens) / (150 * len(tokens)), abs=0.02)


async def test_a_heading_is_no_item_and_the_cursor_passes_over_it() -> None:
    async with running(opened(), SIZES[0]) as app:
        entries = []
        for _ in range(12):
            entries.append(diff_bench(app).state.entry)
            await press(app, "down")
            assert any(("▸" in line and "●" in line) or ("▸" in line and "○" in line) for line in await settle(app))
        assert entries[:4] == ["docs/refunds.md", "src/shop/rates.py", "assets/readme.txt", "src/shop/cart.py"]


async def test_a_file_that_is_cut_names_the_lines_of_its_parts_in_the_list_and_in_why() -> None:
    async with running(opened(), SIZES[0]) as app:
        text = "\n".join(await settle(app, "down"))
        assert "2-3   1-213, 214-270" in text
        assert "part 1/2, lines 1-213" in text and "part 2/2, lines 214-270" in text
