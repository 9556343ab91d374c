"""Vectors as stored and compared: rows of int8, unit vectors times 127.

Sums of products of such rows stay below 2^24 whatever the dimension (Cauchy-Schwarz: |a·b| ≤ |a|·|b|, both about 127),
so float32 holds every partial sum exactly and BLAS gives the same similarity on every machine, in whatever order it
adds.

A vector is a function of one text alone, so it can be cached by content; what a repository's texts have in common
(their language, their jargon) is therefore still in it, and makes all of them look alike. `SemanticSpace` subtracts the
mean when a query is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from secateur.model import FloatArray

Vectors = npt.NDArray[np.int8]
TextKind = Literal["query", "document"]

SCALE = 127
"""Length of a stored vector."""

BLOCK = 1024
"""Rows converted to float32 at a time: the matrix stays int8 in memory, and these in the processor's cache."""


class Embedder(Protocol):
    """Turns texts into vectors. Each row depends on its text, the kind and the model alone."""

    @property
    def id(self) -> str: ...  # model, version and dimension; vectors of different ids are never compared
    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """(len(texts), dimension); a row of zeros means the text holds nothing the model knows. Raises
        EmbeddingError."""


def document_text(symbol_id: str, text: str) -> str:
    """The text of a fragment that is embedded: its symbol id (`path::qualified.name`) as the first line, then its
    text."""
    return f"{symbol_id}\n{text}"


def quantise(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Rows of any length as stored vectors; rows of zeros, and rows that are not finite, become zeros."""
    rows = np.asarray(vectors, dtype=np.float64)
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0.0)
    length = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.rint(rows / np.where(length > 0, length, 1.0) * SCALE).astype(np.int8)


def center(matrix: Vectors) -> npt.NDArray[np.int16]:
    """The mean of the rows that are not zero, rounded: (dimension,)."""
    return _mean(*_sums(matrix))


def _sums(matrix: Vectors) -> tuple[npt.NDArray[np.int64], int]:
    """The sum of the rows, exact, and how many are not zero."""
    return matrix.sum(axis=0, dtype=np.int64), int(matrix.any(axis=1).sum())


def _mean(total: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int16]:
    mean: npt.NDArray[np.int16] = np.rint(total / max(count, 1)).astype(np.int16)
    return mean


class SemanticSpace:
    """All vectors of a repository, ready to be asked.

    space = SemanticSpace(matrix)
    space.similarity(embedder.embed([query], "query")[0])
    """

    def __init__(self, matrix: Vectors, sums: tuple[npt.NDArray[np.int64], int] | None = None) -> None:
        """`sums`: of the rows from whose mean is told what they share, and how many of them are not zero; by default
        those of the matrix."""
        self.matrix = matrix
        self.sums = sums or _sums(matrix)
        self.mean = _mean(*self.sums)

    def edited(
        self, matrix: Vectors, gone: Vectors, coming: Vectors, joined: Callable[[FloatArray, FloatArray], FloatArray]
    ) -> SemanticSpace:
        """The space of an edited matrix; `joined` puts a column of the old rows and one of those that come together as
        in the matrix."""
        (total, count), (less, fewer), (more, further) = self.sums, _sums(gone), _sums(coming)
        after = SemanticSpace(matrix, (total - less + more, count - fewer + further))
        if "lengths" in vars(self) and np.array_equal(after.mean, self.mean):
            vars(after)["lengths"] = joined(self.lengths, _lengths(coming, self.mean))
        return after

    @cached_property
    def lengths(self) -> FloatArray:
        """|row − mean| per row; 0 for rows of zeros, which are no evidence of anything."""
        return _lengths(self.matrix, self.mean)

    def similarity(self, query: Vectors) -> FloatArray:
        """Cosine of the centred vectors per row, in [0, 1], multiples of 1e-6: what points away from the query counts
        0.

        `query` is one stored vector; zeros (nothing the model knows) give zeros. Raises ValueError on another
        dimension.
        """
        return self.similarities([query])[0]

    def similarities(self, queries: Sequence[Vectors]) -> list[FloatArray]:
        """`similarity` with several queries, in one pass over the vectors; raises like it."""
        for query in queries:
            if query.shape != (self.matrix.shape[1],):
                raise ValueError(
                    f"a query of dimension {query.shape} against vectors of dimension {self.matrix.shape[1]}"
                )
        different = {query.tobytes(): query.astype(np.int64) - self.mean for query in queries if query.any()}
        products = dict(zip(different, self._products(list(different.values())), strict=True))
        return [self._cosine(different.get(name), products.get(name)) for name in (one.tobytes() for one in queries)]

    def _products(self, asked: Sequence[npt.NDArray[np.int64]]) -> Sequence[npt.NDArray[np.float32]]:
        """The products of all rows with each vector; works out the lengths on the way, where they are not known."""
        if not asked:
            return []
        out = np.zeros((len(asked), len(self.matrix)), dtype=np.float32)
        columns = np.stack(asked, axis=1)
        measured = None if "lengths" in vars(self) else np.zeros(len(self.matrix))
        for start in range(0, len(self.matrix), BLOCK):
            rows = self.matrix[start : start + BLOCK].astype(np.float32)
            out[:, start : start + BLOCK] = _products(rows, columns).T
            if measured is not None:
                measured[start : start + BLOCK] = _lengths_of(rows, self.mean)
        if measured is not None:
            vars(self)["lengths"] = measured
        return list(out)

    def _cosine(self, asked: npt.NDArray[np.int64] | None, products: npt.NDArray[np.float32] | None) -> FloatArray:
        length = float(np.sqrt(float(asked @ asked))) if asked is not None else 0.0
        if asked is None or products is None or length == 0:
            return np.zeros(len(self.matrix))
        known = self.lengths > 0
        cosine = (products.astype(np.float64) - float(asked @ self.mean)) / np.where(known, self.lengths * length, 1.0)
        return np.round(np.clip(np.where(known, cosine, 0.0), 0.0, 1.0), 6)


def _products(rows: npt.NDArray[np.float32], vectors: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
    """The product of each row with a vector, or with each column of several. All are small integers, so that none can
    be invalid: a kernel of BLAS may say so of what it reads behind the end of a row and does not use."""
    with np.errstate(invalid="ignore"):
        return rows @ vectors.astype(np.float32)


def _lengths(matrix: Vectors, mean: npt.NDArray[np.int16]) -> FloatArray:
    out = np.zeros(len(matrix), dtype=np.float64)
    for start in range(0, len(matrix), BLOCK):
        out[start : start + BLOCK] = _lengths_of(matrix[start : start + BLOCK].astype(np.float32), mean)
    return out


def _lengths_of(rows: npt.NDArray[np.float32], mean: npt.NDArray[np.int16]) -> FloatArray:
    exact = mean.astype(np.float64)
    own = np.einsum("ij,ij->i", rows, rows).astype(np.float64)
    squares = np.where(own > 0, own - 2 * _products(rows, mean).astype(np.float64) + exact @ exact, 0)
    lengths: FloatArray = np.sqrt(squares)
    return lengths
