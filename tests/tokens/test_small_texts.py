"""Counts of little text: those of tiktoken, which is not loaded for them."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.lexical import STOP_WORDS
from secateur.tokens import count_tokens, exact
from secateur.tokens.exact import LONGEST_WORD, VOCABULARIES, PieceJoiner, WordCounter, tiktoken_encoding

NAMES = ("o200k_base", "cl100k_base")
SMALL = {name: WordCounter(VOCABULARIES[name].words, PieceJoiner(VOCABULARIES[name].file).count) for name in NAMES}
SOURCES = sorted(Path(__file__).parents[2].glob("sample_repos/**/*.*"))

TEXTS = st.one_of(
    st.text(max_size=200),
    st.text("aAbZ019 \t\n\r'sSdD/!-_(){}.ßÉ订ªˇ\u0300²\xa0\u3000", max_size=60),
    st.lists(
        st.sampled_from(["don't", "I'LL", "HTTPServer", "  \n", "\r\n", " //", "x" * 90, "'ſ", "é", "ab" * 40])
    ).map("".join),
)


@pytest.fixture(autouse=True)
def much_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("MOST_JOINED", "DATA_JOINED"):
        monkeypatch.setattr(exact, bound, 1 << 40)


def theirs(name: str, text: str) -> int:
    return len(tiktoken_encoding(VOCABULARIES[name]).encode_ordinary(text))


@pytest.mark.parametrize("name", NAMES)
@given(text=TEXTS)
def test_counts_are_those_of_tiktoken(name: str, text: str) -> None:
    assert SMALL[name].count(text) in (theirs(name, text), None)


@pytest.mark.parametrize("name", NAMES)
def test_every_letter_is_of_the_kind_that_tiktoken_knows(name: str) -> None:
    # Of the blocks of ideographs and syllables, whose letters are all of one kind, one in sixteen.
    alike = (range(0x3400, 0xA000), range(0xAC00, 0xD7B0), range(0x20000, 0x30000))
    codes = (code for code in range(0x30000) if code % 16 == 0 or not any(code in block for block in alike))
    letters = [letter for code in codes if unicodedata.category(letter := chr(code)) not in ("Cs", "Cn")]
    refused = 0
    for first in range(0, len(letters), 16):
        text = "".join(f"a{letter}B{letter} {letter}'s\n" for letter in letters[first : first + 16])
        count = SMALL[name].count(text)
        refused += count is None
        assert count in (theirs(name, text), None), [hex(ord(letter)) for letter in letters[first : first + 16]]
    assert refused == 1  # that of the long s


@pytest.mark.parametrize("name", NAMES)
def test_code_is_counted_here(name: str) -> None:
    texts = [path.read_bytes().decode("utf-8", "replace") for path in SOURCES if path.is_file()]
    assert len(texts) > 50
    for text in texts:
        assert SMALL[name].count(text) == theirs(name, text)


@pytest.mark.parametrize("text", ["a\ud800", "\u0378", "x" * (LONGEST_WORD + 1), "'ſ"])
def test_what_is_unsure_or_data_is_left_to_tiktoken(text: str) -> None:
    assert SMALL["o200k_base"].count(text) is None


@pytest.mark.parametrize("bound", ["MOST_JOINED", "DATA_JOINED"])
def test_much_text_of_unknown_words_is_left_to_tiktoken(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    monkeypatch.setattr(exact, bound, 600)
    counter = WordCounter(VOCABULARIES["o200k_base"].words, PieceJoiner(VOCABULARIES["o200k_base"].file).count)
    if bound == "MOST_JOINED":  # of words that are not random
        assert counter.count(" ".join(sorted(STOP_WORDS))) is not None
    texts = [" " * length + "\n" for length in range(90, 94)]
    assert [counter.count(text) is None for text in texts] == [False, True, True, True]
    assert [count_tokens(text) for text in texts] == [theirs("o200k_base", text) for text in texts]


def test_little_text_loads_no_tiktoken() -> None:
    program = (
        "import sys\nfrom secateur.tokens import exact, get_counter\ncounter = get_counter('o200k_base')\n"
        "assert counter.count_many(['hello world', 'é']) == [2, 1]\nassert 'tiktoken' not in sys.modules\n"
        "assert counter.count('a\\u0378') > 0\nassert 'tiktoken' in sys.modules\n"
        "exact._loaded.clear()\nexact._counted.clear()\nexact.LITTLE = 5\n"
        "assert counter.count_many(['hello', 'hello world']) == [1, 2]\nassert exact._loaded\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
