"""The values that can be tried, of the budget and of knobs that are numbers, and what became of every item then."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from secateur.ledger import Reason, State
from secateur.model import BoolArray, FloatArray, IntArray
from secateur.progress import Progress, unreported

BUDGET = "budget"
"""The name under which a budget is tried."""

FIXED = frozenset(
    {
        *(Reason.EXCLUDED, Reason.ELSEWHERE, Reason.BEYOND_DEPTH, Reason.DISABLED, Reason.DAMAGED, Reason.TARGET),
        *(Reason.SYSTEM, Reason.ASIDE, Reason.UNPAIRED, Reason.LAST_USER, Reason.FIRST_USER, Reason.LATEST),
        *(Reason.PATTERN, Reason.LOCKFILE, Reason.VENDORED, Reason.BUILD, Reason.EDITOR, Reason.BINARY),
        *(Reason.GENERATED, Reason.MINIFIED),
    }
)
"""Reasons that no budget changes, and no setting that is a number: that nothing turns such an item is said at once."""

SECONDS = 60.0
"""Seconds that all proofs of one decision may take."""

_CURVE_TIMES, _CURVE_LEAST = 8, 2_000
"""A curve ends at so many times the present budget, or at so many tokens."""


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """The time that proofs may take: seconds of a clock, by default of the processor time of the thread, which other
    programs do not change."""

    seconds: float = SECONDS
    clock: Callable[[], float] = time.thread_time


class TimeIsUp(Exception):
    """Ends a decision that was begun within the time and did not end in it."""


@dataclass(frozen=True, eq=False)
class Tried:
    """The states of the items of `Trials` at one value."""

    state: npt.NDArray[np.int8]  # per item, State
    tokens: int  # that go out
    worth: float = 0.0  # sum over what goes out whole, where items have a worth
    figures: Mapping[str, int] = field(default_factory=dict)  # further ones that a curve shows: "chunks"

    @property
    def whole(self) -> BoolArray:
        """Per item, whether it goes out as it came."""
        return np.asarray(self.state == State.KEPT)

    @property
    def out(self) -> BoolArray:
        """Per item, whether anything of it goes out."""
        return np.asarray(self.state != State.DROPPED)


@dataclass(frozen=True, slots=True)
class NumberKnob:
    """A setting that is a number, and the values at which it may be tried.

    Attributes:
        name: of the signal that it weighs, else the key of the setting.
        values: ascending; the present one is among them.
        every: each of them is tried; else steps that double, and what lies between is halved.
    """

    name: str
    present: float
    values: tuple[float, ...]  # integers of a setting that is one
    weighs: bool = False
    every: bool = True

    @property
    def place(self) -> int:
        """Of the present value."""
        return bisect_left(self.values, self.present)

    @property
    def nearest_first(self) -> Sequence[int]:
        """The places of all values, the one nearest to the present value first."""
        return sorted(range(len(self.values)), key=lambda one: (abs(self.values[one] - self.present), self.values[one]))


@dataclass(frozen=True, eq=False)
class BudgetColumns:
    """Figures of what goes out at many budgets."""

    budgets: IntArray  # ascending
    tokens: IntArray
    whole: IntArray  # items that go out as they came
    worth: FloatArray
    lost: IntArray  # items of which something goes out at the budget before and nothing at this one


@dataclass(frozen=True, eq=False)
class Swept:
    """Decisions at many budgets at once. From `low` to `high` every single budget was looked at."""

    low: int
    high: int
    nearest: Callable[[int], int]  # item -> the budget there, nearest to the present one, that turns it; -1: none does
    columns: BudgetColumns


@dataclass(frozen=True, eq=False)
class SharedCost:
    """Tokens that items of a group take once, whichever of them are there."""

    group: IntArray  # per item, its number
    cost: IntArray  # per item, the same for all of a group; 0 where it is there anyway

    def of(self, items: IntArray) -> SharedCost:
        """Those of some items, numbered by their places."""
        return SharedCost(self.group[items], self.cost[items])

    @property
    def groups(self) -> list[IntArray]:
        """The items of each group, ascending."""
        order = np.argsort(self.group, kind="stable")
        starts = np.flatnonzero(np.diff(self.group[order], prepend=-1))
        return np.split(order, starts[1:]) if len(order) else []

    @property
    def once(self) -> int:
        """Tokens that all groups take."""
        return sum(int(self.cost[items[0]]) for items in self.groups)


@dataclass(frozen=True, eq=False)
class Knapsack:
    """The question which items would be worth most within the same room."""

    room: int  # tokens that whole items may take
    cost: IntArray  # per item
    worth: FloatArray  # per item, a multiple of QUANTUM
    eligible: BoolArray  # per item
    held: BoolArray  # per item: goes out whatever it is worth
    shared: SharedCost | None = None


class Trials(ABC):
    """A decision, and deciding again. `decide` is pure: equal values, equal decisions."""

    ids: Sequence[str]
    budget: int  # the present one
    low: int  # least budget that is tried
    enough: int  # a budget that everything fits
    knobs: Sequence[NumberKnob]
    now: Tried
    fixed: BoolArray  # per item, whether no budget and no number changes it: excluded, the system's words
    scored: bool = False  # items have a worth: a score decides and no rule
    budget_label: str = BUDGET  # what people call it: "safe zone"
    most: int = 400  # runs that one explanation may take

    @abstractmethod
    def decide(self, name: str, value: float, progress: Progress = unreported) -> Tried | None:
        """Decides with this budget (BUDGET) or this value of a knob; None: there is no answer at it."""

    def guesses(self) -> Sequence[int]:
        """Budgets at which something should change, by the figures of the present decision."""
        return ()

    def sweep(self) -> Swept | None:
        """Decides at many budgets at once, where that can be done; None: they are tried one by one."""
        return None

    def knapsack(self) -> Knapsack | None:
        """The question what the best possible selection holds; None where no score decides."""
        return None

    @property
    def end(self) -> int:
        """The largest budget of a curve: what everything fits, or several times the present one."""
        return max(self.low, min(self.enough, max(_CURVE_TIMES * self.budget, _CURVE_LEAST)))


class TrialRuns:
    """Decides again, each value once, at most so many times and for so long.

    runs = TrialRuns(trials)
    runs.at(BUDGET, 8_500)      # a Tried; None: no answer there, or it could not be tried
    runs.knows(BUDGET, 8_500)   # whether it was tried

    Attributes:
        reached: the limit that kept a value from being tried, in words: "60 s", "40 decisions"; "" for none.
    """

    def __init__(self, trials: Trials, progress: Progress = unreported, limit: TimeLimit | None = None) -> None:
        self.trials = trials
        self.reached = ""
        self._progress = progress
        self._limit, self._end = limit, math.inf
        self.allow(limit)
        self._known: dict[tuple[str, float], Tried | None] = {(BUDGET, trials.budget): trials.now}
        for knob in trials.knobs:
            self._known[knob.name, knob.present] = trials.now
        self._nearest: dict[str, IntArray] = {}
        self._differences: dict[tuple[str, float], tuple[list[int], list[int]]] = {}

    @property
    def number(self) -> int:
        """The number of times that was decided again."""
        return len(self._known) - 1 - len(self.trials.knobs)

    def allow(self, limit: TimeLimit | None) -> None:
        """Takes another limit, which counts from now on."""
        self._limit, self.reached = limit, ""
        self._end = limit.clock() + limit.seconds if limit is not None else math.inf

    @property
    def _late(self) -> bool:
        return self._limit is not None and self._limit.clock() > self._end

    def knows(self, name: str, value: float) -> bool:
        """Tells whether this value was tried."""
        return (name, value) in self._known

    def at(self, name: str, value: float) -> Tried | None:
        """The decision on the items at this value; None: there is no answer at it, or it could not be tried."""
        if not self.knows(name, value):
            if self.number >= self.trials.most:
                self.reached = self.reached or f"{self.trials.most:,} decisions"
                return None
            try:
                self._step()
                self._known[name, value] = self.trials.decide(name, value, self._step)
            except TimeIsUp:
                self.reached = f"{self._limit.seconds:g} s" if self._limit is not None else ""
                return None
        return self._known[name, value]

    def _step(self, phase: str = "", done: int = 0, total: int = 0) -> None:  # noqa: ARG002 - a report of progress
        self._progress("proving", self.number, 0)
        if self._late:
            raise TimeIsUp

    def tried(self, name: str) -> list[float]:
        """The values of a knob, or the budgets, that were tried, ascending; without those at which there is no
        answer."""
        return sorted(value for (known, value), decided in self._known.items() if known == name and decided is not None)

    def unanswered(self, name: str) -> list[float]:
        """The values that were tried and at which there is no answer, ascending."""
        return sorted(value for (known, value), decided in self._known.items() if known == name and decided is None)

    def first(self, knob: NumberKnob, item: int) -> int:
        """The place that `nearest` has of one item, without trying values that lie further away."""
        now = self.trials.now.whole[item]
        for place in knob.nearest_first:
            if (decided := self.at(knob.name, knob.values[place])) is not None and decided.whole[item] != now:
                return place
        return -1

    def nearest(self, knob: NumberKnob) -> IntArray:
        """Per item the place of the value nearest to the present one that turns it, of all values that could be tried;
        -1: none does."""
        if knob.name not in self._nearest:
            now, found = self.trials.now.whole, np.full(len(self.trials.ids), -1, dtype=np.int64)
            for place in knob.nearest_first:
                if (decided := self.at(knob.name, knob.values[place])) is not None:
                    found[(found < 0) & (decided.whole != now)] = place
            if not all(self.knows(knob.name, value) for value in knob.values):
                return found
            self._nearest[knob.name] = found
        return self._nearest[knob.name]

    def differences(self, name: str, value: float) -> tuple[list[int], list[int]]:
        """Items of which something goes out now and nothing at this value, and the other way round.

        The value was tried, and there is an answer at it.
        """
        if (name, value) not in self._differences:
            now, decided = self.trials.now.out, self.at(name, value)
            assert decided is not None
            sides = now & ~decided.out, decided.out & ~now
            self._differences[name, value] = (np.flatnonzero(sides[0]).tolist(), np.flatnonzero(sides[1]).tolist())
        return self._differences[name, value]
