"""The engines and the results that a server holds between calls: few of each, the least used go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from secateur.agents.mcp.shapes import Freshness, PrunedAnswer
from secateur.engine import Engine
from secateur.errors import SecateurError, UsageError
from secateur.kinds.base import Kind, Outcome
from secateur.settings import Settings
from secateur.terminal import clip

MOST_ENGINES = 4
"""Indexes that stay open while nobody asks them: each holds the arrays of its repository."""

MOST_RESULTS = 8
"""Results that can be paged through and explained."""

CHANGED_LISTED, _PATH_CELLS = 10, 120
"""Files changed since that an answer names; the others are counted."""


@dataclass(eq=False)
class IndexedFolder:
    """An engine, and when its files were last looked at."""

    engine: Engine
    looked: float = 0.0  # seconds of the clock
    whole: bool = False  # all of it is indexed, not only what a first answer needed
    users: int = 0

    def freshness(self, commit: str) -> Freshness:
        """The state that an answer comes from which is made now."""
        return Freshness(commit, datetime.fromtimestamp(self.looked, UTC).isoformat(timespec="seconds"))

    def state(self) -> Mapping[str, bytes]:
        """The content digest of every file that is indexed, by path; nothing is known while only a part is."""
        return self.engine.code()[0].all_digests if self.whole else {}

    def since(self, then: Freshness, state: Mapping[str, bytes]) -> Freshness:
        """The state of an earlier answer, with what changed since: the files are listed again."""
        try:
            changed = set(self.engine.changes().files)
        except SecateurError as error:
            changed = {f"not known: {error.message}"}
        if state and (now := self.state()) is not state:
            changed |= {path for path in state.keys() | now.keys() if state.get(path) != now.get(path)}
        listed = [clip(path, _PATH_CELLS) for path in sorted(changed)[:CHANGED_LISTED]]
        return Freshness(then.commit, then.indexed, listed, len(changed) - len(listed))


class OpenEngines:
    """One engine for each folder and what its index is made with.

    >>> with engines.using(key, open_engine) as indexed:
    ...     indexed.engine.search(query)
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._open: OrderedDict[Hashable, IndexedFolder] = OrderedDict()
        self._turn = threading.Lock()

    @contextmanager
    def using(self, key: Hashable, opened: Callable[[], Engine]) -> Iterator[IndexedFolder]:
        """The engine of a key, opened if it is not; it stays open at least until the block ends."""
        with self._turn:
            known = key in self._open
        made = None if known else IndexedFolder(opened())  # may wait for another process: others need not
        with self._turn:
            indexed = self._open.get(key) or made or IndexedFolder(opened())
            self._open[key] = indexed
            self._open.move_to_end(key)
            indexed.users += 1
        try:
            yield indexed
        finally:
            with self._turn:
                indexed.users -= 1
                self._close_idle(MOST_ENGINES)

    def close(self) -> None:
        """Closes those that nobody uses."""
        with self._turn:
            self._close_idle(0)

    def _close_idle(self, most: int) -> None:
        idle = [key for key, indexed in self._open.items() if not indexed.users]
        for key in idle[: max(0, len(self._open) - most)]:
            with suppress(SecateurError):  # an index that cannot be written was said to be so
                self._open.pop(key).engine.close()


@dataclass(eq=False)
class HeldResult:
    """A result of a kind of context: what was decided, and its text in pages."""

    name: str
    kind: Kind[Any, Any]
    material: Any
    inputs: dict[str, Any]
    settings: Settings
    outcome: Outcome[Any]
    answer: PrunedAnswer  # its first page
    pages: list[str]
    indexed: IndexedFolder | None = None
    state: Mapping[str, bytes] = field(default_factory=dict)  # see `IndexedFolder.state`

    def freshness(self) -> Freshness | None:
        """The state that it was found in, and what changed since."""
        then = self.answer.freshness
        return self.indexed.since(then, self.state) if self.indexed is not None and then else None


class HeldResults:
    """The last results by name."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, HeldResult] = OrderedDict()
        self._turn = threading.Lock()

    def find(self, name: str) -> HeldResult | None:
        """The result of a name, if it is still held."""
        with self._turn:
            if name in self._held:
                self._held.move_to_end(name)
            return self._held.get(name)

    def named(self, name: str) -> HeldResult:
        """The same.

        Raises:
            UsageError: it is held no longer, or never was.
        """
        found = self.find(name)
        if found is None:
            raise UsageError(
                f"result: {name[:40]} is not held (the last {MOST_RESULTS} are)",
                hint="call search, prune or review again and give the `result` of its answer",
            )
        return found

    def keep(self, result: HeldResult) -> None:
        """Holds a result; the least used one of too many is let go."""
        with self._turn:
            old = self._held.pop(result.name, None)
            self._held[result.name] = result
            gone = [] if old is None else [old]
            while len(self._held) > MOST_RESULTS:
                gone.append(self._held.popitem(last=False)[1])
        for one in gone:
            one.kind.release(one.material)

    def close(self) -> None:
        """Lets go of all."""
        with self._turn:
            gone, self._held = [*self._held.values()], OrderedDict()
        for one in gone:
            one.kind.release(one.material)
