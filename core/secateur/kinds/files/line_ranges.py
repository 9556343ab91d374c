"""Windows over the lines of a file, and ranges of lines: clipped, merged, numbered.

    windows(20, 10, 3)                             # [(1, 10), (8, 17), (15, 20)]
    merge([(1, 5), (4, 8), (10, 15)], 20)          # [(1, 8), (10, 15)]

Lines count from 1, ranges include both ends (specs README, point 11).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from secateur.errors import UsageError

Range = tuple[int, int]


def check_windows(size: int, overlap: int) -> None:
    """Raises UsageError: the windows would not move on."""
    if size < 1 or overlap < 0 or overlap >= size:
        raise UsageError(
            f"windows of {size:,} lines cannot share {overlap:,}",
            hint=(
                "--overlap (context_prune.sliding_window_overlap) is at least 0 and less than --window"
                " (context_prune.sliding_window_size)"
            ),
        )


def windows(lines: int, size: int, overlap: int) -> list[Range]:
    """Windows of `size` lines, each beginning with the last `overlap` of the one before. They hold every line, none
    lies within another.

    Raises:
        UsageError: the overlap is not less than the size.
    """
    check_windows(size, overlap)
    step = size - overlap
    count = 1 + max(0, -(-(lines - size) // step)) if lines > 0 else 0
    return [(1 + number * step, min(number * step + size, lines)) for number in range(count)]


def merge(ranges: Iterable[Range], lines: int) -> list[Range]:
    """The ranges within a file of `lines` lines, in order; those that overlap or touch become one, those that run
    backwards or lie outside go."""
    inside = sorted((max(start, 1), min(end, lines)) for start, end in ranges)
    merged: list[Range] = []
    for start, end in inside:
        if start > end:
            continue
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def overlapping(wanted: Range, ranges: Iterable[Range]) -> list[Range]:
    """The pieces of `wanted` that lie in the ranges."""
    cut = ((max(wanted[0], start), min(wanted[1], end)) for start, end in ranges)
    return [(start, end) for start, end in cut if start <= end]


def numbered(lines: Sequence[str], window: Range, longest: int) -> list[str]:
    """The lines of a window, each behind its number; of a line at most `longest` characters."""
    start, end = window
    return [f"{number} {_clipped(line, longest)}" for number, line in enumerate(lines[start - 1 : end], start)]


def _clipped(line: str, longest: int) -> str:
    return line if len(line) <= longest else f"{line[:longest]} [{len(line) - longest:,} more characters]"
