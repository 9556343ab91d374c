"""Applies ignore rules as git does: patterns in `.gitignore` syntax, and a path.

A rule list decides one path at a time (`Rules.decide`): ignored, re-included, or no opinion; the last matching rule
decides. The walk, or `IgnoreFilter` for flat lists of paths, takes care that a file below an ignored folder stays
ignored.

Patterns come from the repository: see `globs.py` for how they are matched in linear time.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

from secateur.sources.files import path_bytes
from secateur.sources.globs import WILD, Glob, Globs

# Saved decisions, snapshots and their inputs: they contain the words of every query, and are never read as source.
SCENARIO_FILES = ("*.scenario.toml", "*.scenario.inputs/", "*.decision.toml", "*.replay.jsonl", "*.replay.inputs/")

# Patterns of generated files, for folders without git. `build`, `dist`, `target` and `vendor` are missing on purpose:
# they may hold sources.
DEFAULT_IGNORE = (
    *(".hg/", ".svn/", ".jj/", "node_modules/", "bower_components/", "__pycache__/", "*.py[co]", "*.egg-info/"),
    *(".venv/", "venv/", ".tox/", ".nox/", ".eggs/", ".mypy_cache/", ".pytest_cache/", ".ruff_cache/"),
    *(".hypothesis/", ".ipynb_checkpoints/", ".gradle/", ".terraform/", ".next/", ".nuxt/", ".parcel-cache/"),
    *(".turbo/", ".dart_tool/", ".bundle/", ".cache/", ".idea/", ".vs/", ".devbooks/", ".DS_Store"),
)


class IgnoreRule(Struct, frozen=True):
    """Holds one pattern, taken apart the way git does."""

    pattern: bytes  # without `!`, leading and trailing slash
    negated: bool  # `!pattern`: re-include
    folders_only: bool  # `pattern/`
    by_name: bool  # no slash inside: matches the last part of a path, at any depth

    @property
    def is_literal(self) -> bool:
        return not any(c in WILD for c in self.pattern)

    @property
    def ending(self) -> bytes | None:
        """The ending of the names that match, for a pattern like `*.log`; None for all others."""
        ending = self.pattern[1:]
        return ending if self.by_name and self.pattern[:1] == b"*" and not any(c in WILD for c in ending) else None


class Rules:
    """The rules of one file (or one list), in order. `Rules.parse(b"*.log\\n!keep.log\\n").decide(b"a/x.log",
    is_folder=False)` is True."""

    def __init__(self, rules: Iterable[IgnoreRule]) -> None:
        self._rules = tuple(rules)

    @classmethod
    def parse(cls, content: bytes) -> Rules:
        """Reads the rules of a `.gitignore`."""
        lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        return cls(rule for line in lines if (rule := _parse_line(line.removesuffix(b"\r"))))

    @classmethod
    def of(cls, patterns: Iterable[str]) -> Rules:
        """Reads the rules of patterns from settings, one per string."""
        return cls(rule for pattern in patterns if (rule := _parse_line(path_bytes(pattern))))

    def __bool__(self) -> bool:
        return bool(self._rules)

    @property
    def states(self) -> int:
        """Bytes of patterns that need an automaton, which is the cost of a decision per byte of a path."""
        return sum(len(rule.pattern) for rule in self._rules if not rule.is_literal and rule.ending is None)

    def decide(self, path: bytes, *, is_folder: bool) -> bool | None:
        """Returns True for ignored, False for re-included, None if no rule matches. `path` is relative to the folder of
        the rules, without a trailing slash."""
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
    """Applies rules to flat lists of file paths: a file is ignored when it or any folder above it is."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._rules = Rules.of(patterns)
        self._folders: dict[bytes, bool] = {b"": False}

    def __bool__(self) -> bool:
        return bool(self._rules)

    def ignores(self, path: str) -> bool:
        """True if the rules ignore the file at `path`."""
        if not self._rules:
            return False
        raw = path_bytes(path)
        return self._folder(raw.rpartition(b"/")[0]) or self._rules.decide(raw, is_folder=False) is True

    def ignores_folder(self, path: str) -> bool:
        """True if the rules ignore the folder at `path`, and so everything below it."""
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
    """Arranges numbered rules for speed: those without wildcards and those like `*.log` in dictionaries, the others in
    automata."""

    def __init__(self, rules: Iterable[tuple[int, IgnoreRule]]) -> None:
        self._names: dict[bytes, int] = {}
        self._paths: dict[bytes, int] = {}
        self._endings: dict[bytes, int] = {}
        name_globs: list[tuple[int, Glob]] = []
        path_globs: list[tuple[int, Glob]] = []
        for index, rule in rules:
            ending = rule.ending
            if rule.is_literal:
                (self._names if rule.by_name else self._paths)[rule.pattern] = index
            elif ending is not None:
                self._endings[ending] = index
            elif (glob := Glob.parse(rule.pattern, is_path=not rule.by_name)) is not None:
                (name_globs if rule.by_name else path_globs).append((index, glob))
        self._lengths = sorted({len(ending) for ending in self._endings})
        self._name_globs = Globs(name_globs)
        self._path_globs = Globs(path_globs)

    def last_match(self, path: bytes) -> int:
        """Returns the number of the last rule that matches; -1 if none does."""
        name = path.rpartition(b"/")[2]
        last = max(
            self._names.get(name, -1),
            self._paths.get(path, -1),
            self._name_globs.last_match(name),
            self._path_globs.last_match(path),
        )
        for length in self._lengths:
            if length > len(name):
                break
            last = max(last, self._endings.get(name[len(name) - length :], -1))
        return last


def _parse_line(line: bytes) -> IgnoreRule | None:
    if not line or line.startswith(b"#"):
        return None
    line = line.partition(b"\0")[0]
    pattern = line.rstrip(b" ")
    backslashes = len(pattern) - len(pattern.rstrip(b"\\"))
    pattern += b" " * (backslashes % 2 == 1 and len(pattern) < len(line))  # a backslash quotes the first space
    negated = pattern.startswith(b"!")
    pattern = pattern[negated:]
    folders_only = pattern.endswith(b"/")
    pattern = pattern[: len(pattern) - folders_only]
    by_name = b"/" not in pattern
    pattern = pattern.removeprefix(b"/")
    return IgnoreRule(pattern, negated, folders_only, by_name) if pattern else None
