"""Computes what a query needs before anything is scored: how rare its words are, which names and files it means."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from secateur.index.facts.names import NameLookup, NameMatch
from secateur.index.facts.postings import WordField
from secateur.index.facts.snapshot import Snapshot
from secateur.retrieval.evidence.paths import FilesByName
from secateur.retrieval.query import Query


class WordFields(NamedTuple):
    """Holds the words of a snapshot by field (see `Snapshot.word_fields`), and how rare they are in all that is
    searched."""

    body: WordField
    names: WordField
    path_words: WordField
    file_words: WordField
    commit_words: WordField


class QueryStatistics(Struct, frozen=True):
    """Holds the figures that one query needs about all that is searched.

    Attributes:
        fragments, files: how many are searched.
        names: how well the names of the snapshot match the query.
    """

    fragments: int
    files: int
    fields: WordFields
    names: NameMatch
    files_by_name: FilesByName

    def frequency(self, query: Query) -> list[int]:
        """Returns for each term of the query how many fragments hold it."""
        return [self.fields.body.frequency(term) for term, _ in query.terms]

    def occurring(self, query: Query) -> float:
        """Computes the share of the query's words that occur in what is searched. Synonyms count as one word."""
        body = self.fields.body
        words = [any(body.frequency(term) for term, _ in same) for same, _ in body.group_synonyms(query.terms)]
        return sum(words) / len(words) if words else 0.0


def statistics(query: Query, snapshot: Snapshot) -> QueryStatistics:
    """Computes the statistics of a query."""
    whole, synonyms = snapshot.whole, query.synonym_terms
    counts = whole.word_fields if whole is not None else [None] * len(snapshot.word_fields)
    fields = [WordField(words, synonyms, known) for words, known in zip(snapshot.word_fields, counts, strict=True)]
    ends = whole.counts["name_ends"] if whole is not None else None
    return QueryStatistics(
        fragments=whole.fragments if whole is not None else len(snapshot),
        files=whole.files if whole is not None else len(snapshot.paths),
        fields=WordFields(*fields),
        names=NameLookup(snapshot.name_table, query.identifiers, query.plain, ends).match(),
        files_by_name=FilesByName(snapshot),
    )
