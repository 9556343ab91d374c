"""A report as text, for every kind: labelled figures, warnings, then tables under titles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from secateur.model import ModelCall, Notice
from secateur.terminal import visible

LABEL_CELLS = 9
"""Width of the labels of a page."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table. Cells that are wider push the rest of their row aside."""

    width: int = 0
    right: bool = False  # aligned to the right, as numbers are
    gap: int = 2  # spaces before it


@dataclass(frozen=True, slots=True)
class Section:
    """Rows that belong together. Text from outside in them is harmless already (`terminal.visible`)."""

    rows: Sequence[Sequence[str] | str]  # cells of the first columns; a text stands for a whole row
    title: str = ""
    more: str = ""  # what the last line says of rows that are not shown
    apart: bool = True  # an empty line above it
    columns: Sequence[Column] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A report that is not laid out yet."""

    head: Sequence[tuple[str, str]]  # label, figures; with an empty label the text stands alone
    sections: Sequence[Section] = ()
    notices: Sequence[Notice] = ()
    calls: Sequence[ModelCall] = field(default=())
    label_cells: int = LABEL_CELLS


def render_page(page: Page) -> str:
    """The text, ending in a line break."""
    lines = [f"{label:<{page.label_cells}} {text}" if label else text for label, text in page.head]
    if page.calls:
        lines.append(f"{'model':<{page.label_cells}} {_calls(page.calls)}")
    lines += [f"! {notice.code}: {visible(notice.message)}" for notice in page.notices]
    for section in page.sections:
        lines += [""] if section.apart else []
        lines += [section.title] if section.title else []
        lines += [row if isinstance(row, str) else _row(row, section.columns) for row in section.rows]
        lines += [section.more] if section.more else []
    return "\n".join(lines) + "\n"


_TOLD_REDACTIONS = 5
"""Credentials that one line names."""


def redacted_head(page: Page, taken: Sequence[tuple[bool, str]]) -> Page:
    """The page with a line on credentials that were taken out: of each whether what holds it goes out, and its rule and
    place as text from outside. The same page where there are none."""
    if not taken:
        return page
    going = [visible(what) for goes, what in taken if goes]
    others = len(taken) - len(going)
    told = ": " + ", ".join(going[:_TOLD_REDACTIONS]) if going else ""
    more = f" and {len(going) - _TOLD_REDACTIONS:,} more" if len(going) > _TOLD_REDACTIONS else ""
    rest = f"; {others:,} in what does not go out" if others else ""
    return replace(
        page, head=(*page.head, ("secrets", f"{counted(len(going), 'credential')} taken out{told}{more}{rest}"))
    )


def change(before: int, after: int) -> str:
    """Figures of what came in and of what goes out."""
    return f"{before:,} -> {after:,}"


def counted(number: int, noun: str) -> str:
    """A number of things: "1 line", "2 lines"."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def not_shown(rows: int, what: str = "") -> str:
    """The last line of a section of which so many rows are not shown; "" for none."""
    return f"  ... and {rows:,} more{what} (--verbose lists all)" if rows else ""


def _row(cells: Sequence[str], columns: Sequence[Column]) -> str:
    return "".join(
        " " * column.gap + (cell.rjust(column.width) if column.right else cell.ljust(column.width))
        for cell, column in zip(cells, columns, strict=False)
    )


def _calls(calls: Sequence[ModelCall]) -> str:
    """One line on a language model's replies and cost."""
    spent = sum(call.prompt_tokens + call.completion_tokens for call in calls)
    answered = sum(call.outcome == "answered" for call in calls)
    return f"{answered:,} of {len(calls):,} questions answered, {spent:,} tokens"
