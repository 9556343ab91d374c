"""Reads and writes the result cache for one state of a repository: finished answers (SC-GRAG-005). Names what a pool
depends on, for an engine that is asked the same again.

Intent preference (SC-SP-007): symbols a user prefers, kept in the user's own folder, never in the repository.

`secateur prefer` remembers symbols of one repository, and what it remembers decays (`remembered.store`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct, field, structs, to_builtins

from secateur.distributions import list_dependencies
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray, Notice
from secateur.remembered.store import PreferenceStore, RememberedError
from secateur.retrieval.cache import Answer, ResultCache
from secateur.settings import Preference, Settings, SmartPruning

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
        if self.cache is not None and not is_fleeting(answer.warnings):
            self.cache.put(self._key("answer", query, settings, form), answer.to_text())

    def pool_key(self, query: str, settings: Settings, format_: str) -> str:
        """Returns everything that changes the pool of a query. It leaves out settings that only deciding reads: another
        weight finds the same pool."""
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


def is_fleeting(warnings: Sequence[Notice]) -> bool:
    """Tells whether a server failed meanwhile: the next answer may be another one."""
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
