"""Lines that several pages draw: texts before and after pruning compared line by line, bounded, wrapped and safe to
print; the rest of a long list."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from secateur.terminal import visible

from secateur_tui.styled_text import Line, Span, count_fitting, line

T = TypeVar("T")

LONGEST_COMPARED = 20_000
"""Characters of a text that are compared: some dozen screens."""

MOST_COMPARED = 400
"""Lines that are compared: the comparison may take the square of it."""


NOTHING_CHANGED: Sequence[Line] = (
    line(Span("nothing has changed yet", "faint")),
    line(Span("turn a knob and the difference shows here", "faint")),
)
"""The page of changes while nothing differs from the baseline."""


def draw_rest(count: int, listed: int) -> list[Line]:
    """Draws the number of lines that a list leaves out, if it leaves any out."""
    return [line(Span(f"and {count - listed:,} more", "faint"))] if count > listed else []


def draw_group(title: str, role: str, items: Sequence[T], draw: Callable[[T], Line], most: int) -> list[Line]:
    """Draws items below an empty line and a heading that counts them, at most `most` of them; nothing without items."""
    if not items:
        return []
    heading = line(Span(f"{title} ({len(items):,})", role))
    return [(), heading, *map(draw, items[:most]), *draw_rest(len(items), most)]


def draw_changes(before: str, after: str, cells: int) -> list[Line]:
    """Line by line what goes (−), comes (+) and stays."""
    then, now = _bound_text(before).split("\n"), _bound_text(after).split("\n")
    longer = max(len(before), len(after)) > LONGEST_COMPARED or max(len(then), len(now)) > MOST_COMPARED
    then, now = then[:MOST_COMPARED], now[:MOST_COMPARED]
    drawn: list[Line] = []
    for kind, start, stop, begin, end in difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if kind == "equal":
            drawn += _mark_lines(" ", then[start:stop], "faint", cells)
        else:
            drawn += [
                *_mark_lines("−", then[start:stop], "down", cells),
                *_mark_lines("+", now[begin:end], "up", cells),
            ]
    return [*drawn, *([line(Span("… what is further down is not compared", "faint"))] if longer else [])]


def _mark_lines(mark: str, texts: Sequence[str], role: str, cells: int) -> Iterator[Line]:
    for text in texts:
        for number, part in enumerate(wrap_text(text, max(1, cells - 2))):
            yield line(Span(f"{' ' if number else mark} {part}", role))


def _bound_text(text: str) -> str:
    return visible(text[:LONGEST_COMPARED], keep_newlines=True)


def wrap_text(text: str, cells: int) -> Iterator[str]:
    """Yields lines of a text made visible already, cut at blanks where there are any."""
    for rest in text.split("\n"):
        while (cut := count_fitting(rest[: cells + 1], cells)) < len(rest):
            blank = rest.rfind(" ", 1, cut + 1)
            at = blank if blank > cut // 2 else cut
            yield rest[:at]
            rest = rest[at:].removeprefix(" ")
        yield rest
