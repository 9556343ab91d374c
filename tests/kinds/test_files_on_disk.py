"""Files on disk are compared as git would commit them: modes and line ends count."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.kinds.diff.temporary_objects import PLAIN_FILE, FilesOnDisk, TemporaryObjects
from secateur.sources.git import Git
from support.repos import committed, git

TEXT = "one\ntwo\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A program, a link, a text with plain line ends and one with others, on disk with the line ends of Windows."""
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


def changed(root: Path) -> dict[str, tuple[int, bytes]]:
    """Mode and content of the files that differ from the index."""
    opened = Git.discover(root)
    assert isinstance(opened, Git)
    with TemporaryObjects(opened, digits=40) as objects:
        entries = opened.ls_files()
        disk = FilesOnDisk(opened, objects)
        found, unread = disk.listing(entries)
        assert unread == []
        before = {entry.path.encode(): (entry.mode, entry.oid) for entry in entries}
        differ = {path: entry for path, entry in found.items() if before[path] != entry}
        contents = objects.git.blobs([oid for _, oid in differ.values()], max_bytes=1000)
        return {
            path.decode(): (mode, content or b"")
            for (path, (mode, _)), content in zip(differ.items(), contents, strict=True)
        }


def test_modes_and_line_ends_count(repository: Path) -> None:
    (repository / "plain.txt").write_text(TEXT)
    assert changed(repository) == {
        "run.sh": (PLAIN_FILE, TEXT.replace("\n", "\r\n").encode()),
        "link": (PLAIN_FILE, b"plain.txt"),
    }
