"""The state of the Search bench without a screen: query, history of settings, pool, answer, baseline.

Nothing derived is stored: the answer carries the settings it was decided with, and what is stale follows from comparing
requests.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from secateur.kinds.search.kind import pool_key
from secateur.model import IntArray, Pool, Selection
from secateur.settings import Settings

from secateur_tui.state.history import KnobState, SettingsHistory
from secateur_tui.state.search_comparison import SearchComparison
from secateur_tui.state.search_engine import SearchEngine


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query and the settings that a pool is retrieved for."""

    query: str
    settings: Settings

    def serves(self, other: SearchRequest) -> bool:
        """Returns whether a pool retrieved for this request also answers `other`."""
        return (
            self.query == other.query
            and self.settings.graph_rag.max_depth >= other.settings.graph_rag.max_depth
            and pool_key(self.settings) == pool_key(other.settings)
        )


@dataclass(eq=False, slots=True)
class SearchAnswer:
    """A selection and the settings it was decided with.

    Attributes:
        recounted: tokens of its pack; None until they are counted.
        places: per row its place in the order, 0 where that is not known; None: that of the selection.
    """

    settings: Settings
    selection: Selection
    recounted: int | None = None
    places: IntArray | None = None

    @property
    def tokens(self) -> int:
        """Tokens of its pack; at most these, as long as they are not counted."""
        return self.selection.used if self.recounted is None else self.recounted


@lru_cache(maxsize=1)
def _compared(then: SearchAnswer, now: SearchAnswer) -> SearchComparison:
    """Returns the same object for the same pair, so that its columns are worked out once and not per painted line."""
    return SearchComparison(then.selection, now.selection, then.places)


@dataclass(slots=True)
class SearchState(KnobState[SearchAnswer]):
    """The state of the bench. Methods return whether something changed."""

    engine: SearchEngine
    opened: Settings
    query: str = ""
    history: SettingsHistory = field(init=False)
    request: SearchRequest | None = None  # what `pool` was retrieved for
    pool: Pool | None = None
    answer: SearchAnswer | None = None
    baseline: SearchAnswer | None = None
    cursor: int = 0  # row of the candidate looked at

    def __post_init__(self) -> None:
        self.history = SettingsHistory([self.opened])

    @property
    def wanted(self) -> SearchRequest | None:
        """The request whose answer should be on screen; None for an empty query."""
        return SearchRequest(self.query, self.settings) if self.query.strip() else None

    @property
    def needs_pool(self) -> bool:
        """Tells whether the pool at hand does not answer what is wanted."""
        wanted = self.wanted
        return wanted is not None and (self.request is None or not self.request.serves(wanted))

    @property
    def comparison(self) -> SearchComparison | None:
        """Baseline against answer; None while nothing has changed since the baseline."""
        if self.baseline is None or self.answer is None or self.baseline is self.answer:
            return None
        return _compared(self.baseline, self.answer)

    def ask(self, query: str) -> bool:
        """Takes another query and drops the baseline: answers to two questions have nothing in common."""
        if query == self.query:
            return False
        self.query = query
        self.baseline = None
        if self.wanted is None:
            self.request = self.pool = self.answer = None
        return True

    def accept(self, request: SearchRequest, pool: Pool) -> bool:
        """Takes a retrieved pool, unless something else is wanted by now. The cursor stays on its candidate where the
        pool still holds it."""
        wanted = self.wanted
        if wanted is None or not request.serves(wanted):
            return False
        same_question = (
            self.pool is not None
            and len(self.pool) > 0
            and self.request is not None
            and self.request.query == request.query
        )
        looked_at = self.pool.symbol_id[self.cursor] if self.pool is not None and same_question else ""
        self.request, self.pool = request, pool
        self.reselect()
        best = int(self.answer.selection.order[0]) if self.answer and len(pool) else 0
        self.cursor = pool.row_of.get(looked_at, best)
        return True

    def reselect(self) -> None:
        """Decides again under the present settings; without a fitting pool the old answer stays until one arrives."""
        if self.pool is not None and not self.needs_pool:
            self.answer = SearchAnswer(self.settings, self.engine.select(self.pool, self.settings))
