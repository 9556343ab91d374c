"""Evidence for a query that names code: what it names, and what uses that. Columns over all fragments, each in [0, 1];
0 everywhere for a query of another kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from secateur.index.facts.lexical import STOP_WORDS, hash_of, word_terms, words
from secateur.index.facts.postings import Term, WordField
from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.index.graph.resolve import EdgeKind
from secateur.model import BoolArray, FloatArray, FragmentKind
from secateur.retrieval.query import Query
from secateur.retrieval.query_kind import QueryKind

NAMED_BY = 20.0
"""Sum of idf at which words of the query in a name or a path say all they can: two rare words, or four common ones."""


def held_words(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Per document how much its few words are words of the query, rare ones more; however long the query is, and
    whatever else it says. Of synonyms the rarest that it holds counts."""
    return np.asarray(np.minimum(1.0, _held(field, terms) / NAMED_BY), dtype=np.float64)


def spelled_names(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Like `held_words`, times the share of the name that these words are: a long name of which a long text happens to
    hold some common words is not spelled out."""
    held = _held(field, terms)
    share = held / np.maximum(field.weights, 1e-9)
    return np.asarray(np.minimum(1.0, held / NAMED_BY) * np.minimum(1.0, share), dtype=np.float64)


def _held(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Per document the idf of the words that it holds."""
    held = np.zeros(field.documents)
    for same, _ in field.group_synonyms(terms):
        if len(same) == 1:
            held[field.holders(same[0][0])] += field.idf(same[0][0])
            continue
        best = np.zeros(field.documents)
        for term, _ in same:
            holders = field.holders(term)
            best[holders] = np.maximum(best[holders], field.idf(term))
        held += best
    return held


OWNED = 0.9
"""A match of the name together with its owner's (`Cart.total`), against one of the name alone."""

CONSTRUCTOR = 0.85
"""A class is asked for by its name, and its constructor has it too."""

FURTHER_PART = 0.6
"""A class that is cut by its methods has several parts; its declaration is in the first."""

LEAST_HELD = 0.4
"""Share of the query's rare words that a name must hold to be compared: the rest cannot be what is named."""

HELD = 0.5
"""A text that holds the name may use it; a call that is resolved does."""

_SEPARATORS = re.compile(r"::|->|#|\.|/")
_CONSTRUCTORS = frozenset({"__init__", "init", "new", "constructor", "initialize", "__construct"})


def named_words(query: Query) -> frozenset[str]:
    """The stemmed words of what a query names, or says in few words; none for a query of another kind."""
    told = query.told
    if told is None or told.kind not in (QueryKind.SYMBOL, QueryKind.PHRASE):
        return frozenset()
    return _parts(part for part in _SEPARATORS.split(told.subject or query.title) if part)


def definitions(query: Query, snapshot: Snapshot, name_words: WordField) -> FloatArray:
    """Compares each fragment's own name with what the query names: the shared words against those of the longer of the
    two, rare ones more. 1 for `LineReader` asked as "line reader"."""
    column = np.zeros(len(snapshot))
    asked = named_words(query)
    worth = {part: name_words.idf(hash_of(part)) for part in sorted(asked)}
    total = sum(worth.values())
    if not total:
        return column
    held = np.zeros(len(snapshot))
    for part in sorted(asked):
        held[name_words.holders(hash_of(part))] += worth[part]
    names, ordinals = snapshot.qualnames, snapshot.arrays["fragment.ordinal"]
    class_ = KINDS.index(FragmentKind.CLASS)
    kinds = snapshot.column("kind")
    for row in np.flatnonzero(held >= LEAST_HELD * total).tolist():
        *owners, own = names[row].split(".")
        best = _alike(_parts([own]), asked, worth, name_words)
        if owners:
            best = max(best, OWNED * _alike(_parts([owners[-1], own]), asked, worth, name_words))
            if own.lower() in _CONSTRUCTORS or own == owners[-1]:
                best *= CONSTRUCTOR
        if kinds[row] == class_ and ordinals[row] > 1:
            best *= FURTHER_PART
        column[row] = best
    return column


def usages(query: Query, snapshot: Snapshot) -> FloatArray:
    """Finds callers of the code that the query names, by the confidence of the call; HELD for what only holds the name.
    The code itself does not count."""
    column = np.zeros(len(snapshot))
    parts = used_name(query)
    if not parts:
        return column
    terms = word_terms(parts[-1].strip("@$~"))
    if terms:
        column[snapshot.body.holders(hash_of(terms[0]))] = HELD
    graph, defined = snapshot.graph, _defining(parts, snapshot)
    source = np.repeat(np.arange(graph.node_count), np.diff(graph.indptr))
    calls = np.flatnonzero(defined[graph.indices] & (graph.kind == EdgeKind.CALLS))
    np.maximum.at(column, source[calls], graph.confidence[calls] / 1000)
    column[defined] = 0.0
    return column


def _defining(parts: Sequence[str], snapshot: Snapshot) -> BoolArray:
    """The fragments that have the name whose usages are asked for: with its owners, or where none has it with these,
    its last part alone."""
    column = _ending(parts, snapshot)
    elsewhere = snapshot.whole is not None and len(parts) > 1 and snapshot.whole.count_named(*parts[-2:])
    return column if column.any() or elsewhere else _ending(parts[-1:], snapshot)


def _ending(parts: Sequence[str], snapshot: Snapshot) -> BoolArray:
    column = np.zeros(len(snapshot), dtype=np.bool_)
    for row in snapshot.name_table.rows_ignoring_marks(parts[-1]).tolist():
        name = snapshot.qualnames[row].lower().rstrip("!?").split(".")
        column[row] = name[-len(parts) :] == parts
    return column


def used_name(query: Query) -> list[str]:
    """The parts of the name whose usages are asked for; none for a query of another kind."""
    told = query.told
    if told is None or told.kind is not QueryKind.USAGE:
        return []
    return [part.lower() for part in _SEPARATORS.split(told.subject) if part]


def _parts(texts: Iterable[str]) -> frozenset[str]:
    """The stemmed words of names, without the whole that several make, and without those that say nothing."""
    found: set[str] = set()
    for word in (word for text in texts for word in words(text)):
        whole, *parts = word_terms(word) or ("",)
        found.update(parts or [whole] if word.lower() not in STOP_WORDS else ())
    return frozenset(found - {""})


def _alike(parts: frozenset[str], asked: frozenset[str], worth: dict[str, float], name_words: WordField) -> float:
    for part in parts:
        if part not in worth:
            worth[part] = name_words.idf(hash_of(part))
    shared = sum(sorted(worth[part] for part in parts & asked))
    longer = max(sum(sorted(worth[part] for part in some)) for some in (parts, asked))
    return round(shared / longer, 6) if longer else 0.0
