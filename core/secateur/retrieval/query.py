"""What a query asks for: its words with weights, and what it names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from secateur.index.lexical import STOP_WORDS, has_cjk, hash_of, word_terms, words

MAX_QUERY = 100_000
"""Characters of a query that are read: more than any issue text, little enough that no query hangs."""

TITLE_WEIGHT = 2.0
"""Weight of words of the first line where a query has several: the title of an issue says most."""

REPEAT_WEIGHT = 0.5
"""What each further occurrence of a word adds, up to three."""

GLOSS_WEIGHT = 0.5
"""Weight of an English word that stands for a Chinese one: right in kind, uncertain in choice."""

_URL = re.compile(r"\b(?:https?|ftp|file)://\S+")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|#|->)[A-Za-z_$][\w$]*)*")
_PATH = re.compile(r"(?:[\w.@+-]+[/\\])+[\w.@+-]+|\b[\w-]+\.(?:py|js|jsx|ts|tsx|go|java|rs|c|h|cc|cpp|hpp|cs|rb|php|md|toml|ya?ml|json)\b")
_CODE_LIKE = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|_|\.|::|#|->|\$|\d")


@dataclass(frozen=True, slots=True)
class Query:
    """A cleaned query.

    Attributes:
        text: as the user wrote it.
        words: terms for matching, with weights, in order of first occurrence.
        identifiers: names as written that look like code, or the whole query if it is one word.
        paths: file paths it mentions, with forward slashes.
        foreign: True if it holds Chinese, Japanese or Korean text.
    """

    text: str
    words: tuple[tuple[str, float], ...]
    identifiers: tuple[str, ...]
    paths: tuple[str, ...]
    foreign: bool

    @property
    def terms(self) -> list[tuple[int, float]]:
        """(hash, weight) for `Postings.score`."""
        return [(hash_of(word), weight) for word, weight in self.words]

    @property
    def empty(self) -> bool:
        """True if nothing in it can be matched."""
        return not self.words and not self.identifiers and not self.paths


def parse_query(text: str, gloss: tuple[str, ...] = ()) -> Query:
    """Clean a query: URLs and stop words out, title weighted, identifiers and paths recognised.

    Args:
        text: any text; only the first MAX_QUERY characters are read.
        gloss: English words for the Chinese part of it, if a dictionary is there.
    """
    body = _URL.sub(" ", text[:MAX_QUERY])
    lines = [line for line in body.splitlines() if line.strip()]
    weights: dict[str, float] = {}
    seen: dict[str, int] = {}
    for number, line in enumerate(lines):
        weight = TITLE_WEIGHT if number == 0 and len(lines) > 1 else 1.0
        for word in words(line):
            if word.lower() in STOP_WORDS:
                continue
            for term in word_terms(word):
                times = seen[term] = seen.get(term, 0) + 1
                if times == 1:
                    weights[term] = weight
                elif times <= 4:
                    weights[term] += REPEAT_WEIGHT
    for word in gloss:
        for term in word_terms(word):
            weights.setdefault(term, GLOSS_WEIGHT)
    if not weights:  # nothing but stop words: better to look for them than for nothing
        weights = {term: 1.0 for word in words(body) for term in word_terms(word)}
    paths = tuple(dict.fromkeys(path.replace("\\", "/").lstrip("./") for path in _PATH.findall(body)))
    candidates = dict.fromkeys(_IDENTIFIER.findall(body))
    single = body.strip()
    identifiers = tuple(name for name in candidates if _CODE_LIKE.search(name) or name == single)
    return Query(text, tuple(weights.items()), identifiers, paths, has_cjk(body))
