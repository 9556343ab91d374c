"""Reads and writes the result cache for one state of a repository: finished answers, and pools to decide anew from
(SC-GRAG-005).

Intent preference (SC-SP-007): symbols a user prefers, kept in the user's own folder, never in the repository.

`secateur prefer` remembers symbols of one repository, and what it remembers decays (`remembered.store`).
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from zlib import compress, decompress

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field, structs, to_builtins

from secateur.distributions import list_dependencies
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


NAMED = 3  # most symbols that a notice names; it counts the others


class Preferences(Struct, frozen=True):
    """Holds the preferences of a user in a repository.

    Attributes:
        symbols: the remembered symbol ids, with the values that they have now.
        problem: why the remembered symbols do not count; "" if they do.
    """

    symbols: Mapping[str, float] = field(default_factory=dict)
    problem: str = ""

    @property
    def key(self) -> list[object]:
        """Everything in it that changes an answer, in a fixed order, for JSON."""
        return [sorted(self.symbols.items()), self.problem]


def preferences_of(user_dir: Path, root: Path | None, rules: Preference, clock: Callable[[], float]) -> Preferences:
    """Reads the preferences of a user for a repository; they are empty if preference is off. `root` is None for files
    in memory."""
    if not rules.enabled:
        return Preferences()
    try:
        return Preferences(PreferenceStore(user_dir, root, clock).values() if root is not None else {})
    except RememberedError as error:
        return Preferences({}, error.why)


def preference_notices(preferences: Preferences, candidates: Collection[str], snapshot: Snapshot) -> list[Notice]:
    """Warns if preference is on and names nothing, if the preferences cannot be read, or if one of them names nothing
    in the repository. `candidates`: symbol ids of the query's candidates, which are not looked up."""
    if preferences.problem:
        message = f"What `secateur prefer` remembered cannot be read and does not count: {preferences.problem}."
        return [Notice("preferences_unreadable", message)]
    if not preferences.symbols:
        message = "Preference is on and changes nothing: `secateur prefer add SYMBOL` remembers a first symbol."
        return [Notice("no_preferences", message)]
    further = sorted(preferences.symbols.keys() - set(candidates))
    gone = [symbol for symbol in further if snapshot.row_of(symbol) < 0]
    more = f" and {len(gone) - NAMED:,} more" if len(gone) > NAMED else ""
    message = f"Preferred and not here: {'; '.join(gone[:NAMED])}{more}. `secateur prefer remove SYMBOL` forgets it."
    return [Notice("unknown_preference", message)] if gone else []


def preference_scores(symbols: Sequence[str], preferences: Preferences) -> FloatArray:
    """Returns the preference of each symbol id; 0 if it is not preferred."""
    return np.array([preferences.symbols.get(symbol, 0.0) for symbol in symbols], dtype=np.float64)
