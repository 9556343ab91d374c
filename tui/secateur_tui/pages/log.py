"""The Log bench: stretches of lines, each with its beginning."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from secateur.kinds.log.levels import LIKELY, RESULT
from secateur.kinds.log.lines import body

from secateur_tui.pages.kind_page import KindPage
from secateur_tui.short_names import NAME, Label, ListColumn
from secateur_tui.widgets.listing import ItemListing

_NUMBER_CELLS = 9  # cells of the numbers of lines: 1200-1299


class LogListing(ItemListing):
    """Stretches of lines, called by their numbers."""

    titles: ClassVar[tuple[str, str]] = ("lines", "message")

    def list_columns(self) -> Sequence[ListColumn]:
        """Gives messages the room that few numbers need: longer ones take cells of their message."""
        return [
            replace(column, wants=min(column.wants, _NUMBER_CELLS), most=_NUMBER_CELLS) if column.id == NAME else column
            for column in super().list_columns()
        ]

    @staticmethod
    def label_of(answer: Any, item: int) -> Label:
        """Returns the numbers of the lines, and what they say: all have a time."""
        label = ItemListing.label_of(answer, item)
        return label._replace(place=body(label.place).strip() or label.place) if label.prose else label

    def describe_item(self, item: int) -> str:
        """Returns the lines in a few words, and the tokens that leave of them."""
        name = "" if self.after(item) < 0 else self.label(item).name
        return ("line " * name.isdigit() or "lines " * name[:1].isdigit()) + super().describe_item(item)


class LogPage(KindPage[Any, Any]):
    """The look of the Log bench."""

    grows: bool = True
    listing_type = LogListing

    def first_item(self, answer: Any) -> int:
        """Returns the first thing that went wrong, if anything did: whole, shortened or left out."""
        selection = answer.outcome.payload
        blocks = {item: stretch.block for item, stretch in enumerate(selection.stretches) if stretch.block is not None}
        grades = {item: block.grade for item, block in blocks.items() if not selection.log.failures.green}
        errors = [item for item, grade in grades.items() if grade >= LIKELY]
        errors += [item for item, grade in grades.items() if grade != RESULT]
        return errors[0] if errors else super().first_item(answer)
