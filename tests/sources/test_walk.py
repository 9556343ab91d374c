"""Our own walk where git cannot be asked, beyond the rules it shares with git."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from secateur.sources.ignore import DEFAULT_IGNORE, IgnoreFilter
from secateur.sources.walk import IGNORE_FILE_BYTES, is_ignored_folder, walk

NO_PATTERNS = IgnoreFilter(())


def write(root: Path, *paths: str, content: str = "x") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)


def listed(root: Path, ignore: tuple[str, ...] = ()) -> list[str]:
    return [found.path for found in walk(root, IgnoreFilter(ignore), 1000).files]


def test_files_come_in_byte_order_of_their_whole_paths(tmp_path: Path) -> None:
    write(tmp_path, "a/z", "a.b", "a-b/c", "B", "é", "ab")
    os.mkdir(os.fsencode(tmp_path) + b"/\xff")  # noqa: PTH102 - the name is no text
    write(tmp_path, "\udcff/x")
    assert listed(tmp_path) == ["B", "a-b/c", "a.b", "a/z", "ab", "é", "\udcff/x"]


@pytest.mark.parametrize("pattern", DEFAULT_IGNORE)
def test_what_nobody_wrote_is_left_out_of_a_folder_without_git(tmp_path: Path, pattern: str) -> None:
    name = pattern.rstrip("/").replace("*", "x").replace("[co]", "c")
    write(tmp_path, f"deep/{name}/inner.py" if pattern.endswith("/") else f"deep/{name}", "kept.py", "build/kept.py")
    assert listed(tmp_path) == ["build/kept.py", "kept.py"]


def test_an_ignore_file_can_bring_defaults_back(tmp_path: Path) -> None:
    write(tmp_path, "venv/a.py")
    write(tmp_path, ".gitignore", content="!venv/\n")
    assert listed(tmp_path) == [".gitignore", "venv/a.py"]


def test_the_users_patterns_cannot_be_overruled(tmp_path: Path) -> None:
    write(tmp_path, "secret/a.py", "b.py")
    write(tmp_path, ".gitignore", content="!secret/\n!b.py\n")
    assert listed(tmp_path, ("secret/", "b.*")) == [".gitignore"]


def test_a_git_folder_of_any_shape_is_never_listed(tmp_path: Path) -> None:
    write(tmp_path, ".git/config", "not-a-repository/.git", "not-a-repository/a.py")
    assert listed(tmp_path) == ["not-a-repository/a.py"]


def test_an_ignore_file_behind_a_link_or_too_long_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, "rules", content="*.py\n")
    write(tmp_path, "linked/a.py", "long/a.py")
    (tmp_path / "linked" / ".gitignore").symlink_to(tmp_path / "rules")
    write(tmp_path, "long/.gitignore", content="*.py\n" + "#" * IGNORE_FILE_BYTES)
    assert "linked/a.py" in listed(tmp_path)
    assert "long/a.py" in listed(tmp_path)


def test_a_folder_we_may_not_read_is_recorded() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        write(root, "open/a.py", "closed/b.py")
        root.chmod(0o755)
        (root / "closed").chmod(0)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)  # root may read everything
        try:
            listing = walk(root, NO_PATTERNS, 1000)
        finally:
            os.seteuid(user)
            (root / "closed").chmod(0o755)
        assert [found.path for found in listing.files] == ["open/a.py"]
        assert [(skip.path, skip.reason) for skip in listing.skipped] == [("closed/", "unreadable")]


def test_what_goes_away_while_its_folder_is_listed_is_gone_and_not_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.py", "a.py.new", "gone/b.py", "stays/c.py")
    scandir = os.scandir

    @contextmanager
    def listed_then_changed(place: bytes) -> Iterator[list[os.DirEntry[bytes]]]:
        with scandir(place) as entries:
            found = list(entries)
        (tmp_path / "a.py.new").unlink(missing_ok=True)
        if (tmp_path / "gone").exists():
            (tmp_path / "gone" / "b.py").unlink()
            (tmp_path / "gone").rmdir()
        yield found

    monkeypatch.setattr(os, "scandir", listed_then_changed)
    listing = walk(tmp_path, NO_PATTERNS, 1000)
    assert [found.path for found in listing.files] == ["a.py", "stays/c.py"]
    assert listing.skipped == ()


def test_whether_a_repository_ignores_a_folder(tmp_path: Path) -> None:
    write(tmp_path, "a/b/x", "c/d/x")
    write(tmp_path, ".gitignore", content="/a/\n")
    write(tmp_path, "c/.gitignore", content="d\n!e\n")
    assert is_ignored_folder(tmp_path, tmp_path / "a" / "b")
    assert is_ignored_folder(tmp_path, tmp_path / "c" / "d")
    assert not is_ignored_folder(tmp_path, tmp_path / "c")
    assert not is_ignored_folder(tmp_path, tmp_path)
