"""`secateur index --clear`, and how large the index is."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cli import secateur
from support.repos import QUERY, SHOP, committed, git, write


def test_the_index_says_how_large_it_is(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    size = secateur("index", root, "--format", "json").json["bytes_on_disk"]
    assert size == secateur("status", root, "--format", "json").json["bytes_on_disk"]
    assert size == secateur("index", root, "--clear", "--format", "json").json["removed_bytes"] > 10_000
    assert f"on disk     {size / 1e3:,.0f} kB" in secateur("status", root).out


def test_clear_removes_index_and_answers_and_the_next_answer_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "cache"))
    root = committed(tmp_path / "shop", SHOP)
    before = secateur("search", QUERY, root, "--format", "json").out
    removed = secateur("index", root, "--clear", "--format", "json").json
    assert removed["removed_bytes"] > 0
    assert not Path(removed["index"]).exists()
    assert not list((tmp_path / "cache").rglob("*.json"))
    assert secateur("status", root, "--format", "json").json["read"] == len(SHOP)
    assert secateur("search", QUERY, root, "--format", "json").out == before
    assert "removed" in secateur("index", root, "--clear").out
    assert secateur("index", root, "--clear", "--format", "json").json["removed_bytes"] == 0
    assert secateur("index", root, "--clear").out.startswith("there was nothing to remove: ")


def test_the_index_of_a_folder_that_is_gone_can_be_cleared(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    secateur("index", root)
    root.rename(tmp_path / "elsewhere")
    assert secateur("index", root, "--clear", "--format", "json").json["removed_bytes"] > 0
    assert not root.exists()


def test_check_says_whether_the_index_is_stale_and_leaves_it_as_it_is(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP | {"uv.lock": "version = 1\n"})

    def check(*words: str) -> tuple[int, dict[str, object]]:
        ran = secateur("status", root, "--check", "--format", "json", *words)
        return ran.code, ran.json

    assert check() == (4, {"indexed": False, "fresh": False, "changed": [], "new_commit": False})
    assert (
        secateur("status", root, "--check").out
        == "not indexed yet: secateur index does that, and so does the first search\n"
    )
    secateur("index", root)
    assert check() == (0, {"indexed": True, "fresh": True, "changed": [], "new_commit": False})
    write(root, {"shop/money.py": "def round_total(amount):\n    return amount\n", "shop/new.py": "x = 1\n"})
    (root / "README.md").unlink()
    for _ in range(2):
        assert check() == (
            4,
            {
                "indexed": True,
                "fresh": False,
                "changed": ["README.md", "shop/money.py", "shop/new.py"],
                "new_commit": False,
            },
        )
    assert secateur("status", root, "--check").out.splitlines() == [
        "stale: 3 files changed",
        *(f"  changed   {name}" for name in check()[1]["changed"]),
    ]  # type: ignore[attr-defined]
    assert secateur("status", root, "--format", "json").json["read"] == 2
    assert check()[0] == 0
    git(root, "commit", "-q", "-a", "-m", "Less")
    assert check() == (4, {"indexed": True, "fresh": False, "changed": [], "new_commit": True})
    secateur("search", QUERY, root, "--rev", "HEAD")
    assert check("--rev", "HEAD")[0] == 0


def test_a_state_that_was_indexed_before_is_fresh_though_another_was_since(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    secateur("index", root)
    git(root, "checkout", "-q", "-b", "other")
    write(root, {"shop/money.py": "def round_total(amount):\n    return amount\n"})
    git(root, "commit", "-q", "-a", "-m", "Other")
    secateur("index", root)
    git(root, "checkout", "-q", "main")
    assert secateur("status", root, "--check").code == 4, "the file that came back looks new until it is read"
    secateur("index", root)
    assert secateur("status", root, "--check").out == "fresh\n"
