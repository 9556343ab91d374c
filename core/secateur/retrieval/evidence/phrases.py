"""Evidence from phrases: messages of the code that the query quotes, with values in place of the placeholders.

Phrases are not in the index. The parts of the query that may be a message are compared with the words of fragments. The
fragments that contain most of the words are read, and the pieces of their string literals between placeholders are
searched in the query.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

import numpy as np

from secateur.errors import RepositoryError
from secateur.index.facts.extract import text_of
from secateur.index.facts.lexical import hash_of, word_terms, words
from secateur.index.facts.postings import WordField
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray, IntArray
from secateur.retrieval.evidence.names import FULL_IDF
from secateur.retrieval.query import Query

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
