"""Ignore rules as git reads them: `.gitignore` syntax to a decision on a path.

A rule list answers for one path at a time (`Rules.decide`): ignored, re-included, or no opinion; the last rule that
matches decides. That a file below an ignored folder stays ignored is the walk's doing, or `IgnoreFilter`'s for flat
lists of paths.

Patterns come from the repository, so matching must not explode on a hostile one. A `*` is matched at its leftmost place and
never reconsidered (atomic groups), which for globs loses no match and keeps the work polynomial of low degree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from secateur.repository.files import path_bytes

DEFAULT_IGNORE = (
    ".hg/",
    ".svn/",
    ".jj/",
    "node_modules/",
    "bower_components/",
    "__pycache__/",
    "*.py[co]",
    "*.egg-info/",
    ".venv/",
    "venv/",
    ".tox/",
    ".nox/",
    ".eggs/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".ipynb_checkpoints/",
    ".gradle/",
    ".terraform/",
    ".next/",
    ".nuxt/",
    ".parcel-cache/",
    ".turbo/",
    ".dart_tool/",
    ".bundle/",
    ".cache/",
    ".idea/",
    ".vs/",
    ".devbooks/",
    ".DS_Store",
)
"""What a folder without git holds that nobody wrote. `build`, `dist`, `target` and `vendor` are missing on purpose: they may hold sources."""

_WILD = b"*?[\\"
_SPACE_CLASS = b" \t\n\r"
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
    b"space": frozenset(_SPACE_CLASS),
    b"upper": frozenset(range(65, 91)),
    b"xdigit": frozenset(b"0123456789abcdefABCDEF"),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern, taken apart the way git does."""

    pattern: bytes  # without `!`, leading and trailing slash
    negated: bool  # `!pattern`: re-include
    folders_only: bool  # `pattern/`
    by_name: bool  # no slash inside: matches the last part of a path, at any depth

    @property
    def is_literal(self) -> bool:
        return not any(c in _WILD for c in self.pattern)


class Rules:
    """The rules of one file (or one list), in order. `Rules.parse(b"*.log\\n!keep.log\\n").decide(b"a/x.log", is_folder=False)` is True."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)

    @classmethod
    def parse(cls, content: bytes) -> Rules:
        """The rules of a `.gitignore`."""
        lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        return cls(rule for line in lines if (rule := _parse_line(line.removesuffix(b"\r"))))

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Rules:
        """The rules of patterns from settings, one a string."""
        return cls(rule for pattern in patterns if (rule := _parse_line(path_bytes(pattern))))

    def __bool__(self) -> bool:
        return bool(self._rules)

    def decide(self, path: bytes, *, is_folder: bool) -> bool | None:
        """True: ignored, False: re-included, None: no rule matches. `path` is relative to where the rules apply, without a trailing slash."""
        table = self._for_folders if is_folder else self._for_files
        last = table.last_match(path)
        return None if last < 0 else not self._rules[last].negated

    @cached_property
    def _for_files(self) -> _Table:
        return _Table((i, rule) for i, rule in enumerate(self._rules) if not rule.folders_only)

    @cached_property
    def _for_folders(self) -> _Table:
        return _Table(enumerate(self._rules))


class IgnoreFilter:
    """Rules applied to flat lists of file paths: a file is ignored when it or any folder above it is."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._rules = Rules.of(patterns)
        self._folders: dict[bytes, bool] = {b"": False}

    def __bool__(self) -> bool:
        return bool(self._rules)

    def ignores(self, path: str) -> bool:
        """Whether the rules leave the file at `path` out."""
        if not self._rules:
            return False
        raw = path_bytes(path)
        return self._folder(raw.rpartition(b"/")[0]) or self._rules.decide(raw, is_folder=False) is True

    def ignores_folder(self, path: str) -> bool:
        """Whether the rules leave the folder at `path`, and so everything below it, out."""
        return bool(self._rules) and self._folder(path_bytes(path))

    def _folder(self, path: bytes) -> bool:
        missing: list[bytes] = []
        while path not in self._folders:
            missing.append(path)
            path = path.rpartition(b"/")[0]
        ignored = self._folders[path]
        for folder in reversed(missing):
            ignored = ignored or self._rules.decide(folder, is_folder=True) is True
            self._folders[folder] = ignored
        return ignored


class _Table:
    """Numbered rules arranged for speed: literal ones in dictionaries, the others as one regular expression for names and one for paths."""

    def __init__(self, rules: Iterable[tuple[int, Rule]]) -> None:
        self._names: dict[bytes, int] = {}
        self._paths: dict[bytes, int] = {}
        name_globs: list[tuple[int, bytes]] = []
        path_globs: list[tuple[int, bytes]] = []
        for number, rule in rules:
            if rule.is_literal:
                (self._names if rule.by_name else self._paths)[rule.pattern] = number
            elif (expression := _expression(rule.pattern, is_path=not rule.by_name)) is not None:
                (name_globs if rule.by_name else path_globs).append((number, expression))
        self._name_globs = _LastOf(name_globs)
        self._path_globs = _LastOf(path_globs)

    def last_match(self, path: bytes) -> int:
        """Number of the last rule that matches, -1 for none."""
        name = path.rpartition(b"/")[2]
        return max(self._names.get(name, -1), self._paths.get(path, -1), self._name_globs.match(name), self._path_globs.match(path))


class _LastOf:
    """Which of numbered expressions, tried from the last to the first, matches a whole text."""

    def __init__(self, numbered: list[tuple[int, bytes]]) -> None:
        self._numbers = [number for number, _ in reversed(numbered)]
        alternatives = b"|".join(b"(%b)" % expression for _, expression in reversed(numbered))
        self._regex = re.compile(alternatives, re.DOTALL) if numbered else None

    def match(self, text: bytes) -> int:
        if self._regex is None or not (found := self._regex.fullmatch(text)):
            return -1
        return self._numbers[(found.lastindex or 1) - 1]


def _parse_line(line: bytes) -> Rule | None:
    """One line of a `.gitignore` without its line end; None for blank lines and comments."""
    if not line or line.startswith(b"#"):
        return None
    pattern = _without_trailing_spaces(line.partition(b"\0")[0])
    negated = pattern.startswith(b"!")
    pattern = pattern[negated:]
    folders_only = pattern.endswith(b"/")
    pattern = pattern[: len(pattern) - folders_only]
    by_name = b"/" not in pattern
    pattern = pattern.removeprefix(b"/")
    return Rule(pattern, negated, folders_only, by_name) if pattern else None


def _without_trailing_spaces(line: bytes) -> bytes:
    """Trailing spaces are dropped unless a backslash quotes them."""
    kept = line.rstrip(b" ")
    quoted = (len(kept) - len(kept.rstrip(b"\\"))) % 2 == 1 and len(kept) < len(line)
    return kept + b" " if quoted else kept


# --- globs -------------------------------------------------------------------------------------------------------------

_STAR = b"[^/]*?"
_ANYTHING = b".*?"
_ANY_FOLDERS = b"(?:.*?/)??"


def _expression(pattern: bytes, *, is_path: bool) -> bytes | None:
    """Regular expression for a glob, to be matched in full; None for a pattern git can never match (an unclosed bracket).

    The pattern is cut at its wildcards of any length into fixed pieces. Between two `**` the leftmost match is final, and
    so is each piece after a `*` inside: an earlier end leaves every later piece at least as much room.
    """
    pieces: list[bytes] = [b""]
    gaps: list[bytes] = []  # gaps[i] stands before pieces[i + 1]
    literal_end = next((i for i, c in enumerate(pattern) if c in _WILD), len(pattern))
    i = 0
    while i < len(pattern):
        char = pattern[i : i + 1]
        if char == b"*":
            end = i + 1
            while pattern[end : end + 1] == b"*":
                end += 1
            # git compares the part before the first wildcard on its own, so a `**` right after it counts as the start of a part
            starts_part = i in (0, literal_end) or pattern[i - 1 : i] == b"/"
            if is_path and end - i > 1 and starts_part and pattern[end : end + 1] == b"/":
                gap, end = _ANY_FOLDERS, end + 1
            elif is_path and end - i > 1 and starts_part and (end == len(pattern) or pattern[end : end + 2] == b"\\/"):
                gap = _ANYTHING
            else:
                gap = _STAR
            gaps.append(gap)
            pieces.append(b"")
            i = end
        elif char == b"[":
            parsed = _bracket(pattern, i)
            if parsed is None:
                return None
            expression, i = parsed
            pieces[-1] += expression
        elif char == b"?":
            pieces[-1] += b"[^/]"
            i += 1
        else:
            i += char == b"\\"
            if i >= len(pattern):
                return None
            pieces[-1] += re.escape(pattern[i : i + 1])
            i += 1
    return _assemble(pieces, gaps)


def _assemble(pieces: list[bytes], gaps: list[bytes]) -> bytes:
    blocks = [pieces[0]]  # one block a `**`
    last_gap = len(gaps) - 1
    for i, (gap, piece) in enumerate(zip(gaps, pieces[1:], strict=True)):
        if gap is not _STAR:
            blocks[-1] = b"(?>%b)" % blocks[-1]
            blocks.append(gap + piece)
        elif i == last_gap:
            blocks[-1] += gap + piece
        else:
            blocks[-1] += b"(?>%b%b)" % (gap, piece)
    return b"".join(blocks)


def _bracket(pattern: bytes, start: int) -> tuple[bytes, int] | None:
    """The set opened by `[` at `start` as an expression and the place after it; None when it is never closed or names an unknown class."""
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
            named = _POSIX_CLASSES.get(pattern[i + 2 : close - 1])
            if named is None:
                return None
            members |= named
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
    members = (set(range(256)) - members if negated else members) - {ord("/")}
    if not members:
        return b"(?!)", i + 1
    return b"[" + b"".join(b"\\x%02x" % member for member in sorted(members)) + b"]", i + 1
