"""The budget of a search: which candidates leave, and the gap between the last that leaves and the first that does
not."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from secateur.model import Pool, Selection, State

from secateur_tui.state.ledger_answer import Sum
from secateur_tui.state.search_answer import SearchAnswer
from secateur_tui.styled_text import Line, choose_fitting, line
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture
from secateur_tui.widgets.candidate_list import order_figure


def picture_of(answer: SearchAnswer) -> BudgetPicture:
    """Returns the picture of an answer; until its pack is counted, at most its tokens leave."""
    return _make_picture(answer.selection, answer.tokens, answer.recounted is not None)


@lru_cache(maxsize=4)
def _make_picture(selection: Selection, after: int, counted: bool) -> BudgetPicture:
    pool, state = selection.pool, selection.state
    rows = np.array(selection.pack_rows, dtype=np.int64)
    states = state[rows].astype(np.int64)
    tokens = selection.tokens_after[rows]
    sums, dropped = {}, len(selection) - len(rows)
    for kind_of_state in (State.KEPT, State.SHORTENED):
        mask = states == kind_of_state
        sums[kind_of_state] = Sum(int(mask.sum()), int(pool.tokens[rows[mask]].sum()), int(tokens[mask].sum()))
    sums[State.DROPPED] = Sum(dropped, _sum_tokens(pool) - sum(total.before for total in sums.values()))
    around = after - int(tokens.sum())
    frame = BudgetFrame(selection.budget, rows, tokens, states, around)
    return BudgetPicture((frame,), sums, counted)


@lru_cache(maxsize=2)
def _sum_tokens(pool: Pool) -> int:
    return int(pool.tokens.sum())


def draw_gap(selection: Selection, cells: int, by: str = "priority") -> Line:
    """Draws how far the last candidate that goes out is from the first that does not, by rank and by the score that
    orders the list."""
    goes_out = selection.state[selection.order] != State.DROPPED
    if goes_out.all() or not goes_out.any():
        words = "everything is sent" if goes_out.any() else "nothing is sent"
        return choose_fitting([line(f" {words} "), ()], cells)
    last_place, first_place = int(np.flatnonzero(goes_out)[-1]), int(np.argmin(goes_out))
    last, first = selection.order[last_place], selection.order[first_place]
    rank_last, rank_first = last_place + 1, first_place + 1
    gap = selection.score[last] - selection.score[first]
    out = f"#{rank_last:,} {order_figure(selection.score[last], by)}"
    dropped = f"#{rank_first:,} {order_figure(selection.score[first], by)}"
    figures = f"last out {out} · first dropped {dropped}"
    far = order_figure(abs(gap), by)
    distance = f"gap {'−' if gap < 0 and far.strip('0.') else ''}{far}"
    skipped = ": smaller fitted" if rank_first < rank_last else ""
    ranks = f"#{rank_last:,}/#{rank_first:,}"
    variants = (  # a gap below 0 is explained before the figures are given
        f" {figures} · {distance}{skipped} ",
        *([f" {out} out · {dropped} dropped · {distance}{skipped} "] if skipped else [f" {figures} · {distance} "]),
        f" {distance} {ranks}{skipped} ",
        f" {distance} {ranks} ",
    )
    return choose_fitting([*(line(variant) for variant in variants), ()], cells)
