"""Computes what a query needs before anything is scored: how rare its words are, which names and files it means."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from secateur.index.facts.lexical import hash_of
from secateur.index.facts.names import NameMatch
from secateur.index.facts.postings import WordField
from secateur.index.facts.snapshot import Snapshot
from secateur.retrieval.evidence.paths import FilesByName
from secateur.retrieval.query import Query


class WordFields(NamedTuple):
    """Holds the words of a snapshot by field: the properties of `Snapshot` with these names."""

    body: WordField
    names: WordField
    path_words: WordField
    file_words: WordField
    commit_words: WordField


class QueryStatistics(Struct, frozen=True):
    """Holds the figures that one query needs about a snapshot. `names`: how well its names match the query."""

    fields: WordFields
    names: NameMatch
    files_by_name: FilesByName

    def frequency(self, query: Query) -> list[int]:
        """Returns for each term of the query how many fragments hold it."""
        return [self.fields.body.frequency(term) for term, _ in query.terms]

    def occurring(self, query: Query) -> float:
        """Computes the share of the query's words that occur in the snapshot. Synonyms count as one word."""
        body = self.fields.body
        words = [any(body.frequency(term) for term, _ in same) for same, _ in body.group_synonyms(query.terms)]
        return sum(words) / len(words) if words else 0.0


def statistics(query: Query, snapshot: Snapshot) -> QueryStatistics:
    """Computes the statistics of a query."""
    synonyms = [frozenset(hash_of(word) for word in group) for group in query.synonyms]
    return QueryStatistics(
        fields=WordFields(*(WordField(getattr(snapshot, name), synonyms) for name in WordFields._fields)),
        names=snapshot.name_table.match(query.identifiers, query.plain),
        files_by_name=FilesByName(snapshot),
    )
