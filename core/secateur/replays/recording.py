"""The file of a recorded session: what was done, one event a line, in JSON.

    {"replay": 1, "about": "which code answers, and what decides that"}
    {"at": 0, "do": "open", "kind": "search", "input": {"query": "rounding of refunds", "path": "sample:orders"}}
    {"at": 2.5, "do": "caption", "text": "Ten fragments fit."}
    {"at": 6, "do": "set", "values": {"budget": 2000}}
    {"at": 6.1, "do": "decided", "after": 1990, "digest": "f0e1d2c3b4a59687"}

`at` counts seconds from the start. A recording is data from outside: bounded in size, every field checked, every error
names file and line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from secateur.errors import SecateurError, shown
from secateur.inputs import read_file
from secateur.model import Notice
from secateur.replays.events import ACTIONS, REQUIRED, AnyEvent, Opened, Text
from secateur.suggestions import suggestion

SUFFIX = ".replay.jsonl"

FORMAT = 1

LARGEST = 16 << 20
"""Bytes of the file of a recording."""

LONGEST_LINE = 1 << 20

MOST_EVENTS = 10_000

CANNOT_READ = "REPLAY"


class RecordingHead(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first line."""

    replay: int
    about: Text = ""
    paths: Literal["repository", "here"] = "repository"  # what paths count from: "here", the folder of the file


@dataclass(frozen=True)
class Recording:
    """The content of a file."""

    path: Path
    head: RecordingHead
    events: tuple[AnyEvent, ...]
    lines: tuple[int, ...]  # of each event, from 1
    notices: tuple[Notice, ...] = ()

    def place(self, number: int) -> str:
        """File and line of an event, for errors."""
        return f"{shown(self.path)}:{self.lines[number]}"


# --- reading ----------------------------------------------------------------------------------------------------------


def read_recording(path: Path) -> Recording:
    """Reads the file of a recording.

    Raises:
        SecateurError: `NO_SUCH_FILE`, `UNREADABLE`, `TOO_LARGE`; `REPLAY`: it is malformed, with its line.
    """
    return parse_recording(read_file(path, LARGEST, "recording"), path)


def parse_recording(data: bytes, path: Path) -> Recording:
    """The recording of a file's bytes; `path` is for errors, which are those of `read_recording`.

    A last line without its end was being written when the program was ended: a notice says that it is left out.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    unfinished = lines.pop()
    head: RecordingHead | None = None
    events: list[AnyEvent] = []
    numbers: list[int] = []
    notices: list[Notice] = []
    if unfinished.strip() and _whole(unfinished):
        lines.append(unfinished)
    elif unfinished.strip() and lines:
        notices.append(Notice("unfinished_line", f"line {len(lines) + 1} is not whole and is left out"))
    elif unfinished.strip():
        lines.append(unfinished)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if len(line) > LONGEST_LINE:
            raise malformed(path, number, f"the line is longer than {LONGEST_LINE:,} bytes", "an event is a short line")
        if head is None:
            head = _head(line, number, path)
            continue
        event = _event(line, number, path)
        if events and event.at < events[-1].at:
            raise malformed(
                path, number, f"at: {event.at:g} lies before {events[-1].at:g}", "times count from the start"
            )
        if not events and not isinstance(event, Opened):
            raise malformed(path, number, "nothing is open yet", 'the first event is {"do": "open", "kind": …}')
        events.append(event)
        numbers.append(number)
        if len(events) > MOST_EVENTS:
            raise malformed(path, number, f"more than {MOST_EVENTS:,} events", "cut it into several recordings")
    if head is None:
        raise malformed(path, 1, "it is empty", f'it begins with: {{"replay": {FORMAT}}}')
    if not events:
        raise malformed(path, 1, "no event follows", 'the first event is {"do": "open", "kind": …}')
    return Recording(path, head, tuple(events), tuple(numbers), tuple(notices))


def malformed(path: Path, line: int, what: str, hint: str) -> SecateurError:
    """A file does not hold what it must."""
    return SecateurError(f"{shown(path)}:{line}: {what}", hint=hint, code=CANNOT_READ)


def _whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return True


def _head(line: bytes, number: int, path: Path) -> RecordingHead:
    found = _object(line, number, path)
    if found.get("replay") != FORMAT:
        raise malformed(
            path,
            number,
            f"replay = {shown(str(found.get('replay')))} is not a format that this version reads",
            f'the first line is: {{"replay": {FORMAT}}}',
        )
    return _converted(found, RecordingHead, number, path)  # type: ignore[no-any-return]


def _event(line: bytes, number: int, path: Path) -> AnyEvent:
    found = _object(line, number, path)
    action = found.get("do")
    if action not in ACTIONS:
        near = suggestion(action, ACTIONS) if isinstance(action, str) else ""
        hint = f"did you mean {near}?" if near else f"events: {', '.join(ACTIONS)}"
        raise malformed(path, number, f"do: there is no event {shown(str(action))}", hint)
    missing = [name for name in REQUIRED.get(action, ()) if name not in found]
    if missing:
        raise malformed(path, number, f"{action}: {missing[0]} is missing", "docs/replay.md lists what each event has")
    return _converted(found, AnyEvent, number, path)  # type: ignore[no-any-return]


def _object(line: bytes, number: int, path: Path) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        said = str(error) if isinstance(error, msgspec.DecodeError) else "it is nested too deeply or not UTF-8"
        raise malformed(path, number, f"it is no JSON: {said}", "every line is one JSON object") from error
    if not isinstance(found, dict):
        raise malformed(path, number, "it is no JSON object", "every line is one JSON object")
    return found


def _converted(found: dict[str, Any], what: Any, number: int, path: Path) -> Any:
    try:
        return msgspec.convert(found, what)
    except msgspec.ValidationError as error:
        said, _, where = str(error).partition(" - at `$")
        unknown = re.fullmatch(r"Object contains unknown field `(.*)`", said)
        name = f"unknown field {shown(unknown[1])}" if unknown else said.replace("`", "").replace("Expected ", "takes ")
        key = where.rstrip("`").lstrip(".").replace("[...]", "")
        told = f"{key}: {name}" if key else name
        raise malformed(path, number, told, "docs/replay.md lists what each event has") from error
