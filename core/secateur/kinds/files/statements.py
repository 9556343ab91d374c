"""Widens named lines to whole statements: a header gets its body, a call its closing bracket.

    widen_to_statements((5, 6), lines, (5, 7))                 # (5, 7): the function's body ends on line 7

It reads indentation and line ends, not a grammar, so it holds for every language that people indent. Lines count
from 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from secateur.kinds.files.line_ranges import Range
from secateur.languages.syntax.cutting import is_blank, is_closing

TAB = 8
"""Columns of a tab."""

LONGEST_LINE = 1_000
"""Longest line whose end is read; longer lines are data."""

_OPEN = re.compile(r"(?:[(\[,\\]|[^-+][-+*/|&=]|\band|\bor)\s*$")
"""The end of a line whose statement continues."""

_GOES_ON = re.compile(r"\s*(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure|when|in)\b")
"""The beginning of a line that continues the statement above."""


def widen_to_statements(named: Range, lines: Sequence[str], within: Range) -> Range | None:
    """Widens the named lines to whole statements inside `within`; None if they are blank."""
    start, end = max(named[0], within[0]), min(named[1], within[1])
    while start <= end and is_blank(lines[start - 1]):
        start += 1
    while end >= start and is_blank(lines[end - 1]):
        end -= 1
    if start > end:
        return None
    while (above := _line_above(lines, start, within[0])) and _opens(lines[above - 1]):
        start = above
    least = min(_indent(line) for line in lines[start - 1 : end] if not is_blank(line))
    for line_number in range(end + 1, within[1] + 1):
        line = lines[line_number - 1]
        if is_blank(line):
            continue
        beside = _indent(line) == least and (is_closing(line) or _continues(line, lines[end - 1]))
        if not (beside or _indent(line) > least):
            break
        end = line_number
    return start, end


def add_context(matches: Sequence[int], lines: Sequence[str], reach: int, within: Range, whole: Range) -> list[Range]:
    """Returns ranges around matching lines: their statements with `reach` lines on both sides inside `within`, and the
    first lines of enclosing statements inside `whole`."""
    ranges: list[Range] = []
    for match in matches:
        named = max(match - reach, within[0]), min(match + reach, within[1])
        ranges.append(widen_to_statements(named, lines, named) or named)
        indent = _indent(lines[match - 1])
        for line_number in range(match - 1, whole[0] - 1, -1):
            line = lines[line_number - 1]
            if not is_blank(line) and not is_closing(line) and _indent(line) < indent:
                ranges.append((line_number, line_number))
                indent = _indent(line)
    return ranges


def _line_above(lines: Sequence[str], start: int, first: int) -> int:
    """The last line before `start` that is not blank; 0 if there is none."""
    return next(
        (line_number for line_number in range(start - 1, first - 1, -1) if not is_blank(lines[line_number - 1])), 0
    )


def _opens(line: str) -> bool:
    return len(line) <= LONGEST_LINE and _OPEN.search(line) is not None


def _continues(line: str, before: str) -> bool:
    return _opens(before) or _GOES_ON.match(line) is not None or line.lstrip().startswith(("}", ")", "]"))


def _indent(line: str) -> int:
    start = line[: len(line) - len(line.lstrip())]
    return len(start.expandtabs(TAB))
