"""The table that the build makes of a rank file holds what the file holds, and is used only where it is whole."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.tokens import ranks
from secateur.tokens.exact import O200K_WORDS, PieceJoiner, WordCounter
from secateur.tokens.ranks import CL100K, NEVER, O200K, RankFile, RankTable, data_folder, pack, rank_lookup, read_ranks

TEXT = "def refund_total(parts):\n    return sum(parts)  # Rückerstattung, 订单\n" * 3


@pytest.mark.parametrize("file", [O200K, CL100K], ids=lambda file: file.name)
def test_every_token_has_its_rank_and_the_table_is_the_one_that_is_expected(file: RankFile) -> None:
    published = read_ranks(file, data_folder())
    data = pack(list(published))
    assert not file.table or hashlib.sha256(data).hexdigest() == file.table_sha256
    rank = RankTable(data).rank
    assert {token: rank(token) for token in published} == published


@given(st.lists(st.binary(max_size=6), unique=True, max_size=60), st.lists(st.binary(max_size=6), max_size=30))
def test_any_tokens_are_found_and_nothing_else(tokens: list[bytes], others: list[bytes]) -> None:
    table, ranked = RankTable(pack(tokens)), {token: number for number, token in enumerate(tokens)}
    assert all(table.rank(token) == ranked.get(token, NEVER) for token in (*tokens, *others))


@given(st.binary(max_size=200))
def test_other_bytes_are_an_error(data: bytes) -> None:
    for other in (data[:7], b"\xff" * 8 + data, bytes(8) + data):
        with pytest.raises(ValueError, match="not a table"):
            RankTable(other)


@pytest.mark.parametrize("change", [None, b"", b"\0", b"\xff" * 64], ids=["whole", "empty", "one byte", "other"])
def test_a_table_that_is_not_whole_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: bytes | None
) -> None:
    monkeypatch.setattr(ranks, "data_dir", lambda _: tmp_path / "none")
    without = WordCounter(O200K_WORDS, PieceJoiner(O200K).count).count(TEXT)
    data = pack(list(read_ranks(O200K, data_folder())))
    if change is not None:
        data = change + data[len(change) + 1 :] if change else b""
    (tmp_path / O200K.table).write_bytes(data)
    monkeypatch.setattr(ranks, "data_dir", lambda _: tmp_path)
    assert isinstance(getattr(rank_lookup(O200K), "__self__", None), RankTable) == (change is None)
    assert WordCounter(O200K_WORDS, PieceJoiner(O200K).count).count(TEXT) == without
