"""Proofs for an answer while the user rests: first hints for the item at the cursor, then the nearest
budgets that change anything, then the curve, then the ranges of knobs. Pure: the caller chooses the thread and ends it.

    proving = Proving(answer, trials)
    for proof in proving.proofs(item, curve=True):
        ...
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from secateur.ledger import State
from secateur.progress import Progress, unreported
from secateur.render.proofs import fixed_words, nothing_words
from secateur.what_if.explanation import Curve, curve_of, try_budgets
from secateur.what_if.lever_search import find_levers, nearest_change, unchanged_range
from secateur.what_if.levers import Lever
from secateur.what_if.trials import BUDGET, Swept, TimeLimit, TrialRuns, Trials, Tried


@dataclass(frozen=True)
class ProvenHint:
    """A lever that is proven to change whether an item goes out whole."""

    item: int
    lever: Lever
    gains: bool  # whether more of the item then goes out
    decided: Tried  # the decision with it


def list_hints(hints: Iterable[ProvenHint]) -> list[ProvenHint]:
    """Lists hints, the cheapest first. Of those that change the same, it lists the first; a far budget only where
    nothing nearer keeps the whole."""
    ordered = sorted(hints, key=lambda hint: hint.lever.cost)
    near = any(hint.lever.state is State.KEPT and not hint.lever.far for hint in ordered)
    first = dict[object, ProvenHint]()
    for hint in ordered:
        if not (near and hint.lever.far):
            first.setdefault((hint.lever.state, hint.lever.others, hint.lever.tokens), hint)
    return [*first.values()]


@dataclass(frozen=True)
class Range:
    """The proven range of a knob's values within which nothing changes."""

    name: str  # of a signal, or the key of a setting
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class ProvenCurve:
    """The curve of what goes out at each budget."""

    trials: Trials
    curve: Curve


@dataclass(frozen=True)
class Nothing:
    """No value that was tried changes the decision on the item."""

    item: int
    why: str


@dataclass(frozen=True)
class Crossed:
    """The nearest budgets below and above at which anything is decided otherwise, and what that is."""

    steps: tuple[Lever, ...]


@dataclass(frozen=True)
class NotKnown:
    """A limit ended the proofs before all was known."""

    within: str  # the limit in words: "10 s"


Proof = ProvenHint | Range | ProvenCurve | Nothing | Crossed | NotKnown


@dataclass(eq=False)
class Proving:
    """The proofs of one answer. What was decided for one of them serves the others, and what a limit kept from being
    known is looked for again when something is asked again.

    Attributes:
        stop: called before each decision, and by one that takes long; raises to end the work, or waits.
        limit: the time that each asking may take.
        swept: decisions at many budgets at once, where the kind makes them.
    """

    trials: Trials
    stop: Progress = unreported
    limit: TimeLimit | None = None
    runs: TrialRuns = field(init=False)
    swept: Swept | None = None
    _ranges: dict[str, Range] = field(default_factory=dict)
    _hints: dict[int, list[ProvenHint]] = field(default_factory=dict)
    _curve: ProvenCurve | None = None
    _crossed: Crossed | None = None

    def __post_init__(self) -> None:
        self.runs, self.swept = TrialRuns(self.trials, lambda *report: self.stop(*report)), self.trials.sweep()

    def proofs(self, item: int | None, *, curve: bool) -> Iterator[Proof]:
        """Yields the hints of an item, the nearest budgets that change anything, the curve if it is wanted, then the
        ranges. The caller stops when the answer or the item changes; the proofs found until then are kept."""
        self.runs.allow(self.limit)
        if item is not None and item < len(self.trials.ids):
            yield from self._hints_for(item)
        try_budgets(self.runs, self.swept)
        if self._crossed is None:
            steps = [nearest_change(self.runs, self.swept, up=up) for up in (True, False)]
            crossed = Crossed(tuple(step for step in steps if step is not None))
            yield crossed
            self._crossed = crossed if not self.runs.reached else None
        else:
            yield self._crossed
        if curve and self._curve is None:
            drawn = curve_of(self.runs, self.swept)
            proven = ProvenCurve(self.trials, drawn)
            yield proven
            self._curve = None if drawn.reached else proven
        elif curve and self._curve is not None:
            yield self._curve
        for knob in self.trials.knobs:
            if knob.name not in self._ranges and (ends := unchanged_range(self.runs, knob)) is not None:
                self._ranges[knob.name] = Range(knob.name, *ends)
            if knob.name in self._ranges:
                yield self._ranges[knob.name]
        if self.runs.reached:
            yield NotKnown(self.runs.reached)

    def _hints_for(self, item: int) -> Iterator[ProvenHint | Nothing]:
        hints = self._hints.get(item, [])
        if item not in self._hints:
            gains = not self.trials.now.whole[item]
            for lever in find_levers(self.runs, item, self.swept):
                decided = self.runs.at(lever.name, lever.value)
                assert decided is not None
                hints.append(ProvenHint(item, lever, gains, decided))
                yield hints[-1]
            if not self.runs.reached:
                self._hints[item] = hints
        else:
            yield from hints
        if hints:
            return
        if self.trials.fixed[item]:
            yield Nothing(item, fixed_words(self.trials, item))
        else:
            every = (self.swept.low, self.swept.high) if self.swept is not None else None
            yield Nothing(item, nothing_words(self.trials, len(self.runs.list_tried(BUDGET)), every, self.runs.reached))
