"""The shapes of evidence: a column holds a number in [0, 1] for each fragment of a snapshot, before any weight."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from secateur.model import FloatArray

Lines = Callable[[str], list[str]]
"""Reads the lines of a file by its path; raises RepositoryError if the file has changed."""


class BestFew(Struct, frozen=True, eq=False):
    """Holds a column of evidence that depends on the best few of all commits or fragments that are searched.

    Attributes:
        keys: the sort keys of the best few, the best first: lower first keys are better, then lower second keys.
        most: how many of all that is searched are used.
        column: computes the column from that many of the best.
    """

    keys: tuple[FloatArray, ...]
    most: int
    column: Callable[[int], FloatArray]

    def whole_column(self) -> FloatArray:
        """Computes the column from all of them."""
        return self.column(len(self.keys[0]))


class Evidence(Struct, frozen=True, eq=False):
    """Holds the evidence for all fragments of a snapshot.

    Attributes:
        columns: the columns by name; the names are those of the weights in `[relevance]`.
        best_few: the columns that depend on the best few of all that is searched, by name. The column of `near` is not
            yet divided by its maximum.
    """

    columns: dict[str, FloatArray]
    best_few: dict[str, BestFew]
