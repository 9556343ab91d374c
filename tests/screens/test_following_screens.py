"""The session of a coding agent on the screen, and followed while it grows: the page on its window, and what stays."""

import os
from pathlib import Path

import pytest
from inspector_kit import Inspector, Pace, assert_golden, bench_of, looked, press, running, settle
from secateur.ledger import WRAPPER
from secateur.settings import Settings, with_values
from secateur_agents.proxy.pruning import RequestPruner
from secateur_agents.proxy.record import RequestRecorder
from support import agent_sessions as agents
from support.agent_requests import body, reads, settings
from support.agent_sessions import SCRIPT, as_lines, compacted, said, tool, user

SMALL = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 600})
MORE = (tool("read", "shop/tax.py", "TAX = 7\n" * 60), said("Seven."))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def opened(path: str, proves: bool = False) -> Inspector:
    app = Inspector(None, SMALL, bench="conversation", path=path, pace=Pace(0.001, 0.001, 0, proves=proves))
    app.follows = True
    return app


def write(script, name="session.jsonl", write=agents.claude_code) -> None:
    Path(name).write_text(as_lines(write(script)), encoding="utf-8")


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_the_page_says_what_fills_the_window_and_when_it_is_full(size: tuple[int, int]) -> None:
    write(SCRIPT)
    async with running(opened("session.jsonl"), size) as app:
        lines = await settle(app, "T")
        assert_golden(f"conversation_window_{size[0]}x{size[1]}", lines)
        text = "\n".join(lines)
        assert ("Read" in text and "tool-results" in text) or size[0] == 80


async def test_a_session_that_grows_is_followed_and_cursor_knobs_and_undo_stay() -> None:
    write(SCRIPT)
    async with running(opened("session.jsonl")) as app:
        await settle(app, "b", "up", "up", "up")
        state = bench_of(app).state
        before, entry, baseline, settings = state.answer, bench_of(app).state.entry, state.baseline, state.settings
        write((*SCRIPT, *MORE))
        lines = await looked(app)
        assert "claude-code, 20 messages" in "\n".join(lines)
        assert (bench_of(app).state.entry, state.baseline, state.settings) == (entry, baseline, settings)
        assert state.answer is not before and len(state.answer) == len(before) + 4
        old = {id(message) for message in before.outcome.payload.transcript.messages}
        new = {id(message) for message in state.answer.outcome.payload.transcript.messages}
        assert old < new  # nothing was read again
        await settle(app, "u")
        assert state.settings.conversation_prune.safe_zone_tokens == 600


async def test_a_file_that_was_replaced_by_a_link_is_named_and_read_only_on_a_key() -> None:
    write(SCRIPT)
    write((*SCRIPT, said("A secret of somebody.")), "private.jsonl")
    app = opened("session.jsonl")
    async with app.run_test(size=(160, 40)):
        before = "\n".join((await settle(app))[1:])
        Path("session.jsonl").unlink()
        Path("session.jsonl").symlink_to("private.jsonl")
        for _ in range(2):
            lines = await looked(app)
            assert "replaced by a link of yours" in lines[0]
            assert "secret" not in "\n".join(lines) and "\n".join(lines[1:]) == before
        assert "secret" in "\n".join(await settle(app, "R"))


async def test_the_live_ledger_says_what_was_cleared_at_which_cut_and_why() -> None:
    write(SCRIPT)
    app = opened("session.jsonl")
    async with app.run_test(size=(120, 60)):
        assert "Live: 0 cuts in 8 requests, 5 above the zone, paid 100%" in "\n".join(await settle(app))
        write((*SCRIPT, *MORE))
        assert "Live: 1 cut in 10 requests, 5 above the zone, paid" in "\n".join(await looked(app))
        text = "\n".join(await settle(app, "home", "down", "down", "i"))
        assert "Live: summarised, 270 -> 0 tokens before" in text and "request 9: it is among the oldest" in text
        assert_golden("conversation_live_120x60", await settle(app, "T"))


async def test_what_secateur_with_sends_is_followed_with_the_ledger_that_was_decided() -> None:
    record = Path("with-1-0.json").resolve()
    recorder = RequestRecorder(record.parent, 1)
    pruner = RequestPruner(settings(2_000), None, recorder.observe)
    for count in (2, 6, 8):
        pruner.edit("/v1/messages", "", body(reads(count)))
    recorder.close()
    app = opened("with-1-0.json")
    async with app.run_test(size=(120, 60)):
        assert "Live: 1 cut in 3 requests, paid" in "\n".join(await settle(app))
        again = RequestRecorder(record.parent, 1)
        after = RequestPruner(settings(2_000), None, again.observe)
        for count in range(2, 20):
            after.edit("/v1/messages", "", body(reads(count)))
        again.close()
        assert "Live: 2 cuts in 18 requests, 6 above the zone, paid 100%" in "\n".join(await looked(app))
        text = "\n".join(await settle(app, "T"))
        assert "before request 7: 10,052 -> 9,002 tokens" in text and "before request 16: " in text


async def test_the_cursor_stays_on_the_newest_message_until_it_is_moved() -> None:
    write(SCRIPT)
    async with running(opened("session.jsonl")) as app:
        state = bench_of(app).state
        leaving = [entry.id for entry in state.answer.entries if entry.after and entry.id != WRAPPER]
        assert bench_of(app).state.entry == leaving[-1]
        write((*SCRIPT, *MORE))
        assert any("▸" in line and "Seven." in line for line in await looked(app))
        await settle(app, "up")
        entry = bench_of(app).state.entry
        write((*SCRIPT, *MORE, said("And eight.")))
        lines = await looked(app)
        assert bench_of(app).state.entry == entry and any("And eight." in line and "▸" not in line for line in lines)
        await press(app, "end")
        write((*SCRIPT, *MORE, said("And eight."), said("Nine.")))
        assert any("▸" in line and "Nine." in line for line in await looked(app))


async def test_what_becomes_of_the_file_is_said() -> None:
    write(SCRIPT)
    async with running(opened("session.jsonl")) as app:
        write((*SCRIPT, compacted("All of it."), user("Go on.")))
        assert "was compacted" in "\n".join(await looked(app))
        write(SCRIPT[:3])
        assert "was cut off" in "\n".join(await looked(app))
        Path("session.jsonl").unlink()
        lines = await looked(app)
        assert "is gone" in "\n".join(lines)
        assert any("Read" in line for line in lines)  # what was last seen stays


async def test_a_session_in_a_database_is_followed(tmp_path: Path) -> None:
    path = agents.write_opencode_database(tmp_path, SCRIPT)
    app = opened(f"{path}#{agents.OPENCODE}")
    async with app.run_test(size=(120, 40)):
        assert "opencode, 9 messages" in "\n".join(await settle(app))
        agents.add_to_database(path, (*SCRIPT, *MORE))
        os.utime(path, (2_000_000_000, 2_000_000_000))
        assert "opencode, 11 messages" in "\n".join(await looked(app))


async def test_hostile_texts_of_a_session_are_shown_harmless() -> None:
    bad = "\x1b]0;title\x07[bold]x[/bold]\u202e\ud800".encode("utf-8", "replace").decode()
    lines = agents.claude_code((user(bad), tool("read", bad, bad * 40), said(bad)))
    for line in lines:
        line["cwd"] = line["version"] = bad
        if line["type"] == "assistant":
            line["message"]["model"] = bad
            for block in line["message"]["content"]:
                block.update({"name": bad} if block["type"] == "tool_use" else {})
    Path("session.jsonl").write_text(as_lines(lines), encoding="utf-8")
    async with running(opened("session.jsonl")) as app:
        text = "\n".join(await settle(app, "T"))
        assert "[bold]x[/bold]" in text
        assert not any(one in text for one in ("\x1b", "\x07", "\u202e"))
