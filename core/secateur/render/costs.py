"""The cost of a row in a pack: an upper bound that `select` can add up, so that the rendered pack never exceeds the
budget.

    count(render_pack(selection, ..., form)) <= overhead(query, warnings) + sum of cost over the rows that go out

For Markdown and a byte-pair counter the two sides are equal but for the last item (see `layouts`). For each fragment
the index stores `counter.count(body(text))` and the two numbers of `ingredients(text)`; headings are counted for the
rows of a pool, or stored too.

    costs = PackCosts(counter, "markdown")
    wrapper = costs.wrappers(costs.headings(items), language, backticks, cdata_ends)
    cost, sig_cost = tokens + wrapper, sig_tokens + wrapper + costs.signature_mark
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from secateur.model import IntArray, Notice
from secateur.render.layouts import Item, layout_of
from secateur.render.markdown import SHORTEST_FENCE
from secateur.render.notices import packed_notices
from secateur.tokens import Counter

_LONGEST_COUNTED_RUN = 32
"""Longer runs of backticks, which only hostile text has, are charged a token for each backtick of both fences."""


class PackCosts:
    """Costs in one format by one counter; all figures are tokens.

    Raises:
        UsageError: no such format.
    """

    def __init__(self, counter: Counter, form: str = "markdown") -> None:
        self._counter = counter
        self._layout = layout_of(form)
        self._frames: dict[tuple[str, int], int] = {}
        self.signature_mark = counter.count(self._layout.signature_mark)
        """The tokens that the heading of a shortened row costs more than that of a whole one."""

    def overhead(self, query: str, notices: Iterable[Notice] = ()) -> int:
        """The tokens that belong to no row: head, warnings, foot."""
        layout = self._layout
        return sum(
            self._counter.count_many(
                [layout.head(query), *(layout.notice(notice) for notice in packed_notices(notices)), layout.foot()]
            )
        )

    def headings(self, items: Iterable[Item]) -> IntArray:
        """The tokens of each row's heading, exactly; about 3 microseconds a row."""
        return np.array(self._counter.count_many(map(self._layout.heading, items)), dtype=np.int64)

    def wrappers(
        self, headings: IntArray, languages: Sequence[str], backticks: IntArray, cdata_ends: IntArray
    ) -> IntArray:
        """Everything a row costs beside its text: heading, fence or tags, splits of CDATA. Arrays of one length."""
        frames = np.fromiter(map(self._frame, languages, backticks.tolist()), dtype=np.int64, count=len(languages))
        total: IntArray = headings + frames + self._layout.cdata_end_cost * cdata_ends
        return total

    def _frame(self, language: str, backticks: int) -> int:
        """Most tokens of opening and closing around a body whose longest run is at most `backticks` (a signature may
        have a shorter one)."""
        known = self._frames.get((language, backticks))
        if known is None:
            runs = range(SHORTEST_FENCE - 1, max(SHORTEST_FENCE, min(backticks, _LONGEST_COUNTED_RUN) + 1))
            known = max(
                sum(self._counter.count_many((self._layout.open(language, run), self._layout.close(run))))
                for run in runs
            )
            known += 2 * backticks if backticks > _LONGEST_COUNTED_RUN else 0
            self._frames[language, backticks] = known
        return known
