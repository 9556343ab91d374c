"""Finds the positions of keys, values and headers in TOML text.

    places = toml_places(text)
    places.line(("expect", "must_keep", 0))     # 12
    places.spans[("expect", "must_keep")]       # (201, 240): offsets of the value

The text must have passed a TOML parser, which limits its nesting. With the positions, errors name lines, and a value
can be replaced without touching the comments around it.
"""

import re
from bisect import bisect_right
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import tomli
from secateur import shown

KeyPath = tuple[str | int, ...]  # Keys, and indexes of elements: `("expect", "must_keep", 0)`
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_SCALAR = re.compile(r"[^,\]}#\r\n]*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}(?!")' r"|'''.*?'{3,5}(?!')" r'|"(?:[^"\\\n]|\\.)*"' r"|'[^'\n]*'", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class TableHeader:
    """A line `[table]` or `[[table]]`."""

    start: int  # offset of its bracket
    end: int  # offset after the last bracket
    path: KeyPath


@dataclass
class TomlPlaces:
    """The positions that `toml_places` finds."""

    text: str
    keys: dict[KeyPath, int] = field(default_factory=dict)  # offset where a key, an element or a header begins
    spans: dict[KeyPath, tuple[int, int]] = field(default_factory=dict)  # offsets of values
    headers: list[TableHeader] = field(default_factory=list)

    def line(self, path: KeyPath) -> int:
        """Returns the line of a path, or of the nearest existing path around it, from 1."""
        while path and path not in self.keys:
            path = path[:-1]
        return self.line_at(self.keys[path]) if path else 1

    def line_at(self, offset: int) -> int:
        """Returns the line of an offset, from 1."""
        return bisect_right(self._starts, offset)

    def first(self, key: str) -> int | None:
        """Returns the offset where a top-level table or value begins; None if it does not exist."""
        return next((start for path, start in self.keys.items() if path[0] == key), None)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(newline.end() for newline in re.finditer("\n", self.text))]


def toml_places(text: str) -> TomlPlaces:
    """See the module docstring; for malformed TOML, only positions before the error are found."""
    scanner = _TomlScanner(text)
    with suppress(ValueError, RecursionError):
        scanner.document()
    return scanner.places


def dotted(where: KeyPath) -> str:
    """Formats a path as people write it: `recorded.items[3].reason`."""
    out = ""
    for part in where:
        if isinstance(part, int):
            out += f"[{part}]"
        else:
            out += ("." if out else "") + (part if BARE_KEY.fullmatch(part) else shown(f'"{part}"'))
    return out


class _TomlScanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.places = TomlPlaces(text)
        self._elements: dict[KeyPath, int] = {}  # of arrays of tables

    def document(self) -> None:
        table: KeyPath = ()
        while self._skip(_BLANK) < len(self.text):
            if self.text[self.at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> KeyPath:
        start = self.at
        brackets = 2 if self.text.startswith("[[", start) else 1
        self.at += brackets
        path: KeyPath = ()
        names = self._dotted()
        for index, name in enumerate(names):  # below an array of tables a name means the latest element
            path = (*path, name)
            if brackets == 2 and index == len(names) - 1:
                self._elements[path] = self._elements.get(path, -1) + 1
            if path in self._elements:
                path = (*path, self._elements[path])
        self._skip(_SPACE)
        self._expect("]" * brackets)
        self.places.headers.append(TableHeader(start, self.at, path))
        self._note(path, start)
        return path

    def _note(self, path: KeyPath, start: int) -> None:
        """Records where a path begins, and the paths around it that have no line of their own."""
        while path and path not in self.places.keys:
            self.places.keys[path] = start
            path = path[:-1]

    def _dotted(self) -> list[str]:
        names = []
        while True:
            self._skip(_SPACE)
            if self.text[self.at : self.at + 1] in ('"', "'"):
                names.append(_unquote(self._match(_STRING)))
            else:
                names.append(self._match(BARE_KEY))
            self._skip(_SPACE)
            if self.text[self.at : self.at + 1] != ".":
                return names
            self.at += 1

    def _pair(self, table: KeyPath) -> None:
        start = self.at
        path = (*table, *self._dotted())
        self._note(path, start)
        self._expect("=")
        self._skip(_SPACE)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        start = self.at
        sign = self.text[start : start + 1]
        if sign in ("[", "{"):
            self.at += 1
            index = 0
            while self._next() != ("]" if sign == "[" else "}"):
                if sign == "{":
                    self._pair(path)
                else:
                    self._note((*path, index), self.at)
                    self._value((*path, index))
                index += 1
                if self._next() == ",":
                    self.at += 1
            self.at += 1
        else:
            self._match(_STRING if sign in ('"', "'") else _SCALAR)
        self.places.spans[path] = start, self.at

    def _next(self) -> str:
        self._skip(_BLANK)
        if self.at >= len(self.text):
            raise ValueError("it ends inside a value")
        return self.text[self.at]

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        return self.at

    def _match(self, pattern: re.Pattern[str]) -> str:
        if (match := pattern.match(self.text, self.at)) is None or not match[0]:
            raise ValueError(f"nothing to read at {self.at}")
        self.at = match.end()
        return match[0]

    def _expect(self, sign: str) -> None:
        if not self.text.startswith(sign, self.at):
            raise ValueError(f"no {sign} at {self.at}")
        self.at += len(sign)


def _unquote(written: str) -> str:
    if "\\" not in written and not written.startswith(('"""', "'''")):
        return written[1:-1]
    value: str = tomli.loads(f"a={written}")["a"]
    return value
