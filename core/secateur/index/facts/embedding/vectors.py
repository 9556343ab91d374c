"""Vectors as stored and compared: rows of int8, unit vectors times 127.

Sums of products of such rows stay below 2^24 for every dimension (Cauchy-Schwarz: |a·b| ≤ |a|·|b|, both about 127). So
float32 holds every partial sum exactly, and BLAS gives the same similarity on every machine, in whatever order it adds.

A vector is a function of one text alone, so it can be cached by content. It still contains what all texts of a
repository have in common (their language, their jargon), which makes all of them similar; `SemanticSpace` therefore
subtracts the mean when a query is compared.
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

SCALE = 127  # the length of a stored vector

# Rows that are converted to float32 at a time. The matrix stays int8 in memory, and a block fits the processor's cache.
BLOCK = 1024


class Embedder(Protocol):
    """Turns texts into vectors. Each row depends on its text, the kind and the model alone."""

    @property
    def id(self) -> str: ...  # model, version and dimension; vectors of different ids are never compared
    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        """Returns an array (len(texts), dimension). A row of zeros means that the model knows nothing in the text.
        Raises EmbeddingError."""


def document_text(symbol_id: str, text: str) -> str:
    """Makes the text that is embedded for a fragment: its symbol id (`path::qualified.name`), then its lines."""
    return f"{symbol_id}\n{text}"


def quantise(vectors: npt.NDArray[np.floating]) -> Vectors:
    """Makes stored vectors from rows of any length. Rows that are zero or not finite become zeros."""
    rows = np.asarray(vectors, dtype=np.float64)
    rows = np.where(np.isfinite(rows).all(axis=1, keepdims=True), rows, 0.0)
    length = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    return np.rint(rows / np.where(length > 0, length, 1.0) * SCALE).astype(np.int8)


def _sums(matrix: Vectors) -> tuple[npt.NDArray[np.int64], int]:
    """Returns the exact sum of the rows, and the number of rows that are not zero."""
    return matrix.sum(axis=0, dtype=np.int64), int(matrix.any(axis=1).sum())


class SemanticSpace:
    """All vectors of a repository, which queries are compared with.

    space = SemanticSpace(matrix)
    space.similarity(embedder.embed([query], "query")[0])
    """

    def __init__(self, matrix: Vectors, sums: tuple[npt.NDArray[np.int64], int] | None = None) -> None:
        """`sums`: the sum and the number of the rows whose mean is subtracted; by default those of the matrix."""
        self.matrix = matrix
        self.sums = sums or _sums(matrix)
        self.mean: npt.NDArray[np.int16] = np.rint(self.sums[0] / max(self.sums[1], 1)).astype(np.int16)

    def edit(
        self, matrix: Vectors, gone: Vectors, coming: Vectors, join: Callable[[FloatArray, FloatArray], FloatArray]
    ) -> SemanticSpace:
        """Makes the space of an edited matrix. `join` merges a column of the old rows with one of the new rows, in the
        order of the edited matrix."""
        (total, count), (gone_sum, gone_count), (coming_sum, coming_count) = self.sums, _sums(gone), _sums(coming)
        after = SemanticSpace(matrix, (total - gone_sum + coming_sum, count - gone_count + coming_count))
        if "lengths" in vars(self) and np.array_equal(after.mean, self.mean):
            vars(after)["lengths"] = join(self.lengths, _lengths(coming, self.mean))
        return after

    @cached_property
    def lengths(self) -> FloatArray:
        """|row − mean| for each row; 0 for a row of zeros, which says nothing."""
        return _lengths(self.matrix, self.mean)

    def similarity(self, query: Vectors) -> FloatArray:
        """Returns the cosine of the centred vectors for each row, in [0, 1], as multiples of 1e-6. A row that points
        away from the query has 0.

        `query` is one stored vector; a query of zeros gives zeros. Raises ValueError on another dimension.
        """
        return self.similarities([query])[0]

    def similarities(self, queries: Sequence[Vectors]) -> list[FloatArray]:
        """Returns `similarity` for several queries, in one pass over the vectors. Raises ValueError like it."""
        for query in queries:
            if query.shape != (self.matrix.shape[1],):
                raise ValueError(
                    f"a query of dimension {query.shape} against vectors of dimension {self.matrix.shape[1]}"
                )
        centred = {query.tobytes(): query.astype(np.int64) - self.mean for query in queries if query.any()}
        products = dict(zip(centred, self._products(list(centred.values())), strict=True))
        return [self._cosine(centred.get(key), products.get(key)) for key in (query.tobytes() for query in queries)]

    def _products(self, queries: Sequence[npt.NDArray[np.int64]]) -> Sequence[npt.NDArray[np.float32]]:
        """Multiplies all rows with each query, and works out the lengths in the same pass if they are not known."""
        if not queries:
            return []
        out = np.zeros((len(queries), len(self.matrix)), dtype=np.float32)
        columns = np.stack(queries, axis=1)
        measured = None if "lengths" in vars(self) else np.zeros(len(self.matrix))
        for start in range(0, len(self.matrix), BLOCK):
            rows = self.matrix[start : start + BLOCK].astype(np.float32)
            out[:, start : start + BLOCK] = _products(rows, columns).T
            if measured is not None:
                measured[start : start + BLOCK] = _lengths_of(rows, self.mean)
        if measured is not None:
            vars(self)["lengths"] = measured
        return list(out)

    def _cosine(self, query: npt.NDArray[np.int64] | None, products: npt.NDArray[np.float32] | None) -> FloatArray:
        length = float(np.sqrt(float(query @ query))) if query is not None else 0.0
        if query is None or products is None or length == 0:
            return np.zeros(len(self.matrix))
        known = self.lengths > 0
        cosine = (products.astype(np.float64) - float(query @ self.mean)) / np.where(known, self.lengths * length, 1.0)
        return np.round(np.clip(np.where(known, cosine, 0.0), 0.0, 1.0), 6)


def _products(rows: npt.NDArray[np.float32], vectors: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.float32]:
    # All values are small integers, so no product is invalid. BLAS may still warn about bytes that it reads behind the
    # end of a row and does not use.
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
    return np.sqrt(np.where(own > 0, own - 2 * _products(rows, mean).astype(np.float64) + exact @ exact, 0))
