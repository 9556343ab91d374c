"""Counts by toktok: those of tiktoken, or none of its own."""

from __future__ import annotations

import sys
import types
import unicodedata
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.tokens import exact
from secateur.tokens.exact import LONGEST_RUN, PROBE, VOCABULARIES, ExactCounter, tiktoken_encoding

NAMES = ("o200k_base", "cl100k_base")
TEXTS = st.lists(
    st.one_of(
        st.text(max_size=200),
        st.text(st.characters(codec=None, categories=("Cs", "Cn", "Co", "L", "M", "N"))),
        st.text("aAbZ019 \t\n\r'sSdD/!-_(){}.ßÉ订ªˇ\u0300²\xa0\u3000ſ", max_size=60),
        st.sampled_from(["don't", "  \n", "\r\n", "x" * 3000, "<|endoftext|>", "\ud83d", "\u088f", PROBE]),
    ),
    max_size=6,
)


def theirs(name: str, text: str) -> int:
    return len(tiktoken_encoding(VOCABULARIES[name]).encode_ordinary(text))


@pytest.mark.parametrize("name", NAMES)
def test_the_text_that_decides_has_the_tokens_of_tiktoken(name: str) -> None:
    assert VOCABULARIES[name].probe == theirs(name, PROBE)


@pytest.mark.parametrize("name", NAMES)
@given(texts=TEXTS)
def test_counts_are_those_of_tiktoken(name: str, texts: list[str]) -> None:
    count = exact._build_toktok(VOCABULARIES[name])
    if count is None:
        pytest.skip("toktok is not installed")
    assert count(texts) == [theirs(name, text) for text in texts]


@pytest.mark.parametrize("name", NAMES)
def test_every_letter_is_of_the_kind_that_tiktoken_knows(name: str) -> None:
    count = exact._build_toktok(VOCABULARIES[name])
    if count is None:
        pytest.skip("toktok is not installed")
    letters = [letter for code in range(0x30000) if unicodedata.category(letter := chr(code)) not in ("Cs", "Cn", "Co")]
    texts = [
        "".join(f"a{letter}B{letter} {letter}'s\n{letter}{letter}" for letter in letters[first : first + 64])
        for first in range(0, len(letters), 64)
    ]
    assert count(texts) == [theirs(name, text) for text in texts]


def test_what_counts_otherwise_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def wrong(texts: Iterable[str], encoding: str, **_: int) -> list[int]:
        asked.append(encoding)
        return [1 for _ in texts]

    module = types.ModuleType("toktok")
    module.batch_count = wrong  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "toktok", module)
    monkeypatch.setattr(exact, "_loaded", {})
    counter = ExactCounter("cl100k_base")
    counter.load()
    assert counter.count("hello world") == 2
    assert asked == ["cl100k_base"]


def test_without_it_tiktoken_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toktok", None)
    monkeypatch.setattr(exact, "_loaded", {})
    counter = ExactCounter("cl100k_base")
    counter.load()
    assert counter.count_many(["hello world", PROBE]) == [2, VOCABULARIES["cl100k_base"].probe]


def test_long_blanks_among_short_texts_are_cut_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a", "x" + " " * (LONGEST_RUN + 8) + "y", "订单"]
    counter = ExactCounter("o200k_base")
    counter.load()
    found = counter.count_many(texts)
    monkeypatch.setitem(sys.modules, "toktok", None)
    monkeypatch.setattr(exact, "_loaded", {})
    assert counter.count_many(texts) == found
