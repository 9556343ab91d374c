"""Suggests the valid word that somebody may have meant. A far-fetched guess is worse than none, so most unknown words
get none."""

from __future__ import annotations

from collections.abc import Iterable

CUTOFF = 0.7
"""Similarity (twice the letters in common over the letters of both) from which a word is taken for a slip of
another."""

TABLE_SHARE = 0.3
"""The weight of the table against the last part when dotted keys are compared: people remember the last part."""

PART = 0.9
"""Similarity of a word to one it is a whole part of, such as `budget` and `token_budget`."""

SHORTEST = 2
"""Letters from which the beginning of a word stands for it."""

_LONGEST = 80
"""Letters above which nothing was misspelt: no word of ours comes near, and comparing takes the square of the
length."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Returns the one of `known` that `word` begins or resembles, "" if none; the first of equals."""
    words = list(known)
    if not SHORTEST <= len(word) <= _LONGEST:
        return ""
    begun = next((choice for choice in words if choice.casefold().startswith(word.casefold())), None)
    if begun is not None:
        return begun
    best = max(words, key=lambda choice: _alike(word, choice), default="")
    return best if _alike(word, best) >= CUTOFF else ""


def suggested_key(name: str, known: Iterable[str]) -> str:
    """Returns the dotted key that `name` resembles in its last part, "" if none. The table decides among keys that end
    alike."""
    table, _, leaf = name.rpartition(".")
    if not SHORTEST <= len(leaf) <= len(name) <= _LONGEST:
        return ""

    def score(key: str) -> float:
        key_table, _, key_leaf = key.rpartition(".")
        alike = PART if f"_{leaf}_" in f"_{key_leaf}_" and leaf != key_leaf else _alike(leaf, key_leaf)
        return alike + TABLE_SHARE * _alike(table, key_table) if alike >= CUTOFF else 0.0

    best = max(known, key=score, default="")
    return best if score(best) else ""


def _alike(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, other.casefold(), one.casefold(), autojunk=False).ratio()
