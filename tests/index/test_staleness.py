"""Whether what was indexed is still what is there: told by two looks at the same place."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur import Engine
from secateur.errors import RepositoryError
from secateur.index.facts.extract import digest_of
from secateur.index.update import refresh as refreshing
from secateur.index.update.refresh import Changes, changes
from secateur.sources.open import open_source
from support.memory_source import MemorySource
from support.processes import SETTINGS
from support.repos import SHOP, committed, git, write


def test_in_words() -> None:
    assert [
        str(found) for found in (Changes(), Changes(("a",)), Changes(("a",) * 1204, True), Changes(commit=True))
    ] == [
        "",
        "1 file changed",
        "1,204 files changed",
        "new commit",
    ]
    assert [bool(found) for found in (Changes(), Changes(("a",)), Changes(commit=True))] == [False, True, True]


@pytest.mark.parametrize("tracked", [True, False], ids=["git", "plain"])
def test_edited_new_and_removed_files_are_named_in_order(tmp_path: Path, tracked: bool) -> None:
    root = (committed if tracked else write)(tmp_path / "shop", SHOP)
    with Engine.open(root, SETTINGS) as engine:
        engine.refresh()
        assert not engine.changes()
        write(root, {"shop/new.py": "", "shop/money.py": "def round_total(): ...\n"})
        (root / "README.md").rename(root / "READ.md")
        (root / "shop/api.py").write_text(SHOP["shop/api.py"])
        assert engine.changes() == Changes(("READ.md", "README.md", "shop/money.py", "shop/new.py"))
        assert engine.changes() == engine.changes(), "a look changes nothing"
        assert engine.refresh().read == 4
        assert not engine.changes()


def test_ignored_files_are_no_change(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP | {".gitignore": "*.log\n"})
    with Engine.open(root, SETTINGS) as engine:
        engine.refresh()
        write(root, {"run.log": "x"})
        (root / ".git/index").touch()
        assert not engine.changes()


def test_another_commit_is_a_change_though_no_file_is_another(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    with Engine.open(root, SETTINGS) as engine:
        engine.refresh()
        git(root, "commit", "-q", "--allow-empty", "-m", "Nothing")
        assert engine.changes() == Changes(commit=True)


def test_a_revision_changes_when_it_names_another_commit(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    with (
        Engine.open(root, SETTINGS, rev="main") as named,
        Engine.open(root, SETTINGS, rev=git(root, "rev-parse", "HEAD")) as fixed,
    ):
        for engine in (named, fixed):
            engine.refresh()
        write(root, {"shop/new.py": "x = 1\n"})
        assert not named.changes(), "the work tree is not what it reads"
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "More")
        assert (named.changes(), fixed.changes()) == (Changes(("shop/new.py",), True), Changes())


def test_many_new_dates_are_not_all_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path / "shop", SHOP)
    before = open_source(root)
    indexed = {path: digest_of(text.encode()) for path, text in SHOP.items()}
    before.entries()
    for path in SHOP:
        write(root, {path: SHOP[path]})
    assert not changes(before, open_source(root), indexed)
    monkeypatch.setattr(refreshing, "MOST_READ", 2)
    assert len(changes(before, open_source(root), indexed).files) == len(SHOP)


def test_files_in_memory_never_change() -> None:
    with Engine.of(MemorySource(SHOP), SETTINGS) as engine:
        engine.refresh()
        assert not engine.changes()


def test_a_folder_that_is_gone_is_an_error(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    with Engine.open(root, SETTINGS) as engine:
        engine.refresh()
        root.rename(tmp_path / "elsewhere")
        with pytest.raises(RepositoryError, match="no such folder"):
            engine.changes()
