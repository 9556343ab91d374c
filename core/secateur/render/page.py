"""Formats a report as text, for every kind: labelled figures, warnings, then tables under titles. Decides which notices
an answer shows: a pack that holds an item has none, because a model reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from secateur.ledger import ModelCall, Notice, State
from secateur.terminal import visible

if TYPE_CHECKING:
    from secateur.model import Selection

LONGEST_NAME = 200  # most characters of a name in a sentence
# Codes of notices about what is installed: `index` and `status` say them and JSON keeps them. In every answer for
# people they would hide the others.
OF_INSTALLATION = frozenset({"not_scanned"})

NO_MATCH = Notice("no_match", "Nothing that is indexed matches the query.")


def notices_of(selection: Selection) -> tuple[Notice, ...]:
    """Returns the selection's warnings, once each. They explain why an empty answer is empty; an empty pool without a
    warning gets one here."""
    notices = tuple(dict.fromkeys(selection.warnings))
    return notices if shown_notices(notices) or len(selection) else (NO_MATCH, *notices)


def shown_notices(notices: Iterable[Notice]) -> list[Notice]:
    """Returns the notices that an answer shows to people."""
    return [notice for notice in notices if notice.code not in OF_INSTALLATION]


def listed(names: Sequence[str], most: int = 3) -> str:
    """Formats the first of many names for a sentence."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(name[:LONGEST_NAME] for name in names[:most]) + more


LABEL_CELLS = 9  # cells for the labels of a page


class Column(Struct, frozen=True):
    """A column of a table. Wider cells push the rest of their row to the right."""

    width: int = 0
    right: bool = False  # aligned to the right, as numbers are
    gap: int = 2  # spaces before it


class Section(Struct, frozen=True):
    """Rows that belong together. Outside text in them is already safe (`terminal.visible`)."""

    rows: Sequence[Sequence[str] | str]  # cells of the first columns; a text is a whole row
    title: str = ""
    more: str = ""  # the last line, about rows that are not shown
    apart: bool = True  # an empty line above it
    columns: Sequence[Column] = ()


class Page(Struct, frozen=True):
    """A report before its layout."""

    head: Sequence[tuple[str, str]]  # label, figures; without a label the text stands alone
    sections: Sequence[Section] = ()
    notices: Sequence[Notice] = ()
    calls: Sequence[ModelCall] = ()
    label_cells: int = LABEL_CELLS
    headline: tuple[str, str] | None = None  # what was asked or read, and where that is from; None: the first input

    def text(self) -> str:
        """Formats the page, ending in a line break."""
        lines = [f"{label:<{self.label_cells}} {text}" if label else text for label, text in self.head]
        if self.calls:
            spent = sum(call.prompt_tokens + call.completion_tokens for call in self.calls)
            answered = sum(call.outcome == "answered" for call in self.calls)
            told = f"{answered:,} of {len(self.calls):,} questions answered, {spent:,} tokens"
            lines.append(f"{'model':<{self.label_cells}} {told}")
        lines += [f"! {notice.title}: {visible(notice.message)}" for notice in shown_notices(self.notices)]
        for section in self.sections:
            lines += [""] if section.apart else []
            lines += [section.title] if section.title else []
            lines += [row if isinstance(row, str) else _row(row, section.columns) for row in section.rows]
            lines += [section.more] if section.more else []
        return "\n".join(lines) + "\n"


_MOST_REDACTIONS = 5  # most credentials in one line


def add_redactions(page: Page, taken: Sequence[tuple[bool, str]]) -> Page:
    """Adds a line about removed credentials: for each, whether its item is in the output, and its rule and place as
    outside text. Returns the same page if there are none."""
    if not taken:
        return page
    going = [visible(what) for goes, what in taken if goes]
    others = len(taken) - len(going)
    text = ": " + ", ".join(going[:_MOST_REDACTIONS]) if going else ""
    more = f" and {len(going) - _MOST_REDACTIONS:,} more" if len(going) > _MOST_REDACTIONS else ""
    rest = f"; {others:,} in what does not go out" if others else ""
    secrets = f"{count_noun(len(going), 'credential')} taken out{text}{more}{rest}"
    return replace(page, head=(*page.head, ("secrets", secrets)))


_MOST_PINS = 5  # most pins that a report names
_PIN_WORDS = {
    State.KEPT: "goes out whole",
    State.SHORTENED: "goes out in part",
    State.SUMMARISED: "goes out in a summary",
    State.DROPPED: "does not go out",
}


def add_pins(page: Page, pins: Sequence[tuple[str, State, str]]) -> Page:
    """Adds a line about each pinned entry: its id, its state, and the reason where it is not whole."""
    lines = []
    for id_, state, reason in pins[:_MOST_PINS]:
        words = _PIN_WORDS[state] + ("" if state is State.KEPT else f": {reason}")
        lines.append(("pinned", f"{state.glyph} {visible(id_)} {visible(words)}"))
    more = [("", f"{len(pins) - _MOST_PINS:,} more are pinned")] if len(pins) > _MOST_PINS else []
    return replace(page, head=(*page.head, *lines, *more))


def change(before: int, after: int) -> str:
    """Formats figures of the input and of the output."""
    return f"{before:,} -> {after:,}"


def count_noun(count: int, noun: str, nouns: str = "") -> str:
    """Formats a number of things: "1 line", "2 lines"; `nouns`: the words for several, if an s is not enough."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"


def line_range(first: int, last: int) -> str:
    """Formats a range of lines: "690-700", "690"."""
    return f"{first}-{last}" if first != last else f"{first}"


def not_shown(rows: int, what: str = "") -> str:
    """Returns the last line of a section about rows that are not shown; "" if all are."""
    return f"  ... and {rows:,} more{what} (--verbose lists all)" if rows else ""


def _row(cells: Sequence[str], columns: Sequence[Column]) -> str:
    return "".join(
        " " * column.gap + (cell.rjust(column.width) if column.right else cell.ljust(column.width))
        for cell, column in zip(cells, columns, strict=False)
    )
