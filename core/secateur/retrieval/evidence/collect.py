"""Collects the evidence for each fragment: one column for each kind, in [0, 1]. `relevance.py` applies the weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from secateur.index.facts.embedding import Embedder
from secateur.index.facts.embedding.vectors import Vectors
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray
from secateur.retrieval.evidence.calls import score_first_pass, walk_from_best
from secateur.retrieval.evidence.names import match_definitions, match_spelled_names, match_usages
from secateur.retrieval.evidence.paths import match_named_files, match_trace_frames
from secateur.retrieval.evidence.phrases import Lines, match_quoted_messages
from secateur.retrieval.evidence.words import match_commits, match_words
from secateur.retrieval.query import Query
from secateur.retrieval.query_kind import QueryKind
from secateur.retrieval.statistics import QueryStatistics
from secateur.settings import Relevance

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
