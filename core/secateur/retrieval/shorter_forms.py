"""Forms of the best candidates with fewer lines: what both kinds of them, condensed and statements, are made with.

Only the best candidates are read: those that a budget of the usual size comes to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from secateur.errors import RepositoryError
from secateur.model import LineRange, Pool, ShorterForm
from secateur.render.omissions import with_marks
from secateur.render.pack import body
from secateur.tokens import Counter

READ_TOKENS = 40_000
"""Tokens of the best candidates, about, that are looked through."""


def shorter_form(
    pool: Pool,
    lines: Callable[[str], list[str]],
    counter: Counter,
    find: Callable[[Sequence[str], int], tuple[LineRange, ...]],
) -> ShorterForm | None:
    """The form of the best rows whose lines `find` tells, from the lines of its file and its row; None where none has
    it, because nothing leaves or nothing is won.

    Args:
        lines: of a file, by its path; what is in a file that cannot be read any more has no such form.
    """
    found: dict[int, tuple[LineRange, ...]] = {}
    texts: list[str] = []
    for row in range(min(len(pool), int(np.searchsorted(np.cumsum(pool.cost), READ_TOKENS)) + 1)):
        with suppress(RepositoryError):
            own = lines(pool.path[row])
            if out := find(own, row):
                found[row] = out
                texts.append(body(with_marks(own, int(pool.line_start[row]), int(pool.line_end[row]), out)))
    tokens = np.zeros(len(pool), dtype=np.int64)
    tokens[list(found)] = counter.count_many(texts)
    shorter = (tokens > 0) & (tokens < pool.tokens)
    form = ShorterForm(
        {row: out for row, out in found.items() if shorter[row]},
        np.where(shorter, tokens, 0),
        np.where(shorter, tokens + pool.cost - pool.tokens, 0),
    )
    return form if form.lines else None
