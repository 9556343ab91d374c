"""The files of an archive, one after the other, as far as they can be taken: `.tar`, compressed or not, and `.zip`.

    with opened_archive(path, meter) as entries:
        for entry in entries:
            entry.path, entry.wrong, entry.pieces()

Nothing is written here, and no name is trusted. An entry that cannot be a file below one folder says why in `wrong`. An
archive that cannot be read to its end, or that grows beyond the meter's limits, raises `Unusable`.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from secateur.errors import shown
from secateur.sources.archive_paths import unfit
from secateur.sources.files import path_text

PIECE_BYTES = 1 << 18
LARGEST_HEADER = 1 << 20
"""Bytes of a header that holds names: real ones have hundreds."""

_SPECIAL = frozenset({tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE})
_HOLDS_NAMES = _SPECIAL | {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK}
_FAILURES = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, ValueError, OverflowError, RecursionError, OSError)
_ZIP_FAILURES = (zipfile.BadZipFile, struct.error, NotImplementedError, *_FAILURES)

_ENCRYPTED, _UTF8 = 0x1, 0x800  # bits of a zip entry's flags
_END, _END_64, _LOCATOR_64 = b"PK\5\6", b"PK\6\6", b"PK\6\7"
_END_BYTES, _END_64_BYTES, _LOCATOR_BYTES, _LONGEST_COMMENT = 22, 56, 20, 1 << 16
_ENTRY, _ENTRY_BYTES = b"PK\1\2", 46


class Unusable(Exception):
    """An archive that is refused as a whole; the text says why, with the entry."""


class DamagedEntry(Exception):
    """An entry whose content cannot be read, in an archive whose others can."""


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A file of an archive."""

    path: str  # relative, with `/`; as it stands there where something is wrong with it
    wrong: str  # the reason why it is left out; "" for none
    pieces: Callable[[], Iterator[bytes]]  # to be read before the next entry


class Meter:
    """Counts what comes out of an archive, and ends it at a limit.

    Args:
        most_bytes, most_entries: of the whole.
        told: is called with the bytes so far, and may raise.
    """

    def __init__(self, most_bytes: int, most_entries: int, told: Callable[[int], None]) -> None:
        self._most_bytes, self._most_entries, self._told = most_bytes, most_entries, told
        self.bytes = 0
        self.entries = 0
        self.entry = ""

    def add(self, count: int) -> None:
        """Raises Unusable: more bytes came out than are taken."""
        self.bytes += count
        if self.bytes > self._most_bytes:
            where = f" (at {shown(self.entry)})" if self.entry else ""
            raise Unusable(f"more than {self._most_bytes:,} bytes come out of it{where}")
        self._told(self.bytes)

    def next(self, name: str) -> None:
        """Raises Unusable: there are more entries than are taken."""
        self.entry = name
        self.entries += 1
        if self.entries > self._most_entries:
            raise self.too_many()
        self._told(self.bytes)

    def too_many(self) -> Unusable:
        """The error about too many entries."""
        return Unusable(f"it has more than {self._most_entries:,} entries")

    @property
    def most_entries(self) -> int:
        """The most entries that are taken."""
        return self._most_entries


@contextmanager
def opened_archive(path: Path, meter: Meter) -> Iterator[Iterator[ArchiveEntry]]:
    """The entries of an archive, in its order.

    Raises:
        Unusable: it is damaged, of another format, or reaches a limit.
    """
    with ExitStack() as stack:
        if path.name.lower().endswith(".zip"):
            yield _zip_entries(path, meter, stack)
        else:
            yield _tar_entries(path, meter, stack)


# --- tar --------------------------------------------------------------------------------------------------------------


class _Header(tarfile.TarInfo):
    """A header that may not ask for much memory, and that ends no archive quietly where it is damaged."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> _Header:
        try:
            made = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if len(buf) == tarfile.BLOCKSIZE and not any(buf):  # its end
                raise
            raise EOFError from error  # tarfile would take that for its end
        if made.type in _HOLDS_NAMES and made.size > LARGEST_HEADER:
            raise Unusable(f"a header of it holds {made.size:,} bytes")
        return made


class _Metered:
    """A file whose bytes are counted."""

    def __init__(self, file: IO[bytes], meter: Meter) -> None:
        self._file, self._meter = file, meter

    def read(self, size: int) -> bytes:
        """At most `size` bytes."""
        data = self._file.read(size)
        self._meter.add(len(data))
        return data


def _tar_entries(path: Path, meter: Meter, stack: ExitStack) -> Iterator[ArchiveEntry]:
    try:
        raw = stack.enter_context(path.open("rb"))
        plain = stack.enter_context(_decompressed(path.name.lower(), raw))
        metered = cast("IO[bytes]", _Metered(plain, meter))
        opened = tarfile.open(fileobj=metered, mode="r|", tarinfo=_Header, errorlevel=0)  # noqa: SIM115
        tar = stack.enter_context(opened)
        while (member := tar.next()) is not None:
            meter.next(member.name)
            if not member.isdir():
                pieces = partial(_tar_pieces, tar, member, meter)
                yield ArchiveEntry(_tar_path(member), _wrong_in_tar(member), pieces)
            cast("Any", tar).members = []  # it would keep every header
        while metered.read(PIECE_BYTES):  # behind its end there may be a checksum
            pass
    except _FAILURES as error:
        raise _damaged(meter) from error


def _decompressed(name: str, raw: IO[bytes]) -> IO[bytes]:
    if name.endswith((".gz", ".tgz")):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if name.endswith((".bz2", ".tbz2")):
        return bz2.BZ2File(raw)
    if name.endswith((".xz", ".txz")):
        return lzma.LZMAFile(raw)
    if name.endswith((".zst", ".tzst")):
        try:
            zstd: Any = importlib.import_module("compression.zstd")
        except ImportError as error:
            raise Unusable("Python reads .zst from version 3.14 on") from error
        return cast("IO[bytes]", zstd.ZstdFile(raw))
    return raw


def _tar_path(member: tarfile.TarInfo) -> str:
    name = member.name
    while name.startswith("./"):
        name = name[2:]
    return name


def _wrong_in_tar(member: tarfile.TarInfo) -> str:
    if member.issym() or member.islnk():
        return "a link"
    if not member.isreg():
        return "no regular file"
    if member.issparse():
        return "a sparse file"
    return unfit(_tar_path(member))


def _tar_pieces(tar: tarfile.TarFile, member: tarfile.TarInfo, meter: Meter) -> Iterator[bytes]:
    file = tar.extractfile(member)
    assert file is not None  # a regular file
    left = member.size
    try:
        while left and (piece := file.read(min(left, PIECE_BYTES))):
            left -= len(piece)
            yield piece
    except _FAILURES as error:
        raise _damaged(meter) from error
    if left:
        raise _damaged(meter)


def _damaged(meter: Meter) -> Unusable:
    return Unusable("it is damaged, or cut off" + (f" (after {shown(meter.entry)})" if meter.entry else ""))


# --- zip --------------------------------------------------------------------------------------------------------------


def _zip_entries(path: Path, meter: Meter, stack: ExitStack) -> Iterator[ArchiveEntry]:
    try:
        file = stack.enter_context(path.open("rb"))
        _check_directory(file, meter)
        archive = stack.enter_context(zipfile.ZipFile(file))
        for info in archive.infolist():
            meter.next(info.filename)
            name = _zip_path(info)
            if not name.endswith("/"):
                yield ArchiveEntry(name, _wrong_in_zip(info, name), partial(_zip_pieces, archive, info, meter))
    except _ZIP_FAILURES as error:
        raise _damaged(meter) from error


def _check_directory(file: IO[bytes], meter: Meter) -> None:
    """Counts the entries of a zip before they are held in memory, where `zipfile` is going to look for them.

    Raises:
        Unusable: there are too many, or they take too much room.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - _END_BYTES - _LONGEST_COMMENT))
    tail = file.read()
    place = tail.rfind(_END)
    if place < 0 or place + _END_BYTES > len(tail):
        raise Unusable("it is no zip, or cut off")
    (length,) = struct.unpack_from("<L", tail, place + 12)
    end = size - len(tail) + place
    if tail[place - _LOCATOR_BYTES : place].startswith(_LOCATOR_64):
        file.seek(max(0, end - _LOCATOR_BYTES - _END_64_BYTES))
        record = file.read(_END_64_BYTES)
        if record.startswith(_END_64):
            (length,) = struct.unpack_from("<Q", record, 40)
            end -= _LOCATOR_BYTES + _END_64_BYTES
    if length > end or length > meter.most_entries * 1000:
        raise Unusable("it is damaged, or its table of entries takes too much room")
    file.seek(end - length)
    table = file.read(length)
    count = place = 0
    while table.startswith(_ENTRY, place) and place + _ENTRY_BYTES <= length:
        count += 1
        place += _ENTRY_BYTES + sum(struct.unpack_from("<HHH", table, place + 28))
        if count > meter.most_entries:
            raise meter.too_many()
    file.seek(0)


def _zip_path(info: zipfile.ZipInfo) -> str:
    """The name of an entry; one that does not say so is UTF-8 too where it can be."""
    name = info.filename
    if not info.flag_bits & _UTF8:
        try:
            name = path_text(name.encode("cp437"))
            name.encode("utf-8")
        except UnicodeError:
            name = info.filename
    return name.replace("\\", "/")


def _wrong_in_zip(info: zipfile.ZipInfo, name: str) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a link"
    if kind not in (0, stat.S_IFREG):
        return "no regular file"
    if info.flag_bits & _ENCRYPTED:
        return "encrypted"
    return unfit(name)


def _zip_pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo, meter: Meter) -> Iterator[bytes]:
    try:
        with archive.open(info) as file:
            while piece := file.read(PIECE_BYTES):
                meter.add(len(piece))
                yield piece
    except _ZIP_FAILURES as error:
        raise DamagedEntry from error
