"""The protocol by which the state of a bench reads a kind."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Protocol

from secateur.kinds.base import Input, Kind
from secateur.settings import Settings

Inputs = Mapping[str, str]
"""The text of each field of the input."""


class KindReader(Protocol):
    """Reads the inputs of a kind. `KindPage` implements it.

    Attributes:
        kind: the kind of context.
        fields: the fields of the input on top; the first is what is read or asked.
        instant: a decision takes no time, and is made where the screen is: a pause in typing asks, the old answer
            stays, dimmed, until the answer to another question comes, and the cursor goes to the best item if its own
            is gone.
        grows: items come at the end: a cursor on the newest item follows what is read.
        prepared: all that may be asked is prepared; until then an answer may be from a part of it.
    """

    kind: Kind[Any, Any]
    fields: Sequence[Input]
    instant: bool
    grows: bool

    @property
    def prepared(self) -> bool: ...

    def is_part(self, material: Any) -> bool:
        """Tells whether material is a part of what will be read once all is prepared."""

    def reading_key(self, inputs: Inputs, settings: Settings) -> Hashable:
        """Returns what reading depends on: while it stays equal, the material is not read again."""

    def serves(self, had: Any, wanted: Any) -> bool:
        """Tells whether what was read for one key also serves another."""

    def first_item(self, answer: Any) -> int:
        """Returns the item that the cursor is on when an answer comes where there was none."""
