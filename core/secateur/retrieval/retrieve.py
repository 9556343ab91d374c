"""Runs the slow phase, from a query to a Pool: searches the snapshot, counts what the candidates cost, and writes the
warnings.

A better embedding model than the index's own, if one is set, scores the best candidates: it takes milliseconds per
fragment, so it cannot embed a repository while somebody waits. Their vectors are cached by content: the answer does not
depend on the cache. Vectors of two models never mix: a fragment that this model did not embed has no semantic part.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import blake2b

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from secateur.errors import EmbeddingError, UsageError
from secateur.index.facts.embedding.vectors import Embedder, SemanticSpace, document_text
from secateur.index.facts.extract import text_of, warn_of_partly_read
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.records import Store, UnwritableIndex
from secateur.model import FloatArray, IntArray, Notice, Pool
from secateur.render.layouts import LONGEST_LABEL
from secateur.retrieval.evidence.collect import Lines, embed_query
from secateur.retrieval.query import Query
from secateur.retrieval.results import Preferences, preference_notices, preference_scores
from secateur.retrieval.search import KNOWN_TERMS_SHARE, SearchQuestion, SearchResult, search
from secateur.settings import Settings
from secateur.suggestions import describe_unknown
from secateur.terminal import clip, visible
from secateur.tokens import Counter

KEPT_VECTORS = 20_000  # most vectors that are kept, of all models together: the latest ones, about 10 MB

_KIND = "vectors"


class Reranker(Struct, frozen=True):
    """Holds an embedder, and the store that keeps its vectors."""

    embedder: Embedder
    store: Store

    def similarity(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Computes the cosine of the query with each text, centred on these texts, in [0, 1]. Raises EmbeddingError:
        the model or its server failed; the cache holds no part of its answer."""
        digests = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() for text in texts]
        names = [f"{self.embedder.id}:{digest}" for digest in digests]
        known = {
            name: vector for name in dict.fromkeys(names) if (vector := self.store.get_blob(_KIND, name)) is not None
        }
        missing = {name: text for name, text in zip(names, texts, strict=True) if name not in known}
        if missing:
            fresh = self.embedder.embed(list(missing.values()), "document")
            added = {name: vector.tobytes() for name, vector in zip(missing, fresh, strict=True)}
            with suppress(UnwritableIndex), self.store.writing():  # without the cache, the next run asks again
                self.store.put_blobs(_KIND, added, most=KEPT_VECTORS)
            known |= added
        return SemanticSpace(
            np.stack([np.frombuffer(known[name], dtype=np.int8) for name in names])
            if names
            else np.zeros((0, self.embedder.dimension), dtype=np.int8)
        ).similarity(self.embedder.embed([query], "query")[0])


def document_of(snapshot: Snapshot, lines: Callable[[str], list[str]], row: int) -> str:
    """Builds the text that a model embeds for a row. `lines` reads the lines of a file by its path."""
    own = lines(snapshot.paths[int(snapshot.file[row])])
    text = text_of(own, int(snapshot.line_start[row]), int(snapshot.line_end[row]))
    return document_text(snapshot.symbol_id(row), text)


ONLY = "only"  # code of the notice that answers come from a part of the repository alone
MODELLESS = ("none", "static")  # values of `embedding.model` with which a search asks no model


class Retrieval(Struct, frozen=True):
    """Holds what a retrieval reads besides the query: one state of what is searched, and how tokens are counted."""

    snapshot: Snapshot
    lines: Lines | None  # reads the lines of a file by its path; None: texts are not looked into
    embedder: Embedder | None
    counter: Counter
    commit: str
    format: str
    preferences: Preferences
    notices: tuple[Notice, ...] = ()  # from preparing the query and the index
    reranker: Reranker | None = None  # a better model for the best candidates
    partial: dict[str, int] | None = None  # how much of the repository the snapshot holds; None: all of it

    @property
    def model(self) -> str:
        """The embedding model that the answer rests on; "none" if it rests on no model."""
        embedder = self.reranker.embedder if self.reranker else self.embedder
        return embedder.id if embedder else "none"


def retrieve(query: Query, retrieval: Retrieval, settings: Settings) -> Pool:
    """Finds the candidates of a query with all their signals (REQ-GRAG-001, REQ-GRAG-002); see `search`.

    Raises:
        UsageError: the settings ask for vectors alone, and no model makes vectors.
        EmbeddingError: the reranker's model or server failed.
    """
    if settings.graph_rag.anchors == "embedding" and retrieval.embedder is None:
        raise UsageError(
            "graph_rag.anchors = embedding needs vectors, and embedding.model is none",
            hint="set embedding.model, or graph_rag.anchors = mixed",
        )
    embedder, reranker = (None, None) if query.empty else (retrieval.embedder, retrieval.reranker)
    snapshot, lines = retrieval.snapshot, retrieval.lines
    question = SearchQuestion(query, embed_query(query, embedder), settings, retrieval.counter, retrieval.format)
    if reranker is None or lines is None:
        return _build_pool(query, retrieval, settings, search(question, snapshot, lines))

    def rerank(rows: IntArray) -> FloatArray:
        return reranker.similarity(query.text_for_model, [document_of(snapshot, lines, row) for row in rows.tolist()])

    return _build_pool(query, retrieval, settings, search(question, snapshot, lines, rerank))


def retrieve_with_model(
    query: Query, retrieval: Retrieval, settings: Settings, reranker: Callable[[], Reranker]
) -> Pool:
    """Finds the candidates of a query. If the settings name a model, it scores the best of them. If the model fails,
    the static vectors answer alone, and a notice says so."""
    if settings.embedding.model in MODELLESS:
        return retrieve(query, retrieval, settings)
    try:
        return retrieve(query, replace(retrieval, reranker=reranker()), settings)
    except EmbeddingError as error:
        message = f"{error.message.removesuffix('.')}. The static vectors are used instead."
        failed = Notice("embedding_failed", message)
        return retrieve(query, replace(retrieval, notices=(*retrieval.notices, failed)), settings)


def _build_pool(query: Query, retrieval: Retrieval, settings: Settings, result: SearchResult) -> Pool:
    pool, preferred = result.pool, settings.preference.enabled
    # the search that really ran (GRAG-OUTPUT): without an anchor no call was followed
    has_vectors, source = retrieval.embedder is not None and not query.empty, "keyword"
    if has_vectors and result.fragments:
        source = "graph-rag" if settings.graph_rag.enabled and result.anchors else "embedding"
    return replace(
        pool,
        source=source,
        anchored_by=settings.graph_rag.anchors if has_vectors else "keyword",
        commit=retrieval.commit,
        preference=preference_scores(pool.symbol_id, retrieval.preferences) if preferred else pool.preference,
        warnings=_list_warnings(query, retrieval, settings, result),
        facts={
            **({"query_kind": query.recognised.to_dict()} if query.recognised else {}),
            **({"partial": retrieval.partial} if retrieval.partial else {}),
            "files": result.files,
            "fragments": result.fragments,
            "relevant": result.relevant,
            "embedding": retrieval.model,
            "terms": {word: count for (word, _), count in zip(query.words, result.frequency, strict=True)},
            "hubs": result.hubs,
        },
    )


def _list_warnings(query: Query, retrieval: Retrieval, settings: Settings, result: SearchResult) -> tuple[Notice, ...]:
    symbols = result.pool.symbol_id
    notices = [*retrieval.notices, *warn_of_partly_read(retrieval.snapshot, frozenset(result.pool.path))]
    if (elsewhere := result.pool.elsewhere) is not None:
        none = "" if (~elsewhere).any() else "No candidate is there. "
        left = f"{int(elsewhere.sum()):,} candidates elsewhere are left out."
        only = ", ".join(settings.graph_rag.only)
        notices.append(Notice(ONLY, f"Answered only from {only} (--only). {none}{left}"))
    if retrieval.embedder is None:
        message = "No embedding model is in use: found by words, names and calls alone (source: keyword)."
        notices.append(Notice("no_vectors", message))
    if not result.fragments:
        notices.append(Notice("nothing_indexed", "No text was found to index here."))
    elif query.empty:
        notices.append(Notice("empty_query", "The query holds no word to look for."))
    elif not result.anchors:
        notices.append(_explain_no_match(result, settings))
    else:
        notices += _warn_of_low_relevance(query, result, settings)
    named = dict.fromkeys((*settings.pins, *settings.excludes, *settings.boosts))
    if unknown := [symbol for symbol in named if symbol not in result.known]:
        message = describe_unknown(unknown, symbols, "ids look like path/file.py::Class.method")
        notices.append(Notice("unknown_symbol", message))
    if settings.preference.enabled and result.fragments:
        notices += preference_notices(retrieval.preferences, symbols, retrieval.snapshot)
    for written, near in result.suggestions.items():
        notices.append(Notice("near_name", f"No definition is named {written}; used instead: {', '.join(near)}."))
    return tuple(notices)


def _warn_of_low_relevance(query: Query, result: SearchResult, settings: Settings) -> list[Notice]:
    """Warns if the best match has little relevance, or if most words of the query do not occur in this repository.

    Scores leave out evidence that no fragment has, so one common word can carry a query about something else. Words of
    a Chinese query are not expected in English code. A near name has a notice of its own.
    """
    best, here, terms = result.best, sum(count > 0 for count in result.frequency), len(result.frequency)
    if best < settings.relevance.low_threshold:
        message = f"The best match has relevance {best:.2f}: the query may not be about this repository."
    elif not terms or query.foreign or result.suggestions or here / terms >= KNOWN_TERMS_SHARE:
        return []
    elif not here:
        message = "No word of the query occurs here. The matches only resemble it by embedding: they may"
        message += " not answer it."
    else:
        message = f"Only {here:,} of the {terms:,} words of the query {'occurs' if here == 1 else 'occur'} here:"
        message += " it may not be about this repository."
    return [Notice("low_relevance", message)]


def _explain_no_match(result: SearchResult, settings: Settings) -> Notice:
    relevance, symbol = result.nearest
    nearest = f"the nearest, {clip(visible(symbol), LONGEST_LABEL)},"
    if relevance <= 0:
        why = "nothing in it has a word of the query or resembles it"
    elif relevance < settings.relevance.no_match_threshold:
        least = f"relevance.no_match_threshold = {settings.relevance.no_match_threshold:g}"
        why = f"{nearest} has relevance {relevance:.2f}, below {least}"
    else:
        why = f"{nearest} has no word of it, and resembles it too little"
    return Notice(
        "no_match",
        f"Nothing in this repository matches the query: {why}. Ask in other words, or with names that its code has.",
    )
