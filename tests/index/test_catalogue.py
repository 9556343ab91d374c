"""A workspace opened again: what is kept of it saves git and listings, and changes no answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from secateur.engine import Engine
from secateur.errors import SecateurError
from secateur.index.update.refresh import Changes
from secateur.settings import Settings, with_values
from support.engine_answers import answer_text, printed
from support.repos import committed, git, write

SHOP = {
    "shop/money.py": "def round_total(amount):\n    return int(amount + 0.5)\n",
    "shop/refund.py": "from shop.money import round_total\n\n\ndef refund_total(sums):\n    return round_total(sums)\n",
}
TILL = {
    "till/drawer.py": "def open_drawer(order):\n    '''Open the drawer for a refund.'''\n    return count(order)\n",
    "tests/test_drawer.py": "def test_coins():\n    assert count([]) == 0\n",
}
QUERY = "where is the refund total rounded?"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two repositories at their newest commits, and a folder as it is on disk."""
    committed(tmp_path / "shop", SHOP)
    committed(tmp_path / "till", TILL)
    write(tmp_path / "loose", {"notes.md": "# Refunds\n\nThe total of a refund.\n"})
    file = tmp_path / "workspace.toml"
    file.write_text('repositories = [{path = "shop", rev = "HEAD"}, {path = "till", rev = "HEAD"}, "loose"]\n')
    return file


def opened(workspace: Path, cache: str = "cache", settings: Settings | None = None) -> Engine:
    return Engine.open(workspace, settings, cache_dir=workspace.parent / cache)


def answer(workspace: Path, cache: str = "cache", settings: Settings | None = None) -> str:
    with opened(workspace, cache, settings) as engine:
        return answer_text(engine, QUERY)


def kept_files(workspace: Path, pattern: str) -> list[Path]:
    found = sorted((workspace.parent / "cache").glob(pattern))
    assert found
    return found


def test_what_did_not_move_is_opened_without_git(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.write_text(workspace.read_text().replace(', "loose"', ""))
    with opened(workspace) as engine:
        built = engine.status()
    monkeypatch.setenv("PATH", str(workspace.parent))
    with pytest.raises(SecateurError, match="git was not found"):
        answer(workspace, "another")
    with opened(workspace) as engine:
        again = engine.refresh()
        assert (again.files, again.read, again.reused) == (built.files, 0, built.read)
        assert engine.unread() == engine.changes() == Changes()
        assert again.languages == built.languages
        assert again.edges == built.edges
        assert engine.index_bytes > 0


def test_opened_again_it_answers_as_at_first(workspace: Path) -> None:
    first = answer(workspace)
    assert answer(workspace) == first
    assert answer(workspace, "another") == first


def test_each_version_of_the_records_is_kept(workspace: Path) -> None:
    wordy = with_values(Settings(), {"embedding.model": "none"})
    with_vectors, without = answer(workspace), answer(workspace, settings=wordy)
    assert with_vectors != without
    assert (answer(workspace), answer(workspace, settings=wordy)) == (with_vectors, without)


def commit(folder: Path, text: str) -> None:
    (folder / "shop/refund.py").write_text(text)
    git(folder, "commit", "-q", "-a", "-m", "Another", time=1_750_000_100)


@pytest.mark.parametrize("packed", [False, True])
def test_a_commit_is_seen_at_the_next_opening(workspace: Path, *, packed: bool) -> None:
    answer(workspace)
    shop = workspace.parent / "shop"
    commit(shop, "def refund_total(parts):\n    return sum(parts)\n")
    if packed:
        git(shop, "pack-refs", "--all")
    after = answer(workspace)
    assert "sum(parts)" in after
    assert after == answer(workspace, "another") == answer(workspace)


def test_a_commit_is_seen_by_whoever_has_it_open(workspace: Path) -> None:
    answer(workspace)
    with opened(workspace) as engine:
        printed(engine, engine.search(QUERY), "markdown")  # its texts are read: the index of the shop is opened
        commit(workspace.parent / "shop", "def refund_total(parts):\n    return sum(parts)\n")
        assert engine.changes() == Changes(("shop/shop/refund.py",), commit=True)
        assert "sum(parts)" in printed(engine, engine.search(QUERY), "markdown")
        assert not engine.changes()
    assert answer(workspace) == answer(workspace, "another")


def test_an_edit_on_disk_is_seen(workspace: Path) -> None:
    answer(workspace)
    (workspace.parent / "loose/notes.md").write_text("# Refund total\n\nWhere the refund total is rounded.\n")
    assert "is rounded" in answer(workspace)


def test_settings_of_a_repository_count_from_the_next_opening_on(workspace: Path) -> None:
    before = answer(workspace)
    write(workspace.parent / "shop", {"secateur.toml": '[index]\nignore = ["refund.py"]\n'})
    after = answer(workspace)
    assert "shop/shop/refund.py" in before
    assert "shop/shop/refund.py" not in after
    assert answer(workspace) == after
    (workspace.parent / "shop/secateur.toml").write_text("[index]\nignore = 3\n")
    broken = answer(workspace)
    assert "settings are ignored" in broken
    assert answer(workspace) == broken


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 16
    path.write_bytes(data)


@pytest.mark.parametrize("spoil", [flipped, Path.unlink, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("pattern", ["workspaces/*/members.catalogue", "workspaces/*/*.arrays"])
def test_what_is_damaged_or_gone_is_found_out_anew(
    workspace: Path, pattern: str, spoil: Callable[[Path], None]
) -> None:
    first = answer(workspace)
    for path in kept_files(workspace, pattern):
        spoil(path)
    assert answer(workspace) == first
    assert answer(workspace) == first


def test_what_did_not_move_stays_closed_when_another_repository_moves(workspace: Path) -> None:
    with opened(workspace) as engine:
        assert engine.search(QUERY).pool.facts["files"] == 5
    (first,) = kept_files(workspace, "workspaces/*/*.arrays")
    written = first.stat().st_mtime_ns
    answer(workspace)
    assert kept_files(workspace, "workspaces/*/*.arrays") == [first]
    assert first.stat().st_mtime_ns == written
    objects = workspace.parent / "till/.git/objects"
    objects.rename(objects.with_name("away"))  # git can open the till no more
    for number in range(6):
        commit(workspace.parent / "shop", f"def refund_total(parts):\n    return {number}\n")
        with opened(workspace) as engine:
            again = engine.refresh()
            assert (again.files, again.read) == (5, 1)
    states = [path for path in kept_files(workspace, "workspaces/*/*.*") if path.suffix in (".arrays", ".delta")]
    assert 2 <= len(states) <= 5  # four states, and what they are edited from
    with pytest.raises(SecateurError, match="repository till: "):
        answer(workspace, "another")


def test_a_repository_that_is_gone_ends_the_call(workspace: Path) -> None:
    answer(workspace)
    (workspace.parent / "shop").rename(workspace.parent / "gone")
    with pytest.raises(SecateurError, match="repository shop: "):
        answer(workspace)
