"""A selection as the inspector shows it, and the difference between two. Both stay columns: no object is made for a
candidate that nobody looks at."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from msgspec import structs
from secateur.kinds.base import Outcome
from secateur.kinds.search.kind import Search, SearchDecision
from secateur.kinds.search.knobs import pool_key
from secateur.model import IntArray, Pool, Reason, Selection, State
from secateur.settings import Settings

from secateur_tui.state.ledger_answer import ABSENT
from secateur_tui.state.list_view import ItemColumns, search_columns

if TYPE_CHECKING:
    from secateur.engine import Engine
    from secateur_lab.scenarios.scenario import Recorded, RecordedItem


import numpy.typing as npt
from secateur.model import BoolArray


@dataclass(frozen=True, eq=False)
class SearchComparison:
    """`then` against `now`; columns are per row of `now.pool`."""

    then: Selection
    now: Selection
    places: IntArray | None = None  # per row of `then.pool` its place, 0 where that is not known; None: its rank

    @cached_property
    def row_then(self) -> IntArray:
        """Row of the same candidate in `then.pool`; ABSENT if it is new."""
        return match_rows(self.now.pool, self.then.pool)

    @cached_property
    def moved(self) -> IntArray:
        """Places gained (positive: up) since then; 0 for new candidates, and where the place then is not known."""
        places = self.then.rank if self.places is None else self.places
        known = self.row_then != ABSENT
        known[known] = places[self.row_then[known]] > 0
        moved = np.zeros(len(self.now), dtype=np.int64)
        moved[known] = places[self.row_then[known]] - self.now.rank[known]
        return moved

    @cached_property
    def state_then(self) -> IntArray:
        """State then; a new candidate counts as dropped then."""
        known = self.row_then != ABSENT
        state = np.full(len(self.now), int(State.DROPPED), dtype=np.int64)
        state[known] = self.then.state[self.row_then[known]]
        return state

    @cached_property
    def flipped(self) -> BoolArray:
        """True where the decision differs."""
        flipped: BoolArray = self.state_then != self.now.state
        return flipped

    def is_flipped(self, item: int) -> bool:
        """Tells whether the decision differs."""
        return bool(self.flipped[item])

    def change_of(self, item: int) -> int | None:
        """Returns the places that an item gained; None for a new one."""
        return None if self.row_then[item] == ABSENT else int(self.moved[item])

    @cached_property
    def flip_counts(self) -> Mapping[State, int]:
        """The candidates whose decision differs, counted by their state now."""
        states = self.now.state[self.flipped]
        return {state: count for state in State if (count := int((states == state).sum()))}

    @cached_property
    def same(self) -> bool:
        """Tells whether the same goes out, in the same order."""
        if self.then.used != self.now.used or len(self.then) != len(self.now):
            return False
        return not (self.flipped.any() or self.moved.any() or self.vanished)

    def flips(self, before: State | None, after: State | None) -> list[int]:
        """Rows that went from `before` to `after` (None: any state that goes out), best rank now first."""
        mask = self.flipped & _is(self.state_then, before) & _is(self.now.state, after)
        order = self.now.order
        return [int(row) for row in order[mask[order]]]

    @cached_property
    def vanished(self) -> list[int]:
        """Rows of `then.pool` that went out then and are missing now, best rank first."""
        if self.then.pool is self.now.pool:
            return []
        missing = match_rows(self.then.pool, self.now.pool) == ABSENT
        return [row for row in self.then.kept_rows if missing[row]]


def _is(states: npt.NDArray[Any], wanted: State | None) -> BoolArray:
    mask: BoolArray = states != State.DROPPED if wanted is None else states == wanted
    return mask


def match_rows(here: Pool, there: Pool) -> IntArray:
    """For each row of `here`, the row of the same candidate in `there`, or ABSENT."""
    if here is there:
        return np.arange(len(here), dtype=np.int64)
    row_of = there.row_of
    return np.fromiter((row_of.get(symbol, ABSENT) for symbol in here.symbol_id), dtype=np.int64, count=len(here))


@dataclass(frozen=True)
class SearchRequest:
    """A query and the settings that a pool is retrieved for."""

    query: str
    settings: Settings

    @cached_property
    def _pool_key(self) -> tuple[object, ...]:
        return pool_key(self.settings)

    def serves(self, other: SearchRequest) -> bool:
        """Returns whether a pool retrieved for this request also answers `other`."""
        return (
            self.query == other.query
            and self.settings.graph_rag.max_depth >= other.settings.graph_rag.max_depth
            and self._pool_key == other._pool_key
        )


@dataclass(eq=False)
class SearchAnswer:
    """A selection and the settings it was decided with. An item is a row of its pool.

    Attributes:
        recounted: tokens of its pack; None until they are counted.
        places: per row its place in the order, 0 where that is not known; None: that of the selection.
        engine: the engine that selected; its outcome needs it.
    """

    settings: Settings
    selection: Selection
    recounted: int | None = None
    places: IntArray | None = None
    engine: Engine | None = None

    def __len__(self) -> int:
        return len(self.selection)

    @property
    def ids(self) -> Sequence[str]:
        """The name of each item, which it keeps under other settings."""
        return self.selection.pool.symbol_id

    @property
    def place_of(self) -> Mapping[str, int]:
        """The item of a name."""
        return self.selection.pool.row_of

    def item_at(self, line: int) -> int:
        """Returns the item of a line of the list."""
        return int(self.selection.order[line])

    def line_of(self, item: int) -> int:
        """Returns the line of an item in the list."""
        return int(self.selection.rank[item]) - 1

    def state_of(self, item: int) -> State:
        """Returns the state of an item."""
        return State(int(self.selection.state[item]))

    def reason_of(self, item: int) -> Reason:
        """Returns the reason of the decision on an item."""
        return Reason(int(self.selection.reason[item]))

    @property
    def outcome(self) -> Outcome[SearchDecision]:
        """The outcome of the kind."""
        return Search().outcome_of(cast("Engine", self.engine), self.selection, self.settings)

    def entry_number(self, item: int) -> int:
        """Returns the number of the ledger's entry that an item shows."""
        return item

    def entry_name(self, item: int) -> str:
        """Returns the id of the ledger's entry that an item shows; "" for none."""
        return str(self.ids[item]) if len(self) else ""

    def item_of(self, entry: str) -> int | None:
        """Returns the item that shows an entry; None if no item shows it."""
        return self.place_of.get(entry)

    def item_columns(self, comparison: SearchComparison | None) -> ItemColumns:
        """Returns the items as columns, by which they are found, filtered and sorted; compared with the baseline."""
        return search_columns(self.selection, comparison.flipped if comparison is not None else None)

    def sought_names(self) -> Sequence[str]:
        """Returns the words by which a person looks for each item."""
        return self.selection.pool.qualname

    @property
    def ordered_by(self) -> str:
        """The name of the score that the candidates are ordered by."""
        strategy, short = self.selection.strategy, self.selection.pool.short_query
        return "priority" if strategy == "density" and short else strategy

    def count(self) -> None:
        """Counts the tokens of the pack. Slow; reads the texts."""
        if self.engine is not None:
            self.recounted = self.engine.pack_tokens(self.selection)

    def since(self, then: SearchAnswer) -> SearchComparison:
        """Returns the changes since another answer; the same object for the same pair."""
        return compare_searches(then, self)

    @cached_property
    def highest(self) -> float:
        """The highest priority: the length of a full bar."""
        return float(self.selection.priority.max()) if len(self.selection) else 0.0

    @property
    def tokens(self) -> int:
        """Tokens of its pack; at most these, as long as they are not counted."""
        selection = self.selection
        return selection.used + selection.last_line if self.recounted is None else self.recounted


def query_terms(answer: Any) -> Collection[str]:
    """Returns the words that the items were looked for by, as the search counts them; none where nothing was."""
    terms: Mapping[str, Any] = answer.selection.pool.facts.get("terms", {}) if isinstance(answer, SearchAnswer) else {}
    return terms.keys()


@lru_cache(maxsize=1)
def compare_searches(then: SearchAnswer, now: SearchAnswer) -> SearchComparison:
    """Returns the same object for the same pair, so that its columns are worked out once and not per painted line."""
    return SearchComparison(then.selection, now.selection, then.places)


_STATES = {state.label: state for state in State}


def restore_answer(recorded: Recorded, now: SearchAnswer, settings: Settings) -> SearchAnswer:
    """Returns the recorded decisions of a scenario over the candidates of now and those that are gone. What was not
    recorded did not leave; its place in the order is not known."""
    selection = now.selection
    gone = [item for item in recorded.items if item.id not in selection.pool.row_of]
    pool = _add_rows(selection.pool, gone) if gone else selection.pool
    size = len(pool)
    state = np.full(size, int(State.DROPPED), dtype=np.int8)
    place = np.zeros(size, dtype=np.int64)
    for item in recorded.items:
        row = pool.row_of[item.id]
        state[row] = int(_STATES[item.state])
        place[row] = item.rank or 0
    pad = (0, size - len(selection))
    then = structs.replace(
        selection,
        pool=pool,
        budget=recorded.budget,
        state=state,
        reason=np.pad(selection.reason, pad),
        priority=np.pad(selection.priority, pad),
        score=np.where(place > 0, -place, -(size + len(selection.order) + 1)).astype(np.float64),
        terms={name: np.pad(column, pad) for name, column in selection.terms.items()},
        used=recorded.after,
    )
    return SearchAnswer(settings, then, recorded.after, place, now.engine)


def _add_rows(pool: Pool, gone: list[RecordedItem]) -> Pool:
    columns: dict[str, Any] = {}
    for name, value in structs.asdict(pool).items():
        if isinstance(value, list):
            columns[name] = [*value, *[""] * len(gone)]
        elif isinstance(value, np.ndarray):
            columns[name] = np.pad(value, (0, len(gone)))
    columns["symbol_id"] = [*pool.symbol_id, *(item.id for item in gone)]
    columns["path"] = [*pool.path, *(item.id.partition("::")[0] for item in gone)]
    columns["qualname"] = [*pool.qualname, *(item.id.partition("::")[2] for item in gone)]
    columns["tokens"] = np.append(pool.tokens, [item.tokens[0] for item in gone])
    return structs.replace(pool, **columns)
