"""Evidence from words in short fields and in the messages of commits, and from names: the definition of the code that a
query names, what uses it, and names spelled out in words. A query of another kind gets 0 for definitions and usages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from secateur.index.facts.lexical import STOP_WORDS, hash_of, word_terms, words
from secateur.index.facts.postings import Term, WordField
from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.index.graph.resolve.edges import EdgeKind
from secateur.model import BoolArray, FloatArray, FragmentKind
from secateur.retrieval.query import Query
from secateur.retrieval.query_kind import QueryKind

# Sum of idf at which words of the query in a name or a path count fully: two rare words, or four common ones.
FULL_IDF = 20.0


def match_words(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Scores each document by the idf of the query's words in it. The length of the query and its other words do not
    matter."""
    return np.asarray(np.minimum(1.0, sum_matched_idf(field, terms) / FULL_IDF), dtype=np.float64)


def sum_matched_idf(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Sums for each document the idf of the query's words in it. Of synonyms only the rarest one counts."""
    idf_sum = np.zeros(field.postings.documents)
    for synonyms, _ in field.group_synonyms(terms):
        if len(synonyms) == 1:
            term = synonyms[0][0]
            idf_sum[field.postings.holders(term)] += field.idf(term)
            continue
        best = np.zeros(field.postings.documents)
        for term, _ in synonyms:
            holders = field.postings.holders(term)
            best[holders] = np.maximum(best[holders], field.idf(term))
        idf_sum += best
    return idf_sum


def match_commits(query: Query, snapshot: Snapshot, words: WordField, most: int) -> FloatArray:
    """Scores each fragment by the best commit of its file, among the `most` commits whose messages match the query
    best. A commit of many files counts less."""
    first: npt.NDArray[np.int64] = snapshot.arrays["commits.first"]
    file: npt.NDArray[np.int32] = snapshot.arrays["commits.file"]
    score = words.score(query.terms)
    best = np.lexsort((np.arange(len(score)), -score))[:most]
    of_files = np.zeros(len(snapshot.paths))
    for commit in best[score[best] > 0].tolist():
        files = file[first[commit] : first[commit + 1]]
        of_files[files] = np.maximum(of_files[files], score[commit] / np.sqrt(len(files)))
    return of_files[snapshot.file]


WITH_OWNER = 0.9  # factor on a match of the name together with its owner's name (`Cart.total`)

# Factor on constructors: a query with the name of a class asks for the class, but its constructor matches too.
CONSTRUCTOR = 0.85

# Factor on the later parts of a class that is cut by its methods; its declaration is in the first part.
FURTHER_PART = 0.6

LEAST_SHARE = 0.4  # share of the idf of the query's words that a name must contain to be compared with the query
MENTION = 0.5  # score of a text that contains the name and so may use it; a resolved call scores its confidence

_SEPARATORS = re.compile(r"::|->|#|\.|/")
_CONSTRUCTORS = frozenset({"__init__", "init", "new", "constructor", "initialize", "__construct"})


def match_spelled_names(field: WordField, terms: Sequence[Term]) -> FloatArray:
    """Like `match_words`, times the share of the name that the query spells out. A long name is not spelled out by a
    long text that happens to contain some of its common words."""
    idf_sum = sum_matched_idf(field, terms)
    share = idf_sum / np.maximum(field.postings.weights, 1e-9)
    return np.asarray(np.minimum(1.0, idf_sum / FULL_IDF) * np.minimum(1.0, share), dtype=np.float64)


def match_definitions(query: Query, snapshot: Snapshot, name_words: WordField) -> FloatArray:
    """Compares each fragment's name with the name in the query: the idf of the shared words, divided by the idf of the
    longer name. `LineReader` scores 1 for "line reader"."""
    column = np.zeros(len(snapshot))
    wanted = _find_wanted_words(query)
    idf = {word: name_words.idf(hash_of(word)) for word in sorted(wanted)}
    if not (total := sum(idf.values())):
        return column
    idf_sum = np.zeros(len(snapshot))
    for word in sorted(wanted):
        idf_sum[name_words.postings.holders(hash_of(word))] += idf[word]
    names, ordinals = snapshot.qualnames, snapshot.arrays["fragment.ordinal"]
    class_ = KINDS.index(FragmentKind.CLASS)
    kinds = snapshot.column("kind")
    for row in np.flatnonzero(idf_sum >= LEAST_SHARE * total).tolist():
        *owners, own = names[row].split(".")
        best = _compare_words(_split_words([own]), wanted, idf, name_words)
        if owners:
            best = max(best, WITH_OWNER * _compare_words(_split_words([owners[-1], own]), wanted, idf, name_words))
            if own.lower() in _CONSTRUCTORS or own == owners[-1]:
                best *= CONSTRUCTOR
        if kinds[row] == class_ and ordinals[row] > 1:
            best *= FURTHER_PART
        column[row] = best
    return column


def match_usages(query: Query, snapshot: Snapshot) -> FloatArray:
    """Scores callers of the code that the query names by the confidence of the call, and other fragments that contain
    the name by MENTION. The code itself scores 0."""
    column = np.zeros(len(snapshot))
    recognised = query.recognised
    subject = recognised.subject if recognised is not None and recognised.kind is QueryKind.USAGE else ""
    if not (parts := [part.lower() for part in _SEPARATORS.split(subject) if part]):
        return column
    if terms := word_terms(parts[-1].strip("@$~")):
        column[snapshot.body.holders(hash_of(terms[0]))] = MENTION
    graph, defined = snapshot.graph, _find_by_ending(parts, snapshot)
    if not defined.any():  # no name matches together with its owners
        defined = _find_by_ending(parts[-1:], snapshot)
    source = np.repeat(np.arange(graph.node_count), np.diff(graph.indptr))
    calls = np.flatnonzero(defined[graph.indices] & (graph.kind == EdgeKind.CALLS))
    np.maximum.at(column, source[calls], graph.confidence[calls] / 1000)
    column[defined] = 0.0
    return column


def _find_wanted_words(query: Query) -> frozenset[str]:
    recognised = query.recognised
    if recognised is None or recognised.kind not in (QueryKind.SYMBOL, QueryKind.PHRASE):
        return frozenset()
    return _split_words(part for part in _SEPARATORS.split(recognised.subject or query.title) if part)


def _find_by_ending(parts: Sequence[str], snapshot: Snapshot) -> BoolArray:
    column = np.zeros(len(snapshot), dtype=np.bool_)
    for row in snapshot.name_table.rows_ignoring_marks(parts[-1]).tolist():
        name = snapshot.qualnames[row].lower().rstrip("!?").split(".")
        column[row] = name[-len(parts) :] == parts
    return column


def _split_words(texts: Iterable[str]) -> frozenset[str]:
    stems: set[str] = set()
    for word in (word for text in texts for word in words(text)):
        whole, *parts = word_terms(word) or ("",)
        stems.update(parts or [whole] if word.lower() not in STOP_WORDS else ())
    return frozenset(stems - {""})


def _compare_words(name: frozenset[str], wanted: frozenset[str], idf: dict[str, float], name_words: WordField) -> float:
    """Returns the idf of the shared words, divided by the idf of the longer name. New words are added to `idf`."""
    for word in name:
        if word not in idf:
            idf[word] = name_words.idf(hash_of(word))
    shared = sum(sorted(idf[word] for word in name & wanted))
    longer = max(sum(sorted(idf[word] for word in side)) for side in (name, wanted))
    return round(shared / longer, 6) if longer else 0.0
