"""The lines of what finding, filtering and sorting offer."""

from __future__ import annotations

from secateur.ledger import State
from secateur.terminal import cell_width, clip, clip_left, visible

from secateur_tui.state.finding import Hit, Match
from secateur_tui.state.list_view import ItemColumns
from secateur_tui.styled_text import Line, Span, line, width

_LONGEST = 400
"""Characters of a name that are looked at for its line."""


def draw_hit(columns: ItemColumns, hit: Hit, cells: int) -> Line:
    """An item that was found: its decision, its line in the list, its name, where it is, how it was found."""
    state = State(int(columns.state[hit.item]))
    digits = len(f"{len(columns):,}")
    place = f"{int(columns.place[hit.item]) + 1:,}"
    head = line(" ", Span(state.glyph, state.label), Span(f" {place:>{digits}} ", "faint"))
    called = columns.names[hit.item][:_LONGEST]
    path = columns.paths[hit.item] if called else ""
    name = visible(called or columns.ids[hit.item][:_LONGEST])
    how = "" if hit.match <= Match.NAME else f"  {hit.match.label}"
    room = max(1, cells - width(head) - len(how))
    shown = clip(name, room)
    room -= cell_width(shown)
    beside = f"  {clip_left(visible(path), room - 2)}" if path and path != name and room > 6 else ""
    gap = " " * max(0, room - cell_width(beside)) if how else ""
    role = "faint" if state is State.DROPPED else ""
    return (*head, Span(shown, role), Span(beside, "faint"), Span(gap), Span(how, "accent"))


def draw_filter(facet: str, value: str, count: int, on: bool, cells: int) -> Line:
    """A filter: whether it is on, what it asks, how many items pass it."""
    head = line(" ", Span("✓ " if on else "  ", "accent"), Span(f"{facet}: ", "faint"))
    tail = f" {count:,}"
    shown = clip(visible(value), max(1, cells - width(head) - len(tail)))
    gap = " " * max(0, cells - width(head) - cell_width(shown) - len(tail))
    return (*head, Span(shown, "bold" if on else ""), Span(gap), Span(tail, "faint"))


def draw_choice(text: str, on: bool) -> Line:
    """A line of words, marked where it is what holds now."""
    return line(" ", Span("✓ " if on else "  ", "accent"), Span(visible(text), "bold" if on else ""))
