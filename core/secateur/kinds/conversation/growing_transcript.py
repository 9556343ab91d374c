"""Follows a session's file: each line is read, parsed and counted once, however often the file is looked at.

growing = GrowingTranscript(path)
measured = growing.look(counter)          # the same as reading the whole file, up to its last complete line
measured = growing.look(counter)          # later: reads only new lines
"""

from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from secateur.kinds.conversation.api_formats import SESSION_FORMATS
from secateur.kinds.conversation.decisions import MeasuredTranscript, measure_for_model
from secateur.kinds.conversation.session_formats.base import SessionFormat
from secateur.kinds.conversation.transcripts import Transcript, parse_line
from secateur.kinds.conversation.unreadable import SessionMessages
from secateur.kinds.environment import LARGEST
from secateur.model import Notice
from secateur.progress import Progress
from secateur.redaction import Redactor, Scanning
from secateur.sources.growing_file import GrowingFile
from secateur.tokens import Counter

# Codes of the warnings about changes of a followed file.
CHANGED, GONE, COMPACTED = "session_changed", "session_gone", "session_compacted"

# The key in `Environment.shared` of the dict of followed transcripts; without it, files are read whole.
FOLLOWED = "followed transcripts"

_BOM = b"\xef\xbb\xbf"


class GrowingTranscript:
    """See the module docstring."""

    def __init__(self, path: Path, name: str, scanning: Scanning | None = None) -> None:
        """`name`: the file's name in errors and warnings; `scanning`: how to find credentials."""
        self._file, self._name = GrowingFile(path, LARGEST, "transcript"), name
        self._scanning = scanning
        self._said: tuple[Notice, ...] = ()
        self._measured: MeasuredTranscript | None = None
        self._counted_by = ""
        self._begin()

    def close(self) -> None:
        """Releases everything that was read."""
        self._begin()

    def _begin(self) -> None:
        self._number = 0  # lines so far, empty ones too
        self._values: list[Any] = []
        self._places: list[str] = []
        self._lines: list[str] = []
        self._owned: Tally[str] = Tally()  # values of each format
        self._roles = 0  # values with a role of their own
        self._proved = False  # a value proves that this is a session
        self._form: SessionFormat | None = None
        self._messages: SessionMessages | None = None
        self._compactions = 0
        self._measured = None
        self._redactor = Redactor(self._scanning)

    def look(self, counter: Counter, progress: Progress | None = None) -> MeasuredTranscript | None:
        """Returns the session as it is now; None if the file is not a session of an agent with one record a line.
        Raises SecateurError: the file cannot be read, or no message in it."""
        change = self._file.look()
        if change.kind == "gone":
            self._said = (Notice(GONE, f"{self._name} is gone: this is its last state."),)
            return self._with_notices()
        if change.kind == "anew":
            self._begin()
            self._said = (Notice(CHANGED, f"{self._name} {change.why}, and was read again."),) if change.why else ()
        known = self._measured is not None
        if change.kind == "same" and known and self._counted_by == counter.name:
            return self._with_notices()
        lines = change.lines
        if (end := self._file.open_end) and isinstance(parse_line(end.decode("utf-8", "replace"), ""), dict):
            lines = (*lines, self._file.take_open_end())  # it parses, so the line is complete
        self._take(lines, known)
        if self._form is None:
            return None
        if self._messages is None:
            self._messages = SessionMessages(self._form)
        messages, notices = self._messages.read(self._values, self._places)
        transcript = Transcript(self._form.name, messages, lines=tuple(self._lines), notices=notices)
        before = self._measured if self._counted_by == counter.name else None
        measured = replace(measure_for_model(transcript, counter, progress, before), redactor=self._redactor)
        self._measured, self._counted_by = measured, counter.name
        return self._with_notices()

    def _take(self, lines: Sequence[bytes], known: bool) -> None:
        compacted = self._compactions
        for data in lines:
            self._number += 1
            data = data.removeprefix(_BOM) if self._number == 1 else data
            if not data.strip():
                continue
            data = self._redactor.utf8(data, self._name)
            location, line = f"line {self._number}", data.decode("utf-8", "surrogateescape")
            value = parse_line(line, location)
            self._values.append(value)
            self._places.append(location)
            self._lines.append(line)
            if isinstance(value, dict):
                self._roles += "role" in value
                self._owned.update(name for name, form in SESSION_FORMATS.items() if form.owns(value))
                self._proved |= any(form.proves(value) for form in SESSION_FORMATS.values())
                self._compactions += self._form is not None and self._form.compacts(value)
        name = max(SESSION_FORMATS, key=lambda format_name: self._owned[format_name])
        form = SESSION_FORMATS[name] if self._owned[name] > self._roles and self._proved else None
        if form is not self._form:
            self._form, self._messages = form, None
        if known and self._compactions > compacted:
            self._said = (Notice(COMPACTED, "The session was compacted: earlier messages are no longer sent."),)

    def _with_notices(self) -> MeasuredTranscript | None:
        if (measured := self._measured) is None or not self._said:
            return measured
        return replace(
            measured, transcript=replace(measured.transcript, notices=(*self._said, *measured.transcript.notices))
        )
