"""Word pieces: as the library of the vocabulary cuts them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file
from secateur.index.facts.embedding.static import (
    FIRST_WORD,
    MATRIX,
    SPACE_PIECE,
    TOKENIZER,
    WEIGHTS,
    StaticEmbedder,
    WordPieces,
    read_matrix,
    vectors_folder,
)
from tokenizers import Tokenizer

PACKAGE = find_spec("wordllama")
assert PACKAGE is not None
assert PACKAGE.origin is not None
FOLDER = Path(PACKAGE.origin).parent
CUTTER = WordPieces.read(vectors_folder() / TOKENIZER)
LIBRARY = Tokenizer.from_file(str(FOLDER / TOKENIZER))

WORDS = st.one_of(
    st.text("abcdefghijklmnopqrstuvwxyz", max_size=30),
    st.text("aeinrst", max_size=300),
    st.text(st.characters(categories=["Ll", "Lo"]), max_size=20),
    st.sampled_from(["a", "er", "ing", "the", "xx", "订", "连接", "é", "ß", "ɏ"]).flatmap(
        lambda part: st.integers(1, 200).map(lambda times: part * times)
    ),
)


def known(numbers: list[int]) -> list[int]:
    """Without what vectors pass over: bytes, what is unknown, the blank alone."""
    return [number for number in numbers if number >= FIRST_WORD and number != SPACE_PIECE]


@given(WORDS)
def test_pieces_are_those_of_the_library(word: str) -> None:
    assert known(CUTTER.pieces(word)) == known(LIBRARY.encode(word, add_special_tokens=False).ids)


def test_a_very_long_word_counts_as_several() -> None:
    words = [" ".join(["ab" * 20] * 10_000), "ab" * 200_000]
    assert np.array_equal(*StaticEmbedder().embed(words, "query"))


def test_the_matrix_is_that_of_the_library() -> None:
    assert np.array_equal(read_matrix(FOLDER / WEIGHTS, MATRIX), load_file(FOLDER / WEIGHTS)[MATRIX])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 7,
        b"\xff" * 64,
        (2).to_bytes(8, "little") + b"{}",
        (1).to_bytes(8, "little") + b"{",
        (60).to_bytes(8, "little") + b'{"embedding.weight":{"dtype":"F16","shape":[2],"data_offsets":[0]}}'[:60],
        (69).to_bytes(8, "little") + b'{"embedding.weight":{"dtype":"F16","shape":[9],"data_offsets":[0,18]}}'[:69],
    ],
)
def test_a_file_that_is_none_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "vectors.safetensors"
    path.write_bytes(data)
    with pytest.raises(ValueError):
        read_matrix(path, "embedding.weight")
