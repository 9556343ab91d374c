"""An answer as the inspector lists it, of whatever kind: items by number, each with a name, in the order of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from secateur.model import Reason, State
from secateur.settings import Settings

from secateur_tui.state.list_view import ItemColumns


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
