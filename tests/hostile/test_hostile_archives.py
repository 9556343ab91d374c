"""Archives that attack: each is refused with a reason, or costs the one entry that is bad; nothing is left behind."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from secateur.errors import RepositoryError
from secateur.settings import InputLimits
from secateur.sources.archive_record import archive_at
from secateur.sources.archives import remove_within
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.named import folder_of
from secateur.sources.open import open_source

GOOD = ("shop/good.py", b"def good():\n    return 1\n")
OTHER = ("shop/other.py", b"def other():\n    return 2\n")
Member = tuple[str | tarfile.TarInfo, bytes]


def tar_bytes(members: Iterable[Member]) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as tar:
        for name, content in members:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return held.getvalue()


def of_type(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def zipped(path: Path, members: Iterable[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings(action="ignore"):
        for name, content in members:  # a name that occurs twice is warned of
            archive.writestr(name, content)
    return path


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def read(path: Path, cache: Path, limits: InputLimits | None = None) -> tuple[dict[str, bytes | None], str]:
    """The files of an archive, and the warning about it."""
    folder = folder_of(str(path), cache, FetchOptions(limits=lambda: limits or InputLimits()))
    source = open_source(folder)
    files = dict(source.read([entry.path for entry in source.entries()]))
    assert outside(cache) == set()
    return files, "".join(notice.message for notice in source.notices())


def outside(cache: Path) -> set[str]:
    """The names outside the folder of an archive that an entry could have made."""
    inside = {path for folder in cache.glob("archives/*/*/") for path in folder.rglob("*")}
    return {path.name for path in set(cache.parent.rglob("evil*")) - inside}


def refused(path: Path, cache: Path, limits: InputLimits | None = None) -> str:
    with pytest.raises(RepositoryError) as caught:
        folder_of(str(path), cache, FetchOptions(limits=lambda: limits or InputLimits()))
    assert caught.value.code == "ARCHIVE_REFUSED"
    assert path.name in caught.value.message
    assert caught.value.hint
    assert not list(cache.glob("archives/*/"))
    assert outside(cache) == set()
    return caught.value.message


@pytest.mark.parametrize(
    ("suffix", "packed"),
    [
        (".tar", bytes),
        (".tar.gz", gzip.compress),
        (".tgz", gzip.compress),
        (".tar.bz2", bz2.compress),
        (".tar.xz", lzma.compress),
    ],
)
def test_a_tar_reads_as_a_folder(tmp_path: Path, cache: Path, suffix: str, packed: Callable[[bytes], bytes]) -> None:
    path = tmp_path / f"Shop-1.0{suffix}"
    path.write_bytes(packed(tar_bytes([(of_type("./shop", tarfile.DIRTYPE), b""), GOOD, OTHER])))
    files, said = read(path, cache)
    assert (files, said) == ({"good.py": GOOD[1], "other.py": OTHER[1]}, "")
    assert open_source(folder_of(str(path), cache)).describe() == "Shop-1.0"


def test_a_zip_reads_as_a_folder(tmp_path: Path, cache: Path) -> None:
    path = zipped(tmp_path / "shop.ZIP", [("shop/", b""), GOOD, ("top.md", b"# Top\n"), ("win\\a.py", b"a = 1\n")])
    files, said = read(path, cache)
    assert (files, said) == ({GOOD[0]: GOOD[1], "top.md": b"# Top\n", "win/a.py": b"a = 1\n"}, "")


@pytest.mark.parametrize("name", ["new.tar", ".new.tar", ".tar", "n" * 60 + ".tar"])
def test_any_name_of_an_archive_is_a_folder(tmp_path: Path, cache: Path, name: str) -> None:
    (tmp_path / name).write_bytes(tar_bytes([GOOD, OTHER]))
    assert len(read(tmp_path / name, cache)[0]) == 2


def test_the_content_names_the_place(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "shop.tar"
    path.write_bytes(tar_bytes([GOOD]))
    first = folder_of(str(path), cache)
    kept = (first / "good.py").stat().st_mtime_ns
    assert folder_of(str(path), cache) == first
    assert (first / "good.py").stat().st_mtime_ns == kept
    path.write_bytes(tar_bytes([OTHER]))
    assert folder_of(str(path), cache) != first


NAMES = [
    ("/evil.py", "an absolute name"),
    ("//evil.py", "an absolute name"),
    ("C:/evil.py", "an absolute name"),
    ("../evil.py", "a name that leads out"),
    ("shop/../../evil.py", "a name that leads out"),
    ("shop/./evil.py", "an odd name"),
    ("shop//evil.py", "an odd name"),
    ("shop/" + "evil" * 80, "a name that is too long"),
    ("a/" * 150 + "evil.py", "a name that is too long"),
    ("shop/.git/evil", "data of git"),
    ("shop/.GIT/evil", "data of git"),
    ("shop/GOOD.py", "a name that equals another on some systems"),
    ("shop/good.py", "a name that occurs twice"),
    ("shop/good.py/evil.py", "a name that equals another on some systems"),
    ("Shop/evil.py", "a name that equals another on some systems"),
]


@pytest.mark.parametrize(("name", "reason"), NAMES)
@pytest.mark.parametrize("form", ["bad.tar", "bad.zip"])
def test_a_bad_name_costs_its_entry(tmp_path: Path, cache: Path, name: str, reason: str, form: str) -> None:
    path = tmp_path / form
    if form == "bad.zip":
        zipped(path, [GOOD, (name, b"evil = 1\n"), OTHER])
    else:
        path.write_bytes(tar_bytes([GOOD, (name, b"evil = 1\n"), OTHER]))
    files, said = read(path, cache)
    assert files == {"good.py": GOOD[1], "other.py": OTHER[1]}
    assert f"{form} are left out: 1 ({reason}; the first is " in said


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (of_type("shop/evil", tarfile.SYMTYPE, "/etc/passwd"), "a link"),
        (of_type("shop/evil", tarfile.SYMTYPE, "good.py"), "a link"),
        (of_type("shop/evil", tarfile.LNKTYPE, "/etc/passwd"), "a link"),
        (of_type("shop/evil", tarfile.CHRTYPE), "not a regular file"),
        (of_type("shop/evil", tarfile.BLKTYPE), "not a regular file"),
        (of_type("shop/evil", tarfile.FIFOTYPE), "not a regular file"),
    ],
)
def test_what_is_no_file_of_a_tar_is_left_out(
    tmp_path: Path, cache: Path, member: tarfile.TarInfo, reason: str
) -> None:
    path = tmp_path / "bad.tar"
    path.write_bytes(tar_bytes([GOOD, (member, b""), ("shop/evil/x.py", b"x = 1\n") if reason == "a link" else OTHER]))
    files, said = read(path, cache)
    assert files["good.py"] == GOOD[1]
    assert f"1 ({reason}; the first is shop/evil)" in said


def test_a_link_through_which_a_later_entry_would_be_written_is_none(tmp_path: Path, cache: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    path = tmp_path / "bad.tar"
    link = of_type("shop/out", tarfile.SYMTYPE, str(target))
    path.write_bytes(tar_bytes([GOOD, (link, b""), ("shop/out/x.py", b"x = 1\n")]))
    files, _ = read(path, cache)
    assert files == {"good.py": GOOD[1], "out/x.py": b"x = 1\n"}
    assert not list(target.iterdir())


def test_links_and_encrypted_entries_of_a_zip_are_left_out(tmp_path: Path, cache: Path) -> None:
    link = zipfile.ZipInfo("shop/evil")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = zipped(tmp_path / "bad.zip", [GOOD, (link, b"/etc/passwd"), OTHER])
    assert "1 (a link; the first is shop/evil)" in read(path, cache)[1]
    data = bytearray(path.read_bytes())
    for sign, offset in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        place = -1
        while (place := data.find(sign, place + 1)) >= 0:
            data[place + offset] |= 1
    whole = tmp_path / "whole.zip"
    whole.write_bytes(data)
    assert "none of its entries can be read: shop/good.py is left out (encrypted)" in refused(whole, tmp_path / "two")


def test_a_damaged_entry_of_a_zip_costs_itself(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (GOOD, OTHER):
            archive.writestr(name, content)
    path.write_bytes(path.read_bytes().replace(b"return 2", b"return 3"))  # its checksum is another
    files, said = read(path, cache)
    assert files == {"good.py": GOOD[1]}
    assert "1 (damaged; the first is shop/other.py)" in said


@pytest.mark.parametrize("keep", [0, 1, 100, 512, 700, 1024, 1536])
def test_a_tar_that_is_cut_off_is_refused(tmp_path: Path, cache: Path, keep: int) -> None:
    path = tmp_path / "bad.tar"
    path.write_bytes(tar_bytes([GOOD, OTHER])[:keep])
    assert "damaged, or cut off" in refused(path, cache)


@pytest.mark.parametrize(
    ("name", "packed"), [("a.tar.gz", gzip.compress), ("a.tar.bz2", bz2.compress), ("a.tar.xz", lzma.compress)]
)
def test_a_packed_tar_that_is_cut_off_or_is_none_is_refused(
    tmp_path: Path, cache: Path, name: str, packed: Callable[[bytes], bytes]
) -> None:
    whole = packed(tar_bytes([GOOD, ("shop/noise.py", bytes(range(256)) * 40), OTHER]))
    for content in (whole[: len(whole) // 2], whole[:-6], b"", b"not an archive at all", packed(b"nor is this")):
        (tmp_path / name).write_bytes(content)
        assert "damaged, or cut off" in refused(tmp_path / name, cache)


def test_a_tar_with_a_damaged_header_is_refused_not_shortened(tmp_path: Path, cache: Path) -> None:
    data = bytearray(tar_bytes([GOOD, OTHER]))
    data[1024] ^= 0xFF  # the name of the second entry: its checksum is another
    (tmp_path / "bad.tar").write_bytes(data)
    assert "damaged, or cut off (after shop/good.py)" in refused(tmp_path / "bad.tar", cache)


@pytest.mark.parametrize("cut", [4, 30, 60, 200])
def test_a_zip_that_is_cut_off_is_refused(tmp_path: Path, cache: Path, cut: int) -> None:
    path = zipped(tmp_path / "bad.zip", [GOOD, OTHER])
    path.write_bytes(path.read_bytes()[:-cut])
    assert "not a zip file, or it is cut off" in refused(path, cache)


def test_a_bomb_is_refused_by_its_ratio(tmp_path: Path, cache: Path) -> None:
    zeros = bytes(60_000_000)
    path = zipped(tmp_path / "bad.zip", [GOOD, ("shop/zeros.bin", zeros)])
    assert path.stat().st_size < 100_000
    assert "it unpacks to more than 50,000,000 bytes (at shop/zeros.bin)" in refused(path, cache)
    packed = tmp_path / "bad.tar.gz"
    packed.write_bytes(gzip.compress(tar_bytes([GOOD, ("shop/zeros.bin", zeros)]), 1))
    assert "bytes (at shop/zeros.bin)" in refused(packed, cache)
    skipped = tmp_path / "link.tar.gz"  # what is left out is counted too
    skipped.write_bytes(gzip.compress(tar_bytes([GOOD, ("../zeros.bin", zeros)]), 1))
    assert "unpacks to more than" in refused(skipped, cache)


def test_more_than_the_limit_is_refused(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "bad.tar"
    path.write_bytes(tar_bytes([("noise.bin", bytes(range(256)) * 8000)]))
    assert "more than 1,000,000 bytes" in refused(path, cache, InputLimits(archive_mb=1))


def test_too_many_entries_are_refused_before_they_are_held(tmp_path: Path, cache: Path) -> None:
    limits = InputLimits(archive_mb=1)
    names = [(f"shop/{number}.py", b"") for number in range(101)]
    path = zipped(tmp_path / "bad.zip", names)
    assert "more than 100 entries" in refused(path, cache, limits)
    (tmp_path / "bad.tar").write_bytes(tar_bytes(names))
    assert "more than 100 entries" in refused(tmp_path / "bad.tar", cache, limits)
    assert len(read(zipped(tmp_path / "fine.zip", names[:100]), cache, limits)[0]) == 100


def test_a_header_that_asks_for_much_memory_is_refused(tmp_path: Path, cache: Path) -> None:
    info = of_type("././@PaxHeader", tarfile.XHDTYPE)
    info.size = 1 << 33
    path = tmp_path / "bad.tar"
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    assert "its headers hold 8,589,935,104 bytes, more than 1,048,576" in refused(path, cache)


def test_headers_upon_headers_are_refused(tmp_path: Path, cache: Path) -> None:
    block = of_type("././@PaxHeader", tarfile.XHDTYPE)
    block.size = 512
    record = b"12 path=a/b\n"
    one = block.tobuf(tarfile.GNU_FORMAT) + record + bytes(512 - len(record))
    path = tmp_path / "bad.tar"
    path.write_bytes(one * 5000 + bytes(1024))
    assert "its headers hold 1,049,600 bytes, more than 1,048,576" in refused(path, cache)


def block(kind: bytes, content: bytes, name: str = "header") -> bytes:
    """A header of a tar, with its content."""
    info = of_type(name, kind)
    info.size = len(content)
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % tarfile.BLOCKSIZE)


def field(key: str, value: str) -> bytes:
    """A field of a pax header."""
    length = len(key) + len(value) + 3
    while len(str(length)) + len(key) + len(value) + 3 != length:
        length += 1
    return f"{length} {key}={value}\n".encode()


DIGITS = "9" * 1_000_000
HEADERS = [
    (block(tarfile.XHDTYPE, DIGITS.encode()), "damaged, or cut off (after shop/good.py)"),
    (block(tarfile.XHDTYPE, field("size", DIGITS)), "damaged, or cut off (after shop/good.py)"),
    (block(tarfile.XHDTYPE, b"40 path=shop/other.py\n"), "damaged, or cut off (after shop/good.py)"),
    (block(tarfile.XHDTYPE, b"1 path=shop/other.py\n"), "damaged, or cut off (after shop/good.py)"),
    (
        block(tarfile.XGLTYPE, field("comment", DIGITS)) * 2,
        "its headers hold 2,001,058 bytes, more than 1,052,672 (after shop/good.py)",
    ),
    (
        block(tarfile.GNUTYPE_LONGNAME, b"shop/evil.py\0") * 2100,
        "more than 1,052,672",
    ),
]


@pytest.mark.parametrize(("headers", "reason"), HEADERS, ids=range(len(HEADERS)))
def test_a_header_without_end_is_refused(tmp_path: Path, cache: Path, headers: bytes, reason: str) -> None:
    good, other = (block(tarfile.REGTYPE, content, name) for name, content in (GOOD, OTHER))
    path = tmp_path / "bad.tar.gz"
    path.write_bytes(gzip.compress(good + headers + other + bytes(1024)))
    assert reason in refused(path, cache)


def test_headers_that_no_entry_follows_are_refused(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "bad.tar"
    path.write_bytes(
        block(tarfile.REGTYPE, GOOD[1], GOOD[0]) + block(tarfile.XHDTYPE, field("path", "x")) + bytes(1024)
    )
    assert "damaged, or cut off (after shop/good.py)" in refused(path, cache)


def test_a_field_for_all_entries_is_read_once(tmp_path: Path, cache: Path) -> None:
    fields = b"".join(field(f"{number:x}", "") for number in range(70_000))
    files = {f"{number}.py": b"x = 1\n" for number in range(300)}
    path = tmp_path / "shop.tar.gz"
    entries = b"".join(block(tarfile.REGTYPE, content, f"shop/{name}") for name, content in files.items())
    path.write_bytes(gzip.compress(block(tarfile.XGLTYPE, fields) + entries + bytes(1024)))
    assert read(path, cache) == (files, "")


def old_sparse(blocks: int) -> bytes:
    """An entry whose header says that more blocks tell of its holes."""
    head = bytearray(of_type("shop/holes", tarfile.GNUTYPE_SPARSE).tobuf(tarfile.GNU_FORMAT))
    head[482] = 1
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    more = b"1" * 504 + b"\1" + bytes(7)
    return bytes(head) + more * blocks + bytes(512)


SPARSE = [
    old_sparse(20_000),
    block(tarfile.XHDTYPE, field("GNU.sparse.map", "1," * 400_000 + "1")) + block(tarfile.REGTYPE, b"", "shop/holes"),
    block(tarfile.XHDTYPE, field("GNU.sparse.size", "9") + field("x", DIGITS)) + block(b"0", b"x", "shop/holes"),
    block(tarfile.XHDTYPE, field("GNU.sparse.major", "1") + field("GNU.sparse.minor", "0"))
    + block(tarfile.REGTYPE, DIGITS.encode() + b"\n1\n", "shop/holes"),
]


@pytest.mark.parametrize("entry", SPARSE, ids=range(len(SPARSE)))
def test_a_file_with_holes_costs_itself(tmp_path: Path, cache: Path, entry: bytes) -> None:
    good, other = (block(tarfile.REGTYPE, content, name) for name, content in (GOOD, OTHER))
    path = tmp_path / "bad.tar.gz"
    path.write_bytes(gzip.compress(good + entry + other + bytes(1024)))
    files, said = read(path, cache)
    assert files == {"good.py": GOOD[1], "other.py": OTHER[1]}
    assert "1 (a sparse file; the first is shop/holes)" in said


def test_an_entry_that_claims_petabytes_is_refused(tmp_path: Path, cache: Path) -> None:
    info = of_type("shop/evil.py", tarfile.REGTYPE)
    info.size = 1 << 52
    path = tmp_path / "bad.tar"
    path.write_bytes(info.tobuf(tarfile.GNU_FORMAT) + bytes(4096))
    assert "damaged, or cut off (after shop/evil.py)" in refused(path, cache)


def test_a_name_of_half_a_million_steps_is_read_at_once(tmp_path: Path, cache: Path) -> None:
    good, other = (block(tarfile.REGTYPE, content, name) for name, content in (GOOD, OTHER))
    names = [b"./" * 500_000 + b"shop/steps.py\0", b"a/" * 20_000 + b"evil.py\0"]
    steps, deep = (block(tarfile.GNUTYPE_LONGNAME, name) for name in names)
    path = tmp_path / "bad.tar.gz"
    path.write_bytes(gzip.compress(good + steps + other + bytes(1024)))
    assert read(path, cache)[0] == {"good.py": GOOD[1], "steps.py": OTHER[1]}
    path.write_bytes(gzip.compress(good + deep + other + bytes(1024)))
    assert "1 (a name that is too long;" in read(path, cache)[1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tar.gz", b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * 1_100_000),  # a file name in its own header
        ("a.tar.gz", gzip.compress(b"") * 60_000),
        ("a.tar.bz2", bz2.compress(b"") * 80_000),
        ("a.tar.xz", lzma.compress(b"") * 40_000),
    ],
)
def test_a_packed_tar_that_never_begins_is_refused(tmp_path: Path, cache: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert "of its bytes hold no content" in refused(tmp_path / name, cache)


def test_folders_upon_folders_are_refused(tmp_path: Path, cache: Path) -> None:
    names = [(f"{number}/" + "a/" * 38 + "evil.py", b"") for number in range(28)]
    path = zipped(tmp_path / "bad.zip", names)
    assert "its first 28 entries need more than 1,084 folders (at 27/a/a/" in refused(path, cache)
    assert len(read(zipped(tmp_path / "fine.zip", names[:27]), cache)[0]) == 27


def test_extra_fields_without_end_are_refused(tmp_path: Path, cache: Path) -> None:
    info = zipfile.ZipInfo(OTHER[0])
    info.extra = b"\xfe\xca\0\0" * 16_000
    path = zipped(tmp_path / "bad.zip", [GOOD, (info, OTHER[1])])
    assert "shop/other.py has 64,000 bytes of extra fields, more than 4,096" in refused(path, cache)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_entry_that_comes_out_all_at_once_is_left_out(tmp_path: Path, cache: Path, method: int) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(*GOOD)
        archive.writestr("shop/evil.bin", bytes(1_000_000), method)
    files, said = read(path, cache)
    assert files == {"good.py": GOOD[1]}
    assert "1 (compressed by another method than deflate; the first is shop/evil.bin)" in said


def test_entries_of_one_place_are_one_file(tmp_path: Path, cache: Path) -> None:
    path = zipped(tmp_path / "bad.zip", [GOOD])
    data = path.read_bytes()
    end = data.rfind(b"PK\5\6")
    size, start = struct.unpack_from("<LL", data, end + 12)
    tail = struct.pack("<4sHHHHLLH", b"PK\5\6", 0, 0, 1000, 1000, size * 1000, start, 0)
    path.write_bytes(data[:start] + data[start:end] * 1000 + tail)
    files, said = read(path, cache)
    assert files == {"good.py": GOOD[1]}
    assert "999 (a name that occurs twice;" in said


def test_zst_says_what_it_needs(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "shop.tar.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd")
    said = refused(path, cache)
    assert "Python reads .zst from version 3.14 on" in said or "damaged" in said


def test_what_ends_the_unpacking_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    from contextlib import nullcontext

    def ends(phase: str, *_: object) -> None:
        if phase == "unpacking":
            raise KeyboardInterrupt

    path = tmp_path / "shop.tar"
    path.write_bytes(tar_bytes([GOOD, OTHER]))
    with pytest.raises(KeyboardInterrupt):
        folder_of(str(path), cache, FetchOptions(reporting=lambda: nullcontext(ends)))
    assert not list(cache.glob("archives/*/"))
    assert len(read(path, cache)[0]) == 2


def test_what_ends_the_unpacking_waits_for_no_long_removal(tmp_path: Path) -> None:
    many = tmp_path / "many"
    (many / "folder").mkdir(parents=True)
    (many / "folder" / "a.py").write_bytes(b"")
    remove_within(0, many)
    assert (many / "folder" / "a.py").exists()
    remove_within(60, many)
    assert not many.exists()


def test_the_record_of_another_folder_is_none(tmp_path: Path) -> None:
    (tmp_path / "secateur-archive.json").write_text('{"archive": "x", "left_out": [], "folder": "other"}')
    assert archive_at(tmp_path / "mine") is None
    (tmp_path / "secateur-archive.json").write_text('{"archive": "x", "left_out": 1, "folder": "mine"}')
    assert archive_at(tmp_path / "mine") is None
