"""Files and folders are opened without following links."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from secateur.system.files import (
    NOWHERE,
    OpenedFolder,
    contents,
    new_file,
    owner,
    path_below,
)


def test_what_a_folder_has_is_opened_by_name(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "naïve.txt").write_bytes(b"one\r\ntwo\n")
    folder = OpenedFolder.open(tmp_path)
    inner = folder.folder(b"inner")
    handle = inner.file("naïve.txt".encode())
    assert os.read(handle, 100) == b"one\r\ntwo\n"
    os.close(handle)
    with pytest.raises(OSError):
        folder.folder(b"none")
    with pytest.raises(OSError):
        inner.folder("naïve.txt".encode())
    inner.close()
    folder.close()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_link_is_not_followed(tmp_path: Path, kind: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (tmp_path / "root").mkdir()
    link = tmp_path / "root" / "link"
    link.symlink_to(tmp_path / "outside" / ("secret" if kind == "file" else ""), kind == "folder")
    folder = OpenedFolder.open(tmp_path / "root")
    with pytest.raises(OSError):
        (folder.file if kind == "file" else folder.folder)(b"link")
    folder.close()


def test_a_folder_that_is_held_open_is_written_into(tmp_path: Path) -> None:
    root = OpenedFolder.open(tmp_path)
    root.make_folder("inner")
    inner = root.folder(b"inner")
    assert inner.status("a") is None
    os.close(inner.new_file("a"))
    with pytest.raises(FileExistsError):
        inner.new_file("a")
    with pytest.raises(FileExistsError):
        root.make_folder("inner")
    os.close(inner.new_file("b"))
    inner.replace("b", "a")
    inner.remove("a")
    assert list((tmp_path / "inner").iterdir()) == []
    inner.close()
    root.close()


def test_a_link_that_takes_the_place_of_an_open_folder_is_not_followed(tmp_path: Path) -> None:
    for name in ("inner", "outside"):
        (tmp_path / name).mkdir()
    root = OpenedFolder.open(tmp_path)
    inner = root.folder(b"inner")
    (tmp_path / "inner").rename(tmp_path / "moved")
    (tmp_path / "inner").symlink_to("outside")
    os.close(inner.new_file("a"))
    inner.replace("a", "b")
    assert [path.name for path in (tmp_path / "moved").iterdir()] == ["b"]
    assert list((tmp_path / "outside").iterdir()) == []
    with pytest.raises(OSError):
        root.folder(b"inner")
    inner.close()
    root.close()


def test_a_name_leads_to_a_file_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.py").write_text("x")
    assert os.lstat(path_below(tmp_path, b"a/b.py")).st_size == 1
    assert [entry.name for entry in os.scandir(path_below(tmp_path, b"a/"))] == [b"b.py"]
    assert [entry.name for entry in os.scandir(path_below(tmp_path, b""))] == [b"a"]


def test_names_may_be_long_and_those_of_devices(tmp_path: Path) -> None:
    below = "/".join(["f" * 100] * 4)
    Path(os.fsdecode(path_below(tmp_path, below.encode()))).mkdir(parents=True)
    path = path_below(tmp_path, f"{below}/aux.py".encode())
    Path(os.fsdecode(path)).write_bytes(b"x = 1\n")
    assert os.lstat(path).st_size == 6
    folders = [OpenedFolder.open(tmp_path)]
    for part in below.split("/"):
        folders.append(folders[-1].folder(part.encode()))
    handle = folders[-1].file(b"aux.py")
    assert os.read(handle, 9) == b"x = 1\n"
    os.close(handle)
    for folder in folders:
        folder.close()


def test_a_mapped_file_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one")
    with path.open("rb") as file:
        held = contents(file)
    handle, beside = new_file(tmp_path, "log.", ".part")
    os.write(handle, b"two")
    os.close(handle)
    beside.replace(path)
    assert (bytes(held), path.read_bytes()) == (b"one", b"two")


def test_what_we_make_is_ours(tmp_path: Path) -> None:
    assert owner(tmp_path) == os.geteuid()
    with pytest.raises(OSError):
        owner(tmp_path / "none")


def test_nowhere_cannot_be_made() -> None:
    assert not NOWHERE.exists()
    with pytest.raises(OSError):
        NOWHERE.mkdir(parents=True)
