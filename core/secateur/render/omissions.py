"""Text of which some lines go out: those lines as they are, and a mark in the place of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from secateur.model import LineRange, Selection
from secateur.terminal import ELLIPSIS


def sent_text(selection: Selection, row: int, lines: Sequence[str]) -> str:
    """The text that goes out of a candidate, "" for nothing; `lines` are those of its file."""
    pool, out = selection.pool, selection.lines_out(row)
    if not out:
        return ""
    whole = selection.in_full[row] or selection.by_lines(row)
    first, last = (pool.line_start, pool.line_end) if whole else (pool.sig_start, pool.sig_end)
    return with_marks(lines, int(first[row]), int(last[row]), out)


def with_marks(lines: Sequence[str], first: int, last: int, out: Sequence[LineRange]) -> str:
    """Lines `out` of `first..last` (1-based, inclusive, ascending), with a mark for each gap.

    >>> print(with_marks(["def f():", "    a", "    b", "    c"], 1, 4, [(1, 2), (4, 4)]))
    def f():
        a
        [… 1 line]
        c
    """
    return "\n".join(_lines(lines, first, last, out))


def _lines(lines: Sequence[str], first: int, last: int, out: Sequence[LineRange]) -> Iterator[str]:
    expected = first
    for start, end in (*out, (last + 1, last)):
        if start > expected:
            yield mark(lines[expected - 1 : start - 1])
        yield from lines[start - 1 : end]
        expected = end + 1


def mark(left: Sequence[str]) -> str:
    """The mark in the place of these lines, as far indented as the first of them that is not blank."""
    shown = next((line for line in left if line.strip()), "")
    indent = shown[: len(shown) - len(shown.lstrip(" \t"))]
    return f"{indent}[{ELLIPSIS} {len(left):,} line{'s' if len(left) > 1 else ''}]"
