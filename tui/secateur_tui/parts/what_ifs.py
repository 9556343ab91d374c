"""Finds what would change a decision, proven by re-running the selection on a thread while the user rests."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from secateur.kinds.search.knobs import WEIGHTS
from secateur.model import State
from secateur.selection import whatif

from secateur_tui.messages import HintProven, RangeProven
from secateur_tui.state.search_answer import SearchAnswer


def what_ifs(answer: SearchAnswer, row: int, known: Collection[str]) -> Iterator[HintProven | RangeProven]:
    """Yields hints for `row` first, because it is looked at, then the unchanged range of each signal not in `known`.

    The caller stops iterating when the answer or the row is no longer of interest.
    """
    pool, settings = answer.selection.pool, answer.settings
    if not len(pool):
        return
    if answer.selection.state[row] != State.KEPT:
        flip = whatif.budget_to_keep(pool, settings, row)
        if flip is not None:
            yield HintProven(answer, row, budget=flip)
        for knob in WEIGHTS:
            weight = whatif.weight_to_keep(pool, settings, row, knob.signal)
            if weight is not None:
                yield HintProven(answer, row, signal=knob.signal, weight=weight)
    for knob in WEIGHTS:
        if knob.signal not in known:
            low, high = whatif.unchanged_range(pool, settings, knob.signal)
            yield RangeProven(answer, knob.signal, low, high)
