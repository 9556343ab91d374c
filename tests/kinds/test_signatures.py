"""Declarations around the changes, from the code graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.engine import Engine
from secateur.kinds.diff.repository import signatures
from support.cli import secateur
from support.memory_source import MemorySource
from support.repos import SHOP, chain, committed, git, write


def test_callers_and_callees_of_what_changed_and_nothing_else() -> None:
    with Engine.of(MemorySource(SHOP)) as engine:
        hints = signatures(*engine.code(), {"shop/refund.py": frozenset({6}), "README.md": frozenset({1})})
    assert [(hint.path, hint.line, hint.text) for hint in hints] == [
        ("shop/refund.py", 4, "shop/api.py:4 def post_refund(request): (calls refund_total)\n"),
        ("shop/refund.py", 4, "shop/money.py:1 def round_total(amount): (called by refund_total)\n"),
    ]


def test_what_changed_too_is_no_news() -> None:
    with Engine.of(MemorySource(SHOP)) as engine:
        hints = signatures(*engine.code(), {"shop/refund.py": frozenset({6}), "shop/money.py": frozenset({2})})
    assert {hint.text.split(" ")[0] for hint in hints} == {"shop/api.py:4"}


def test_unchanged_lines_and_unknown_files_have_none() -> None:
    with Engine.of(MemorySource(chain())) as engine:
        assert signatures(*engine.code(), {"chain.py": frozenset(), "gone.py": frozenset({1})}) == []


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "cache"))
    root = committed(tmp_path / "shop", SHOP)
    write(root, {"shop/refund.py": SHOP["shop/refund.py"].replace("sum(parts)", "sum(parts, 0)")})
    git(root, "commit", "-q", "-a", "-m", "Two")
    return root


def test_they_stand_behind_the_file_where_there_is_room(shop: Path) -> None:
    told = secateur("chunk", shop, "--base", "HEAD~1", "--signatures", "--format", "json").json
    (chunk,) = told["chunks"]
    assert (
        "Signatures around the changes of `shop/refund.py`:\n```text\nshop/api.py:4 def post_refund(request): (calls"
        " refund_total)\n" in chunk["text"]
    )
    assert told["signatures"] == {"lines": 2, "shown": 2}
    report = told["report"]
    assert sum(action["afterTokens"] for action in report["actions"]) == report["estimateAfter"] == chunk["token_count"]
    small = secateur(
        "chunk", shop, "--base", "HEAD~1", "--signatures", "--max-tokens", chunk["token_count"] - 1, "--format", "json"
    ).json
    assert (len(small["chunks"]), small["signatures"]["shown"]) == (1, 1)
    assert secateur("chunk", shop, "--base", "HEAD~1", "--format", "json").json["signatures"] == {
        "lines": 0,
        "shown": 0,
    }


def test_they_need_a_repository(shop: Path) -> None:
    ran = secateur("chunk", shop, "--diff", "-", "--signatures")
    assert (ran.code, "--signatures does not go with --diff" in ran.err) == (2, True)
