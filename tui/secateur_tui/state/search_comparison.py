"""The difference between the baseline selection and the one on screen. Derived whenever it is drawn, stored
nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from secateur.model import BoolArray, IntArray, Pool, Selection, State

ABSENT = -1
"""The row of a candidate that the other pool does not have."""


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
