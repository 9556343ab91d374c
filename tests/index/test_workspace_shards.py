"""A workspace one of whose repositories is split into parts: it answers as it does where it is whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from secateur.engine import Engine
from secateur.index import workspace_shards
from secateur.index.facts import merged
from secateur.settings import Settings, with_profile, with_values
from support.repos import SHOP, committed, git, write

LARGEST = 3
"""Fragments of a part, where it is split."""

TILL = {
    "pyproject.toml": '[project]\nname = "till"\ndependencies = ["shop"]\n',
    "till/drawer.py": (
        "from shop.refund import refund_total\n\n\n"
        "def open_drawer(order):\n    '''Open the drawer for a refund.'''\n    return refund_total(order)\n"
    ),
}
FORMS = {
    f".github/ISSUE_TEMPLATE/{name}.md": f"### What is the {name}?\n\nThe refund of the {name}.\n"
    for name in ("bug", "wish")
}
TOKEN = "ghp_" + "a1B2" * 9
KEYS = {"zoo/keys.py": f"def refund_key():\n    return '{TOKEN}'\n", "zoo/logo.bin": b"\0\1\2"}
QUERIES = (
    "where is the refund total rounded?",
    "who calls `round_total`?",
    "Refunds are late\n\n### What is the bug?\nThe refund_key in shop/refund.py.\n\n### What is the wish?\nNone\n",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with a history, at its newest commit, one that imports it, and a folder as it is on disk."""
    shop = committed(tmp_path / "shop", SHOP | FORMS | {"pyproject.toml": '[project]\nname = "shop"\n'})
    write(shop, KEYS | {"shop/money.py": "def round_total(amount):\n    return round(amount)\n"})
    git(shop, "add", "-A")
    git(shop, "commit", "-q", "-m", "Round the refund total with a key", time=1_750_000_100)
    committed(tmp_path / "till", TILL)
    write(tmp_path / "loose", SHOP)
    file = tmp_path / "workspace.toml"
    file.write_text('repositories = [{path = "shop", rev = "HEAD"}, {path = "till", rev = "HEAD"}, "loose"]\n')
    return file


def opened(workspace: Path, cache: str, settings: Settings | None = None) -> Engine:
    return Engine.open(workspace, settings, cache_dir=workspace.parent / cache)


def answers(workspace: Path, cache: str, settings: Settings | None = None) -> list[str]:
    """Everything that is answered."""
    found = []
    with opened(workspace, cache, settings) as engine:
        for query in QUERIES:
            selection = engine.search(query, use_cache=False)
            found.append(engine.output(selection, "json", explain=True, dropped=None))
            found += [engine.output(selection, "markdown"), repr(engine.walk(selection))]
        found += [repr(sorted(engine.graph().edges(data=True), key=repr)), repr(engine.status())]
        snapshot, lines = engine.code()
        found += [f"{path} {lines(path)}" for path in snapshot.paths]
        found += [repr((snapshot.all_digests, snapshot.unindexed, snapshot.notices))]
    return found


def kept(workspace: Path, cache: str = "split") -> list[Path]:
    return sorted((workspace.parent / cache).glob("workspaces/*/*.derived"))


@pytest.fixture
def split(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Has these repositories be large from then on."""

    def lowered() -> None:
        monkeypatch.setattr(merged, "SMALL", 0)
        monkeypatch.setattr(workspace_shards, "LARGEST_PART", LARGEST)

    return lowered


@pytest.mark.parametrize("profile", ["spec", "recommended"])
def test_split_it_answers_as_it_does_whole(workspace: Path, split: Callable[[], None], profile: str) -> None:
    settings = with_values(with_profile(Settings(), profile), {"relevance.issue_forms": True})
    whole = answers(workspace, "whole", settings)
    split()
    for cache in ("split", "split", "whole"):  # made, as it is kept, and where it was whole before
        assert answers(workspace, cache, settings) == whole
    assert len(kept(workspace)) > 3


def test_a_part_that_is_damaged_or_gone_is_made_anew(workspace: Path, split: Callable[[], None]) -> None:
    split()
    first = answers(workspace, "split")
    parts = kept(workspace)
    parts[0].unlink()
    parts[-1].write_bytes(b"")
    assert answers(workspace, "split") == first
    assert kept(workspace) == parts
    assert all(part.stat().st_size for part in parts)


def test_when_the_repository_moves_parts_are_made_anew(workspace: Path, split: Callable[[], None]) -> None:
    split()
    with opened(workspace, "split") as engine:
        engine.search(QUERIES[0])
        before = kept(workspace)
        for number in range(3):
            write(workspace.parent / "shop", {"shop/money.py": f"def round_total(amount):\n    return {number}\n"})
            git(workspace.parent / "shop", "commit", "-q", "-a", "-m", "Another", time=1_750_000_200 + number)
            assert f"return {number}" in engine.output(engine.search(QUERIES[0]), "markdown")
    assert len(kept(workspace)) == 2 * len(before)  # those in use, and those of a state before
    assert answers(workspace, "split") == answers(workspace, "another")
