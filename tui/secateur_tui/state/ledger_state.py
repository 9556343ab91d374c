"""The state of a bench over a ledger without a screen: what is typed, the history of settings, what was read, the
answer, the baseline.

Nothing derived is stored: what is stale follows from comparing what was asked with what is there.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from secateur.errors import SecateurError
from secateur.settings import Settings

from secateur_tui.state.history import KnobState, SettingsHistory
from secateur_tui.state.ledger_answer import LedgerAnswer, LedgerComparison
from secateur_tui.state.subject import Subject


@dataclass(frozen=True, eq=False)
class Reading:
    """Material that was read, and the key it was read for."""

    key: Hashable
    material: Any


@dataclass(frozen=True, slots=True)
class LedgerRequest:
    """Everything an answer depends on beside what was read."""

    inputs: tuple[tuple[str, str], ...]
    settings: Settings


@lru_cache(maxsize=2)
def compared(then: LedgerAnswer[Any], now: LedgerAnswer[Any]) -> LedgerComparison:
    """Returns the same object for the same pair, so that a comparison is worked out once: for the answer on screen, and
    for the one that is being decided."""
    return LedgerComparison(then, now)


@dataclass(slots=True)
class LedgerState(KnobState[LedgerAnswer[Any]]):
    """The state of the bench. Methods return whether something changed."""

    subject: Subject[Any, Any]
    opened: Settings
    inputs: dict[str, str]
    history: SettingsHistory = field(init=False)
    reading: Reading | None = None
    asked: LedgerRequest | None = None  # what `answer` or `refusal` is for
    answer: LedgerAnswer[Any] | None = None
    refusal: SecateurError | None = None  # in place of an answer: why there is none
    baseline: LedgerAnswer[Any] | None = None
    cursor: int = 0  # item looked at

    def __post_init__(self) -> None:
        self.history = SettingsHistory([self.opened])
        self.inputs = {field.name: self.inputs.get(field.name, "") for field in self.subject.fields}

    @property
    def path(self) -> str:
        """The path that is read; "" for none."""
        return self.inputs[self.subject.fields[0].name]

    @property
    def wanted(self) -> LedgerRequest:
        """The request that should be answered."""
        return LedgerRequest(tuple(self.inputs.items()), self.settings)

    @property
    def key(self) -> Hashable:
        """The key of what should be read."""
        return self.subject.reading_key(self.inputs, self.settings)

    @property
    def needs_reading(self) -> bool:
        """Tells whether something else is wanted than was read."""
        return bool(self.path) and (self.reading is None or self.reading.key != self.key)

    @property
    def needs_answer(self) -> bool:
        """Tells whether the answer on screen belongs to another request."""
        return bool(self.path) and (self.needs_reading or self.asked != self.wanted)

    @property
    def comparison(self) -> LedgerComparison | None:
        """Baseline against answer; None while nothing has changed since the baseline."""
        if self.baseline is None or self.answer is None or self.baseline is self.answer:
            return None
        return compared(self.baseline, self.answer)

    def type(self, name: str, text: str) -> bool:
        """Takes another text of a field. The baseline is dropped where another file is read: the two answers have
        nothing in common."""
        if text == self.inputs[name]:
            return False
        self.inputs = {**self.inputs, name: text}
        if name == self.subject.fields[0].name:
            self.forget()
        else:
            self.pin_first()
        return True

    def forget(self) -> None:
        """Drops what was read and answered."""
        self.reading = self.asked = self.answer = self.refusal = self.baseline = None
        self.cursor = 0

    def read(self, reading: Reading) -> None:
        """Takes what was read, unless something else is wanted by now."""
        if reading.key == self.key:
            self.reading, self.asked = reading, None

    def accept(self, asked: LedgerRequest, answer: LedgerAnswer[Any] | SecateurError) -> None:
        """Takes an answer, unless another one is wanted by now. The cursor stays on its item where that still
        exists."""
        if asked != self.wanted:
            return
        self.asked = asked
        if isinstance(answer, SecateurError):
            self.refusal = answer
            return
        name = self.answer.ids[self.cursor] if self.answer is not None and len(self.answer) else ""
        first = answer.item_at(0) if self.answer is None and len(answer) else min(self.cursor, max(0, len(answer) - 1))
        self.answer, self.refusal = answer, None
        self.cursor = answer.place_of.get(name, first)
