"""Puts a query to the snapshot in this process, or to the parts of a workspace that workers hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray, IntArray
from secateur.retrieval.candidates import SearchResult
from secateur.retrieval.evidence.columns import Lines
from secateur.retrieval.rerank import Reranker, document_of
from secateur.retrieval.search import SearchQuestion, search

T = TypeVar("T")

SnapshotFunction = Callable[[Any, Snapshot, Lines | None], T]
"""A function of a module (so that workers can import it). Its arguments: an argument of its own, a snapshot, and the
function that reads the lines of a file by its path."""


class Searched(Protocol):
    """Whatever a query can be put to."""

    def search(self, question: SearchQuestion, reranker: Reranker | None) -> SearchResult:
        """Finds the candidates of a query. With a `reranker`, a better model scores the best of them."""

    def each(self, function: SnapshotFunction[T], argument: Any) -> list[T]:
        """Calls a function for each snapshot. Returns the results in byte order of the snapshots' paths."""

    def frequency(self, term: int) -> int:
        """Counts the fragments that hold a term."""


class SearchedSnapshot(Struct, frozen=True):
    """Searches a snapshot in this process."""

    snapshot: Snapshot
    lines: Lines | None = None  # reads the lines of a file by its path; None: texts are not looked into

    def search(self, question: SearchQuestion, reranker: Reranker | None) -> SearchResult:
        """See `Searched.search`."""
        lines = self.lines
        if reranker is None or lines is None:
            return search(question, self.snapshot, lines)

        def rerank(rows: IntArray) -> FloatArray:
            documents = [document_of(self.snapshot, lines, row) for row in rows.tolist()]
            return reranker.similarity(question.query.text_for_model, documents)

        return search(question, self.snapshot, lines, rerank)

    def each(self, function: SnapshotFunction[T], argument: Any) -> list[T]:
        """See `Searched.each`."""
        return [function(argument, self.snapshot, self.lines)]

    def frequency(self, term: int) -> int:
        """See `Searched.frequency`."""
        return self.snapshot.body.frequency(term)
