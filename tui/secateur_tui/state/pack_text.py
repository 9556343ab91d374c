"""The text that leaves, with the item of every line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np
from secateur.model import IntArray

LONGEST = 4_000_000
"""Characters of a pack that are shown: a million tokens, more than most models take. The rest is counted."""

_MOST_MISSED = 50
"""Parts that may be missing from the text, such as reformatted JSON, before the search for further parts ends."""

NONE = -1
"""The item of a line that belongs to no item."""


@dataclass(frozen=True, eq=False)
class PackText:
    """`PackText.of(text, parts)`; the lines are as they leave, not made visible."""

    lines: Sequence[str]
    items: IntArray  # per line its item, or NONE
    further: int = 0  # characters that are not shown

    @classmethod
    def of(cls, text: str, parts: Iterable[tuple[int, str]], around: int = NONE) -> PackText:
        """Returns a text in which the texts of items stand in this order; `around` is the item of what stands around
        them."""
        shown = text[:LONGEST]
        lines = shown.split("\n")
        starts = [0, *accumulate(len(line) + 1 for line in lines)]
        items = np.full(len(lines), around, dtype=np.int64)
        at, missed = 0, 0
        for item, part in parts:
            part = part.strip("\n")
            start = shown.find(part, at) if part.strip() else -1
            if start >= 0:
                at = start + len(part)
                items[bisect_right(starts, start) - 1 : bisect_right(starts, at - 1)] = item
            elif part.strip():
                missed += 1
            if at >= len(shown) or missed > _MOST_MISSED:
                break
        return cls(lines, items, len(text) - len(shown))

    @classmethod
    def join(cls, parts: Sequence[PackText]) -> PackText:
        """Texts one behind the other."""
        if not parts:
            return cls((), np.zeros(0, dtype=np.int64))
        lines = [line for part in parts for line in part.lines]
        return cls(lines, np.concatenate([part.items for part in parts]), sum(part.further for part in parts))

    @cached_property
    def _first_lines(self) -> dict[int, int]:
        changes = np.flatnonzero(np.diff(self.items, prepend=NONE - 1))
        return {int(self.items[line]): int(line) for line in changes[::-1]}

    def line_of(self, item: int) -> int | None:
        """Returns the first line of an item; None where it has none."""
        return self._first_lines.get(item)

    def find_lines(self, words: str) -> list[int]:
        """Returns the lines that hold these words, upper and lower case alike."""
        wanted = words.casefold()
        return [index for index, line in enumerate(self.lines) if wanted in line.casefold()] if wanted else []
