"""Collects the evidence for each fragment: one column for each kind, in [0, 1]. `relevance.py` applies the weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from secateur.index.facts.embedding import Embedder
from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.lexical import hash_of
from secateur.index.facts.names import NameMatch
from secateur.index.facts.postings import WordField
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray
from secateur.retrieval.evidence.calls import score_first_pass, walk_from_best
from secateur.retrieval.evidence.names import (
    match_commits,
    match_definitions,
    match_spelled_names,
    match_usages,
    match_words,
)
from secateur.retrieval.evidence.paths import FilesByName, match_named_files, match_trace_frames
from secateur.retrieval.evidence.phrases import Lines, match_quoted_messages
from secateur.retrieval.query import Query
from secateur.retrieval.query_kind import QueryKind
from secateur.settings import Relevance


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


TITLE_SHARE = 2 / 3
"""Share of the first line in the similarity with a query of several lines, and in the words of its path: a long text is
about many things, its first line about one."""

LENGTH_DISCOUNT = 0.6  # of the words of long fragments: b of BM25
LONG_ANSWERS = (QueryKind.QUESTION, QueryKind.MESSAGE)  # kinds of queries for which the discount is halved
HISTORY_COMMITS = 50  # the commits most similar to the query are evidence for their files


def collect_evidence(
    query: Query,
    snapshot: Snapshot,
    vectors: Sequence[Vectors] | None,
    weights: Relevance,
    known: QueryStatistics,
    lines: Lines | None = None,
    *,
    whole: bool = False,
) -> dict[str, FloatArray]:
    """Collects the evidence: columns with a number in [0, 1] for each fragment, before any weight. Their names are
    those of the weights in `[relevance]`. Expensive columns are left out if their weight is 0.

    Args:
        vectors: the vectors of the query and of its first line; None if vectors are not compared.
        known: the query's statistics.
        lines: reads a file's lines; without it, texts are not looked into.
        whole: collects all columns, whatever their weights.
    """
    terms, fields, names = query.terms, known.fields, known.names
    kind = query.recognised.kind if query.recognised else None
    discount = LENGTH_DISCOUNT / 2 if kind in LONG_ANSWERS else LENGTH_DISCOUNT
    body, name = fields.body.score(terms, discount), match_words(fields.names, terms)
    query_similarity = title_similarity = np.zeros(len(snapshot))
    if vectors is not None and len(snapshot):
        query_similarity, title_similarity = snapshot.space.similarities(vectors)
    path = match_words(fields.path_words, terms)
    if query.recognised:
        path = (1 - TITLE_SHARE) * path + TITLE_SHARE * match_words(fields.path_words, query.title_terms)
    columns = {
        "lexical": body,
        "title": fields.body.score(query.title_terms, discount),
        "name": np.maximum(name, names.near),
        "path": path[snapshot.file],
        "file": fields.file_words.score(query.title_terms)[snapshot.file],
        "semantic": (1 - TITLE_SHARE) * query_similarity + TITLE_SHARE * title_similarity,
        "mention": names.exact,
        "definition": match_definitions(query, snapshot, fields.names),
        "usage": match_usages(query, snapshot),
        "history": match_commits(query, snapshot, fields.commit_words, HISTORY_COMMITS),
        "named_file": match_named_files(query, snapshot, known.files_by_name)[snapshot.file],
        "trace": match_trace_frames(query, snapshot, known.files_by_name),
    }

    def is_needed(name: str) -> bool:
        return whole or bool(getattr(weights, name))

    if is_needed("title_name"):
        columns["title_name"] = match_spelled_names(fields.names, query.title_terms)
    if is_needed("phrase"):
        columns["phrase"] = match_quoted_messages(query, snapshot, fields.body, lines)
    if is_needed("near"):
        columns["near"] = walk_from_best(snapshot, score_first_pass(query, snapshot, columns))
    return columns


def embed_query(query: Query, embedder: Embedder | None) -> Sequence[Vectors] | None:
    """Returns the vectors of a query and of its first line, in English if they were translated; None without an
    embedder."""
    if embedder is None:
        return None
    return list(embedder.embed([query.translated or query.text, query.title], "query"))
