"""What the estimate takes for each kind of piece: the fitted numbers, which must not move unseen."""

from __future__ import annotations

import pytest
from secateur.tokens import get_counter

MANY = 1000
RAISED = 1.03
PARTED = "\t\t7"  # two blanks and a digit, with nothing that goes to the piece behind it
PARTING = 3.0
TOKENS = {
    "word": 1.0,
    "ninechars": 1.0,
    "tencharact": 1.0 + 0.16,
    ".marked": 1.13,
    ".markedmore": 1.13 + 4 * 0.19,
    "_total": 1.13,
    "A": 1.0,
    "ABC": 1.27,
    "ABCD": 1.27 + 0.15,
    ".ABCD": 1.27 + 0.15,
    "camelCase": 1.0 + 1.0,
    "123": 1.0,
    "x1234": 1.0 + 1.0 + 1.0,
    "+=+": 1.05,
    "+=+=+": 1.05 + 2 * 0.07,
    "+\n": 1.05,
    "x1\n": 1.0 + 1.0 + 1.18,
}
BEYOND_ASCII = {
    "か": 0.75,
    "カ": 0.75,
    "漢": 0.83,
    "\u9fff": 0.83,
    "\uf900": 0.83,
    "한": 0.78,
    "é": 0.37,
    "ж": 0.37,
    "\u2fff": 0.37,
    "\u3001": 0.99,
    "😀": 0.99,
    "\U0010ffff": 0.99,
}


@pytest.mark.parametrize("piece", TOKENS)
def test_a_piece_of_code_takes_what_was_fitted(piece: str) -> None:
    expected = RAISED * (TOKENS[piece] + PARTING) * MANY
    assert get_counter("estimate").count((piece + PARTED) * MANY) == pytest.approx(expected, abs=1.0)


@pytest.mark.parametrize("character", BEYOND_ASCII)
def test_a_character_beyond_ascii_takes_what_was_fitted(character: str) -> None:
    assert get_counter("estimate").count(character * MANY) == pytest.approx(BEYOND_ASCII[character] * MANY, abs=1.0)


def test_characters_of_all_kinds_add_up() -> None:
    text = "".join(BEYOND_ASCII) * MANY
    assert get_counter("estimate").count(text) == pytest.approx(sum(BEYOND_ASCII.values()) * MANY, abs=1.0)
