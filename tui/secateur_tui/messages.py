"""Messages that widgets and threads send to a bench. Of a kind that comes in floods only the latest is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from secateur.kinds.knobs import Knob
from textual.message import Message


class _Flood(Message):
    """A message that replaces older ones of its kind."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self)


@dataclass
class ActionClicked(Message):
    """A click on words that name an action of the registry."""

    action: str


@dataclass
class IndexProgress(_Flood):
    """The index is being built."""

    phase: str
    done: int
    total: int

    @property
    def percent(self) -> str:
        """Says how far it is, in words: "31 %"; "" where that is not known."""
        return f"{100 * self.done // self.total} %" if self.total else ""


class CursorMoved(_Flood):
    """Another item is looked at."""


@dataclass
class Report(Message):
    """A report of a thread: the screen's thread calls `take`. Of reports with one name only the latest is kept."""

    take: Callable[[], object]
    name: str = ""  # "" for one that none replaces

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Report) and bool(self.name) and message.name == self.name


@dataclass
class SegmentChosen(Message):
    """An item was pointed at in the bar of the budget."""

    item: int


@dataclass
class KnobClicked(Message):
    """A slider was clicked where it stands for `value`, or a choice on the side of the next (1) or the one before
    (-1)."""

    knob: Knob
    value: float | None = None
    direction: int = 0
