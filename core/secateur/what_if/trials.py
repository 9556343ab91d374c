"""Trials: the values of the budget and of number settings that can be tried, and the state of every item at each."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from secateur.ledger import Reason, State
from secateur.model import BoolArray, FloatArray, IntArray
from secateur.progress import Progress, unreported

BUDGET = "budget"  # the name that stands for the budget

# The name that stands for holding an item, whose position is the value: pinning it, where pins are what holds. With a
# choice or a budget behind it, "hold extract" or "hold 3731", it stands for both. Of an item that goes out whole it
# stands for the reverse: no longer pinning it, else excluding it.
HOLD = "hold"

# Reasons that neither a budget nor a number setting changes, so that nothing needs to be tried for such an item.
FIXED = frozenset(
    {
        *(Reason.EXCLUDED, Reason.ELSEWHERE, Reason.BEYOND_DEPTH, Reason.DISABLED, Reason.DAMAGED, Reason.TARGET),
        *(Reason.SYSTEM, Reason.ASIDE, Reason.UNPAIRED, Reason.LAST_USER, Reason.FIRST_USER, Reason.LATEST),
        Reason.BESIDE_PINNED,
        *(Reason.PATTERN, Reason.LOCKFILE, Reason.VENDORED, Reason.BUILD, Reason.EDITOR, Reason.BINARY),
        *(Reason.GENERATED, Reason.MINIFIED),
    }
)

# Budgets that are tried first if budgets are tried one by one, beside those that `guesses` suggests: so many at equal
# distances, some below the present one, and percents of it that are added, up to FAR times it.
_SPREAD, _BELOW, _ABOVE = 10, (75, 90, 95), (2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 75, 100)
_GUESSES = 16  # the most guesses that are tried, the nearest ones

FAR = 2  # a budget of more than this many times the present one is the last of several levers
SECONDS = 60.0  # the most seconds for all proofs of one decision

# A curve ends at this many times the present budget, or at this many tokens if that is more.
_CURVE_TIMES, _CURVE_LEAST = 8, 2_000


class TimeLimit(Struct, frozen=True):
    """The most time for proofs, in seconds of a clock. The default clock is the processor time of the thread, which
    other programs do not change."""

    seconds: float = SECONDS
    clock: Callable[[], float] = time.thread_time


class TimeIsUp(Exception):
    """Ends a decision that began before the time limit and did not end before it."""


class Tried(Struct, frozen=True, eq=False):
    """The decision at one tried value."""

    state: npt.NDArray[np.int8]  # the State of each item
    tokens: int  # tokens that go out
    worth: float = 0.0  # the sum over the items that go out whole, if items have a worth
    figures: Mapping[str, int] = field(default_factory=dict)  # further figures for the curve: "chunks"
    left: IntArray | None = None  # how much of each item goes out, in tokens; None: its state tells

    @property
    def whole(self) -> BoolArray:
        """A mask of the items that go out as they came."""
        return np.asarray(self.state == State.KEPT)

    @property
    def out(self) -> BoolArray:
        """A mask of the items that go out, whole or in part."""
        return np.asarray(self.state != State.DROPPED)

    @property
    def rank(self) -> IntArray:
        """The share of each item that goes out, as a rank: nothing, a description, a part, the whole."""
        return _RANKS[self.state]

    def more_than(self, other: Tried) -> IntArray:
        """Compares how much of each item goes out: 1 more than there, -1 less, 0 as much. Of parts the tokens tell it,
        else the states: nothing, a description, a part, the whole."""
        ranks: IntArray = np.sign(self.rank - other.rank)
        if self.left is None or other.left is None:
            return ranks
        both = self.out & other.out & ~(self.whole & other.whole)
        sizes = np.where(both, np.sign(self.left - other.left), 0)
        return np.where(sizes | (both & ~self.whole & ~other.whole), sizes, ranks)


_RANKS = np.zeros(len(State), dtype=np.int64)
_RANKS[[State.SUMMARISED, State.SHORTENED, State.KEPT]] = 1, 2, 3


class Differences(Struct, frozen=True):
    """The items that a value changes, by position."""

    loses: tuple[int, ...]  # items that go out now, whole or in part, and would be dropped
    gains: tuple[int, ...]  # items that are dropped now, and would go out
    shortens: tuple[int, ...]  # items that would go out in a smaller part
    restores: tuple[int, ...]  # items that go out in part now, and would go out in a larger part

    @property
    def dearer(self) -> int:
        """The number of items that would be dropped or go out in a smaller part."""
        return len(self.loses) + len(self.shortens)

    def without(self, item: int) -> Differences:
        """Returns the changes of other items."""
        sides = (self.loses, self.gains, self.shortens, self.restores)
        return Differences(*(tuple(other for other in side if other != item) for side in sides))


class NumberKnob(Struct, frozen=True):
    """A setting that is a number, and the values at which it may be tried.

    Attributes:
        name: the name of the signal that it weighs, or the key of the setting.
        values: the values in ascending order, with the present one.
        every: tries every value; else tries doubling steps, and then halves the distance.
    """

    name: str
    present: float
    values: tuple[float, ...]  # integers of a setting that is one
    weighs: bool = False
    every: bool = True

    @property
    def place(self) -> int:
        """The place of the present value in `values`."""
        return bisect_left(self.values, self.present)

    @property
    def nearest_first(self) -> Sequence[int]:
        """The places of all values, the one nearest to the present value first."""
        values = self.values
        return sorted(range(len(values)), key=lambda place: (abs(values[place] - self.present), values[place]))


class BudgetColumns(Struct, frozen=True, eq=False):
    """The figures of many budgets."""

    budgets: IntArray  # ascending
    tokens: IntArray
    whole: IntArray  # items that go out as they came
    worth: FloatArray
    lost: IntArray  # items that go out at the budget before and are dropped at this one


class Swept(Struct, frozen=True, eq=False):
    """The decisions at many budgets. Every budget from `low` to `high` was tried."""

    low: int
    high: int
    every: IntArray  # these budgets
    whole: Callable[[int], BoolArray]  # item -> for each of these, whether it goes out as it came
    dearer: IntArray  # for each of these, the number of items that it drops or shortens
    columns: BudgetColumns


class Trials(ABC):
    """A decision that can be made again with other values. `decide` is pure: equal values give equal decisions."""

    ids: Sequence[str]
    budget: int  # the present budget
    low: int  # the least budget that is tried
    enough: int  # a budget that everything fits in
    knobs: Sequence[NumberKnob]
    now: Tried
    fixed: BoolArray  # a mask of items that neither a budget nor a number changes: excluded, system messages
    added: BoolArray = np.zeros(1, dtype=np.bool_)  # items that the decision adds: summaries
    choices: Sequence[tuple[str, str]] = ()  # (key of a setting, another choice): strategies
    scored: bool = False  # items have a worth, because a score decides and not a rule
    budget_label: str = BUDGET  # the name of the budget for people: "safe zone"
    most: int = 400  # the most runs for one explanation

    @abstractmethod
    def decide(self, name: str, value: float | str, progress: Progress = unreported) -> Tried | None:
        """Decides with this budget (BUDGET), this value of a knob, this choice, or while this item is held (HOLD); None
        if there is no answer."""

    def changes(self, name: str, value: float | str) -> Mapping[str, Any]:  # noqa: ARG002 - nothing by default
        """Returns the settings, by key, with which `decide` decides; none if that is impossible."""
        return {}

    def typed(self, name: str, value: float | str) -> str:
        """Returns the flags for these settings, as one types them."""
        return f"--{name} {value}"

    def guesses(self) -> Sequence[int]:
        """Returns budgets that should change something, by the figures of the present decision."""
        return ()

    def sweep(self) -> Swept | None:
        """Decides at many budgets at once; None if that is impossible, and budgets are tried one by one."""
        return None

    def sweep_held(self, item: int, most: int) -> Swept | None:  # noqa: ARG002 - impossible by default
        """Decides at many budgets up to `most` tokens above the present one while an item is held; None as `sweep`."""
        return None

    def tokens_leaving(self, name: str, value: float | str, decided: Tried) -> int:  # noqa: ARG002 - others count
        """Returns exactly the tokens that leave at a value."""
        return decided.tokens

    def portion(self, item: int, decided: Tried) -> tuple[int, int]:  # noqa: ARG002 - not known by default
        """Returns the tokens of an item that go out, and the tokens of the whole item; 0 if they are not known."""
        return 0, 0

    def needed(self, item: int) -> int:  # noqa: ARG002 - not known by default
        """Returns the tokens of room for an item and what goes out beside it, such as a heading; 0 if not known."""
        return 0

    @property
    def end(self) -> int:
        """The largest budget of a curve: one that everything fits in, or several times the present one."""
        return max(self.low, min(self.enough, max(_CURVE_TIMES * self.budget, _CURVE_LEAST)))


def spread(low: int, high: int, count: int) -> list[int]:
    """Returns `count` budgets from `low` to `high` at equal distances."""
    steps = min(count - 1, high - low)
    return [low + (high - low) * step // steps for step in range(steps + 1)] if steps > 0 else [low]


class TrialRuns:
    """Decides again, once for each value, until a limit of runs or time is reached.

    runs = TrialRuns(trials)
    runs.at(BUDGET, 8_500)      # a Tried; None: there is no answer, or it could not be tried
    runs.knows(BUDGET, 8_500)   # whether it was tried

    Attributes:
        enough: a budget that everything fits; greater than that of the trials where that was found too small.
        reached: the limit that kept a value from being tried, in words: "60 s", "40 decisions"; "" for none.
    """

    def __init__(self, trials: Trials, progress: Progress = unreported, limit: TimeLimit | None = None) -> None:
        self.trials = trials
        self.enough = trials.enough
        self.reached = ""
        self._progress = progress
        self._limit, self._end = limit, math.inf
        self.allow(limit)
        self._known: dict[tuple[str, float | str], Tried | None] = {(BUDGET, trials.budget): trials.now}
        for knob in trials.knobs:
            self._known[knob.name, knob.present] = trials.now
        self._nearest: dict[str, IntArray] = {}
        self._differences: dict[tuple[str, float | str], Differences] = {}
        self._leaving: dict[tuple[str, float | str], int] = {}
        self._held = 0  # runs that held an item, which the limit does not count: each is asked for once

    @cached_property
    def steps(self) -> Sequence[int]:
        """A few budgets above the present one up to FAR times it, ascending; a pin with room is tried there, too."""
        present = self.trials.budget
        return sorted({present + present * percent // 100 for percent in _ABOVE} - {present})

    @cached_property
    def first_budgets(self) -> Sequence[int]:
        """The budgets that are tried first if they are tried one by one, ascending. The nearest budget that turns an
        item is looked for between these, so that it does not depend on what else was asked."""
        trials, below = self.trials, [self.trials.budget * percent // 100 for percent in _BELOW]
        guesses = sorted(trials.guesses(), key=lambda budget: (abs(budget - trials.budget), budget))[:_GUESSES]
        within = (budget for budget in (*below, *self.steps) if trials.low <= budget <= trials.enough)
        return sorted({*guesses, *spread(trials.low, trials.end, _SPREAD), *within, trials.enough})

    @property
    def near_budgets(self) -> Sequence[int]:
        """The `first_budgets` above the present one, up to FAR times it."""
        present = self.trials.budget
        return [budget for budget in self.first_budgets if present < budget <= FAR * present]

    @property
    def number(self) -> int:
        """Counts how often the decision was made again."""
        return len(self._known) - 1 - len(self.trials.knobs)

    def allow(self, limit: TimeLimit | None) -> None:
        """Sets another time limit, which begins now."""
        self._limit, self.reached = limit, ""
        self._end = limit.clock() + limit.seconds if limit is not None else math.inf

    def knows(self, name: str, value: float | str) -> bool:
        """Tells whether this value was tried."""
        return (name, value) in self._known

    def at(self, name: str, value: float | str) -> Tried | None:
        """Returns the decision at this value; None if there is no answer, or it could not be tried."""
        if not self.knows(name, value):
            holds = name.startswith(HOLD)
            if not holds and self.number - self._held >= self.trials.most:
                self.reached = self.reached or f"{self.trials.most:,} decisions"
                return None
            try:
                self._step()
                self._known[name, value] = self.trials.decide(name, value, self._step)
                self._held += holds
            except TimeIsUp:
                self.reached = f"{self._limit.seconds:g} s" if self._limit is not None else ""
                return None
        return self._known[name, value]

    def _step(self, phase: str = "", done: int = 0, total: int = 0) -> None:  # noqa: ARG002 - a report of progress
        self._progress("proving", self.number, 0)
        if self._limit is not None and self._limit.clock() > self._end:
            raise TimeIsUp

    def list_tried(self, name: str, *, answered: bool = True) -> list[float]:
        """Returns the tried values of a knob, or the tried budgets, that have an answer (or have none), ascending."""
        known = ((value, decided) for (known, value), decided in self._known.items() if known == name)
        return sorted(
            value for value, decided in known if not isinstance(value, str) and (decided is not None) is answered
        )

    def first(self, knob: NumberKnob, item: int) -> int:
        """Returns the index that `nearest` has for one item, without trying values that are further away."""
        now = self.trials.now.whole[item]
        for index in knob.nearest_first:
            if (decided := self.at(knob.name, knob.values[index])) is not None and decided.whole[item] != now:
                return index
        return -1

    def nearest(self, knob: NumberKnob) -> IntArray:
        """Returns for each item the index of the nearest value that turns it, of all values that could be tried; -1 if
        none does."""
        if knob.name not in self._nearest:
            now, nearest = self.trials.now.whole, np.full(len(self.trials.ids), -1, dtype=np.int64)
            for index in knob.nearest_first:
                if (decided := self.at(knob.name, knob.values[index])) is not None:
                    nearest[(nearest < 0) & (decided.whole != now)] = index
            if not all(self.knows(knob.name, value) for value in knob.values):
                return nearest
            self._nearest[knob.name] = nearest
        return self._nearest[knob.name]

    def leaving(self, name: str, value: float | str) -> int:
        """Returns the tokens that leave at a value, exactly, which was tried and has an answer."""
        if (name, value) not in self._leaving:
            decided = self.at(name, value)
            assert decided is not None
            self._leaving[name, value] = self.trials.tokens_leaving(name, value, decided)
        return self._leaving[name, value]

    def differences(self, name: str, value: float | str) -> Differences:
        """Returns the items that a value changes, which was tried and has an answer."""
        if (name, value) not in self._differences:
            now, decided = self.trials.now, self.at(name, value)
            assert decided is not None
            more = decided.more_than(now)
            sides = now.out & ~decided.out, decided.out & ~now.out, (more < 0) & decided.out, (more > 0) & now.out
            self._differences[name, value] = Differences(*(tuple(np.flatnonzero(side).tolist()) for side in sides))
        return self._differences[name, value]
