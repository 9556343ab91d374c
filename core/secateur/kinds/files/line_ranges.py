"""Windows over the lines of a file; clips, merges and numbers ranges of lines, and widens named lines to whole
statements: a header gets its body, a call its closing bracket.

    windows(20, 10, 3)                             # [(1, 10), (8, 17), (15, 20)]
    merge([(1, 5), (4, 8), (10, 15)], 20)          # [(1, 8), (10, 15)]
    widen_to_statements((5, 6), lines, (5, 7))     # (5, 7): the function's body ends on line 7

Lines count from 1, ranges include both ends (PRUNER-WINDOWS). Statements are found by indentation and line
ends, not by a grammar, so they hold for every language that people indent.
"""

import re
from collections.abc import Iterable, Sequence

from secateur.errors import UsageError
from secateur.languages.syntax.text import is_blank, is_closing

Range = tuple[int, int]


def check_windows(size: int, overlap: int) -> None:
    """Checks that windows advance. Raises UsageError: the overlap is not less than the size."""
    if size < 1 or overlap < 0 or overlap >= size:
        window = "--window (context_prune.sliding_window_size)"
        hint = f"--overlap (context_prune.sliding_window_overlap) is at least 0 and less than {window}"
        raise UsageError(f"windows of {size:,} lines cannot share {overlap:,}", hint=hint)


def windows(lines: int, size: int, overlap: int) -> list[Range]:
    """Windows of `size` lines, each starting with the last `overlap` lines of the previous one. They cover every line;
    none lies within another. Raises UsageError: the overlap is not less than the size."""
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
    rows = []
    for number, line in enumerate(lines[window[0] - 1 : window[1]], window[0]):
        more = f" [{len(line) - longest:,} more characters]" if len(line) > longest else ""
        rows.append(f"{number} {line[:longest]}{more}")
    return rows


TAB = 8  # columns of a tab
LONGEST_LINE = 1_000  # longest line whose end is read; longer lines are data
_OPEN = re.compile(r"(?:[(\[,\\]|[^-+][-+*/|&=]|\band|\bor)\s*$")  # the end of a line whose statement continues
# The beginning of a line that continues the statement above.
_GOES_ON = re.compile(r"\s*(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure|when|in)\b")


def widen_to_statements(named: Range, lines: Sequence[str], within: Range) -> Range | None:
    """Widens the named lines to whole statements inside `within`; None if they are blank."""
    start, end = max(named[0], within[0]), min(named[1], within[1])
    while start <= end and is_blank(lines[start - 1]):
        start += 1
    while end >= start and is_blank(lines[end - 1]):
        end -= 1
    if start > end:
        return None
    for above in range(start - 1, within[0] - 1, -1):
        if not is_blank(lines[above - 1]):
            if not _opens(lines[above - 1]):
                break
            start = above
    least = min(_indent(line) for line in lines[start - 1 : end] if not is_blank(line))
    for line_number in range(end + 1, within[1] + 1):
        line = lines[line_number - 1]
        if is_blank(line):
            continue
        goes_on = _GOES_ON.match(line) is not None or line.lstrip().startswith(("}", ")", "]"))
        beside = _indent(line) == least and (is_closing(line) or goes_on or _opens(lines[end - 1]))
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


def _opens(line: str) -> bool:
    return len(line) <= LONGEST_LINE and _OPEN.search(line) is not None


def _indent(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip())].expandtabs(TAB))
