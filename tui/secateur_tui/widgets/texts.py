"""Lines that several pages draw: texts before and after pruning compared line by line, bounded, wrapped and safe to
print; the rest of a long list."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from secateur.terminal import cell_width, visible

from secateur_tui.styled_text import Line, Span, line

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


def draw_changes(before: str, after: str, cells: int) -> list[Line]:
    """Line by line what goes (−), comes (+) and stays."""
    then, now = _shown(before).split("\n"), _shown(after).split("\n")
    longer = max(len(before), len(after)) > LONGEST_COMPARED or max(len(then), len(now)) > MOST_COMPARED
    then, now = then[:MOST_COMPARED], now[:MOST_COMPARED]
    drawn: list[Line] = []
    for kind, start, stop, begin, end in difflib.SequenceMatcher(None, then, now, autojunk=False).get_opcodes():
        if kind == "equal":
            drawn += _marked(" ", then[start:stop], "faint", cells)
        else:
            drawn += [*_marked("−", then[start:stop], "down", cells), *_marked("+", now[begin:end], "up", cells)]
    return [*drawn, *([line(Span("… what is further down is not compared", "faint"))] if longer else [])]


def _marked(mark: str, texts: Sequence[str], role: str, cells: int) -> Iterator[Line]:
    for text in texts:
        for number, part in enumerate(wrapped_text(text, max(1, cells - 2))):
            yield line(Span(f"{' ' if number else mark} {part}", role))


def _shown(text: str) -> str:
    return visible(text[:LONGEST_COMPARED], keep_newlines=True)


def wrapped_text(text: str, cells: int) -> Iterator[str]:
    """Lines of a text made visible already, cut at blanks where there are any."""
    for rest in text.split("\n"):
        while (cut := _prefix(rest, cells)) < len(rest):
            blank = rest.rfind(" ", 1, cut + 1)
            at = blank if blank > cut // 2 else cut
            yield rest[:at]
            rest = rest[at:].removeprefix(" ")
        yield rest


def _prefix(text: str, cells: int) -> int:
    """Characters that fit into `cells`, at least one where there is one."""
    used = 0
    for index, character in enumerate(text[: cells + 1]):
        used += cell_width(character)
        if used > cells:
            return max(1, index)
    return min(len(text), cells + 1)
