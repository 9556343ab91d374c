"""The headings that rows of a file share (`shorten.headings`): the first row of a file that is chosen pays for it.

    headings = Headings.of(pool)             # None where each row has a heading of its own
    headings.due(rows)                       # per row, what it takes beside its own cost if it came next
    headings.in_turn(rows)                   # the same if these rows were taken one after the other
    headings.take(rows)                      # they were taken, in this order: their headings are paid
    headings.charged                         # per row, what it paid

The sum over what goes out does not depend on the order: own costs, and the heading of each of its files once. And what
does not fit never will: another row of its file could pay for the heading, and takes as much of the room and more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from secateur.model import IntArray, Pool


@dataclass(frozen=True, eq=False)
class Headings:
    """Columns of rows, and what is paid so far.

    Attributes:
        file: per row, the number of its file.
        tokens: per row, of the heading of its file.
        payer: per file, the row of it that was taken first; -1: none was. It changes.
    """

    file: IntArray
    tokens: IntArray
    payer: IntArray

    @classmethod
    def of(cls, pool: Pool) -> Headings | None:
        """The headings of a pool, none of them paid; None where its rows share none."""
        if pool.heading is None:
            return None
        return cls(pool.file, pool.heading, np.full(len(pool.by_file[1]), -1, dtype=np.int64))

    def copy(self) -> Headings:
        """The same headings, to be paid for without paying here."""
        return Headings(self.file, self.tokens, self.payer.copy())

    def at(self, rows: IntArray) -> Headings:
        """The headings of some rows, numbered by their places; what is paid is the same."""
        return Headings(self.file[rows], self.tokens[rows], self.payer)

    def due(self, rows: IntArray) -> IntArray:
        """Per row of `rows` the tokens of its heading, if it came next; 0 where that is paid."""
        return np.where(self.payer[self.file[rows]] < 0, self.tokens[rows], 0)

    def in_turn(self, rows: IntArray) -> IntArray:
        """Per row of `rows` the tokens that it pays if they are all taken in this order."""
        file, place = self.file[rows], np.arange(len(rows))
        first = np.empty(len(self.payer), dtype=np.int64)
        first[file[::-1]] = place[::-1]
        return np.where(first[file] == place, self.due(rows), 0)

    def take(self, rows: IntArray) -> int:
        """Pays for these rows, which were taken in this order; returns the tokens."""
        tokens = int(self.in_turn(rows).sum())
        new = rows[self.payer[self.file[rows]] < 0][::-1]
        self.payer[self.file[new]] = new
        return tokens

    @property
    def charged(self) -> IntArray:
        """Per row the tokens of its heading, if it paid for it; 0 of the others."""
        charged = np.zeros_like(self.tokens)
        rows = self.payer[self.payer >= 0]
        charged[rows] = self.tokens[rows]
        return charged

    def at_turns(self, taken: IntArray) -> IntArray:
        """Per row the tokens of its heading at its turn, if all are tried in their order and these are taken: what such
        a row pays, and what another one would have."""
        every = np.arange(len(self.file))
        first = np.full(len(self.payer), len(every), dtype=np.int64)
        first[self.file[taken[::-1]]] = taken[::-1]
        return np.where(every > first[self.file], 0, self.due(every))
