"""Finds repeated credentials in a content, and replaces credentials with markers.

The same credential has the same marker in all texts that share one `CredentialNumbers`. Numbers follow the order of the
credentials, so the same texts get the same markers. Line numbers do not change: for a credential over several lines,
the first line contains the marker, and the others nothing of the credential."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from secateur.recognised import MOST_VALUES, recognise
from secateur.redaction.value_looks import LEAST_DISTINCTIVE, MOST_JUDGED, is_distinctive

# A marker: the rule and the number.
MARKER = re.compile(r"\[redacted: ([a-z0-9][a-z0-9-]{0,63}) #([1-9]\d{0,8})\]")

NEW_LINE = b"\n"

# The beginning of a line that is not part of a multi-line credential: a diff's sign, indentation, a comment.
_FRAME = re.compile(rb"[ \t]{0,64}(?:[-+](?!-)|[-+](?=-----END))?[ \t]{0,64}(?:(?://|[>#*|\"'])[ \t]{0,8})?")


class CredentialSpan(Struct, frozen=True, order=True):
    """A credential in a content: bytes `start` to `end` of the UTF-8 text, and the rule that found it."""

    start: int
    end: int
    rule: str


_WORD = re.compile(rb"[A-Za-z0-9]+")
_MOST_OF_A_WORD = 32
# Up to this many values are searched one by one; for more, each word of the text is looked up in an index of words.
_FEW_VALUES = 24


class RepeatedValues:
    """Finds further occurrences of recognised values. Values that are not distinctive are ignored.

    Judging a value costs more than searching for it, so each is judged once, and at most MOST_JUDGED are.
    """

    def __init__(self) -> None:
        self._rules: dict[bytes, str] = {}
        self._by_word: dict[bytes, list[tuple[bytes, int]]] = {}

    def add(self, value: bytes, rule: str) -> bool:
        """Adds a value and the rule that found it. Returns whether it is distinctive."""
        if value in self._rules:
            return True
        judged = len(self._rules) < MOST_JUDGED
        if not (is_distinctive(value) if judged else len(value) >= LEAST_DISTINCTIVE and NEW_LINE not in value):
            return False
        self._rules[value] = rule
        longest = value if value.isalnum() else max(_WORD.findall(value), key=len, default=b"")
        values_of_word = self._by_word.setdefault(longest, [])
        if len(values_of_word) < _MOST_OF_A_WORD:
            values_of_word.append((value, value.find(longest)))
        return True

    def find(self, text: bytes) -> Iterator[CredentialSpan]:
        """Yields the occurrences of the values that are not part of longer words, with the rules that found them."""
        if len(self._rules) <= _FEW_VALUES:
            for value, rule in self._rules.items():
                offset = text.find(value)
                while offset >= 0:
                    if _is_separate(text, offset, offset + len(value)):
                        yield CredentialSpan(offset, offset + len(value), rule)
                    offset = text.find(value, offset + len(value))
            return
        for match in _WORD.finditer(text):
            for value, word_offset in self._by_word.get(match.group(), ()):
                offset = match.start() - word_offset
                if offset >= 0 and text.startswith(value, offset) and _is_separate(text, offset, offset + len(value)):
                    yield CredentialSpan(offset, offset + len(value), self._rules[value])


class CredentialNumbers:
    """The markers of the credentials in one answer, or markers without numbers. It holds credentials and is never
    stored.

    Attributes:
        issued: the markers of credentials in this answer.
        complete: all texts have been scanned, so the known credentials are all that the answer must leave out.
    """

    def __init__(self, *, numbered: bool = True) -> None:
        self._numbered = numbered
        self.complete = False
        self.issued: set[str] = set()
        self._known: dict[bytes, str] = {}
        self._repeated = RepeatedValues()
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def keep_free(self, data: bytes) -> None:
        """Reserves the markers that a text holds already, from an earlier answer: no other credential gets them."""
        if b"[redacted: " in data:
            self._taken.update(match.group() for match in MARKER.finditer(data.decode("utf-8", "replace")))

    def marker(self, rule: str, credential: bytes) -> str:
        """Returns the marker of a credential, which is that of its first occurrence, whatever rule finds it later."""
        if not self._numbered:  # in names, which are the same in every answer
            return f"[redacted: {rule}]"
        if credential in self._known:
            return self._known[credential]
        marker_number = self._last.get(rule, 0) + 1
        while (marker := f"[redacted: {rule} #{marker_number}]") in self._taken:
            marker_number += 1
        self._last[rule] = marker_number
        self._known[credential] = marker
        self.issued.add(marker)
        distinctive = self._repeated.add(credential, rule) or NEW_LINE in credential
        if distinctive and len(self._known) <= MOST_VALUES:  # more would only push out the first ones
            recognise(credential.decode("utf-8", "replace"), rule)
        return marker

    def bare(self, data: bytes) -> bytes:
        """Returns the content with markers also at further occurrences of distinctive credentials."""
        return insert_markers(data, merge_spans(self._repeated.find(data)), self)


def _is_separate(text: bytes, start: int, end: int) -> bool:
    """Tells whether the span is not part of a longer word; the letter of an escape such as `\\n` does not count."""
    before = text[start - 2 : start] if start > 1 else text[:start]
    if before[-1:].isalnum() and text[start : start + 1].isalnum() and before not in (b"\\n", b"\\t", b"\\r"):
        return False
    return not (text[end : end + 1].isalnum() and text[end - 1 : end].isalnum())


def merge_spans(spans: Iterable[CredentialSpan]) -> list[CredentialSpan]:
    """Returns the spans in order without overlaps; overlapping spans become one, named by the first rule."""
    out: list[CredentialSpan] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        if out and span.start < out[-1].end:
            last = out[-1]
            out[-1] = CredentialSpan(last.start, max(last.end, span.end), last.rule)
        else:
            out.append(span)
    return out


def insert_markers(data: bytes, spans: Sequence[CredentialSpan], numbers: CredentialNumbers) -> bytes:
    """Returns the content with markers in place of credentials. `spans`: from `merge_spans`."""
    if not spans:
        return data
    parts: list[bytes] = []
    offset = 0
    for span in spans:
        credential = data[span.start : span.end]
        parts += [data[offset : span.start], numbers.marker(span.rule, credential).encode()]
        for line in credential.split(b"\n")[1:]:
            frame = _FRAME.match(line)
            parts.append(b"\n" + (frame.group() if frame else b"") + (b"\r" if line.endswith(b"\r") else b""))
        offset = span.end
    return b"".join((*parts, data[offset:]))


def format_spans(data: bytes, spans: Sequence[CredentialSpan]) -> str:
    """Returns the spans of a content as text for an index: line, rule, start and end of each; "" without spans."""
    parts = []
    line, offset = 1, 0
    for span in spans:
        line += data.count(NEW_LINE, offset, span.start)
        offset = span.start
        parts.append(f"{line}:{span.rule}:{span.start}:{span.end}")
    return " ".join(parts)


def parse_spans(text: str) -> list[tuple[int, CredentialSpan]]:
    """Parses a text from `format_spans` into (line from 1, span)."""
    parts = (item.split(":") for item in text.split())
    return [(int(line), CredentialSpan(int(start), int(end), rule)) for line, rule, start, end in parts]
