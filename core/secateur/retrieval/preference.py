"""Intent preference (SC-SP-007): symbols a user prefers, kept in the user's own folder, never in the repository.

What `secateur prefer` remembers of a repository names symbols and decays (`remembered.preferences`). What the user
writes counts in every repository and stays, `preferences.toml`:

    [symbols]
    "orders/services/*" = 0.6
    "*::OrderProcessor.*" = 1.0

Patterns are shell patterns over symbol ids (`path::qualified.name`). The largest value of all that match counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from pathlib import Path

import numpy as np

from secateur.errors import ConfigError
from secateur.index.facts.names import near_names
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray, Notice
from secateur.remembered.preferences import PreferenceStore
from secateur.remembered.store import RememberedError
from secateur.settings import Preference

FILE_NAME = "preferences.toml"

PLACE = f"{FILE_NAME} in your configuration folder"
"""The place that warnings name: a pack may hold them, and the same pack leaves on every machine."""

NAMED = 3
"""Patterns a notice names before it only counts."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The preferences of a user in a repository.

    Attributes:
        patterns: of symbol ids, from `preferences.toml`, with their values in [0, 1].
        symbols: ids that are remembered, with what they count now.
        problem: why nothing of what is remembered counts.
    """

    patterns: Mapping[str, float] = field(default_factory=dict)
    symbols: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""

    @property
    def key(self) -> list[object]:
        """Everything of it that changes an answer, in a fixed order, for JSON."""
        return [sorted(self.patterns.items()), sorted(self.symbols.items()), self.problem]


def preferences_of(user_dir: Path, root: Path | None, rules: Preference, clock: Callable[[], float]) -> Preferences:
    """The preferences of a user for a repository; none where they are off. `root`: None for files in memory.

    Raises:
        ConfigError: as `load_preferences`.
    """
    if not rules.enabled:
        return Preferences()
    patterns = load_preferences(user_dir)
    try:
        symbols = PreferenceStore(user_dir, root, clock).values(rules.half_life) if root is not None else {}
    except RememberedError as error:
        return Preferences(patterns, {}, error.why)
    return Preferences(patterns, symbols)


def load_preferences(user_dir: Path | None) -> dict[str, float]:
    """Pattern -> preference in [0, 1]; empty without a file.

    Raises:
        ConfigError: the file is malformed or a value is outside [0, 1].
    """
    import tomli

    path = user_dir / FILE_NAME if user_dir else None
    try:
        if path is None or not path.is_file():
            return {}
        symbols = tomli.loads(path.read_text("utf-8")).get("symbols", {})
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}", hint='write [symbols] and lines like "path::Name" = 0.8') from error
    if not isinstance(symbols, dict):
        raise ConfigError(f"{path}: symbols is a table", hint='write [symbols] and lines like "path::Name" = 0.8')
    for pattern, value in symbols.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise ConfigError(
                f"{path}: {pattern} = {value!r} is not allowed", hint="a preference is a number from 0 to 1"
            )
    return {pattern: float(value) for pattern, value in symbols.items()}


def preference_notices(preferences: Preferences, candidates: Sequence[str], shards: Sequence[Snapshot]) -> list[Notice]:
    """The warnings about the preferences of a run: there are none, they cannot be read, or one names nothing in the
    repository.

    Args:
        candidates: symbol ids of the query's candidates; a pattern that matches one of them needs no further look.
    """
    notices = []
    if preferences.problem:
        said = f"What `secateur prefer` remembered cannot be read and does not count: {preferences.problem}."
        notices.append(Notice("preferences_unreadable", said))
    elif not preferences.patterns and not preferences.symbols:
        said = (
            f"Preference is on and changes nothing: {PLACE} names no symbol, and none is remembered. Add one with"
            ' `secateur prefer add SYMBOL`, or write [symbols] there, and below it lines like "path::Name" = 0.8.'
        )
        return [Notice("no_preferences", said)]
    found = set(candidates)
    gone = [
        symbol
        for symbol in sorted(preferences.symbols)
        if symbol not in found and all(shard.row_of(symbol) < 0 for shard in shards)
    ]
    if gone:
        said = f"Preferred and not here: {_named(gone)}. `secateur prefer remove SYMBOL` forgets it."
        notices.append(Notice("unknown_preference", said))
    patterns = sorted(preferences.patterns)
    lost = [pattern for pattern in patterns if not any(map(_matcher(pattern), candidates))]
    if lost:
        symbols = [shard.symbol_id(row) for shard in shards for row in range(len(shard))]
        lost = [pattern for pattern in lost if not any(map(_matcher(pattern), symbols))]
    if lost:
        near = {pattern: _near(pattern, shards) for pattern in lost[:NAMED]}
        shown = [pattern + (f" (near: {', '.join(near[pattern])})" if near.get(pattern) else "") for pattern in lost]
        notices.append(Notice("unknown_preference", f"{PLACE}: nothing here is called {_named(shown)}."))
    return notices


def _named(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return "; ".join(names[:NAMED]) + more


def _matcher(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern)).match


def _near(pattern: str, shards: Sequence[Snapshot]) -> list[str]:
    """Symbol ids, or paths for a pattern of paths, that the pattern may be a slip of."""
    path, colons, name = pattern.rpartition("::")
    if colons:
        word, known = (
            name,
            {
                qualname: shard.symbol_id(row)
                for shard in reversed(shards)
                for row, qualname in reversed(list(enumerate(shard.qualnames)))
                if qualname
            },
        )
    else:
        word, known = (
            path or name,
            {path: path for path in folders_and_files([path for shard in shards for path in shard.paths])},
        )
    by_small = {name.lower(): shown for name, shown in known.items()}
    return [by_small[name] for name, _ in near_names(word.strip("*?./").lower(), list(by_small))]


def folders_and_files(paths: Sequence[str]) -> list[str]:
    """The paths, and all folders above them."""
    found = dict.fromkeys(paths)
    for path in paths:
        while "/" in path:
            path = path.rpartition("/")[0]
            found[path] = None
    return list(found)


def preference_scores(symbols: Sequence[str], preferences: Preferences) -> FloatArray:
    """Preference per symbol id, 0 where nothing matches."""
    remembered = preferences.symbols
    scores = np.array([remembered.get(symbol, 0.0) for symbol in symbols], dtype=np.float64)
    for pattern, value in sorted(preferences.patterns.items()):
        matches = _matcher(pattern)
        for row, symbol in enumerate(symbols):
            if value > scores[row] and matches(symbol):
                scores[row] = value
    return scores
