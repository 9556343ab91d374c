"""Files on disk are compared as git would commit them, also where a system keeps less of them than a commit."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.kinds.diff.temporary_objects import PLAIN_FILE, PROGRAM, FilesOnDisk, TemporaryObjects
from secateur.sources.git import SYMBOLIC_LINK, Git
from support.repos import committed, git

TEXT = "one\ntwo\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A program, a link, a text with plain line ends and one with others, as a checkout on Windows has them on disk."""
    root = committed(tmp_path / "repository", {"plain.txt": TEXT, "run.sh": TEXT, "dos.txt": "one\r\ntwo\r\n"})
    (root / "link").write_text("plain.txt")
    git(root, "add", "link")
    git(root, "update-index", "--chmod=+x", "run.sh")
    link = git(root, "hash-object", "-w", "link").strip()
    git(root, "update-index", "--cacheinfo", f"120000,{link},link")
    git(root, "commit", "-q", "-m", "A program and a link")
    for name in ("plain.txt", "run.sh"):
        (root / name).write_bytes(TEXT.replace("\n", "\r\n").encode())
    return root


def changed(root: Path, *, tells_executable: bool = False, converts_lines: bool = True) -> dict[str, tuple[int, bytes]]:
    """Mode and content of the files that differ from the index."""
    opened = Git.discover(root)
    assert isinstance(opened, Git)
    with TemporaryObjects(opened, digits=40) as objects:
        entries = opened.ls_files()
        disk = FilesOnDisk(opened, objects, tells_executable=tells_executable, converts_lines=converts_lines)
        found, unread = disk.listing(entries)
        assert unread == []
        before = {entry.path.encode(): (entry.mode, entry.oid) for entry in entries}
        differ = {path: entry for path, entry in found.items() if before[path] != entry}
        contents = objects.git.blobs([oid for _, oid in differ.values()], max_bytes=1000)
        return {
            path.decode(): (mode, content or b"")
            for (path, (mode, _)), content in zip(differ.items(), contents, strict=True)
        }


def test_a_checkout_of_another_system_has_no_changes(repository: Path) -> None:
    assert changed(repository) == {}


def test_what_is_edited_there_differs_in_its_lines_alone(repository: Path) -> None:
    (repository / "plain.txt").write_bytes(b"one\r\n2\r\n")
    (repository / "dos.txt").write_bytes(b"one\r\n2\r\n")
    (repository / "new.txt").write_bytes(b"new\r\n")
    assert changed(repository) == {
        "plain.txt": (PLAIN_FILE, b"one\n2\n"),
        "dos.txt": (PLAIN_FILE, b"one\r\n2\r\n"),
        "new.txt": (PLAIN_FILE, b"new\n"),
    }


def test_what_is_no_text_keeps_its_bytes(repository: Path) -> None:
    (repository / "plain.txt").write_bytes(b"one\r\n\0")
    assert changed(repository) == {"plain.txt": (PLAIN_FILE, b"one\r\n\0")}


def test_where_modes_and_line_ends_are_told_they_count(repository: Path) -> None:
    (repository / "plain.txt").write_text(TEXT)
    assert changed(repository, tells_executable=True, converts_lines=False) == {
        "run.sh": (PLAIN_FILE, TEXT.replace("\n", "\r\n").encode()),
        "link": (PLAIN_FILE, b"plain.txt"),
    }


def test_a_program_that_is_edited_stays_one(repository: Path) -> None:
    (repository / "run.sh").write_bytes(b"1\n")
    (repository / "link").write_bytes(b"dos.txt")
    assert changed(repository) == {"run.sh": (PROGRAM, b"1\n"), "link": (SYMBOLIC_LINK, b"dos.txt")}
