"""Writes the tables of a scenario as TOML, and changes a list in a text that a person wrote.

Finds the positions of keys, values and headers in TOML text.

    places = toml_places(text)
    places.line(("expect", "must_keep", 0))     # 12
    places.spans[("expect", "must_keep")]       # (201, 240): offsets of the value

The text must have passed a TOML parser, which limits its nesting. With the positions, errors name lines, and a value
can be replaced without touching the comments around it.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import tomli
from secateur import SecateurError, shown, toml_value

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


def add_expected(text: str, name: str, texts: Sequence[str]) -> str:
    """Adds elements to a list of `[expect]`; all else stays, byte for byte. A text without that table gets one, above
    the table `recorded` or at the end. Raises SecateurError: the list is written in a way that cannot be changed."""
    present = tomli.loads(text).get("expect", {}).get(name, [])
    new = [element for element in dict.fromkeys(texts) if element not in present]
    return _with_list(text, name, [*present, *new]) if new else text


def remove_expected(text: str, name: str, element: str) -> str:
    """Removes an element from a list of `[expect]`; all else stays, byte for byte. Raises SecateurError like
    `add_expected`."""
    present = tomli.loads(text).get("expect", {}).get(name, [])
    wanted = [other for other in present if other != element]
    return _with_list(text, name, wanted) if element in present else text


def _with_list(text: str, name: str, wanted: Sequence[str]) -> str:
    import tomlkit

    def change(table: Any) -> None:
        elements = table.setdefault("expect", {}).setdefault(name, [])
        for element in [element for element in elements if element not in wanted]:
            elements.remove(element)
        elements.extend(tomlkit.value(toml_value(element)) for element in wanted[len(elements) :])

    return _changed(text, change, f"expect.{name}")


def replace_expected(text: str, old: str, new: str | None) -> str:
    """Replaces what `[expect]` says of an item or a text by the same about another one; None: removes it, as it removes
    an assertion that is given by its name. All else stays, byte for byte. Raises SecateurError like `add_expected`."""

    def replaced(table: Any) -> bool:  # tells whether anything is left
        for key in list(table) if isinstance(table, dict) else reversed(range(len(table))):
            value = table[key]
            if value == old or (key == old and new is None):
                if new is not None:
                    table[key] = new
                elif key == "id":  # a rank is asserted of it
                    return False
                else:
                    del table[key]
            elif isinstance(value, dict | list) and value and not replaced(value):
                del table[key]
        return len(table) > ("at_least" in table)

    def change(table: Any) -> None:
        for name in ("expect", "saved"):
            if name in table:
                replaced(table[name])

    return _changed(text, change, "expect")


def _changed(text: str, change: Callable[[Any], object], name: str) -> str:
    """Returns a scenario's text after the same change to its values and to its document, above `[recorded]`."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    start = recorded_start(text)
    meant = tomli.loads(text[:start])
    change(meant)
    try:
        document: Any = tomlkit.parse(text[:start])
        change(document)
        new = tomlkit.dumps(document)
        if tomli.loads(new) != meant:
            raise ValueError("it would say something else")
    except (TOMLKitError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SecateurError(
            f"{name} is written in a way that cannot be changed: {error}",
            hint="put each comma right behind its value, before the comment",
            code="SCENARIO",
        ) from error
    return new + text[start:]


def recorded_start(text: str) -> int:
    """Returns the offset of the table `recorded`, which is the last one, or the length of a text without it."""
    return next((header.start for header in toml_places(text).headers if header.path[0] == "recorded"), len(text))


def replace_table(text: str, table: str, lines: Sequence[str]) -> str | None:
    """Replaces the keys of a top-level table; all else stays, byte for byte. None if the table does not exist or is not
    written below its own header."""
    places = toml_places(text)
    headers = [header for header in places.headers if header.path[0] == table]
    if len(headers) != 1 or headers[0].path != (table,):
        return None
    last = max((end for path, (_, end) in places.spans.items() if path[0] == table), default=0)
    begin, end = (text.find("\n", at) + 1 or len(text) for at in (headers[0].end, max(last, headers[0].end)))
    head = text[:begin] if text[begin - 1] == "\n" else text[:begin] + "\n"
    return head + "".join(f"{line}\n" for line in lines) + text[end:]


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields dotted keys and values of nested tables. `boosts` counts as one key, because its names are symbols."""
    for name, value in table.items():
        if isinstance(value, Mapping) and value and prefix + name != "boosts":
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns nested tables of dotted keys and values."""
    root: dict[str, Any] = {}
    for name, value in values.items():
        *tables, leaf = name.split(".")
        reduce(lambda node, table: node.setdefault(table, {}), tables, root)[leaf] = value
    return root


def pairs(table: Mapping[str, Any]) -> list[str]:
    names = [name if BARE_KEY.fullmatch(name) else toml_value(name) for name in table]
    values = [_text(value) if isinstance(value, str) else toml_value(value) for value in table.values()]
    return [f"{name} = {value}" for name, value in zip(names, values, strict=True)]


def _text(value: str) -> str:
    """Formats a text. Several lines are written line by line, unescaped if no character needs it."""
    if "\n" not in value:
        return toml_value(value)
    plain = all(char.isprintable() or char in "\n\t" for char in value)
    if plain and "'''" not in value and not value.endswith("'"):
        return f"'''\n{value}'''"
    escaped = "\n".join(toml_value(line)[1:-1].replace('\\"', '"') for line in value.split("\n"))
    closed = _CLOSING.sub(lambda quotes: '\\"' * len(quotes[0]), escaped)
    return f'"""\n{closed}"""'


_CLOSING = re.compile(r'"{3,}|"+\Z')  # quotes that would end a multi-line text
