"""Archives as programs make them: each reads as the folder that it was made of."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from secateur.sources.named import folder_of
from secateur.sources.open import open_source

LONG = "long/" * 30 + "n" * 120 + ".py"
FILES = {
    "a.py": b"a = 1\n",
    "empty.py": b"",
    "of_a_block.bin": b"x" * 512,
    "more.bin": bytes(range(256)) * 1300,
    "\u00e4/\u4e2d\u6587.py": b"x = 1\n",
    LONG: b"y = 1\n",
    "after.py": b"z = 1\n",
}


def read(path: Path, cache: Path) -> dict[str, bytes | None]:
    source = open_source(folder_of(str(path), cache))
    assert source.notices() == []
    return dict(source.read([entry.path for entry in source.entries()]))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / "made" / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "made"


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_each_form_of_python_reads_as_a_folder(tmp_path: Path, folder: Path, form: int) -> None:
    path = tmp_path / "shop.tar.gz"
    with tarfile.open(path, "w:gz", format=form, pax_headers={"comment": "of all"}) as tar:
        for name in FILES:
            if form != tarfile.USTAR_FORMAT or name != LONG:  # it takes names of 100 bytes
                info = tar.gettarinfo(folder / "shop" / name, f"./shop/{name}")
                info.mtime += 0.25  # a field of pax
                tar.addfile(info, io.BytesIO(FILES[name]))
    wanted = {name: content for name, content in FILES.items() if form != tarfile.USTAR_FORMAT or name != LONG}
    assert read(path, tmp_path / "cache") == wanted


@pytest.mark.skipif(shutil.which("tar") is None, reason="tar is not installed")
@pytest.mark.parametrize("options", [[], ["--format=pax"], ["--format=gnu"], ["--format=v7"]])
def test_a_tar_of_the_system_reads_as_a_folder(tmp_path: Path, folder: Path, options: list[str]) -> None:
    path = tmp_path / "shop.tar"
    if "--format=v7" in options:
        shutil.rmtree(folder / "shop" / "long")
    if subprocess.run(["tar", *options, "-C", folder, "-cf", path, "shop"], check=False).returncode:
        pytest.skip("this tar does not write the format")
    wanted = {name: content for name, content in FILES.items() if "--format=v7" not in options or name != LONG}
    assert read(path, tmp_path / "cache") == wanted


@pytest.mark.parametrize("form", ["tar", "tar.gz", "zip"])
def test_an_archive_of_git_reads_as_a_folder(tmp_path: Path, folder: Path, form: str) -> None:
    person = {f"GIT_{role}_{part}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    path = tmp_path / f"shop.{form}"
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["commit", "-q", "-m", "first"],
        ["archive", "--prefix=shop-1.0/", "-o", str(path), "HEAD:shop"],
        ["archive", "--prefix=shop-1.0/", "-o", str(path), "HEAD", "shop"],  # with the commit in a field for all
    ):
        subprocess.run(["git", "-C", folder, *command], check=True, env=os.environ | person)
        if path.exists():
            found = {name.removeprefix("shop/"): content for name, content in read(path, tmp_path / "cache").items()}
            assert found == FILES


@pytest.mark.parametrize("binary", [True, False])
def test_a_size_is_read_however_it_is_written(tmp_path: Path, binary: bool) -> None:
    block = bytearray(tarfile.TarInfo("shop/a.py").tobuf(tarfile.GNU_FORMAT))
    block[124:136] = b"\x80" + (6).to_bytes(11, "big") if binary else b"          6 "
    block[329:345] = b"\xe4" * 16  # signs above 127, summed as signed numbers by some
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % (sum(block) - 256 * sum(byte > 127 for byte in block) if binary else sum(block))
    path = tmp_path / "shop.tar"
    path.write_bytes(block + b"a = 1\n" + bytes(506) + bytes(1024))
    assert read(path, tmp_path / "cache") == {"a.py": b"a = 1\n"}
