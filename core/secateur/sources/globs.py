"""Matches one text against many globs at once, in time that depends only on the length of the text.

Patterns come from repositories, and a backtracking matcher can be made to take years over a `*`. Here all patterns form
one automaton whose states are the bits of an integer: a byte of the text advances all of them in a few operations.

    globs = Globs([(0, Glob.parse(b"*.log", is_path=False))])
    globs.last_match(b"x.log")      # 0: the highest index of a pattern that matches; -1 if none does

`ShellPattern` reads a pattern as a shell does, and uses the same automaton.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from secateur.errors import UsageError, shown
from secateur.sources.files import MAGIC

# Most bytes of wildcard patterns in one set; patterns beyond it are ignored. Ten times the longest list ever seen.
MOST_STATES = 1 << 14

WILD = b"*?[\\"

_KEPT_PREFIXES = 512  # folders whose states are remembered
_SLASH = ord("/")
_HIDDEN = 0  # stands for a leading dot, which no wildcard matches; this byte is in no path
_ALL = frozenset(range(256))
_NOT_SLASH = _ALL - {_SLASH, _HIDDEN}
_POSIX_CLASSES: dict[bytes, frozenset[int]] = {
    b"alnum": frozenset(c for c in range(128) if chr(c).isalnum()),
    b"alpha": frozenset(c for c in range(128) if chr(c).isalpha()),
    b"blank": frozenset(b" \t"),
    b"cntrl": frozenset([*range(32), 127]),
    b"digit": frozenset(b"0123456789"),
    b"graph": frozenset(range(33, 127)),
    b"lower": frozenset(range(97, 123)),
    b"print": frozenset(range(32, 127)),
    b"punct": frozenset(c for c in range(33, 127) if not chr(c).isalnum()),
    b"space": frozenset(b" \t\n\r"),
    b"upper": frozenset(range(65, 91)),
    b"xdigit": frozenset(b"0123456789abcdefABCDEF"),
}


class Glob(Struct, frozen=True):
    """A pattern as states: `steps[i]` holds the bytes that lead from state i to the next. The state after the last step
    means a match."""

    steps: tuple[frozenset[int], ...]
    stars: frozenset[int]  # states that stay as they are on any byte but `/`
    floods: frozenset[int]  # states that stay on any byte
    folders: frozenset[int]  # states that begin a `**/`: entering one enters the next too, as `**/` may match nothing

    @classmethod
    def parse(cls, pattern: bytes, *, is_path: bool) -> Glob | None:
        """Reads a glob as git does. Returns None for one that never matches (an unclosed bracket). Without `is_path`,
        `**` is `*`."""
        steps: list[frozenset[int]] = []
        stars: set[int] = set()
        floods: set[int] = set()
        folders: set[int] = set()
        literal_end = next((i for i, c in enumerate(pattern) if c in WILD), len(pattern))
        i = 0
        while i < len(pattern):
            char = pattern[i : i + 1]
            if char == b"*":
                end = i + 1
                while pattern[end : end + 1] == b"*":
                    end += 1
                # git compares the part before the first wildcard on its own, so a `**` right after it counts as the
                # start of a part
                crosses = is_path and end - i > 1 and (i in (0, literal_end) or pattern[i - 1 : i] == b"/")
                if crosses and pattern[end : end + 1] == b"/":
                    if len(steps) - 1 not in folders:  # `**/**/` is `**/`
                        folders.add(len(steps))
                        floods.add(len(steps))
                        steps.append(frozenset((_SLASH,)))
                    end += 1
                elif crosses and (end == len(pattern) or pattern[end : end + 2] == b"\\/"):
                    floods.add(len(steps))
                else:
                    stars.add(len(steps))
                i = end
            elif char == b"[":
                if (parsed := _parse_bracket(pattern, i)) is None:
                    return None
                members, i = parsed
                steps.append(members)
            elif char == b"?":
                steps.append(_NOT_SLASH)
                i += 1
            else:
                i += char == b"\\"
                if i >= len(pattern):
                    return None
                steps.append(frozenset((pattern[i],)))
                i += 1
        return cls(tuple(steps), frozenset(stars), frozenset(floods), frozenset(folders))


class Globs:
    """Matches numbered globs together. The numbers must increase."""

    def __init__(self, globs: Iterable[tuple[int, Glob]]) -> None:
        self._numbers: dict[int, int] = {}  # by the bit of the last state
        self._start = self._ends = self._stars = self._floods = self._folders = 0
        bits: dict[frozenset[int], list[int]] = {}
        size = 0
        for index, glob in globs:
            if size + len(glob.steps) + 1 > MOST_STATES:
                break
            self._start |= 1 << size
            for bit, members in enumerate(glob.steps, size):
                bits.setdefault(members, []).append(bit)
            self._stars |= sum(1 << (size + bit) for bit in glob.stars)
            self._floods |= sum(1 << (size + bit) for bit in glob.floods)
            self._folders |= sum(1 << (size + bit) for bit in glob.folders)
            size += len(glob.steps)
            self._numbers[size] = index
            self._ends |= 1 << size
            size += 1
        self._start |= (self._start & self._folders) << 1
        self._moves = _moves(bits)
        self._stays = [self._floods | self._stars] * 256
        self._stays[_SLASH], self._stays[_HIDDEN] = self._floods, 0
        self._prefixes: dict[bytes, int] = {b"": self._start}

    def last_match(self, text: bytes) -> int:
        """Returns the highest number of a glob that matches the whole text; -1 if none does."""
        if not self._numbers:
            return -1
        cut = text.rfind(b"/") + 1
        known = folder = text[:cut]  # its states are computed once for all paths in it
        while known not in self._prefixes:
            known = known[: known.rfind(b"/", 0, -1) + 1]
        if known != folder:
            if len(self._prefixes) > _KEPT_PREFIXES:
                self._prefixes = {b"": self._start, known: self._prefixes[known]}
            self._prefixes[folder] = self._advance(self._prefixes[known], folder[len(known) :])
        ends = self._advance(self._prefixes[folder], text[cut:]) & self._ends
        return self._numbers[ends.bit_length() - 1] if ends else -1

    def _advance(self, states: int, text: bytes) -> int:
        moves, stays, folders = self._moves, self._stays, self._folders
        for byte in text:
            if not states:
                break
            moved = (states & moves[byte]) << 1
            states = moved | ((moved & folders) << 1) | (states & stays[byte])
        return states


class ShellPattern:
    """Matches paths as a shell does: `*`, `?` and `[…]` match characters of a name, `**` any folders; none of them
    matches a leading dot. A `[` without `]` is an ordinary character.

    Raises ValueError: a range or character class is invalid, or there are more than 60 different letters beyond ASCII.
    """

    def __init__(self, pattern: str) -> None:
        letters = {ord(letter) for letter in pattern if not letter.isascii()}
        self._bounds = sorted(letters | {letter + 1 for letter in letters})
        if len(self._bounds) >= 128:
            raise ValueError("too many different letters")
        # Each part is written so that git reads it as a shell does.
        parts = (
            part if part == "**" else _BRACKET.sub(_convert_bracket, re.sub(r"\*+", "*", part.replace("\\", r"\\")))
            for part in pattern.split("/")
        )
        if (glob := Glob.parse(self._encode("/".join(parts)), is_path=True)) is None:
            raise ValueError("unknown character class")
        self._globs = Globs([(0, glob)])

    def matches(self, path: str) -> bool:
        """Tells whether the pattern matches the whole path."""
        return self._globs.last_match(self._encode(path)) == 0

    def _encode(self, text: str) -> bytes:
        """Encodes each character as one byte, keeping their order: letters beyond ASCII that the pattern does not
        distinguish share a byte."""
        text = _LEADING_DOT.sub(chr(_HIDDEN), text)
        if text.isascii():
            return text.encode()
        return bytes(code if code < 128 else 128 + bisect(self._bounds, code) for code in map(ord, text))


_LEADING_DOT = re.compile(r"(?<![^/])\.")
_BRACKET = re.compile(r"\[(?:([!^]?+\]?+[^]]*+\])|[^]]*+\Z)?", re.DOTALL)


def _convert_bracket(match: re.Match[str]) -> str:
    for first, last in re.findall("(.)-(.)", (match[1] or "")[:-1], re.DOTALL):
        if first > last:
            raise ValueError(f"bad character range {first}-{last}")
    return match[0] if match[1] else match[0].replace("[", r"\[")


def _moves(bits_by_members: Mapping[frozenset[int], Sequence[int]]) -> list[int]:
    """Returns the states that each byte advances. Large sets of bytes are stored by the bytes that they lack."""
    everything, moves, holes = 0, [0] * 256, [0] * 256
    for members, bits in bits_by_members.items():
        mask = sum(1 << bit for bit in bits)
        if len(members) <= len(moves) // 2:
            for member in members:
                moves[member] |= mask
        else:
            everything |= mask
            for member in _ALL - members:
                holes[member] |= mask
    return [move | (everything & ~hole) for move, hole in zip(moves, holes, strict=True)]


def _parse_bracket(pattern: bytes, start: int) -> tuple[frozenset[int], int] | None:
    """Returns the set that `[` at `start` opens and the position after it; None if it is never closed or names an
    unknown class."""
    i = start + 1
    negated = pattern[i : i + 1] in (b"!", b"^")
    i += negated
    members: set[int] = set()
    previous = -1  # left end of a range; -1 after a class or a range
    first = True
    while first or pattern[i : i + 1] != b"]":
        first = False
        if i >= len(pattern):
            return None
        if pattern[i : i + 2] == b"[:" and (close := pattern.find(b"]", i + 2)) < 0:
            return None
        elif pattern[i : i + 2] == b"[:" and pattern[close - 1 : close] == b":" and close > i + 2:
            if (character_class := _POSIX_CLASSES.get(pattern[i + 2 : close - 1])) is None:
                return None
            members |= character_class
            previous, i = -1, close + 1
        elif pattern[i : i + 1] == b"-" and previous > 0 and i + 1 < len(pattern) and pattern[i + 1 : i + 2] != b"]":
            i += 1 + (pattern[i + 1 : i + 2] == b"\\")
            if i >= len(pattern):
                return None
            members |= set(range(previous, pattern[i] + 1))
            previous, i = -1, i + 1
        else:
            i += pattern[i : i + 1] == b"\\"
            if i >= len(pattern):
                return None
            members.add(pattern[i])
            previous, i = pattern[i], i + 1
    return frozenset(_NOT_SLASH - members if negated else _NOT_SLASH & members), i + 1


class RepositoryPart:
    """Tells which paths belong to a part: paths that a glob matches, and everything below a folder that it matches.
    Raises UsageError: a glob cannot match a path below the repository."""

    def __init__(self, globs: Sequence[str]) -> None:
        self._patterns: list[ShellPattern] = []
        self._literals: set[str] = set()
        self._folders: dict[str, bool] = {"": False}
        for glob in globs:
            clean = "/".join(part for part in glob.split("/") if part not in ("", "."))
            if not clean or glob.startswith("/") or ".." in clean.split("/"):
                raise UsageError(
                    f"--only {shown(glob) or repr(glob)} names no part of the repository",
                    hint="globs start from the opened folder, for example --only 'services/billing/**'",
                )
            if not MAGIC.search(clean):
                self._literals.add(clean)
                continue
            try:
                self._patterns.append(ShellPattern(clean))
            except ValueError as error:
                hint = "the wildcards are *, ?, [a-z] and ** for any folders"
                raise UsageError(f"--only {shown(glob)} is not a valid pattern: {error}", hint=hint) from error

    def holds(self, path: str) -> bool:
        """Tells whether a path, relative with `/`, is in the part."""
        return self._holds_folder(path.rpartition("/")[0]) or self._matches_glob(path)

    def _holds_folder(self, folder: str) -> bool:
        if (known := self._folders.get(folder)) is None:
            known = self._folders[folder] = self._holds_folder(folder.rpartition("/")[0]) or self._matches_glob(folder)
        return known

    def _matches_glob(self, path: str) -> bool:
        return path in self._literals or any(pattern.matches(path) for pattern in self._patterns)
