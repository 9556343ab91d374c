"""Collects the evidence for each fragment: one column for each kind, in [0, 1]. `relevance.py` applies the weights.

Paths are evidence: files that the query names, and frames of its stack traces, starting at the raised error. So are
calls: a fragment that is a few calls away from the best fragments probably belongs to the answer.

Evidence from phrases: messages of the code that the query quotes, with values in place of the placeholders.

Phrases are not in the index. The parts of the query that may be a message are compared with the words of fragments. The
fragments that contain most of the words are read, and the pieces of their string literals between placeholders are
searched in the query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from secateur.errors import RepositoryError
from secateur.index.facts.embedding.vectors import Embedder, Vectors
from secateur.index.facts.extract import text_of
from secateur.index.facts.lexical import hash_of, word_terms, words
from secateur.index.facts.names import NameMatch
from secateur.index.facts.postings import WordField
from secateur.index.facts.snapshot import FOREIGN, KINDS, Snapshot
from secateur.index.graph.resolve.edges import TRUSTED, EdgeKind
from secateur.model import FloatArray, FragmentKind, IntArray, add_columns
from secateur.retrieval.evidence.names import (
    FULL_IDF,
    match_commits,
    match_definitions,
    match_spelled_names,
    match_usages,
    match_words,
)
from secateur.retrieval.query import Query, StackFrame
from secateur.retrieval.query_kind import QueryKind
from secateur.settings import Relevance

# Reads the lines of a file by its path; raises RepositoryError if the file has changed.
Lines = Callable[[str], list[str]]

MOST_PHRASES = 30  # phrases of a query that are searched, the first ones
FEWEST_WORDS = 3  # consecutive words that make a phrase
MOST_WORDS = 40  # words of a phrase that are read

# A fragment is read if it contains this share of a phrase's idf. Words that occur nowhere do not count.
LEAST_SHARE = 0.5

READ = 80  # fragments that are read for a query, those with the largest share of a phrase first
LARGEST = 6000  # a fragment with more tokens is data

_QUOTED = re.compile(r"\"([^\"\n]{8,300})\"|'([^'\n]{8,300})'|`([^`\n]{8,300})`|“([^”\n]{8,300})”")
_MESSAGE = re.compile(
    r"(?:\b[\w.$:]{0,100}(?:Error|Exception|Warning|Failure|Panic|panicked)\b|\b(?:error|warning|fatal|panic|failed"
    r"|WARN|ERROR|FATAL))(?:\[\w{1,10}\])?[^\w\n]{1,4}(.{8,300})"
)
_LITERAL = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\'\\]|\\.|\'(?!\'\'))*\'\'\''
    r'|"((?:[^"\\\n]|\\.){6,400})"|\'((?:[^\'\\\n]|\\.){6,400})\'|`((?:[^`\\]|\\.){6,400})`',
    re.DOTALL,
)
_PLACEHOLDER = re.compile(
    r"%(?:\(\w+\))?[-+ #0]*+\d*(?:\.\d+)?[a-zA-Z]|\$\{[^}]*\}|#\{[^}]*\}|\{[^{}]*\}|\$\w+|\\[nrt\"'`]"
)


def match_quoted_messages(query: Query, snapshot: Snapshot, body: WordField, lines: Lines | None) -> FloatArray:
    """Scores the fragments with the largest shares of the query's phrases, by the idf of the words of their string
    literals that the query quotes.

    Args:
        body: the words of the fragments' texts.
        lines: reads a file's lines; without it, no fragment scores.
    """
    column = np.zeros(len(snapshot))
    if lines is None:
        return column
    rows = _find_fragments_to_read(query, snapshot, body)
    query_words = f" {' '.join(_split_words(query.text))} "
    for row in rows.tolist():
        with suppress(RepositoryError):
            file_lines = lines(snapshot.paths[int(snapshot.file[row])])
            text = text_of(file_lines, int(snapshot.line_start[row]), int(snapshot.line_end[row]))
            column[row] = min(1.0, _sum_quoted_idf(text, query_words, body) / FULL_IDF)
    return column


def _find_fragments_to_read(query: Query, snapshot: Snapshot, body: WordField) -> IntArray:
    if not (phrases := _find_phrases(query)):
        return np.zeros(0, dtype=np.int64)
    best = np.zeros(len(snapshot))  # the largest share of a phrase that each fragment contains
    for phrase in phrases:
        terms = dict.fromkeys(hash_of(term) for word in phrase for term in word_terms(word))
        known = [(term, body.idf(term)) for term in terms if body.postings.frequency(term)]
        total = sum(idf for _, idf in known)
        if total < FULL_IDF / 4:
            continue
        idf_sum = np.zeros(len(snapshot))
        for term, idf in known:
            idf_sum[body.postings.holders(term)] += idf
        best = np.maximum(best, idf_sum / total)
    tokens = snapshot.column("tokens")
    rows = np.flatnonzero((best >= LEAST_SHARE) & (tokens <= LARGEST))
    return rows[np.lexsort((rows, tokens[rows], -best[rows]))[:READ]]


def _find_phrases(query: Query) -> list[list[str]]:
    """Returns the parts of a query that may quote a message, as words: its title, its quotations, and the text after
    the name of an error."""
    texts = [query.title]
    texts += [next(filter(None, groups)) for groups in _QUOTED.findall(query.text)]
    texts += _MESSAGE.findall(query.text)
    phrases: dict[tuple[str, ...], None] = {}
    for text in texts:
        phrase = _split_words(text)
        if len(phrase) >= FEWEST_WORDS:
            phrases[tuple(phrase[:MOST_WORDS])] = None
    return [list(phrase) for phrase in phrases][:MOST_PHRASES]


def _split_words(text: str) -> list[str]:
    return [word.lower() for word in words(text)]


def _sum_quoted_idf(text: str, query_words: str, body: WordField) -> float:
    """Sums the idf of the words in those string literals of a text that the query quotes. The query must contain
    half of a literal's words, in pieces of several words between the literal's placeholders."""
    quoted: dict[str, None] = {}
    for literal in _LITERAL.finditer(text):
        inside = next((group for group in literal.groups() if group), "")
        pieces = [piece for part in _PLACEHOLDER.split(inside) if (piece := _split_words(part))]
        matches = [piece for piece in pieces if len(piece) >= 2 and f" {' '.join(piece)} " in query_words]
        matched, total = (sum(len(piece) for piece in some) for some in (matches, pieces))
        if matched >= FEWEST_WORDS and 2 * matched >= total:
            quoted |= dict.fromkeys(word for piece in matches for word in piece)
    terms = dict.fromkeys(hash_of(term) for word in quoted for term in word_terms(word))
    return sum(body.idf(term) for term in terms)


# Score of a fragment that contains a frame's line. The function's name counts more, because lines move between
# versions.
FRAME_LINE = 0.8

FRAME_FURTHER = 0.75  # factor on each further frame of the repository's own code
FRAME_OF_TEST = 0.3  # score of a frame in a test or in vendored code: it says how the fault was met, not where it is


class FilesByName:
    """Finds the files of a snapshot by their names. Nothing is computed before the first search."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        by_name: dict[str, list[int]] = {}
        for file, path in enumerate(self._snapshot.paths):
            by_name.setdefault(path.rpartition("/")[2], []).append(file)
        return by_name

    def find(self, wanted: str) -> list[int]:
        """Finds the files that a written path may mean."""
        want, found = wanted.split("/"), []
        for file in self._by_name.get(want[-1], ()):
            have = self._snapshot.paths[file].split("/")
            common = min(len(have), len(want), 2)  # an installed path ends like the path in the repository
            found += [file] if have[-common:] == want[-common:] else []
        return found

    def is_own(self, frame: StackFrame) -> bool:
        """Tells whether a frame may be in a file that is not FOREIGN."""
        return any(not self._snapshot.flags[file] & FOREIGN for file in self.find(frame.path))

    def rows(self, file: int) -> slice:
        """Returns the rows of a file's fragments."""
        first, last = np.searchsorted(self._snapshot.file, (file, file + 1))
        return slice(int(first), int(last))

    def match_frame(self, frame: StackFrame, file: int) -> FloatArray:
        """Scores each fragment of a file by how surely the frame is in it."""
        rows = self.rows(file)
        starts, ends = self._snapshot.line_start[rows], self._snapshot.line_end[rows]
        column = np.where((starts <= frame.line) & (ends >= frame.line), FRAME_LINE, 0.0)
        if frame.function:
            names = self._snapshot.qualnames[rows]
            has_name = np.array([name.rpartition(".")[2] == frame.function for name in names], dtype=np.bool_)
            column = np.maximum(column, has_name)
        return np.asarray(column, dtype=np.float64)


def match_named_files(query: Query, snapshot: Snapshot, files_by_name: FilesByName) -> FloatArray:
    """Scores each file that the query names or links to outside of stack traces; less if the name fits several
    files."""
    column = np.zeros(len(snapshot.paths))
    for wanted in (*query.named_paths, *(link.path for link in query.linked)):
        if files := files_by_name.find(wanted):
            column[files] = np.maximum(column[files], round(1 / (1 + np.log2(len(files))), 6))
    return column


def match_trace_frames(query: Query, snapshot: Snapshot, files_by_name: FilesByName) -> FloatArray:
    """Scores each fragment by the frames of stack traces in it. The repository's own frames count less with each step
    from the raised error; frames in tests and in vendored code count FRAME_OF_TEST. A line that the query links to
    counts like a frame that raised."""
    column = np.zeros(len(snapshot))
    further, weighed = 0, [(link, 1.0) for link in query.linked]
    for frame in query.raising:
        own = files_by_name.is_own(frame)
        weighed.append((frame, FRAME_FURTHER**further if own else FRAME_OF_TEST))
        further += own
    for frame, weight in weighed:
        for file in files_by_name.find(frame.path):
            rows = files_by_name.rows(file)
            column[rows] = np.maximum(column[rows], weight * files_by_name.match_frame(frame, file))
    return column


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
        return [self.fields.body.postings.frequency(term) for term, _ in query.terms]

    def occurring(self, query: Query) -> float:
        """Computes the share of the query's words that occur in the snapshot. Synonyms count as one word."""
        body = self.fields.body
        words = [any(body.postings.frequency(term) for term, _ in same) for same, _ in body.group_synonyms(query.terms)]
        return sum(words) / len(words) if words else 0.0


def statistics(query: Query, snapshot: Snapshot) -> QueryStatistics:
    """Computes the statistics of a query."""
    synonyms = [frozenset(hash_of(word) for word in group) for group in query.synonyms]
    return QueryStatistics(
        fields=WordFields(*(WordField(getattr(snapshot, name), synonyms) for name in WordFields._fields)),
        names=snapshot.name_table.match(query.identifiers, query.plain),
        files_by_name=FilesByName(snapshot),
    )


# Share of the first line in the similarity with a query of several lines, and in the words of its path: a long text is
# about many things, its first line about one.
TITLE_SHARE = 2 / 3

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


# Weights that choose the fragments from which calls are followed. They are fixed, so that this evidence does not change
# with the weights of the settings.
FIRST_PASS: Mapping[str, float] = {"lexical": 2.0, "title": 0.3, "name": 0.3, "semantic": 0.6, "mention": 0.3}

# Factor on the first score of a test, a document or vendored code, unless the query asks for it. A test that is much
# like the query calls the code that it tests, so it may be a seed.
ELSEWHERE = 0.6

SEEDS = 15  # best fragments of the first pass from which calls are followed
STEPS = 3  # calls followed from the seeds, in either direction
DECAY = 0.6  # factor on the weight of each further call

SEED_KINDS = (FragmentKind.FUNCTION, FragmentKind.METHOD, FragmentKind.CLASS)


def score_first_pass(query: Query, snapshot: Snapshot, columns: Mapping[str, FloatArray]) -> FloatArray:
    """Scores fragments by their own words, names and meaning."""
    factor = np.ones(len(snapshot))
    for kind in ("test", "documentation", "example", "vendored", "generated"):
        if kind not in query.asks:
            factor = np.where(snapshot.flagged(kind), ELSEWHERE, factor)
    score = add_columns([weight * columns[name] for name, weight in FIRST_PASS.items()])
    return np.asarray(factor * score, dtype=np.float64)


def walk_from_best(snapshot: Snapshot, score: FloatArray) -> FloatArray:
    """Walks along calls from the SEEDS best fragments by the first score. The weights are divided by their maximum, and
    the square root is taken, so that the few fragments next to all seeds do not hide the others."""
    kinds = np.isin(snapshot.column("kind"), [KINDS.index(kind) for kind in SEED_KINDS])
    best = np.flatnonzero(kinds & (score > 0))
    walk = _walk_calls(snapshot, score, best[np.lexsort((best, -score[best]))][:SEEDS])
    maximum = walk.max(initial=0.0)
    return np.asarray(np.sqrt(walk / maximum)) if maximum > 0 else walk


def _walk_calls(snapshot: Snapshot, score: FloatArray, seeds: IntArray) -> FloatArray:
    """Computes how much weight a walk along calls from the seeds brings to each fragment. A fragment with many calls
    passes less to each neighbour."""
    graph, column = snapshot.graph, np.zeros(len(snapshot))
    if not len(seeds):
        return column
    trusted = np.flatnonzero((graph.confidence >= TRUSTED) & (graph.kind == EdgeKind.CALLS))
    nodes = graph.node_count
    source = np.repeat(np.arange(nodes), np.diff(graph.indptr))[trusted]
    target = graph.indices[trusted].astype(np.int64)
    share = 1.0 / np.sqrt(np.maximum(1, np.bincount(source, minlength=nodes) + np.bincount(target, minlength=nodes)))
    at = np.zeros(nodes)
    at[seeds] = score[seeds]
    weight = 1.0
    for _ in range(STEPS):
        sent = at * share
        called = np.bincount(target, weights=sent[source], minlength=nodes)
        at = share * (called + np.bincount(source, weights=sent[target], minlength=nodes))
        weight *= DECAY
        column += weight * at
    return column
