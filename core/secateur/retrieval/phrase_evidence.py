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
from secateur.index.facts.snapshot import Snapshot
from secateur.model import FloatArray
from secateur.retrieval.named_evidence import NAMED_BY
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


def quoted_messages(query: Query, snapshot: Snapshot, lines: Callable[[str], list[str]] | None) -> FloatArray:
    """Per fragment the rarity of the words of its string literals that the query has word for word; 0 without texts.

    Args:
        lines: of a file by its path; raises RepositoryError where it changed.
    """
    column = np.zeros(len(snapshot))
    phrases = phrases_of(query)
    if lines is None or not phrases:
        return column
    said = f" {' '.join(_spoken(query.text))} "
    for row in _holders(phrases, snapshot):
        with suppress(RepositoryError):
            own = lines(snapshot.paths[int(snapshot.file[row])])
            text = text_of(own, int(snapshot.line_start[row]), int(snapshot.line_end[row]))
            column[row] = min(1.0, _quoted(text, said, snapshot) / NAMED_BY)
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


def _holders(phrases: list[list[str]], snapshot: Snapshot) -> list[int]:
    """The fragments that hold most of a phrase, those with the largest share first."""
    best = np.zeros(len(snapshot))
    for phrase in phrases:
        terms = dict.fromkeys(hash_of(term) for word in phrase for term in word_terms(word))
        known = [(term, snapshot.body.idf(term)) for term in terms if snapshot.body.frequency(term)]
        whole = sum(idf for _, idf in known)
        if whole < NAMED_BY / 4:
            continue
        held = np.zeros(len(snapshot))
        for term, idf in known:
            held[snapshot.body.holders(term)] += idf
        best = np.maximum(best, held / whole)
    tokens = snapshot.column("tokens")
    rows = np.flatnonzero((best >= HELD) & (tokens <= LARGEST))
    return [int(row) for row in rows[np.lexsort((rows, tokens[rows], -best[rows]))][:READ]]


def _quoted(text: str, said: str, snapshot: Snapshot) -> float:
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
    return sum(snapshot.body.idf(term) for term in terms)
