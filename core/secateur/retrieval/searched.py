"""Puts a query to the snapshot in this process, or to the parts of a workspace that workers hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray, IntArray
from secateur.retrieval.candidates import SearchResult
from secateur.retrieval.evidence import Lines
from secateur.retrieval.rerank import Reranker, document_of
from secateur.retrieval.search import SearchQuestion, search

T = TypeVar("T")

SnapshotFunction = Callable[[Any, Snapshot, Lines | None], T]
"""A function of a module: of an argument, a snapshot, and the lines of a file by its path."""


class Searched(Protocol):
    """See the module docstring."""

    def search(self, question: SearchQuestion, reranker: Reranker | None) -> SearchResult:
        """The candidates of a query; `reranker` where a better model scores the best of them."""

    def each(self, function: SnapshotFunction[T], argument: Any) -> list[T]:
        """The results of a function for each snapshot, in byte order of their paths."""

    def frequency(self, term: int) -> int:
        """Counts the fragments that hold a term."""


@dataclass(frozen=True, slots=True)
class SearchedSnapshot:
    """The snapshot in this process."""

    snapshot: Snapshot
    lines: Lines | None = None  # of a file by its path; None: texts are not looked into

    def search(self, question: SearchQuestion, reranker: Reranker | None) -> SearchResult:
        """As `Searched.search`."""
        lines = self.lines
        if reranker is None or lines is None:
            return search(question, self.snapshot, lines)

        def rerank(rows: IntArray) -> FloatArray:
            documents = [document_of(self.snapshot, lines, row) for row in rows.tolist()]
            return reranker.similarity(question.query.text_for_model, documents)

        return search(question, self.snapshot, lines, rerank)

    def each(self, function: SnapshotFunction[T], argument: Any) -> list[T]:
        """As `Searched.each`."""
        return [function(argument, self.snapshot, self.lines)]

    def frequency(self, term: int) -> int:
        """As `Searched.frequency`."""
        return self.snapshot.body.frequency(term)
