"""Evidence from verbatim phrases: messages of the code that the query quotes, with gaps where values stood.

Nobody indexes phrases. Of the query those parts are taken that may be a message; the fragments that hold most of the
words of one are read, and the pieces of their string literals between placeholders are looked for in the query.
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
from secateur.retrieval.named_code import NAMED_BY
from secateur.retrieval.query import Query

MOST_PHRASES = 30
"""Phrases of a query that are looked for, the first ones."""

FEWEST_WORDS = 3
"""Words in a row that make a phrase."""

MOST_WORDS = 40
"""Words of a phrase that are read."""

HELD = 0.5
"""A fragment is read when it has that much of a phrase's weight, as far as its words occur here at all."""

READ = 80
"""Fragments that are read for a query, those with most of a phrase first."""

LARGEST = 6000
"""Tokens of a fragment above which it is data."""

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
_GAP = re.compile(r"%(?:\(\w+\))?[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|\$\{[^}]*\}|#\{[^}]*\}|\{[^{}]*\}|\$\w+|\\[nrt\"'`]")


def phrase_holders(query: Query, snapshot: Snapshot, body: WordField) -> tuple[IntArray, FloatArray]:
    """The READ fragments that hold most of a phrase of the query, the best first; and how much each holds."""
    phrases = phrases_of(query)
    if not phrases:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    rows, held = _holders(phrases, snapshot, body)
    order = np.lexsort((rows, snapshot.column("tokens")[rows], -held))[:READ]
    return rows[order], held[order]


def quoted_messages(
    query: Query, snapshot: Snapshot, body: WordField, lines: Callable[[str], list[str]], rows: IntArray
) -> FloatArray:
    """Per fragment the rarity of the words of its string literals that the query has word for word.

    Args:
        body: words of the fragments' texts.
        lines: of a file by its path; raises RepositoryError where it changed.
        rows: the fragments that are read.
    """
    column = np.zeros(len(snapshot))
    said = f" {' '.join(_spoken(query.text))} "
    for row in rows.tolist():
        with suppress(RepositoryError):
            own = lines(snapshot.paths[int(snapshot.file[row])])
            text = text_of(own, int(snapshot.line_start[row]), int(snapshot.line_end[row]))
            column[row] = min(1.0, _quoted(text, said, body) / NAMED_BY)
    return column


def phrases_of(query: Query) -> list[list[str]]:
    """The parts of a query that may quote a message, as words: its title, what it quotes, what follows the name of an
    error."""
    texts = [query.title]
    texts += [next(filter(None, groups)) for groups in _QUOTED.findall(query.text)]
    texts += _MESSAGE.findall(query.text)
    found = {tuple(spoken[:MOST_WORDS]): None for text in texts if len(spoken := _spoken(text)) >= FEWEST_WORDS}
    return [list(spoken) for spoken in found][:MOST_PHRASES]


def _spoken(text: str) -> list[str]:
    return [word.lower() for word in words(text)]


def _holders(phrases: list[list[str]], snapshot: Snapshot, body: WordField) -> tuple[IntArray, FloatArray]:
    """The fragments that hold much of a phrase, and the largest share that each has."""
    best = np.zeros(len(snapshot))
    for phrase in phrases:
        terms = dict.fromkeys(hash_of(term) for word in phrase for term in word_terms(word))
        known = [(term, body.idf(term)) for term in terms if body.frequency(term)]
        whole = sum(idf for _, idf in known)
        if whole < NAMED_BY / 4:
            continue
        held = np.zeros(len(snapshot))
        for term, idf in known:
            held[body.holders(term)] += idf
        best = np.maximum(best, held / whole)
    rows = np.flatnonzero((best >= HELD) & (snapshot.column("tokens") <= LARGEST))
    return rows, best[rows]


def _quoted(text: str, said: str, body: WordField) -> float:
    """The rarity of the words that literals of a text and the query have in common, in phrases of several words; of a
    literal only the pieces between its gaps need be there, and half of its words."""
    heard: dict[str, None] = {}
    for literal in _LITERAL.finditer(text):
        inside = next((group for group in literal.groups() if group), "")
        pieces = [spoken for piece in _GAP.split(inside) if (spoken := _spoken(piece))]
        there = [piece for piece in pieces if len(piece) >= 2 and f" {' '.join(piece)} " in said]
        held, whole = (sum(len(piece) for piece in some) for some in (there, pieces))
        if held >= FEWEST_WORDS and 2 * held >= whole:
            heard |= dict.fromkeys(word for piece in there for word in piece)
    terms = dict.fromkeys(hash_of(term) for word in heard for term in word_terms(word))
    return sum(body.idf(term) for term in terms)
