"""Splits long stretches of lines where a reader would: before unindented text, after blank lines.

Rows count from 0. A piece is `(first, last)`, both inclusive, and neither end is a blank row.
"""

import re
from collections.abc import Sequence

BLOCK_LINES = 60  # most lines of a block of plain text: about one screen, some 600 tokens
REGION_LINES = 80  # most lines of a module-level region or of the header of a class

_CLOSING = re.compile(
    r"\s*(?:[\]\)\}]+(?:\.\w+\(\))?[;,\s\]\)\}]*(?://.*|/\*.*\*/\s*)?"
    r"|end(?:if|while|for|foreach|switch)?[;,]?|#\s*end(?:if|region)\b.*|\?>|</(?:script|style)>)\s*"
)
_CLOSING_LENGTH = 200  # longer lines are not examined: they always contain more than closing signs


def is_blank(line: str) -> bool:
    """True for lines without a visible character."""
    return not line or line.isspace()


def is_closing(line: str) -> bool:
    """True for a line that only closes what earlier lines opened: brackets, `end`, `#endif`, `?>`."""
    return len(line) <= _CLOSING_LENGTH and _CLOSING.fullmatch(line) is not None


def trim(lines: Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    """Removes blank rows at the ends of `first..last`; None if nothing is left."""
    while first <= last and is_blank(lines[first]):
        first += 1
    while last >= first and is_blank(lines[last]):
        last -= 1
    return (first, last) if first <= last else None


def cut(lines: Sequence[str], first: int, last: int, most: int) -> list[tuple[int, int]]:
    """Returns pieces of at most `most` rows that contain every non-blank row of `first..last`.

    Preferred places, in order: before an unindented row that follows a blank one, before any row that follows a blank
    one, before an unindented row, and at `most` rows if there is no such place. The latest place wins.
    """
    pieces = []
    least = max(1, most // 4)
    whole = trim(lines, first, last)
    while whole is not None:
        first, last = whole
        if last - first < most:
            pieces.append(whole)
            break
        # A tail of fewer than `least` rows is too small: leave it more rows if possible.
        low = first + least
        high = max(low, min(first + most, last + 1 - least))
        at, best_rank = high, 0
        outer = min(
            (_measure_indent(lines[row]) for row in range(low - 1, high + 1) if not is_blank(lines[row])), default=0
        )
        for row in range(low, high + 1):
            line = lines[row]
            if is_blank(line):
                continue
            unindented = _measure_indent(line) == outer and not is_closing(line)
            rank = (2 if is_blank(lines[row - 1]) else 0) + (1 if unindented else 0)
            if rank and rank >= best_rank:
                at, best_rank = row, rank
        if (head := trim(lines, first, at - 1)) is not None:
            pieces.append(head)
        whole = trim(lines, at, last)
    return pieces


def _measure_indent(line: str) -> int:
    """Returns the width of the leading white space. A tab counts as one: a file rarely mixes tabs and spaces."""
    return len(line) - len(line.lstrip())
