"""The protocol by which the state of a bench reads a kind: the fields of its input, and how it is read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from secateur.kinds.base import Kind
from secateur.progress import Progress
from secateur.settings import Settings

Inputs = Mapping[str, str]
"""The text of each field of the input."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the input on top."""

    name: str
    title: str
    placeholder: str
    optional: bool = False  # whether it may stay empty
    lines: bool = False  # whether it takes a text of several lines


class KindReader(Protocol):
    """Reads the inputs of a kind. `KindPage` implements it.

    Attributes:
        kind: the kind of context.
        fields: the fields of the input on top; the first is what is read or asked.
        instant: a decision takes no time, and is made where the screen is: a pause in typing asks, the old answer
            stays, dimmed, until the answer to another question comes, and the cursor goes to the best item if its own
            is gone.
        grows: items come at the end: a cursor on the newest item follows what is read.
    """

    kind: Kind[Any, Any]
    fields: Sequence[Field]
    instant: bool
    grows: bool

    def reading_key(self, inputs: Inputs, settings: Settings) -> Hashable:
        """Returns what reading depends on: while it stays equal, the material is not read again."""

    def serves(self, had: Any, wanted: Any) -> bool:
        """Tells whether what was read for one key also serves another."""

    def first_item(self, answer: Any) -> int:
        """Returns the item that the cursor is on when an answer comes where there was none."""


@runtime_checkable
class Prepares(Protocol):
    """Prepares all that may be asked before anything is read, and answers from a part of it meanwhile.

    Attributes:
        preparing: the name of the work, for people.
        prepared: whether it was done.
    """

    preparing: str

    @property
    def prepared(self) -> bool: ...

    def prepare(self, progress: Progress) -> None:
        """Prepares, on the engine's thread; again if what is on disk has changed."""

    def read_part(self, inputs: Inputs, settings: Settings, progress: Progress) -> Any:
        """Reads what is available before `prepare` is over, on the engine's thread; None for nothing."""

    def is_part(self, material: Any) -> bool:
        """Tells whether this is from `read_part`: once all is prepared, it is read again."""

    def fresh(self, material: Any) -> bool | None:
        """Tells whether this was read from what was on disk at the last look; None if that is unknown."""
