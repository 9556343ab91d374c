"""Intent preference (SC-SP-007): symbols a user prefers, kept in the user's own folder, never in the repository.

`preferences.toml`:

    [symbols]
    "orders/services/*" = 0.6
    "*::OrderProcessor.*" = 1.0

Patterns are shell patterns over symbol ids (`path::qualified.name`); the largest value that matches counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import translate
from pathlib import Path

import numpy as np

from secateur.errors import ConfigError
from secateur.index.facts.names import near_names
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray, Notice

FILE_NAME = "preferences.toml"

PLACE = f"{FILE_NAME} in your configuration folder"
"""The place that warnings name: a pack may hold them, and the same pack leaves on every machine."""

NAMED = 3
"""Patterns a notice names before it only counts."""


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


def preference_notices(preferences: Mapping[str, float], candidates: Sequence[str], snapshot: Snapshot) -> list[Notice]:
    """The warnings about the preferences of a run: there are none, or a pattern matches nothing in the repository.

    Args:
        candidates: symbol ids of the query's candidates; a pattern that matches one of them needs no further look.
    """
    if not preferences:
        said = (
            f"Preference is on and changes nothing: {PLACE} names no symbol. Write [symbols] there, and below it lines"
            ' like "path::Name" = 0.8.'
        )
        return [Notice("no_preferences", said)]
    lost = [pattern for pattern in sorted(preferences) if not any(map(_matcher(pattern), candidates))]
    if lost:
        symbols = [snapshot.symbol_id(row) for row in range(len(snapshot))]
        lost = [pattern for pattern in lost if not any(map(_matcher(pattern), symbols))]
    if not lost:
        return []
    shown = [
        pattern + (f" (near: {', '.join(near)})" if (near := _near(pattern, snapshot)) else "")
        for pattern in lost[:NAMED]
    ]
    more = f" and {len(lost) - NAMED:,} more" if len(lost) > NAMED else ""
    return [Notice("unknown_preference", f"{PLACE}: nothing here is called {'; '.join(shown)}{more}.")]


def _matcher(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern)).match


def _near(pattern: str, snapshot: Snapshot) -> list[str]:
    """Symbol ids, or paths for a pattern of paths, that the pattern may be a slip of."""
    path, colons, name = pattern.rpartition("::")
    if colons:
        word, known = (
            name,
            {
                qualname: snapshot.symbol_id(row)
                for row, qualname in reversed(list(enumerate(snapshot.qualnames)))
                if qualname
            },
        )
    else:
        word, known = path or name, {path: path for path in folders_and_files(snapshot.paths)}
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


def preference_scores(symbols: Sequence[str], preferences: Mapping[str, float]) -> FloatArray:
    """Preference per symbol id, 0 where no pattern matches."""
    scores = np.zeros(len(symbols))
    for pattern, value in sorted(preferences.items()):
        matches = _matcher(pattern)
        for row, symbol in enumerate(symbols):
            if value > scores[row] and matches(symbol):
                scores[row] = value
    return scores
