"""Trials for any kind of context: tries its budget, its numeric knobs, its strategies, and holding an entry, by
`Kind.decide`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from secateur.errors import SecateurError
from secateur.kinds.base import Kind, least_budget
from secateur.kinds.command_line import spell_changes
from secateur.kinds.environment import Deciding
from secateur.kinds.knobs import Knob
from secateur.kinds.protocols import Outcome
from secateur.ledger import State
from secateur.model import FloatArray
from secateur.progress import Progress, unreported
from secateur.settings import Settings, installed_keys, key_of, lookup, with_values
from secateur.what_if.trials import BUDGET, FIXED, HOLD, NumberKnob, Trials, Tried

_TRIED_ALL = 24  # up to so many values of a knob are all tried; of more, only some

# A number is tried up to `_TIMES` its present value, at no more than `_MOST_VALUES` values.
_TIMES, _MOST_VALUES = 8, 1_000

# The number of runs is limited so that they decide at most `_ENTRIES_RUN` entries together, within these bounds.
_LEAST_RUNS, _MOST_RUNS, _ENTRIES_RUN = 40, 1_000, 1_000_000


Left = tuple[State, int]  # the state of an entry, and how many of its tokens go out


def find_by_id(asked: Outcome[Any], outcome: Outcome[Any]) -> Sequence[Left]:
    """Finds the entries of an outcome in another one by their ids; a missing entry counts as dropped."""
    number_of, entries = outcome.ledger.number_of, outcome.ledger.entries
    indices = (number_of.get(id_) for id_ in asked.ledger.ids)
    return [(State.DROPPED, 0) if index is None else (entries[index].state, entries[index].after) for index in indices]


class KindTrials(Trials):
    """See `Trials`. Items are the entries of the ledger without the wrapper, the last one.

    Args:
        find_entries: finds the entries of an outcome in another one; see `find_by_id`.
        worth: the score of each item; None if a rule decides instead of a score.
    """

    def __init__(
        self,
        kind: Kind[Any, Any],
        material: Any,
        inputs: Mapping[str, Any],
        settings: Settings,
        outcome: Outcome[Any],
        *,
        find_entries: Callable[[Outcome[Any], Outcome[Any]], Sequence[Left]] = find_by_id,
        worth: FloatArray | None = None,
    ) -> None:
        ledger = outcome.ledger
        entries = ledger.entries[:-1]
        self._kind, self._material, self._inputs, self._settings = kind, material, inputs, settings
        self._outcome = outcome
        self._knobs = {knob.signal or knob.key: knob for knob in kind.knobs} | {BUDGET: kind.budget}
        self._find_entries, self._worth = find_entries, worth
        self.ids = ledger.ids[: len(entries)]
        self.budget = kind.budget_in_force(settings, outcome)
        self.low = least_budget(kind)
        self.budget_label = kind.budget.label
        high = key_of(kind.budget.key).high
        around = max(0, ledger.after - sum(entry.after for entry in entries))
        self.enough = max(self.low, min(ledger.before + around, int(high) if high is not None else ledger.before))
        self.scored = self._worth is not None
        self.most = max(_LEAST_RUNS, min(_MOST_RUNS, _ENTRIES_RUN // max(1, len(entries))))
        self.added = np.array([entry.before == 0 < entry.after for entry in entries], dtype=np.bool_)
        self.fixed = np.array([entry.reason in FIXED for entry in entries], dtype=np.bool_) | self.added
        self.now = self._make_tried(outcome)
        self.knobs = tuple(
            number_knob
            for name, knob in self._knobs.items()
            if knob.key != kind.budget.key and (number_knob := self._number_knob(name, knob)) is not None
        )

        strategy = kind.strategy
        others = strategy.choices if strategy is not None else ()
        present = strategy.value(settings) if strategy is not None else ""
        self.choices = [(strategy.key, other) for other in others if strategy is not None and other != present]

    def changes(self, name: str, value: float | str) -> Mapping[str, Any]:
        hold, _, choice = name.partition(" ")
        if hold != HOLD:
            return {self._knobs[name].key: value}
        held = self._kind.hold(self._outcome, int(value), self._settings)
        if isinstance(held, str) or (self.now.whole[int(value)] and self.ids[int(value)] in held.pins):
            return {}
        keys = [key for key in installed_keys() if lookup(held, key) != lookup(self._settings, key)]
        chosen: dict[str, Any] = {key: other for key, other in self.choices if other == choice}
        chosen |= {self._knobs[BUDGET].key: int(choice)} if choice.isdecimal() else {}
        return {key: lookup(held, key) for key in keys} | chosen

    def typed(self, name: str, value: float | str) -> str:
        return spell_changes(self._kind, self._settings, self.changes(name, value))

    def decide(self, name: str, value: float | str, progress: Progress = unreported) -> Tried | None:
        changes = self.changes(name, value)
        settings = with_values(self._settings, changes)
        reading = self._kind.reading_of
        if name.startswith(HOLD) and (
            not changes or reading(self._inputs, settings) != reading(self._inputs, self._settings)
        ):
            return None
        try:
            return self._make_tried(self._kind.decide(self._material, self._inputs, settings, Deciding(progress)))
        except SecateurError:  # the budget cannot be met, or values contradict each other
            return None

    def guesses(self) -> Sequence[int]:
        """The budgets at which a dropped entry would have fitted when it was tried."""
        budgets = set()
        for entry in self._outcome.ledger.entries:
            needed, left = entry.figures.get("needed"), entry.figures.get("left")
            if isinstance(needed, int) and isinstance(left, int) and needed > left:
                budgets |= {self.budget + needed - left}
        return sorted(budget for budget in budgets if budget <= self.enough)[: self.most // 10]

    def portion(self, item: int, decided: Tried) -> tuple[int, int]:
        assert decided.left is not None
        return int(decided.left[item]), self._outcome.ledger.entries[item].before

    def needed(self, item: int) -> int:
        needed = self._outcome.ledger.entries[item].figures.get("needed")
        return needed if isinstance(needed, int) else 0

    def _make_tried(self, outcome: Outcome[Any]) -> Tried:
        ledger, found = outcome.ledger, self._find_entries(self._outcome, outcome)[: len(self.ids)]
        if outcome is self._outcome:
            found = [(entry.state, left) for entry, (_, left) in zip(ledger.entries, found, strict=False)]
        states = np.array([state for state, _ in found], dtype=np.int8)
        left = np.array([left for _, left in found], dtype=np.int64)
        worth = float(self._worth[states == State.KEPT].sum()) if self._worth is not None else 0.0
        chunks = ledger.entries[-1].figures.get("chunks") if ledger.entries else None
        return Tried(states, ledger.after, worth, {"chunks": chunks} if isinstance(chunks, int) else {}, left)

    def _number_knob(self, name: str, knob: Knob) -> NumberKnob | None:
        key, present = key_of(knob.key), knob.value(self._settings)
        if key.kind not in (int, float) or isinstance(present, str | bool):
            return None
        step, low = knob.fine_step or (1 if knob.integer else 0.01), key.low or 0.0
        far = max(_TIMES * present, 10 * step, 1.0)
        high = min(key.high, far) if key.high is not None else far
        steps = round((high - low) / step)
        if steps > _MOST_VALUES:
            step, steps = (high - low) / _MOST_VALUES, _MOST_VALUES
        tried = {round(low + step_index * step, 6) for step_index in range(steps + 1)}
        values = tuple(sorted(({int(value) for value in tried} if knob.integer else tried) | {present}))
        if len(values) < 2:
            return None
        other = next(value for value in values if value != present)
        reading = self._kind.reading_of(self._inputs, self._settings)
        if self._kind.reading_of(self._inputs, knob.put(self._settings, other)) != reading:
            return None
        return NumberKnob(name, present, values, weighs=bool(knob.signal), every=len(values) <= _TRIED_ALL)
