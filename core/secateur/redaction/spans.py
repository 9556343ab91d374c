"""Places of credentials in a content, and the content with markers in their places.

The same credential has the same marker in all texts that share one `CredentialNumbers`; the numbers are given in the
order in which credentials appear, so that the same texts have the same markers. Line numbers stay: of a credential over
several lines the first holds the marker, and the others hold nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from secateur.recognised import recognise
from secateur.redaction.value_looks import is_distinctive

MARKER = re.compile(r"\[redacted: ([a-z0-9][a-z0-9-]{0,63}) #([1-9]\d{0,8})\]")
"""The look of a marker: the rule and the number."""

NEW_LINE = b"\n"

_FRAME = re.compile(rb"[ \t]{0,64}(?:[-+](?!-)|[-+](?=-----END))?[ \t]{0,64}(?:(?://|[>#*|\"'])[ \t]{0,8})?")
"""The beginning of a line that is no part of a credential over several lines: a diff's sign, indentation, a comment."""


@dataclass(frozen=True, slots=True, order=True)
class CredentialSpan:
    """A credential in a content: bytes `start` to `end`, of the UTF-8 text, and the rule that found it."""

    start: int
    end: int
    rule: str


_WORD = re.compile(rb"[A-Za-z0-9]+")
_MOST_OF_A_WORD = 32
_FEW_VALUES = 24
"""Values that are searched one by one; of more, one word each is looked up for every word of the text."""


class RepeatedValues:
    """Values that were recognised, for the places where they stand bare; those that are not distinctive are left out.

    Judging a value is dearer than a search for it, so that each is judged once.
    """

    def __init__(self) -> None:
        self._rules: dict[bytes, str] = {}
        self._by_word: dict[bytes, list[tuple[bytes, int]]] = {}

    def add(self, value: bytes, rule: str) -> bool:
        """Takes a value and the rule that found it; tells whether it is distinctive."""
        if value in self._rules:
            return True
        if not is_distinctive(value):
            return False
        self._rules[value] = rule
        words = [(found.group(), found.start()) for found in _WORD.finditer(value)]
        if words:
            word, at = max(words, key=lambda one: (len(one[0]), -one[1]))
            of_word = self._by_word.setdefault(word, [])
            if len(of_word) < _MOST_OF_A_WORD:
                of_word.append((value, at))
        return True

    def places(self, text: bytes) -> Iterator[CredentialSpan]:
        """The places where values stand bare, by the rules that found them."""
        if len(self._rules) <= _FEW_VALUES:
            for value, rule in self._rules.items():
                place = text.find(value)
                while place >= 0:
                    if _stands_bare(text, place, place + len(value)):
                        yield CredentialSpan(place, place + len(value), rule)
                    place = text.find(value, place + len(value))
            return
        for match in _WORD.finditer(text):
            for value, at in self._by_word.get(match.group(), ()):
                place = match.start() - at
                if place >= 0 and text.startswith(value, place) and _stands_bare(text, place, place + len(value)):
                    yield CredentialSpan(place, place + len(value), self._rules[value])


class CredentialNumbers:
    """The markers of the credentials of one answer, or markers without numbers. Holds credentials: it is never stored.

    Attributes:
        issued: markers that were given, and those that texts held before.
        complete: every text has been looked through, so that what is known is what the answer has to leave out.
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
        """Markers that stand in a text already, from an earlier answer, are given to no other credential."""
        if b"[redacted: " in data:
            self._taken.update(found.group() for found in MARKER.finditer(data.decode("utf-8", "replace")))

    def marker(self, rule: str, credential: bytes) -> str:
        """The marker of a credential: that of its first place, whatever rule finds it later."""
        if not self._numbered:  # of names, which are the same in every answer
            return f"[redacted: {rule}]"
        if credential in self._known:
            return self._known[credential]
        number = self._last.get(rule, 0) + 1
        while (marker := f"[redacted: {rule} #{number}]") in self._taken:
            number += 1
        self._last[rule] = number
        self._known[credential] = marker
        self.issued.add(marker)
        if self._repeated.add(credential, rule) or NEW_LINE in credential:
            recognise(credential.decode("utf-8", "replace"), rule)
        return marker

    def bare(self, data: bytes) -> bytes:
        """The content with markers also where a credential that has one stands bare: a value that is distinctive."""
        return with_markers(data, merged(self._repeated.places(data)), self)


def _stands_bare(text: bytes, start: int, end: int) -> bool:
    """Tells whether no longer word goes on at either side; the letter of an escape such as `\\n` is no word."""
    before = text[start - 2 : start] if start > 1 else text[:start]
    if before[-1:].isalnum() and text[start : start + 1].isalnum() and before not in (b"\\n", b"\\t", b"\\r"):
        return False
    return not (text[end : end + 1].isalnum() and text[end - 1 : end].isalnum())


def merged(spans: Iterable[CredentialSpan]) -> list[CredentialSpan]:
    """Spans in their order, none overlapping another: of those that do, the first rule names their union."""
    out: list[CredentialSpan] = []
    for span in sorted(spans, key=lambda one: (one.start, one.end)):
        if out and span.start < out[-1].end:
            last = out[-1]
            out[-1] = CredentialSpan(last.start, max(last.end, span.end), last.rule)
        else:
            out.append(span)
    return out


def with_markers(data: bytes, spans: Sequence[CredentialSpan], numbers: CredentialNumbers) -> bytes:
    """The content with markers in place of credentials. `spans`: as `merged` gives them."""
    if not spans:
        return data
    parts: list[bytes] = []
    place = 0
    for span in spans:
        credential = data[span.start : span.end]
        parts += [data[place : span.start], numbers.marker(span.rule, credential).encode()]
        for line in credential.split(b"\n")[1:]:
            frame = _FRAME.match(line)
            parts.append(b"\n" + (frame.group() if frame else b"") + (b"\r" if line.endswith(b"\r") else b""))
        place = span.end
    return b"".join((*parts, data[place:]))


def stored_spans(data: bytes, spans: Sequence[CredentialSpan]) -> str:
    """The spans of a content as text for an index: line, rule, start and end of each; "" for none."""
    return " ".join(f"{data.count(NEW_LINE, 0, one.start) + 1}:{one.rule}:{one.start}:{one.end}" for one in spans)


def restored_spans(text: str) -> list[tuple[int, CredentialSpan]]:
    """(line from 1, span) of a text that `stored_spans` made."""
    parts = (item.split(":") for item in text.split())
    return [(int(line), CredentialSpan(int(start), int(end), rule)) for line, rule, start, end in parts]
