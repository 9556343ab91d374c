"""Suggests the valid word that somebody may have meant. A bad guess is worse than none, so most unknown words get no
suggestion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

# Similarity (twice the letters in common over the letters of both) above which a word counts as a misspelling.
CUTOFF = 0.7

TABLE_SHARE = 0.3  # the weight of the table compared to the last part of dotted keys: people remember the last part
PART = 0.9  # similarity of a word to one that contains it as a whole part, such as `budget` and `token_budget`
SHORTEST = 2  # least letters of a beginning that stands for a word
_SHORTEST_PART, _PART_CUTOFF = 5, 85  # least letters of a word that part of an id may resemble, and how much, of 100
_NAMED = 3  # most ids that are named as near an unknown one
_LONGEST = 80  # longer words get no suggestion: no valid word is near, and comparing takes quadratic time


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


def near_ids(word: str, known: Iterable[str]) -> list[str]:
    """Returns a few of `known` that contain `word` or a word much like it, or the one that it resembles."""
    ids = list(known)
    containing = sorted((name for name in ids if word.casefold() in name.casefold()), key=len) if word.strip() else []
    return containing[:_NAMED] or [near for near in (suggestion(word, ids),) if near] or _ids_around(word, ids)


def _ids_around(word: str, ids: Sequence[str]) -> list[str]:
    if not _SHORTEST_PART <= len(word) <= _LONGEST:
        return []
    from rapidfuzz import fuzz, process  # takes a while, and most calls misspell nothing

    found = process.extract(
        word, ids, scorer=fuzz.partial_ratio, processor=str.casefold, score_cutoff=_PART_CUTOFF, limit=_NAMED
    )
    return [name for name, _, _ in found]


def describe_unknown(unknown: Iterable[str], known: Iterable[str], looks: str) -> str:
    """Says that these ids name nothing, with the nearest ids, or else how ids look."""
    names, ids = list(unknown), list(known)
    near = list(dict.fromkeys(name for word in names for name in near_ids(word, ids)))[:_NAMED]
    hint = f"the nearest are {', '.join(near)}" if len(near) > 1 else f"the nearest is {near[0]}" if near else looks
    return f"Nothing here is called {', '.join(names)}; {hint}."


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
