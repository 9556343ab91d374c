"""The strategy `gain`: room goes to the forms of candidates that bring most per token.

A candidate has up to four forms: its declaration, its statements, condensed, whole. Each brings a gain, its chance to
be needed times the worth of the form, and takes tokens. A candidate begins as nothing and is upgraded step by step,
each step to the form with most further gain per further token; so its steps bring less and less per token. All steps of
all candidates are tried in the order of gain per token. A step that does not fit is refused, with what would build on
it. Where candidates of a file share a heading, the order is that of candidates alone, each with the heading; the first
step that is taken of a file pays for it.

    outcome = bought(pool, open_, chances, worth, room)
    FORMS[outcome.form[row]]                  # the form in which a row goes out
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from secateur.model import BoolArray, FloatArray, IntArray, Pool, Reason
from secateur.selection.headings import Headings
from secateur.settings import StateWorth

FORMS = (Reason.SIGNATURE, Reason.STATEMENTS, Reason.CONDENSED, Reason.FITS)
"""The reasons that say in which form a candidate goes out, the smallest form first: columns of costs and gains."""

LEAST_GAIN = 1e-6
"""Chance of what has none by its figures: where there is room for everything, everything goes out."""

_ABSENT = 0


@dataclass(frozen=True, eq=False)
class Steps:
    """Upgrades of candidates, in the order in which they are tried: columns of one length.

    Attributes:
        row: of the pool.
        form: the form after it, an index of FORMS.
        cost: further tokens.
    """

    row: IntArray
    form: IntArray
    cost: IntArray

    def taken(self, room: int, headings: Headings | None = None) -> tuple[BoolArray, IntArray, IntArray]:
        """(which of them are taken with so much room, what is free at the turn of each, the tokens of a heading that it
        needs besides at its turn). A step that builds on one that is not taken is not taken."""
        taken = np.zeros(len(self.row), dtype=np.bool_)
        mine = headings.copy().at(self.row) if headings is not None else None
        left, alive = room, np.arange(len(self.row))
        refused = np.full(int(self.row.max(initial=-1)) + 1, len(self.row), dtype=np.int64)  # per row, its first step
        while len(alive):
            cost = self.cost[alive]
            # The first step of a file is the first of a row: without it no other one of the row is left.
            total = np.cumsum(cost if mine is None else cost + mine.in_turn(alive))
            fitting = int(np.searchsorted(total, left, side="right"))
            taken[alive[:fitting]] = True
            left -= int(total[fitting - 1]) if fitting else 0
            if mine is not None:
                mine.take(alive[:fitting])
            alive = alive[fitting:]
            # The room only shrinks: what is too large now is so for good, and what builds on it with it.
            cost = self.cost[alive]
            large = alive[(cost if mine is None else cost + mine.due(alive)) > left]
            np.minimum.at(refused, self.row[large], large)
            alive = alive[alive < refused[self.row[alive]]]
        due = (
            headings.at(self.row).at_turns(np.flatnonzero(taken)) if headings is not None else np.zeros_like(self.cost)
        )
        spent = np.where(taken, self.cost + due, 0)
        return taken, room - np.cumsum(spent) + spent, due


def costs(pool: Pool, open_: BoolArray) -> IntArray:
    """Tokens per row and form, wrapper included; 0 where it has not that form, or may not leave."""
    table = np.zeros((len(pool), len(FORMS)), dtype=np.int64)
    table[:, FORMS.index(Reason.FITS)] = pool.cost
    table[:, FORMS.index(Reason.SIGNATURE)] = np.where(pool.sig_cost < pool.cost, pool.sig_cost, _ABSENT)
    for reason, form in ((Reason.STATEMENTS, pool.statements), (Reason.CONDENSED, pool.condensed)):
        if form is not None:
            table[:, FORMS.index(reason)] = np.where(form.cost < pool.cost, form.cost, _ABSENT)
    table[~open_] = _ABSENT
    return table


def gains(chances: FloatArray, worth: StateWorth) -> FloatArray:
    """Gain per row and form: chance times worth."""
    table: FloatArray = np.maximum(chances, LEAST_GAIN)[:, None] * np.array(
        [worth.declaration, worth.statements, worth.condensed, 1.0]
    )
    return table


def steps_of(gain: FloatArray, cost: IntArray, heading: IntArray | None = None) -> Steps:
    """The steps of all rows. Ties go to the better form, then to the smaller row number.

    Args:
        heading: tokens per row that its first step needs besides, if the row is alone. They count for the order.
    """
    rows = np.flatnonzero(cost[:, -1] != _ABSENT)
    spent = np.zeros(len(rows), dtype=np.int64) if heading is None else -heading[rows]
    got, last = np.zeros(len(rows)), np.full(len(rows), np.inf)
    found: list[tuple[IntArray, IntArray, IntArray, FloatArray]] = []
    while len(rows):
        further, more = cost[rows] - spent[:, None], gain[rows] - got[:, None]
        possible = (cost[rows] != _ABSENT) & (further > 0) & (more > 0)
        rate = np.where(possible, more / np.maximum(further, 1), -1.0)
        form = len(FORMS) - 1 - np.argmax(rate[:, ::-1], axis=1)
        # No step brings more per token than the one before it, but for the last digit of a float.
        last = np.minimum(np.take_along_axis(rate, form[:, None], axis=1)[:, 0], last)
        left = last > 0
        rows, form, last, spent = rows[left], form[left], last[left], spent[left]
        found.append((rows, form, cost[rows, form] - np.maximum(spent, 0), last))
        spent, got = cost[rows, form], gain[rows, form]
    if not found:
        nothing = np.zeros(0, dtype=np.int64)
        return Steps(nothing, nothing, nothing)
    row, form, tokens, rate = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((row, -rate))  # stable: the steps of a row stay in their order
    return Steps(row[order], form[order], tokens[order])


@dataclass(frozen=True, eq=False)
class Bought:
    """The outcome per row of the pool.

    Attributes:
        form: an index of FORMS; -1 where nothing goes out.
        needed: tokens of the form that was tried last, whether it went out or not; 0 where none was.
        left: what there was for it when it was tried.
        gain: of the form that goes out; where none does, of that one.
        told: that form, an index of FORMS; -1 where none was tried.
    """

    form: IntArray
    needed: IntArray
    left: IntArray
    gain: FloatArray
    told: IntArray
    used: int


def bought(
    pool: Pool,
    open_: BoolArray,
    chances: FloatArray,
    worth: StateWorth,
    room: int,
    headings: Headings | None = None,
) -> Bought:
    """The forms in which open rows go out within so much room. Of the `headings` those that they need are paid."""
    cost, gain = costs(pool, open_), gains(chances, worth)
    steps = steps_of(gain, cost, pool.heading)
    taken, free, due = steps.taken(room, headings)
    form = np.full(len(pool), -1, dtype=np.int64)
    form[steps.row[taken]] = steps.form[taken]  # a row's later steps stand behind its earlier ones
    # Told of a row is the first step that it was refused, else its last one.
    tried = np.where(taken, np.arange(len(taken)), 2 * len(taken) - np.arange(len(taken)))
    told = np.full(len(pool), -1, dtype=np.int64)
    np.maximum.at(told, steps.row, tried)
    rows = np.flatnonzero(told >= 0)
    place = np.where(told[rows] >= len(taken), 2 * len(taken) - told[rows], told[rows])
    needed, left, at_first = (np.zeros(len(pool), dtype=np.int64) for _ in range(3))
    brought = np.zeros(len(pool))
    at_first[steps.row[::-1]] = due[::-1]
    needed[rows] = cost[rows, steps.form[place]] + at_first[rows]
    # What the forms before it took is there for it.
    left[rows] = free[place] + needed[rows] - steps.cost[place] - due[place]
    shown = np.full(len(pool), -1, dtype=np.int64)
    shown[rows] = np.where(form[rows] >= 0, form[rows], steps.form[place])
    brought[rows] = gain[rows, shown[rows]]
    if headings is not None:
        headings.take(steps.row[taken])
    return Bought(form, needed, left, brought, shown, int((steps.cost + due)[taken].sum()))
