"""The protocols by which the state of a bench reads: a kind with the fields of its input, and an answer of any kind,
which is items by number, each with a name, in the order of a list."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from secateur.kinds.base import Kind
from secateur.model import Reason, State
from secateur.settings import Settings

from secateur_tui.state.list_view import ItemColumns

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
        prepared: all that may be asked is prepared; until then an answer may be from a part of it.
    """

    kind: Kind[Any, Any]
    fields: Sequence[Field]
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


class ListedItems(Protocol):
    """Items as a list shows them, by line."""

    def __len__(self) -> int: ...

    def item_at(self, line: int) -> int:
        """Returns the item of a line of the list."""

    def line_of(self, item: int) -> int:
        """Returns the line of an item in the list."""


class ShownAnswer(ListedItems, Protocol):
    """`LedgerAnswer` has an entry for each item, `SearchAnswer` is columns of numbers."""

    def __hash__(self) -> int: ...

    @property
    def settings(self) -> Settings:
        """The settings it was decided with."""

    @property
    def ids(self) -> Sequence[str]:
        """The name of each item, which it keeps under other settings."""

    def state_of(self, item: int) -> State:
        """Returns the state of an item."""

    def reason_of(self, item: int) -> Reason:
        """Returns the reason of the decision on an item."""

    @property
    def outcome(self) -> Any:
        """The outcome of the kind."""

    def entry_number(self, item: int) -> int | None:
        """Returns the number of the ledger's entry that an item shows; None: it shows no entry."""

    def entry_name(self, item: int) -> str:
        """Returns the id of the ledger's entry that an item shows; "" for none."""

    def item_of(self, entry: str) -> int | None:
        """Returns the first item of the list that shows an entry; None if no item shows it."""

    def item_columns(self, comparison: Any) -> ItemColumns:
        """Returns the items as columns, by which they are found, filtered and sorted; compared with the baseline."""

    def sought_names(self) -> Sequence[str]:
        """Returns the words by which a person looks for each item. May be slow."""

    def since(self, then: Any) -> Any:
        """Returns the changes since another answer of the same kind; the same object for the same pair."""

    @property
    def place_of(self) -> Mapping[str, int]:
        """The item of a name."""
