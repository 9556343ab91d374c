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
from secateur.index.facts.names import close_names, merge_close_names, most_similar
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray, Notice
from secateur.remembered.preferences import PreferenceStore
from secateur.remembered.store import RememberedError
from secateur.retrieval.evidence import Lines
from secateur.retrieval.searched import Searched
from secateur.settings import Preference

FILE_NAME = "preferences.toml"

PLACE = f"{FILE_NAME} in your configuration folder"
"""The place that warnings name: a pack may hold them, and the same pack leaves on every machine."""

NAMED = 3
"""Patterns a notice names before it only counts."""

NamesShown = tuple[dict[str, str], bool]
"""Names that are compared with a word, each with what is shown for it; and whether there were too many."""


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


def preference_notices(preferences: Preferences, candidates: Sequence[str], searched: Searched) -> list[Notice]:
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
    asked = [symbol for symbol in sorted(preferences.symbols) if symbol not in found]
    patterns = [one for one in sorted(preferences.patterns) if not any(map(_matcher(one), candidates))]
    if not asked and not patterns:
        return notices
    known = searched.each(preferred_here, (asked, patterns))
    gone = [symbol for symbol in asked if not any(symbol in symbols for symbols, _ in known)]
    if gone:
        said = f"Preferred and not here: {_named(gone)}. `secateur prefer remove SYMBOL` forgets it."
        notices.append(Notice("unknown_preference", said))
    lost = [pattern for pattern in patterns if not any(pattern in matched for _, matched in known)]
    if lost:
        likely = searched.each(likely_meant, lost[:NAMED])
        near = {pattern: _near(pattern, [names[pattern] for names in likely]) for pattern in lost[:NAMED]}
        shown = [pattern + (f" (near: {', '.join(near[pattern])})" if near.get(pattern) else "") for pattern in lost]
        notices.append(Notice("unknown_preference", f"{PLACE}: nothing here is called {_named(shown)}."))
    return notices


def preferred_here(
    asked: tuple[Sequence[str], Sequence[str]],
    snapshot: Snapshot,
    lines: Lines | None,  # noqa: ARG001 - as of all
) -> tuple[set[str], set[str]]:
    """The symbols and the patterns, of those that are asked for, that name something of a snapshot."""
    symbols, patterns = asked
    there = [snapshot.symbol_id(row) for row in range(len(snapshot))] if patterns else []
    return (
        {symbol for symbol in symbols if snapshot.row_of(symbol) >= 0},
        {pattern for pattern in patterns if any(map(_matcher(pattern), there))},
    )


def likely_meant(
    patterns: Sequence[str],
    snapshot: Snapshot,
    lines: Lines | None,  # noqa: ARG001 - as of all
) -> dict[str, NamesShown]:
    """By pattern the names of a snapshot that are compared with it (`close_names`), in small letters, each with what is
    shown for it: the first that has it."""
    found = {}
    for pattern in patterns:
        word, of_names = _meant(pattern)
        if of_names:
            known = {name.lower(): snapshot.symbol_id(row) for row, name in _backwards(snapshot.qualnames) if name}
        else:
            known = {path.lower(): path for _, path in _backwards(folders_and_files(snapshot.paths))}
        close, cut = close_names(word, sorted(known))
        found[pattern] = {name: known[name] for name in close}, cut
    return found


def _named(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return "; ".join(names[:NAMED]) + more


def _matcher(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern)).match


def _near(pattern: str, parts: Sequence[NamesShown]) -> list[str]:
    """Symbol ids, or paths for a pattern of paths, that the pattern may be a slip of."""
    word, _ = _meant(pattern)
    close = merge_close_names(word, [([*names], cut) for names, cut in parts])
    shown = {name: text for names, _ in reversed(parts) for name, text in names.items()}
    return [shown[name] for name, _ in most_similar(word, close)]


def _meant(pattern: str) -> tuple[str, bool]:
    """The word of a pattern that is compared, and whether with names; else with paths."""
    path, colons, name = pattern.rpartition("::")
    return (name if colons else path or name).strip("*?./").lower(), bool(colons)


def _backwards(names: Sequence[str]) -> list[tuple[int, str]]:
    """Numbered names, the last first: so that of equal ones the first is what stays."""
    return [*reversed([*enumerate(names)])]


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
