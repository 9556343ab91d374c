"""Files are opened below their folder or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.sources.files import Folder, path_bytes, path_text


@given(st.binary(max_size=40))
def test_any_bytes_survive_as_a_path(raw: bytes) -> None:
    assert path_bytes(path_text(raw)) == raw


@given(st.text(st.characters(), max_size=20))
def test_any_text_has_bytes_to_be_ordered_by(text: str) -> None:
    assert isinstance(path_bytes(text), bytes)


def test_files_are_read_in_any_order(tmp_path: Path) -> None:
    for path in ("a/b/c.txt", "a/b.txt", "a/b/d/e.txt", "z.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    with Folder(tmp_path) as folder:
        for path in ("z.txt", "a/b/c.txt", "a/b/d/e.txt", "a/b.txt", "a/b/c.txt", "z.txt"):
            assert folder.read(path, 100) == path.encode()


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "..",
        "../outside",
        "a/../a/f",
        "a//f",
        "/etc/passwd",
        "a/f/",
        "a",
        "missing",
        "a/missing/f",
        "a/f/g",
        "a\0",
        "x" * 300,
    ],
)
def test_what_is_no_plain_relative_path_of_a_file_is_not_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "root" / "a" / "f").write_text("x")
    (tmp_path / "outside").write_text("secret")
    with Folder(tmp_path / "root") as folder:
        assert folder.read(path, 100) is None
        assert folder.read("a/f", 100) == b"x"


def test_no_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "outside" / "secret")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "real").mkdir()
    (root / "real" / "secret").write_text("mine")
    with Folder(root) as folder:
        assert folder.read("link", 100) is None
        assert folder.read("folder/secret", 100) is None
        assert folder.read("real/secret", 100) == b"mine"
        (root / "real" / "secret").unlink()
        (root / "real" / "secret").symlink_to(tmp_path / "outside" / "secret")  # swapped in after it was listed
        assert folder.read("real/secret", 100) is None


def test_a_pipe_and_a_socket_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with Folder(tmp_path) as folder:
        assert folder.read("pipe", 100) is None


def test_the_limit_holds_when_a_file_grew(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 101)
    with Folder(tmp_path) as folder:
        assert folder.read("f", 100) is None
        assert folder.read("f", 101) == b"x" * 101


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "f").write_text("x")
    before = len(list(Path("/dev/fd").iterdir()))
    with Folder(tmp_path) as folder:
        folder.read("a/b/f", 10)
        folder.read("a/missing", 10)
        folder.read("a/b/missing/f", 10)
    assert len(list(Path("/dev/fd").iterdir())) == before
