"""Long runs of whitespace are cut before they are counted: nothing is lost, and no piece holds more than the encoder
stands."""

from __future__ import annotations

import re

import pytest
from secateur.tokens import count_tokens
from secateur.tokens.exact import LONGEST_RUN, _pieces


@pytest.mark.parametrize("before", ["", "a", "word " * 3])
@pytest.mark.parametrize("length", [1, LONGEST_RUN, LONGEST_RUN + 1, 2 * LONGEST_RUN, 2 * LONGEST_RUN + 1])
def test_the_pieces_are_the_text(before: str, length: int) -> None:
    text = before + " " * length + "b" + "\t" * length + "c"
    pieces = list(_pieces(text))
    assert "".join(pieces) == text
    assert all(len(run) <= LONGEST_RUN for piece in pieces for run in re.findall(r"\s+", piece))


def test_text_without_long_runs_is_one_piece() -> None:
    text = "word " * LONGEST_RUN
    assert list(_pieces(text)) == [text]


def test_a_longer_run_counts_as_its_pieces() -> None:
    rest = 7
    assert count_tokens(" " * (LONGEST_RUN + rest)) == count_tokens(" " * LONGEST_RUN) + count_tokens(" " * rest)
