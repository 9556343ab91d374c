"""Translates the Chinese words of a query into the English words that code uses for them, by a glossary.

Most code is written in English, and neither words nor vectors bridge that gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from secateur.index.facts.lexical import CJK

HAN = r"\u3400-\u9fff"  # chinese characters, as the inside of a character class

_HAN = f"[{HAN}]+"
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

_LONGEST_WORD = 8  # most characters of a word that is looked up


@lru_cache(maxsize=1)
def glossary() -> Mapping[str, tuple[str, ...]]:
    """Returns English words of code by Chinese word, the most usual first."""
    rows = (line.split() for line in _GLOSSARY.read_text("utf-8").splitlines())
    return {chinese: tuple(english) for chinese, *english in rows}


class TranslatedWord(Struct, frozen=True):
    """Holds a Chinese word of a query, and the English words that it may stand for: none if the glossary does not know
    it. Characters that form no known word stay together."""

    chinese: str
    english: tuple[str, ...]


def has_chinese(text: str) -> bool:
    """Tells whether a text holds Chinese characters."""
    return not text.isascii() and re.search(_HAN, text) is not None


def han_runs(text: str) -> list[str]:
    """Returns the runs of Chinese characters in a text, in order."""
    return re.findall(_HAN, text)


def translate(text: str) -> tuple[str | TranslatedWord, ...]:
    """Translates the Chinese words of a text that say something, and returns all other text unchanged, in order."""
    known = glossary()
    parts: list[str | TranslatedWord] = []
    for part in re.findall(_PARTS, text):
        if not has_chinese(part):
            parts.append(part)
            continue
        unknown = ""
        for word in (*_cut_run(part), ""):
            english = () if word in _PARTICLES else known.get(word, ())
            if word and not english and word not in _PARTICLES:
                unknown += word
                continue
            if unknown:
                parts.append(TranslatedWord(unknown, ()))
                unknown = ""
            if english:
                parts.append(TranslatedWord(word, english))
    return tuple(parts)


def english_words(text: str) -> tuple[str, ...]:
    """Returns English words for the Chinese words of a text, in order, without repetition."""
    words = (word for part in translate(text) if isinstance(part, TranslatedWord) for word in part.english)
    return tuple(dict.fromkeys(words))


def to_english(parts: Iterable[str | TranslatedWord]) -> str:
    """Joins the parts that `translate` returned to a text, with the English words of each Chinese word."""
    return " ".join(word for part in parts for word in ([part] if isinstance(part, str) else part.english))


def _cut_run(run: str) -> list[str]:
    """Cuts a run into words, from its end or from its beginning. The cut with fewer words wins, then the one with fewer
    single characters ("保存 在 哪里", not "保 存在 哪里")."""

    def cost(words: list[str]) -> tuple[int, int]:
        return len(words), sum(len(word) == 1 and word not in _PARTICLES for word in words)

    return min(_longest_words(run), _longest_words(run, forward=True), key=cost)


def _longest_words(run: str, *, forward: bool = False) -> list[str]:
    """Cuts a run into the longest known words, from its end, because the head of a Chinese compound stands last, or
    from its beginning. A character that belongs to no known word is a word of its own."""
    terms: list[str] = []
    rest = run
    while rest:
        for size in range(min(_LONGEST_WORD, len(rest)), 0, -1):
            word = rest[:size] if forward else rest[-size:]
            if size == 1 or word in _PARTICLES or word in glossary():
                break
        terms.append(word)
        rest = rest[size:] if forward else rest[:-size]
    return terms if forward else terms[::-1]
