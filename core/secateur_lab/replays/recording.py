"""The file of a recorded session: what was done, one event per line, in JSON.

    {"replay": 1, "about": "which code answers, and what decides that"}
    {"at": 0, "do": "open", "kind": "search", "input": {"query": "rounding of refunds", "path": "sample:orders"}}
    {"at": 2.5, "do": "caption", "text": "Ten fragments fit."}
    {"at": 6, "do": "set", "values": {"budget": 2000}}
    {"at": 6.1, "do": "decided", "after": 1990, "digest": "f0e1d2c3b4a59687"}

`at` counts seconds from the start. A recording is outside data: its size is limited, every field is checked, every
error names file and line.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct
from secateur import Notice, SecateurError, read_file, shown, suggestion

from secateur_lab.replays.events import (
    ACTIONS,
    REQUIRED,
    AnyEvent,
    Opened,
    Text,
)

SUFFIX = ".replay.jsonl"

FORMAT = 1

LARGEST = 16 << 20  # most bytes of a recording's file
LONGEST_LINE = 1 << 20

MOST_EVENTS = 10_000

CANNOT_READ = "REPLAY"
_LISTED = "docs/reference/recordings.md lists what each event has"


class RecordingHead(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first line of a recording."""

    replay: int
    about: Text = ""
    paths: Literal["repository", "here"] = "repository"  # what paths are relative to: "here", the file's folder


@dataclass(frozen=True)
class Recording:
    """The content of a recording's file."""

    path: Path
    head: RecordingHead
    events: tuple[AnyEvent, ...]
    lines: tuple[int, ...]  # of each event, from 1
    notices: tuple[Notice, ...] = ()

    def place(self, index: int) -> str:
        """Returns the file and line of an event, for errors."""
        return f"{shown(self.path)}:{self.lines[index]}"


# --- reading ----------------------------------------------------------------------------------------------------------


def read_recording(path: Path) -> Recording:
    """Reads the file of a recording. Raises SecateurError: `NO_SUCH_FILE`, `UNREADABLE`, `TOO_LARGE`; `REPLAY`: it is
    malformed, with its line."""
    return parse_recording(read_file(path, LARGEST, "recording"), path)


def parse_recording(data: bytes, path: Path) -> Recording:
    """Parses a recording; `path` is for errors, which are those of `read_recording`.

    A last line without a line end was being written when the program ended: a notice says that it is left out.
    """
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    unfinished = lines.pop()
    head: RecordingHead | None = None
    events: list[AnyEvent] = []
    numbers: list[int] = []
    notices: list[Notice] = []
    if unfinished.strip() and lines and not _is_complete(unfinished):
        notices.append(Notice("unfinished_line", f"line {len(lines) + 1} is incomplete and is left out"))
    elif unfinished.strip():
        lines.append(unfinished)
    for at, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if len(line) > LONGEST_LINE:
            raise malformed(path, at, f"the line is longer than {LONGEST_LINE:,} bytes", "an event is a short line")
        if head is None:
            record = _object(line, at, path)
            if record.get("replay") != FORMAT:
                fault = f"replay = {shown(str(record.get('replay')))} is not a format that this version reads"
                raise malformed(path, at, fault, f'the first line is: {{"replay": {FORMAT}}}')
            head = _convert(record, RecordingHead, at, path)
            continue
        record = _object(line, at, path)
        action = record.get("do")
        if action not in ACTIONS:
            near = suggestion(action, ACTIONS) if isinstance(action, str) else ""
            hint = f"did you mean {near}?" if near else f"events: {', '.join(ACTIONS)}"
            raise malformed(path, at, f"do: unknown event {shown(str(action))}", hint)
        if missing := [name for name in REQUIRED.get(action, ()) if name not in record]:
            raise malformed(path, at, f"{action}: {missing[0]} is missing", _LISTED)
        event = _convert(record, AnyEvent, at, path)
        if events and event.at < events[-1].at:
            raise malformed(path, at, f"at: {event.at:g} lies before {events[-1].at:g}", "times count from the start")
        if not events and not isinstance(event, Opened):
            raise malformed(path, at, "nothing is open yet", 'the first event is {"do": "open", "kind": …}')
        events.append(event)
        numbers.append(at)
        if len(events) > MOST_EVENTS:
            raise malformed(path, at, f"more than {MOST_EVENTS:,} events", "split it into several recordings")
    if head is None:
        raise malformed(path, 1, "it is empty", f'it begins with: {{"replay": {FORMAT}}}')
    if not events:
        raise malformed(path, 1, "no event follows", 'the first event is {"do": "open", "kind": …}')
    return Recording(path, head, tuple(events), tuple(numbers), tuple(notices))


def malformed(path: Path, line: int, what: str, hint: str) -> SecateurError:
    """Returns the error about a malformed file."""
    return SecateurError(f"{shown(path)}:{line}: {what}", hint=hint, code=CANNOT_READ)


def _is_complete(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return False
    return True


def _object(line: bytes, at: int, path: Path) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        message = str(error) if isinstance(error, msgspec.DecodeError) else "it is nested too deeply or not UTF-8"
        raise malformed(path, at, f"it is not JSON: {message}", "every line is one JSON object") from error
    if not isinstance(record, dict):
        raise malformed(path, at, "it is not a JSON object", "every line is one JSON object")
    return record


def _convert(record: dict[str, Any], what: Any, at: int, path: Path) -> Any:
    try:
        return msgspec.convert(record, what)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$")
        unknown = re.fullmatch(r"Object contains unknown field `(.*)`", message)
        takes = message.replace("`", "").replace("Expected ", "takes ")
        name = f"unknown field {shown(unknown[1])}" if unknown else takes
        key = where.rstrip("`").lstrip(".").replace("[...]", "")
        raise malformed(path, at, f"{key}: {name}" if key else name, _LISTED) from error
