"""The lines below a bench that say where a recording is: the number of the stop, what was done, the caption."""

from __future__ import annotations

from collections.abc import Sequence

from secateur_tui.host import RecordedStop
from secateur_tui.styled_text import Line, Span, clipped, line, wrapped

CAPTION_LINES = 2


def draw_stop(stop: RecordedStop, cells: int) -> Sequence[Line]:
    """Draws three lines."""
    head = line(Span(f"▶ {stop.number}/{stop.of} ", "accent bold"), Span(stop.said, "faint"))
    caption = wrapped(stop.caption, max(10, cells), "bold")[:CAPTION_LINES]
    return [clipped(head, cells), *caption]
