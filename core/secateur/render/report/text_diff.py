"""The lines by which what goes out differs from what came in."""

from __future__ import annotations

from difflib import SequenceMatcher

MOST_LINES = 1_500
"""Lines of a side that are compared: time grows with their product."""

_AROUND = 3
"""Lines shown around a change."""


def changed_lines(before: str, after: str) -> list[tuple[str, str]] | None:
    """(mark, line): `-` goes, `+` comes in its place, a space stays, `@` stands for lines that stay and are not shown.

    None: the sides are too long to compare.
    """
    then, now = before.splitlines(), after.splitlines()
    if max(len(then), len(now)) > MOST_LINES:
        return None
    told: list[tuple[str, str]] = []
    end = 0
    for group in SequenceMatcher(None, then, now).get_grouped_opcodes(_AROUND):
        if group[0][1] > end:
            told.append(("@", f"{group[0][1] - end:,} lines that stay"))
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                told += [(" ", line) for line in then[start:end]]
                continue
            told += [("-", line) for line in then[start:end]]
            told += [("+", line) for line in now[new_start:new_end]]
    if told and len(then) > end:
        told.append(("@", f"{len(then) - end:,} lines that stay"))
    return told
