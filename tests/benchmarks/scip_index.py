"""Reading an `index.scip`: definitions and references that a compiler or type checker found, written as protobuf.

Only what names a place is read: documents, their occurrences, and which symbols implement which. The wire format is
read by hand, because the protobuf runtime is larger than this program. The bytes are somebody else's: lengths, nesting
and numbers are checked before they are used, and what does not hold together raises `ScipDamaged`.

    index = ScipIndex(documents(data))
    index.agrees(path, lines)
    index.references(path, lines)[12, "total"]  # the places that line 12 means by `total`
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

MOST_ENTRIES = 1_000_000
"""Documents, occurrences and relations of an index that is read: some 15 s and 350 MB, a repository of half a million
lines."""

LONGEST_SYMBOL = 4096
"""Bytes of a symbol; those of indexers are below a few hundred, and a longer one is passed over."""

LONGEST_LINE = 20_000
"""Characters of a line whose names are looked at: columns of other lines would be counted from its start again and
again."""

DEFINITION = 1
"""Bit of a role: the occurrence defines its symbol."""

_VARINT_BYTES = 10
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_LAST_LINE = 1 << 30
_RANGE = 4  # numbers of a range at most: line and column of its start and end


class ScipDamaged(ValueError):
    """The bytes are not a SCIP index, or it ends too early."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A symbol written at a place. Line and columns count from 0; columns in the units of the document's encoding."""

    line: int
    start: int
    end: int
    symbol: bytes
    defines: bool


@dataclass(frozen=True, slots=True)
class Document:
    """One file of the index."""

    path: str  # relative to the root of the index, with "/"
    encoding: int  # what columns count: 0 not said, 1 UTF-8 bytes, 2 UTF-16 units, 3 characters
    occurrences: tuple[Occurrence, ...]
    implements: tuple[tuple[bytes, bytes], ...]  # (symbol, symbol of the base or interface it implements)


Place = tuple[str, int]
"""Path and line, from 1, of a definition."""

_REVERSED_NAME = re.compile(rb"(?:\.\)\w*\(|[#.])([\w$]*[A-Za-z_$])")
"""The name at the end of a symbol that is a type, a method or a variable, both written backwards: it is found from its
end, in linear time."""

_WORD = re.compile(r"\w")
_LOCAL = b"local "
_PARAMETER = (b")", b"]")
_CALLED = (b").", b"#", b"!")
"""Ends of the symbols of methods, types and macros: what is called by such a name is what it is the name of."""

_PACKAGE_PARTS = 4
_ALIASES = 4
"""Steps from a member that only names another definition (`{ total }`, `{ sum: total }`) to that definition."""

_MOST_NAMED = 8
"""Symbols at one place, and places of one symbol, that are followed so: more of them are a package or a made-up index,
and their product is endless."""

_MOST_PLACES = 64
"""Definitions of one symbol, and of what implements one, that are kept: overloads and partial classes have fewer, a
namespace is not called."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a name means at one place."""

    places: tuple[Place, ...]  # where it is defined; none if not in an indexed file
    below: tuple[Place, ...] = ()  # what implements or overrides it
    variable: bool = False  # what is called through it may be defined elsewhere


class ScipIndex:
    """Where the symbols of an index are defined, and what each name of a file means."""

    def __init__(self, read: Iterable[Document]) -> None:
        self.documents: dict[str, Document] = {}
        self._defined: dict[
            tuple[str, bytes], list[tuple[str, Occurrence]]
        ] = {}  # by scope, "" or the file of a local symbol
        self._packages = {b"local"}
        self._implementations: dict[bytes, list[bytes]] = {}
        self._at: dict[
            str, dict[tuple[int, int], list[bytes]]
        ] = {}  # file -> (line, column) -> what is referred to there
        self._found: dict[tuple[tuple[str, bytes], int], tuple[Place, ...]] = {}
        for document in read:
            if document.path in self.documents:
                continue
            self.documents[document.path] = document
            at = self._at.setdefault(document.path, {})
            for occurrence in document.occurrences:
                if occurrence.defines:
                    places = self._defined.setdefault(_key(document.path, occurrence.symbol), [])
                    if len(places) < _MOST_PLACES:
                        places.append((document.path, occurrence))
                    self._packages.add(_package(occurrence.symbol))
                else:
                    at.setdefault((occurrence.line, occurrence.start), []).append(occurrence.symbol)
            for symbol, base in document.implements:
                below = self._implementations.setdefault(base, [])
                if len(below) < _MOST_PLACES:
                    below.append(symbol)

    def agrees(self, path: str, lines: Sequence[str]) -> bool:
        """Whether these lines are what the index was made from: every name it defines there stands where it says."""
        document = self.documents[path]
        for occurrence in document.occurrences:
            if occurrence.start == occurrence.end or _on_long_line(lines, occurrence):
                continue  # the file itself, something its text does not name, or too costly to look at
            name = _plain_name(occurrence.symbol) if occurrence.defines else ""
            texts = _texts(lines, occurrence, document.encoding)
            if not texts or (name and name not in texts):
                return False
        return True

    def references(self, path: str, lines: Sequence[str]) -> dict[tuple[int, str], Meaning]:
        """(line, name as written) → what it means there; names the index does not know are absent."""
        found: dict[tuple[int, str], dict[bytes, None]] = {}
        document = self.documents[path]
        for occurrence in document.occurrences:
            if occurrence.defines or occurrence.start == occurrence.end or _on_long_line(lines, occurrence):
                continue
            if _package(occurrence.symbol) in self._packages and _key(path, occurrence.symbol) not in self._defined:
                continue  # of this project, and defined nowhere: what the indexer could not resolve
            for name in _texts(lines, occurrence, document.encoding):
                if not _misnamed(name, occurrence.symbol):
                    found.setdefault((occurrence.line + 1, name), {})[occurrence.symbol] = None
        meanings: dict[tuple[bytes, ...], Meaning] = {}
        for meant in found.values():
            symbols = tuple(meant)
            if symbols not in meanings:
                meanings[symbols] = self._meaning(path, symbols)
        return {site: meanings[tuple(meant)] for site, meant in found.items()}

    def _meaning(self, path: str, symbols: Sequence[bytes]) -> Meaning:
        places = dict.fromkeys(
            place for symbol in symbols if not symbol.endswith(_PARAMETER) for place in self.definitions(path, symbol)
        )
        implementing = (
            place
            for symbol in symbols
            for other in self._implementations.get(symbol, ())
            for place in self.definitions(path, other)
        )
        below = dict.fromkeys(islice(implementing, _MOST_PLACES))
        variable = all(_package(symbol) in self._packages and not symbol.endswith(_CALLED) for symbol in symbols)
        return Meaning(tuple(places), tuple(below), variable)

    def definitions(self, path: str, symbol: bytes, steps: int = _ALIASES) -> tuple[Place, ...]:
        """Where a symbol met in the file `path` is defined, members that only name another definition followed."""
        key = _key(path, symbol), steps
        if key not in self._found:
            places: dict[Place, None] = {}
            defined = self._defined.get(key[0], ())
            for where, occurrence in defined:
                named = (
                    self._at[where].get((occurrence.line, occurrence.start), ())
                    if steps and len(defined) <= _MOST_NAMED
                    else ()
                )
                further = [
                    place
                    for other in named[:_MOST_NAMED]
                    if other != symbol
                    for place in self.definitions(where, other, steps - 1)
                ]
                places.update(dict.fromkeys(further or [(where, occurrence.line + 1)]))
            self._found[key] = tuple(places)
        return self._found[key]


def _key(path: str, symbol: bytes) -> tuple[str, bytes]:
    return (path if symbol.startswith(_LOCAL) else "", symbol)


def _package(symbol: bytes) -> bytes:
    """Scheme, manager, name and version at the head of a symbol, "local" of a local one."""
    return b" ".join(symbol.split(b" ", _PACKAGE_PARTS)[:_PACKAGE_PARTS]) if not symbol.startswith(_LOCAL) else b"local"


def _misnamed(name: str, symbol: bytes) -> bool:
    """Whether scip-python says that `name` is something of another name: it mistakes what a star import brings for the
    last of it."""
    meant = _plain_name(symbol) if symbol.startswith(b"scip-python ") else ""
    return bool(meant) and meant != name


def _plain_name(symbol: bytes) -> str:
    """The name at the end of a symbol that is a type, a method or a variable; "" of any other."""
    found = _REVERSED_NAME.match(symbol[::-1])
    return found[1][::-1].decode() if found else ""


def _on_long_line(lines: Sequence[str], occurrence: Occurrence) -> bool:
    return occurrence.line < len(lines) and len(lines[occurrence.line]) > LONGEST_LINE


def _texts(lines: Sequence[str], occurrence: Occurrence, encoding: int) -> list[str]:
    """The text of an occurrence, in each reading of its columns; none where it cuts a word or lies behind the end of
    its line."""
    if occurrence.line >= len(lines):
        return []
    line = lines[occurrence.line]
    found: list[str] = []
    for codec, width in _UNITS.get(encoding, _UNITS[2] if line.isascii() else _ANY_UNIT):
        units = _encoded(line, codec)
        start, end = occurrence.start * width, occurrence.end * width
        beside = units[max(0, start - _CHARACTER) : start], units[start:end], units[end : end + _CHARACTER]
        before, text, after = (part.decode(codec, "replace") for part in beside)
        if end <= len(units) and not _cut(before, text) and not _cut(text, after):
            found.append(text)
    return list(dict.fromkeys(found))


@lru_cache(maxsize=4)
def _encoded(line: str, codec: str) -> bytes:
    """Kept for the other names of the line: lines can be very long."""
    return line.encode(codec, "surrogatepass")


_CHARACTER = 4
"""Bytes of the longest character in every encoding."""

_UNITS = {1: (("utf-8", 1),), 2: (("utf-16-le", 2),), 3: (("utf-32-le", 4),)}
_ANY_UNIT = (*_UNITS[2], *_UNITS[1], *_UNITS[3])
"""What columns may count where the index does not say; they are the same as long as a line is ASCII."""


def _cut(left: str, right: str) -> bool:
    """Whether the border between two texts goes through a word."""
    return bool(_WORD.match(left[-1:]) and _WORD.match(right[:1]))


def documents(data: bytes) -> Iterator[Document]:
    """The documents of an index, in its order.

    Raises:
        ScipDamaged: at the first thing that cannot be read, or that is too much; documents before it were given.
    """
    entries = 0
    symbols: dict[bytes, bytes] = {}
    for number, start, end in _fields(data, 0, len(data)):
        if number == 2 and end >= 0:
            document = _document(data, start, end, symbols, MOST_ENTRIES - entries)
            entries += 1 + len(document.occurrences) + len(document.implements)
            if entries > MOST_ENTRIES:
                raise _too_much()
            yield document


def _too_much() -> ScipDamaged:
    return ScipDamaged(f"it holds more than {MOST_ENTRIES:,} documents, occurrences and relations")


def _document(data: bytes, start: int, end: int, symbols: dict[bytes, bytes], most: int) -> Document:
    """One document. `symbols`: those met before, so that each is kept once; `most`: entries it may have."""
    path, encoding = "", 0
    occurrences: list[Occurrence] = []
    implements: list[tuple[bytes, bytes]] = []
    for number, first, last in _fields(data, start, end):
        if number == 2 and last >= 0:
            found = _occurrence(data, first, last, symbols)
            if found is not None:
                occurrences.append(found)
            if len(occurrences) + len(implements) > most:
                raise _too_much()
        elif number == 1 and last >= 0:
            path = data[first:last].decode("utf-8", "replace")
        elif number == 3 and last >= 0:
            implements += islice(_implements(data, first, last), most + 1)
        elif number == 6 and last < 0:
            encoding = first
    return Document(path, encoding, tuple(occurrences), tuple(implements))


def _occurrence(data: bytes, start: int, end: int, symbols: dict[bytes, bytes]) -> Occurrence | None:
    """None for an occurrence without a symbol or that spans lines: it is no name. `symbols` as of `_document`."""
    symbol, roles = b"", 0
    place: list[int] = []
    for number, first, last in _fields(data, start, end):
        if number == 1:
            if last < 0:
                place.append(first)
            while first < last and len(place) <= _RANGE:
                value, first = _varint(data, first, last)
                place.append(value)
        elif number == 2 and last >= 0:
            symbol = data[first:last] if last - first <= LONGEST_SYMBOL else b""
        elif number == 3 and last < 0:
            roles = first
    if len(place) == _RANGE and place[0] == place[2]:
        del place[2]
    if len(place) != 3 or not symbol or place[0] > _LAST_LINE or place[1] > place[2] or place[2] > _LAST_LINE:
        return None
    return Occurrence(place[0], place[1], place[2], symbols.setdefault(symbol, symbol), bool(roles & DEFINITION))


def _implements(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    symbol = b""
    relations: list[tuple[int, int]] = []
    for number, first, last in _fields(data, start, end):
        if number == 1 and last >= 0:
            symbol = data[first:last]
        elif number == 4 and last >= 0:
            relations.append((first, last))
            if len(relations) > MOST_ENTRIES:
                raise _too_much()
    for begin, stop in relations:
        base, implementation = b"", False
        for number, first, last in _fields(data, begin, stop):
            if number == 1 and last >= 0:
                base = data[first:last]
            elif number == 3 and last < 0:
                implementation = bool(first)
        if implementation and base and symbol and max(len(base), len(symbol)) <= LONGEST_SYMBOL:
            yield symbol, base


def _fields(data: bytes, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(number, first byte, byte after the last) of fields with bytes, (number, value, -1) of fields with a number."""
    at = start
    while at < end:
        key = data[at]
        if key < 128:
            at += 1
        else:
            key, at = _varint(data, at, end)
        wire = key & 7
        if wire == _LENGTH:
            size, at = _varint(data, at, end)
            if size > end - at:
                raise ScipDamaged("a length points behind the end")
            yield key >> 3, at, at + size
            at += size
        elif wire == _VARINT:
            value, at = _varint(data, at, end)
            yield key >> 3, value, -1
        elif wire in (_FIXED64, _FIXED32):
            at += 8 if wire == _FIXED64 else 4
            if at > end:
                raise ScipDamaged("it ends inside a number")
        else:
            raise ScipDamaged("it holds a kind of field that the format does not have")


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """A number of 7-bit groups, lowest first, and the byte after it."""
    value = shift = 0
    for place in range(at, min(end, at + _VARINT_BYTES)):
        byte = data[place]
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place + 1
        shift += 7
    raise ScipDamaged("a number does not end")
