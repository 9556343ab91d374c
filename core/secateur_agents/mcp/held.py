"""The engines and results that a server keeps between calls: few of each, the least recently used are dropped first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from msgspec import structs
from secateur import Engine, Kind, Outcome, SecateurError, clip

from secateur_agents.mcp.pages import cursor_of, other_page
from secateur_agents.mcp.shapes import Freshness, PrunedAnswer

MOST_ENGINES = 4  # most idle indexes that stay open: each holds the arrays of its repository
MOST_RESULTS = 8  # most results that can be paged and explained
CHANGED_LISTED, _PATH_CELLS = 10, 120  # most changed files that an answer lists; the others are counted


@dataclass(eq=False)
class IndexedFolder:
    """An engine, and when its files were last checked."""

    engine: Engine
    looked: float = 0.0  # seconds of the clock
    whole: bool = False  # all of it is indexed, not only what a first answer needed
    users: int = 0

    def freshness(self, commit: str) -> Freshness:
        """Returns the state behind an answer that is made now."""
        return Freshness(commit, datetime.fromtimestamp(self.looked, UTC).isoformat(timespec="seconds"))

    def state(self) -> Mapping[str, bytes]:
        """Returns the content digest of every indexed file by path; empty while only a part is indexed."""
        return self.engine.code()[0].all_digests if self.whole else {}


class OpenEngines:
    """Keeps one engine per folder and index settings.

    >>> with engines.using(key, open_engine) as indexed:
    ...     indexed.engine.search(query)
    """

    def __init__(self) -> None:
        self._open: OrderedDict[Hashable, IndexedFolder] = OrderedDict()
        self._turn = threading.Lock()

    @contextmanager
    def using(self, key: Hashable, opened: Callable[[], Engine]) -> Iterator[IndexedFolder]:
        """Hands out the engine of a key, opening it if needed. It stays open at least until the block ends."""
        with self._turn:
            known = key in self._open
        made = None if known else IndexedFolder(opened())  # may wait for another process, without blocking other calls
        with self._turn:
            indexed = self._open[key] = self._open.get(key) or made or IndexedFolder(opened())
            self._open.move_to_end(key)
            indexed.users += 1
        with self._releasing([indexed]):
            yield indexed

    @contextmanager
    def unfinished(self) -> Iterator[Sequence[IndexedFolder]]:
        """Hands out the folders of which a first answer needed only a part."""
        with self._turn:
            folders = [indexed for indexed in self._open.values() if indexed.looked and not indexed.whole]
            for indexed in folders:
                indexed.users += 1
        with self._releasing(folders):
            yield folders

    @contextmanager
    def _releasing(self, used: Sequence[IndexedFolder]) -> Iterator[None]:
        try:
            yield
        finally:
            with self._turn:
                for indexed in used:
                    indexed.users -= 1
            self.close(MOST_ENGINES)

    def close(self, most: int = 0) -> None:
        """Closes idle engines, the least recently used first, where more than `most` are open."""
        with self._turn:
            idle = [key for key, indexed in self._open.items() if not indexed.users]
            for key in idle[: max(0, len(self._open) - most)]:
                with suppress(SecateurError):  # a failed write was reported before
                    self._open.pop(key).engine.close()


@dataclass(eq=False)
class HeldResult:
    """A result of a kind of context: the decision, and its text in pages."""

    kind: Kind[Any, Any]
    material: Any
    inputs: dict[str, Any]
    outcome: Outcome[Any]
    answer: PrunedAnswer  # its first page
    pages: list[str]
    indexed: IndexedFolder | None = None
    state: Mapping[str, bytes] = field(default_factory=dict)  # see `IndexedFolder.state`

    def freshness(self) -> Freshness | None:
        """Returns the state in which it was found, with later changes. Lists the files again."""
        then, indexed = self.answer.freshness, self.indexed
        if then is None or indexed is None:
            return None
        try:
            changed = set(indexed.engine.changes().files)
        except SecateurError as error:
            changed = {f"not known: {error.message}"}
        if self.state and (now := indexed.state()) is not self.state:
            changed |= {path for path in self.state.keys() | now.keys() if self.state.get(path) != now.get(path)}
        listed = [clip(path, _PATH_CELLS) for path in sorted(changed)[:CHANGED_LISTED]]
        return Freshness(then.commit, then.indexed, listed, len(changed) - len(listed))

    def page(self, result: str, page: int) -> PrunedAnswer:
        """Returns the answer with a page of its text, as a cursor names them. Raises UsageError: there is no such page,
        or it is one of another result."""
        if result != self.answer.result or not 1 <= page <= len(self.pages):
            raise other_page()
        further: dict[str, Any] = {"freshness": self.freshness()}
        if page > 1:  # the first page has the items
            following = cursor_of(self.answer.result, page + 1) if page < len(self.pages) else ""
            further |= {"text": self.pages[page - 1], "page": page, "next": following}
            further |= {"items": [], "items_more": 0, "left_out": [], "left_out_more": 0}
        return structs.replace(self.answer, **further)


class HeldResults:
    """The last results by name."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, HeldResult] = OrderedDict()
        self._turn = threading.Lock()

    def find(self, name: str) -> HeldResult | None:
        """Returns the result with a name, if it is still held."""
        with self._turn:
            if name in self._held:
                self._held.move_to_end(name)
            return self._held.get(name)

    def keep(self, result: HeldResult) -> None:
        """Holds a result; the least recently used one is dropped if there are too many."""
        with self._turn:
            old = self._held.pop(result.answer.result, None)
            self._held[result.answer.result] = result
            gone = [] if old is None else [old]
            while len(self._held) > MOST_RESULTS:
                gone.append(self._held.popitem(last=False)[1])
        for result_gone in gone:
            result_gone.kind.release(result_gone.material)

    def close(self) -> None:
        """Drops all results."""
        with self._turn:
            gone, self._held = [*self._held.values()], OrderedDict()
        for result in gone:
            result.kind.release(result.material)
