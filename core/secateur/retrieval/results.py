"""Reads and writes the result cache for one state of a repository: finished answers, and pools to decide anew from
(SC-GRAG-005).

Intent preference (SC-SP-007): symbols a user prefers, kept in the user's own folder, never in the repository.

`secateur prefer` remembers symbols of one repository, and what it remembers decays (`remembered.preferences`). What the
user writes into `preferences.toml` counts in every repository and stays:

    [symbols]
    "orders/services/*" = 0.6
    "*::OrderProcessor.*" = 1.0

The keys are shell patterns for symbol ids (`path::qualified.name`). If several match, the largest value counts.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from fnmatch import translate
from pathlib import Path
from typing import Any
from zlib import compress, decompress

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field, structs, to_builtins

from secateur.distributions import list_dependencies
from secateur.errors import ConfigError
from secateur.index.facts.names import near_names
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray, Notice, Pool, Redaction
from secateur.remembered.store import PreferenceStore, RememberedError
from secateur.retrieval.cache import Answer, ResultCache
from secateur.settings import Preference, Settings, SmartPruning

MAX_ROWS = 20_000  # a larger pool is not kept: reading it takes as long as finding it

_DTYPES = {"f": "<f8", "i": "<i8", "b": "|b1"}
_FASTEST = 1


def pool_to_text(pool: Pool) -> str | None:
    """Formats a pool as text; None if it is too large to be worth keeping."""
    if len(pool) > MAX_ROWS:
        return None
    values = structs.asdict(pool)
    values["warnings"] = [[notice.code, notice.message] for notice in pool.warnings]
    values["facts"] = dict(pool.facts)
    values["redactions"] = {
        row: [[redaction.rule, redaction.line] for redaction in redactions]
        for row, redactions in pool.redactions.items()
    }
    return json.dumps(values, default=_pack)


def pool_from_text(text: str) -> Pool:
    """Reads the pool from a text that `pool_to_text` made. Raises ValueError, KeyError or TypeError on any other."""
    values = json.loads(text)
    for name in Pool.__struct_fields__:
        values[name] = _unpack(values[name])
    values["parts"] = {
        signal: {part: _unpack(column) for part, column in parts.items()} for signal, parts in values["parts"].items()
    }
    values["redactions"] = {
        int(row): tuple(Redaction(rule, line) for rule, line in redactions)
        for row, redactions in values["redactions"].items()
    }
    values["warnings"] = tuple(Notice(code, message) for code, message in values["warnings"])
    return Pool(**values)


def _pack(column: npt.NDArray[Any]) -> dict[str, Any]:
    dtype = _DTYPES[column.dtype.kind]
    return {"dtype": dtype, "bytes": b64encode(compress(column.astype(dtype).tobytes(), _FASTEST)).decode()}


def _unpack(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"dtype", "bytes"}:
        return np.frombuffer(decompress(b64decode(value["bytes"])), dtype=value["dtype"])
    return value


# Codes of notices about a passing failure of a server. An answer with one of them is not kept.
FLEETING = frozenset({"embedding_failed"})


class Results(Struct, frozen=True):
    """Holds the cache, and what every key contains besides the query and the settings.

    Attributes:
        cache: None if nothing is to be read or kept.
        state: this program's version, the content that was read, its name, and the notices about it.
        preferences: the preferences of the user.
    """

    cache: ResultCache | None
    state: Sequence[object]
    preferences: Preferences

    def answer(self, query: str, settings: Settings, form: Sequence[object]) -> Answer | None:
        """Returns the answer in this form, if it is in the cache."""
        if self.cache is None:
            return None
        text = self.cache.get(self._key("answer", query, settings, form))
        return Answer.from_text(text) if text is not None else None

    def keep_answer(self, query: str, settings: Settings, form: Sequence[object], answer: Answer) -> None:
        """Stores an answer, unless a server failed meanwhile."""
        if self.cache is not None and not _is_fleeting(answer.warnings):
            self.cache.put(self._key("answer", query, settings, form), answer.to_text())

    def pool(self, query: str, settings: Settings, format_: str) -> Pool | None:
        """Returns the pool that the query found, if it is in the cache."""
        if self.cache is None or (text := self.cache.get(self._pool_key(query, settings, format_))) is None:
            return None
        try:
            return pool_from_text(text)
        except (ValueError, KeyError, TypeError):
            return None

    def keep_pool(self, query: str, settings: Settings, format_: str, pool: Pool) -> Pool:
        """Stores a pool; returns it."""
        if self.cache is not None and not _is_fleeting(pool.warnings) and (text := pool_to_text(pool)) is not None:
            self.cache.put(self._pool_key(query, settings, format_), text)
        return pool

    def _pool_key(self, query: str, settings: Settings, format_: str) -> str:
        """Returns the key of a pool. It leaves out settings that only deciding reads: another weight finds the same
        pool."""
        return self._key(
            "pool",
            query,
            structs.replace(settings, smart_pruning=SmartPruning(), budget=-1, profile=Settings().profile),
            [format_],
        )

    def _key(self, kind: str, query: str, settings: Settings, form: Sequence[object]) -> str:
        """Joins everything that changes the answer: query, content, configuration, versions, what is installed, and
        what could be read."""
        values = json.dumps(to_builtins(settings), sort_keys=True)
        return json.dumps([list_dependencies(), kind, *self.state, *form, query, values, self.preferences.key])


def _is_fleeting(warnings: Sequence[Notice]) -> bool:
    return any(notice.code in FLEETING for notice in warnings)


FILE_NAME = "preferences.toml"

# The name of the file in warnings. It names no path: a pack may hold warnings, and must be the same on every machine.
PLACE = f"{FILE_NAME} in your configuration folder"

NAMED = 3  # most patterns that a notice names; it counts the others


class Preferences(Struct, frozen=True):
    """Holds the preferences of a user in a repository.

    Attributes:
        patterns: the patterns of `preferences.toml`, with their values in [0, 1].
        symbols: the remembered symbol ids, with the values that they have now.
        problem: why the remembered symbols do not count; "" if they do.
    """

    patterns: Mapping[str, float] = field(default_factory=dict)
    symbols: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""

    @property
    def key(self) -> list[object]:
        """Everything in it that changes an answer, in a fixed order, for JSON."""
        return [sorted(self.patterns.items()), sorted(self.symbols.items()), self.problem]


def preferences_of(user_dir: Path, root: Path | None, rules: Preference, clock: Callable[[], float]) -> Preferences:
    """Reads the preferences of a user for a repository; they are empty if preference is off. `root` is None for files
    in memory. Raises ConfigError: see `load_preferences`."""
    if not rules.enabled:
        return Preferences()
    patterns = load_preferences(user_dir)
    try:
        symbols = PreferenceStore(user_dir, root, clock).values() if root is not None else {}
    except RememberedError as error:
        return Preferences(patterns, {}, error.why)
    return Preferences(patterns, symbols)


def load_preferences(user_dir: Path | None) -> dict[str, float]:
    """Reads the value in [0, 1] of each pattern; there are no patterns without a file. Raises ConfigError: the file is
    malformed or a value is outside [0, 1]."""
    import tomli

    path = user_dir / FILE_NAME if user_dir else None
    try:
        if path is None or not path.is_file():
            return {}
        symbols = tomli.loads(path.read_text("utf-8")).get("symbols", {})
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}", hint='write [symbols] and lines like "path::Name" = 0.8') from error
    if not isinstance(symbols, dict):
        raise ConfigError(f"{path}: symbols is not a table", hint='write [symbols] and lines like "path::Name" = 0.8')
    for pattern, value in symbols.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
            raise ConfigError(
                f"{path}: {pattern} = {value!r} is not allowed", hint="a preference is a number from 0 to 1"
            )
    return {pattern: float(value) for pattern, value in symbols.items()}


def preference_notices(preferences: Preferences, candidates: Sequence[str], snapshot: Snapshot) -> list[Notice]:
    """Warns if preference is on and names nothing, if the preferences cannot be read, or if one of them names nothing
    in the repository. `candidates`: symbol ids of the query's candidates; a pattern that matches one of them is not
    looked up."""
    notices = []
    if preferences.problem:
        message = f"What `secateur prefer` remembered cannot be read and does not count: {preferences.problem}."
        notices.append(Notice("preferences_unreadable", message))
    elif not preferences.patterns and not preferences.symbols:
        message = (
            f"Preference is on and changes nothing: {PLACE} names no symbol, and none is remembered. Add one with"
            ' `secateur prefer add SYMBOL`, or write [symbols] there, and below it lines like "path::Name" = 0.8.'
        )
        return [Notice("no_preferences", message)]
    is_candidate = set(candidates)
    symbols = [symbol for symbol in sorted(preferences.symbols) if symbol not in is_candidate]
    patterns = [
        pattern for pattern in sorted(preferences.patterns) if not any(map(_compile_pattern(pattern), candidates))
    ]
    if not symbols and not patterns:
        return notices
    if gone := [symbol for symbol in symbols if snapshot.row_of(symbol) < 0]:
        message = f"Preferred and not here: {_name_first(gone)}. `secateur prefer remove SYMBOL` forgets it."
        notices.append(Notice("unknown_preference", message))
    there = [snapshot.symbol_id(row) for row in range(len(snapshot))] if patterns else []
    if lost := [pattern for pattern in patterns if not any(map(_compile_pattern(pattern), there))]:
        near = {pattern: _find_near(pattern, snapshot) for pattern in lost[:NAMED]}
        shown = [pattern + (f" (near: {', '.join(near[pattern])})" if near.get(pattern) else "") for pattern in lost]
        notices.append(Notice("unknown_preference", f"{PLACE}: nothing here is called {_name_first(shown)}."))
    return notices


def _name_first(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return "; ".join(names[:NAMED]) + more


def _compile_pattern(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern)).match


def _find_near(pattern: str, snapshot: Snapshot) -> list[str]:
    """Lists symbol ids, or paths for a pattern of paths, that the user may have meant. Of equal names the first one is
    listed."""
    path, colons, name = pattern.rpartition("::")
    shown: dict[str, str] = {}
    if colons:
        for row, qualname in enumerate(snapshot.qualnames):
            if qualname:
                shown.setdefault(qualname.lower(), snapshot.symbol_id(row))
    else:
        known = dict.fromkeys(snapshot.paths)
        for folder in snapshot.paths:
            while "/" in folder:
                folder = folder.rpartition("/")[0]
                known[folder] = None
        for text in known:
            shown.setdefault(text.lower(), text)
    word = (name if colons else path or name).strip("*?./").lower()
    return [shown[name] for name, _ in near_names(word, sorted(shown))]


def preference_scores(symbols: Sequence[str], preferences: Preferences) -> FloatArray:
    """Returns the preference of each symbol id; 0 if nothing matches it."""
    remembered = preferences.symbols
    scores = np.array([remembered.get(symbol, 0.0) for symbol in symbols], dtype=np.float64)
    for pattern, value in sorted(preferences.patterns.items()):
        matches = _compile_pattern(pattern)
        for row, symbol in enumerate(symbols):
            if value > scores[row] and matches(symbol):
                scores[row] = value
    return scores
