"""Suggests the valid word that somebody may have meant. A bad guess is worse than none, so most unknown words get no
suggestion."""

from __future__ import annotations

from collections.abc import Iterable

CUTOFF = 0.7
"""Similarity (twice the letters in common over the letters of both) above which a word counts as a misspelling."""

TABLE_SHARE = 0.3
"""The weight of the table compared to the last part of dotted keys: people remember the last part."""

PART = 0.9
"""Similarity of a word to one that contains it as a whole part, such as `budget` and `token_budget`."""

SHORTEST = 2
"""Least letters of a beginning that stands for a word."""

_LONGEST = 80
"""Longer words get no suggestion: no valid word is near, and comparing takes quadratic time."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Returns the first of `known` that `word` begins or resembles, or ""."""
    words = list(known)
    if not SHORTEST <= len(word) <= _LONGEST:
        return ""
    begun = next((choice for choice in words if choice.casefold().startswith(word.casefold())), None)
    if begun is not None:
        return begun
    best = max(words, key=lambda choice: _alike(word, choice), default="")
    return best if _alike(word, best) >= CUTOFF else ""


def suggested_key(name: str, known: Iterable[str]) -> str:
    """Returns the dotted key that `name` resembles in its last part, or "". Ties are decided by the
    table."""
    table, _, leaf = name.rpartition(".")
    if not SHORTEST <= len(leaf) <= len(name) <= _LONGEST:
        return ""

    def score(key: str) -> float:
        key_table, _, key_leaf = key.rpartition(".")
        alike = PART if f"_{leaf}_" in f"_{key_leaf}_" and leaf != key_leaf else _alike(leaf, key_leaf)
        return alike + TABLE_SHARE * _alike(table, key_table) if alike >= CUTOFF else 0.0

    best = max(known, key=score, default="")
    return best if score(best) else ""


def _alike(word: str, known: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, known.casefold(), word.casefold(), autojunk=False).ratio()
