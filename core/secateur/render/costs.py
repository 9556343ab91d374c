"""The cost of a row in a pack: an upper bound that `select` can add up, so that the rendered pack never exceeds the
budget.

    count(render_pack(selection, ...)) <= overhead(query) + sum of cost over the rows in the output
                                         + sum of heading over their files + selection.last_line

For Markdown and a byte-pair counter, the two sides are equal except for the last item (see `layouts`) and the line that
says what was left out. For each fragment the index stores `counter.count(body(text))` and the two numbers of
`ingredients(text)`; headings are counted for the rows of a pool, or stored too.

    costs = PackCosts(counter, "markdown")
    wrapper = costs.wrappers(costs.headings(items), cdata_ends)
    cost, sig_cost = tokens + wrapper, sig_tokens + wrapper + costs.signature_mark
    heading = costs.files(paths, languages, backticks)     # once for all rows of a file
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from secateur.model import IntArray
from secateur.render.layouts import Item, layout_of
from secateur.render.markdown import SHORTEST_FENCE
from secateur.tokens import Counter

LAST_LINE = 30
"""Most tokens of the line that says what was left out."""

_LONGEST_COUNTED_RUN = 32
"""Longer runs of backticks, found only in hostile text, cost a token for each backtick of both fences."""


class PackCosts:
    """Costs in one format by one counter; all figures are tokens.

    Raises:
        UsageError: no such format.
    """

    def __init__(self, counter: Counter, form: str = "markdown") -> None:
        self._counter = counter
        self._layout = layout_of(form)
        self._frames: dict[tuple[str, int], int] = {}
        self.signature_mark, self._close = counter.count_many([self._layout.signature_mark, self._layout.close])
        """Additional tokens in the heading of a shortened row; tokens after the body of a row."""

    def overhead(self, query: str) -> int:
        """Returns the tokens that belong to no row: head and foot."""
        return sum(self._counter.count_many([self._layout.head(query), self._layout.foot()]))

    def headings(self, items: Iterable[Item]) -> IntArray:
        """Returns the exact tokens of each row's heading; about 3 microseconds per row."""
        return np.array(self._counter.count_many(map(self._layout.heading, items)), dtype=np.int64)

    def wrappers(self, headings: IntArray, cdata_ends: IntArray) -> IntArray:
        """Returns the tokens of a row besides its text: heading, tags, splits of CDATA. Arrays of one size."""
        return np.asarray(headings + self._close + self._layout.cdata_end_cost * cdata_ends)

    def files(self, paths: Sequence[str], languages: Sequence[str], backticks: IntArray) -> IntArray:
        """Returns the most tokens around the rows of each row's file, whichever of them are kept: heading, fence or
        tags. Arrays of one length."""
        indexes = {path: index for index, path in enumerate(dict.fromkeys(paths))}
        file = np.array([indexes[path] for path in paths], dtype=np.int64)
        longest, most = np.zeros(len(indexes), dtype=np.int64), np.zeros(len(indexes), dtype=np.int64)
        np.maximum.at(longest, file, backticks)
        frames = map(self._frame, languages, longest[file].tolist())
        np.maximum.at(most, file, np.fromiter(frames, dtype=np.int64, count=len(file)))
        headings = self._counter.count_many(map(self._layout.file_heading, indexes))
        return (most + np.array(headings, dtype=np.int64))[file]

    def _frame(self, language: str, backticks: int) -> int:
        """Returns the most tokens before and after the bodies of a file, whose longest run is at most `backticks` (what
        is kept of them may have a shorter one)."""
        known = self._frames.get((language, backticks))
        if known is None:
            layout = self._layout
            runs = range(SHORTEST_FENCE - 1, max(SHORTEST_FENCE, min(backticks, _LONGEST_COUNTED_RUN) + 1))
            ends = ((layout.file_open(language, run), layout.file_close(run)) for run in runs)
            known = max(sum(self._counter.count_many(pair)) for pair in ends)
            known += 2 * backticks if backticks > _LONGEST_COUNTED_RUN else 0
            self._frames[language, backticks] = known
        return known
