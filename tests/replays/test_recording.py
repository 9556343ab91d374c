"""The file of a recording: what is read, what is refused, and that a crash costs the line that was being written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.errors import SecateurError
from secateur_lab.replays import events
from secateur_lab.replays.events import line_of
from secateur_lab.replays.recording import LARGEST, MOST_EVENTS, parse_recording, read_recording

HEAD = b'{"replay":1}\n'
OPEN = b'{"at":0,"do":"open","kind":"log","input":{"path":"ci.log"}}\n'
PATH = Path("a.replay.jsonl")


def test_events_come_back_as_they_were_written():
    made = (
        events.Opened(0, "log", {"path": "a\u202eb"}, {"log.max_tokens": 3}),
        events.Captioned(1.25, "é \x1b[31m"),
        events.Pinned(2, "a::b", False),
        events.SettingsChanged(3, {"budget": 1, "pins": ["a"]}),
        events.AnswerSeen(4, 12, "0123456789abcdef"),
    )
    written = HEAD + "".join(line_of(one) + "\n" for one in made).encode()
    assert parse_recording(written, PATH).events == made
    assert b"\x1b" not in written and "\u202e" not in written.decode()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "a.replay.jsonl:1: it is empty"),
        (HEAD, "a.replay.jsonl:1: no event follows"),
        (b'{"replay":9}\n' + OPEN, "a.replay.jsonl:1: replay = 9 is not a format that this version reads"),
        (OPEN, "a.replay.jsonl:1: replay = None is not a format that this version reads"),
        (HEAD + b"[1]\n", "a.replay.jsonl:2: it is not a JSON object"),
        (HEAD + b"{nope}\n", "a.replay.jsonl:2: it is not JSON: JSON is malformed"),
        (HEAD + b"[" * 100_000 + b"\n", "a.replay.jsonl:2: it is not JSON: it is nested too deeply or not UTF-8"),
        (HEAD + b'{"do":"undo"}\n', "a.replay.jsonl:2: nothing is open yet"),
        (HEAD + OPEN + b'{"do":"sett"}\n', "a.replay.jsonl:3: do: unknown event sett"),
        (HEAD + OPEN + b'{"do":"set"}\n', "a.replay.jsonl:3: set: values is missing"),
        (HEAD + OPEN + b'{"do":"set","values":3}\n', "a.replay.jsonl:3: values: takes object, got int"),
        (HEAD + OPEN + b'{"do":"undo","x":3}\n', "a.replay.jsonl:3: unknown field x"),
        (HEAD + OPEN + b'{"at":2,"do":"undo"}\n{"at":1,"do":"undo"}\n', "a.replay.jsonl:4: at: 1 lies before 2"),
        (HEAD + OPEN + b'{"at":-1,"do":"undo"}\n', "a.replay.jsonl:3: at: takes float >= 0.0"),
        (HEAD + OPEN + b'{"at":NaN,"do":"undo"}\n', "a.replay.jsonl:3: it is not JSON: JSON is malformed"),
        (HEAD + OPEN * (MOST_EVENTS + 1), f"a.replay.jsonl:{MOST_EVENTS + 2}: more than 10,000 events"),
    ],
)
def test_what_is_malformed_is_named_with_its_line(data: bytes, said: str):
    with pytest.raises(SecateurError) as raised:
        parse_recording(data, PATH)
    assert raised.value.message.startswith(said)
    assert raised.value.hint


@pytest.mark.parametrize("cut", range(1, len(OPEN)))
def test_a_line_that_was_being_written_is_left_out(cut: int):
    found = parse_recording(HEAD + OPEN + OPEN[:cut], PATH)
    assert len(found.events) == (2 if cut == len(OPEN) - 1 else 1)  # a whole line lacks nothing but its end
    assert [notice.code for notice in found.notices] == ([] if cut == len(OPEN) - 1 else ["unfinished_line"])


def test_what_is_no_file_or_too_large_is_refused(tmp_path: Path):
    huge = tmp_path / "huge.replay.jsonl"
    with huge.open("wb") as file:
        file.truncate(LARGEST + 1)
    for path, code in ((huge, "TOO_LARGE"), (tmp_path, "UNREADABLE"), (tmp_path / "none", "NO_SUCH_FILE")):
        with pytest.raises(SecateurError) as raised:
            read_recording(path)
        assert raised.value.code == code


@settings(derandomize=True, max_examples=12, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes):
    try:
        parse_recording(HEAD + OPEN + data, PATH)
    except SecateurError as error:
        assert error.code == "REPLAY"
