"""The cost of a row in a pack: an upper bound that `select` can add up, so that the rendered pack never exceeds the
budget.

    count(render_pack(selection, ..., form)) <= overhead(query) + sum of cost over the rows in the output
                                                + sum of shared over their files, if files share headings

For Markdown and a byte-pair counter, the two sides are equal except for the last item (see `layouts`). For each
fragment the index stores `counter.count(body(text))` and the two numbers of `ingredients(text)`; headings are counted
for the rows of a pool, or stored too.

    costs = PackCosts(counter, "markdown")
    wrapper = costs.wrappers(costs.headings(items), language, backticks, cdata_ends)
    cost, sig_cost = tokens + wrapper, sig_tokens + wrapper + costs.signature_mark
    heading = costs.shared(paths, languages, backticks)     # with `by_file`: once for all rows of a file
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from secateur.model import IntArray
from secateur.render.layouts import Item, layout_of
from secateur.render.markdown import SHORTEST_FENCE
from secateur.tokens import Counter

_LONGEST_COUNTED_RUN = 32
"""Longer runs of backticks, found only in hostile text, cost a token for each backtick of both fences."""


class PackCosts:
    """Costs in one format by one counter; all figures are tokens. `by_file`: rows of a file share a heading.

    Raises:
        UsageError: no such format.
    """

    def __init__(self, counter: Counter, form: str = "markdown", *, by_file: bool = False) -> None:
        self._counter = counter
        self._layout = layout_of(form, by_file=by_file)
        self._frames: dict[tuple[str, int, bool], int] = {}
        self.signature_mark = counter.count(self._layout.signature_mark)
        """Additional tokens in the heading of a shortened row."""

    def overhead(self, query: str) -> int:
        """Returns the tokens that belong to no row: head and foot."""
        return sum(self._counter.count_many([self._layout.head(query), self._layout.foot()]))

    def headings(self, items: Iterable[Item]) -> IntArray:
        """Returns the exact tokens of each row's heading; about 3 microseconds per row."""
        return np.array(self._counter.count_many(map(self._layout.heading, items)), dtype=np.int64)

    def wrappers(
        self, headings: IntArray, languages: Sequence[str], backticks: IntArray, cdata_ends: IntArray
    ) -> IntArray:
        """Returns the tokens of a row besides its text: heading, fence or tags, splits of CDATA. Arrays of one size."""
        total: IntArray = headings + self._frames_of(languages, backticks) + self._layout.cdata_end_cost * cdata_ends
        return total

    def shared(self, paths: Sequence[str], languages: Sequence[str], backticks: IntArray) -> IntArray:
        """Returns the most tokens around the rows of each row's file, whichever of them are kept: heading, fence or
        tags. Arrays of one length."""
        indexes = {path: index for index, path in enumerate(dict.fromkeys(paths))}
        file = np.array([indexes[path] for path in paths], dtype=np.int64)
        longest, most = np.zeros(len(indexes), dtype=np.int64), np.zeros(len(indexes), dtype=np.int64)
        np.maximum.at(longest, file, backticks)
        np.maximum.at(most, file, self._frames_of(languages, longest[file], of_files=True))
        headings = self._counter.count_many(map(self._layout.file_heading, indexes))
        return (most + np.array(headings, dtype=np.int64))[file]

    def _frames_of(self, languages: Sequence[str], backticks: IntArray, *, of_files: bool = False) -> IntArray:
        frames = (self._frame(*pair, of_files) for pair in zip(languages, backticks.tolist(), strict=True))
        return np.fromiter(frames, dtype=np.int64, count=len(languages))

    def _frame(self, language: str, backticks: int, of_files: bool) -> int:
        """Returns the most tokens before and after a body, or the bodies of a file, whose longest run is at most
        `backticks` (a signature may have a shorter one)."""
        known = self._frames.get((language, backticks, of_files))
        if known is None:
            layout = self._layout
            opening, closing = (layout.file_open, layout.file_close) if of_files else (layout.open, layout.close)
            runs = range(SHORTEST_FENCE - 1, max(SHORTEST_FENCE, min(backticks, _LONGEST_COUNTED_RUN) + 1))
            known = max(sum(self._counter.count_many((opening(language, run), closing(run)))) for run in runs)
            known += 2 * backticks if known and backticks > _LONGEST_COUNTED_RUN else 0
            self._frames[language, backticks, of_files] = known
        return known
