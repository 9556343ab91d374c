"""Whole statements around lines that somebody named: a header gets its body, a call its closing bracket.

    widened((5, 6), lines, (5, 7))                 # (5, 7): the body of a function goes on to line 7

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
"""Characters of a line of which the end tells something; longer ones are data."""

_OPEN = re.compile(r"(?:[(\[,\\]|[^-+][-+*/|&=]|\band|\bor)\s*$")
"""The end of a line whose statement goes on."""

_GOES_ON = re.compile(r"\s*(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure|when|in)\b")
"""The beginning of a line that goes on with a statement above it."""


def widened(named: Range, lines: Sequence[str], within: Range) -> Range | None:
    """The named lines with what completes their statements, inside `within`; None where they are blank."""
    start, end = max(named[0], within[0]), min(named[1], within[1])
    while start <= end and is_blank(lines[start - 1]):
        start += 1
    while end >= start and is_blank(lines[end - 1]):
        end -= 1
    if start > end:
        return None
    while (above := _above(lines, start, within[0])) and _opens(lines[above - 1]):
        start = above
    least = min(_indent(line) for line in lines[start - 1 : end] if not is_blank(line))
    for number in range(end + 1, within[1] + 1):
        line = lines[number - 1]
        if is_blank(line):
            continue
        beside = _indent(line) == least and (is_closing(line) or _continues(line, lines[end - 1]))
        if not (beside or _indent(line) > least):
            break
        end = number
    return start, end


def around_lines(matches: Sequence[int], lines: Sequence[str], reach: int, within: Range, whole: Range) -> list[Range]:
    """The matching lines with their statements, `reach` lines before and behind them inside `within`, and the first
    lines of the statements around them inside `whole`."""
    found: list[Range] = []
    for match in matches:
        named = max(match - reach, within[0]), min(match + reach, within[1])
        found.append(widened(named, lines, named) or named)
        indent = _indent(lines[match - 1])
        for number in range(match - 1, whole[0] - 1, -1):
            line = lines[number - 1]
            if not is_blank(line) and not is_closing(line) and _indent(line) < indent:
                found.append((number, number))
                indent = _indent(line)
    return found


def _above(lines: Sequence[str], start: int, first: int) -> int:
    """The line before `start` that is not blank; 0 where there is none."""
    return next((number for number in range(start - 1, first - 1, -1) if not is_blank(lines[number - 1])), 0)


def _opens(line: str) -> bool:
    return len(line) <= LONGEST_LINE and _OPEN.search(line) is not None


def _continues(line: str, before: str) -> bool:
    return _opens(before) or _GOES_ON.match(line) is not None or line.lstrip().startswith(("}", ")", "]"))


def _indent(line: str) -> int:
    start = line[: len(line) - len(line.lstrip())]
    return len(start.expandtabs(TAB))
