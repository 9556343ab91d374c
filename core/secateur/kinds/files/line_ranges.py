"""Windows over the lines of a file; clips, merges and numbers ranges of lines.

    windows(20, 10, 3)                             # [(1, 10), (8, 17), (15, 20)]
    merge([(1, 5), (4, 8), (10, 15)], 20)          # [(1, 8), (10, 15)]

Lines count from 1, ranges include both ends (specs README, point 11).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from secateur.errors import UsageError

Range = tuple[int, int]


def check_windows(size: int, overlap: int) -> None:
    """Checks that windows advance. Raises UsageError: the overlap is not less than the size."""
    if size < 1 or overlap < 0 or overlap >= size:
        raise UsageError(
            f"windows of {size:,} lines cannot share {overlap:,}",
            hint=(
                "--overlap (context_prune.sliding_window_overlap) is at least 0 and less than --window"
                " (context_prune.sliding_window_size)"
            ),
        )


def windows(lines: int, size: int, overlap: int) -> list[Range]:
    """Windows of `size` lines, each starting with the last `overlap` lines of the previous one. They cover every line;
    none lies within another.

    Raises:
        UsageError: the overlap is not less than the size.
    """
    check_windows(size, overlap)
    step = size - overlap
    count = 1 + max(0, -(-(lines - size) // step)) if lines > 0 else 0
    return [(1 + index * step, min(index * step + size, lines)) for index in range(count)]


def merge(ranges: Iterable[Range], lines: int) -> list[Range]:
    """Sorts ranges and clips them to a file of `lines` lines. Ranges that overlap or touch become one; ranges that run
    backwards or lie outside are dropped."""
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


def intersect(wanted: Range, ranges: Iterable[Range]) -> list[Range]:
    """The parts of `wanted` that lie in the ranges."""
    cut = ((max(wanted[0], start), min(wanted[1], end)) for start, end in ranges)
    return [(start, end) for start, end in cut if start <= end]


def number_lines(lines: Sequence[str], window: Range, longest: int) -> list[str]:
    """The lines of a window, each after its number and cut to `longest` characters."""
    start, end = window
    return [f"{number} {_clip_line(line, longest)}" for number, line in enumerate(lines[start - 1 : end], start)]


def _clip_line(line: str, longest: int) -> str:
    return line if len(line) <= longest else f"{line[:longest]} [{len(line) - longest:,} more characters]"
