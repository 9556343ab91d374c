"""Text from outside on every view: no markup is obeyed, no control sequence reaches the terminal, columns stay where
they are."""

from dataclasses import replace

import pytest
from inspector_kit import (
    ORDERS,
    Candidate,
    KitStatus,
    ScriptedEngine,
    bench_of,
    inspector,
    make_pool,
    press,
    running,
    screen_lines,
    settle,
)
from secateur.errors import RepositoryError
from secateur.model import Notice
from secateur.settings import Settings, Ui
from secateur_tui.widgets.dialogue import MOST_PASTED, QueryInput
from textual import events

HOSTILE = (
    "a[/b]",
    "[$x]",
    "[bold red]x[/]",
    "app/[slug]/page.tsx",
    "trailing\\",
    "\x1b]52;c;cHduZWQ=\x07",
    "\x1b]0;title\x1b\\",
    "\x9b2J",
    "rtl\u202ecod.exe",
    "zero\u200bwidth",
    "日本語のとても長い名前のファイル.py",
    "e\u0301\u0301\u0301\u0301",
    "line\nbreak\r\ttab",
    "\udcff\udcfe",
    "@click=app.quit",
    "x" * 500,
)
PAGES = ("i", "v", "d", "w", "y", "question_mark", "slash")


def hostile_pool(query: str):
    candidates = [
        Candidate(
            f"src/{text}/{text}",
            text,
            (1 + i, 9 + i),
            100 + i,
            0.9 - i / 50,
            0.5,
            1 if i == 0 else 2,
            i - 1,
            text,
            text or "k",
            text,
            10,
        )
        for i, text in enumerate(HOSTILE)
    ]
    pool = make_pool(
        candidates, query=query, counter=HOSTILE[0], warnings=tuple(Notice("w", text) for text in HOSTILE[:3])
    )
    pool.parts["relevance"] = {text: pool.relevance / len(HOSTILE) for text in HOSTILE}
    return pool


def assert_harmless(lines: list[str], width: int) -> None:
    from rich.cells import cell_len

    for line in lines:
        assert not [
            character
            for character in line
            if ord(character) < 32 or 0x7F <= ord(character) < 0xA0 or character in "\u202e\u200b"
        ]
        assert cell_len(line) <= width
        assert not any("\ud800" <= character <= "\udfff" for character in line)


@pytest.mark.parametrize("size", [(120, 40), (80, 24)], ids=str)
async def test_every_view_shows_hostile_text_as_text(size: tuple[int, int]) -> None:
    text = "\n".join(HOSTILE)
    engine = ScriptedEngine(
        lambda query, _settings: hostile_pool(query),
        source_name="[/b] \x1b]0;x\x07 @ [$x]\\",
        texts=dict.fromkeys(hostile_pool("q").symbol_id, text),
    )
    settings = Settings(budget=900, ui=Ui(theme="[/b]\x1b[2J", keys={"[/x]\x1b": "[", "undo": "["}))
    app = inspector(engine, settings, query="[/b] \x1b]52;c;x\x07 \u202e [$x]\\", proves=True)
    async with app.run_test(size=size, notifications=True):
        assert_harmless(await settle(app), size[0])
        lines = await settle(app, "right", "s", "down")
        text_on_screen = "\n".join(lines)
        assert "[/b]" in text_on_screen, "brackets are text"
        for page in PAGES:
            assert_harmless(await settle(app, page), size[0])
            await press(app, "escape")
        await press(app, "v")
        for _ in range(4):
            bench = bench_of(app)
            bench.go_home()
            assert_harmless(await settle(app, "down", "v"), size[0])
        app.set_focus(None)


async def test_wide_characters_keep_columns_aligned() -> None:
    names = ("日本語", "한국어 이름", "plain", "混ぜmixed", "ｆｕｌｌ")
    pool = make_pool(
        [
            replace(
                ORDERS[0], path=f"src/{name}/very/long/path/that/is/cut/{name}.py", name=name, relevance=0.9 - i / 10
            )
            for i, name in enumerate(names)
        ]
    )
    async with running(inspector(ScriptedEngine(lambda _query, _settings: pool), proves=True)) as app:
        from rich.cells import cell_len

        rows = [line for line in screen_lines(app) if "●" in line[:20] and "kept" not in line]
        assert len(rows) == len(names)
        for line in rows:
            right_border = line[: line.index("│", 1)]
            assert cell_len(right_border) == 71


async def test_pasted_control_characters_become_visible() -> None:
    async with running(inspector(query="")) as app:
        field = bench_of(app).query_one(QueryInput)
        app.post_message(events.Paste("\n \x1b]52;c;x\x07where\u202e?\nsecond line"))
        lines = await settle(app)
        assert_harmless(lines, 120)
        assert "where" in field.value and "\x1b" not in field.value
        assert field.value.endswith("?␊second line"), "the ends of lines are shown, and the field says how many"
        assert any("2 lines" in line for line in lines)
        assert bench_of(app).state.question == field.value.replace("␊", "\n"), "it is asked as it was pasted"


async def test_a_large_paste_is_cut_and_typing_goes_on() -> None:
    async with running(inspector(query=""), (80, 24)) as app:
        app.post_message(events.Paste("line of an issue\r\n" * 100_000))
        await settle(app)
        lines = await settle(app, *"end")
        asked = bench_of(app).state.question
        assert len(asked) == MOST_PASTED + len("end") and asked.endswith("end") and "\r" not in asked
        assert any("1,177 lines" in line for line in lines)


async def test_hostile_errors_and_progress() -> None:
    def refuse(query: str) -> None:
        raise RepositoryError(f"[/b] {HOSTILE[5]} {query}: cannot be read", hint="[$x] \x1b[31mrun\\")

    def refresh(progress):
        progress("[/b]\x1b[2J", 1, 3)

    engine = ScriptedEngine(
        lambda query, _settings: make_pool(query=query), before=refuse, on_refresh=refresh, state=KitStatus(0, 0)
    )
    app = inspector(engine)
    async with app.run_test(size=(80, 24)):
        lines = await settle(app)
        assert_harmless(lines, 80)
        text = "\n".join(lines)
        assert "cannot be read" in text and "[$x]" in text
        assert "Traceback" not in text
