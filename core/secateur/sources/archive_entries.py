"""Reads the files of an archive one after the other: `.tar`, compressed or not, and `.zip`.

    with open_archive(path, meter) as entries:
        for entry in entries:
            entry.path, entry.fault, entry.pieces()

Nothing is written here, and no name is trusted. An entry that cannot be a file below one folder says why in `fault`. An
archive that cannot be read to its end, or that grows beyond the meter's limits, raises `Unusable`.
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import lzma
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import IO, Any, cast

from msgspec import Struct

from secateur.errors import shown
from secateur.sources import tar_headers
from secateur.sources.files import DEEPEST, path_bytes, path_text
from secateur.sources.tar_headers import BLOCK_BYTES

PIECE_BYTES = 1 << 18
LARGEST_HEADER = 1 << 20
"""Most bytes of a tar's headers with names and other fields: real tars have hundreds."""

HEADER_OF_AN_ENTRY = 4096
"""Bytes that each entry of a tar adds to this limit."""

MOST_SILENT = 1 << 20
"""Most bytes in a row of a compressed tar that yield no content: the largest block of bzip2 has about 910,000."""

LARGEST_EXTRA = 4096
"""Bytes of the extra fields of a zip entry. `zipfile` needs quadratic time for them; real ones have a few dozen."""

_FAILURES = (EOFError, zlib.error, lzma.LZMAError, ValueError, OverflowError, RecursionError, OSError)
_ZIP_FAILURES = (zipfile.BadZipFile, struct.error, NotImplementedError, *_FAILURES)
_READ_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})

_ENCRYPTED, _UTF8 = 0x1, 0x800  # bits of a zip entry's flags
_END, _END_64, _LOCATOR_64 = b"PK\5\6", b"PK\6\6", b"PK\6\7"
_END_BYTES, _END_64_BYTES, _LOCATOR_BYTES, _LONGEST_COMMENT = 22, 56, 20, 1 << 16
_ENTRY, _ENTRY_BYTES = b"PK\1\2", 46


class Unusable(Exception):
    """An archive that is refused as a whole; the text says why, with the entry."""


class DamagedEntry(Exception):
    """An entry whose content cannot be read, in an archive whose others can."""


class ArchiveEntry(Struct, frozen=True):
    """A file of an archive."""

    path: str  # relative, with `/`; as stored in the archive if there is a fault
    fault: str  # the reason why it is not read; ""
    pieces: Callable[[], Iterator[bytes]]  # to be read before the next entry


class Meter:
    """Counts the bytes and entries that an archive yields, and stops it at a limit.

    Args:
        most_bytes, most_entries: limits for the whole archive.
        report: is called with the number of bytes so far, and may raise.
    """

    def __init__(self, most_bytes: int, most_entries: int, report: Callable[[int], None]) -> None:
        self._most_bytes, self._most_entries, self._report = most_bytes, most_entries, report
        self.bytes = 0
        self.entries = 0
        self.entry = ""

    def add(self, count: int) -> None:
        """Raises Unusable when the archive yields more bytes than allowed."""
        self.bytes += count
        if self.bytes > self._most_bytes:
            where = f" (at {shown(self.entry)})" if self.entry else ""
            raise Unusable(f"it unpacks to more than {self._most_bytes:,} bytes{where}")
        self._report(self.bytes)

    def next(self, name: str) -> None:
        """Raises Unusable when the archive has more entries than allowed."""
        self.entry = name
        self.entries += 1
        if self.entries > self._most_entries:
            raise self.too_many_error()
        self._report(self.bytes)

    def too_many_error(self) -> Unusable:
        """Returns the error about too many entries."""
        return Unusable(f"it has more than {self._most_entries:,} entries")

    @property
    def most_entries(self) -> int:
        """The most entries of an archive."""
        return self._most_entries


@contextmanager
def open_archive(path: Path, meter: Meter) -> Iterator[Iterator[ArchiveEntry]]:
    """Opens an archive and hands out its entries, in its order. Raises Unusable: it is damaged, of another format, or
    reaches a limit."""
    with ExitStack() as stack:
        if path.name.lower().endswith(".zip"):
            yield _list_zip_entries(path, meter, stack)
        else:
            yield _list_tar_entries(path, meter, stack)


# --- tar --------------------------------------------------------------------------------------------------------------


class _Input:
    """Reads the bytes of an archive from disk, and stops where many bytes in a row yield no content."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.silent = 0  # bytes since some content came

    def read(self, size: int = -1) -> bytes:
        """Returns at most `size` bytes. Raises Unusable."""
        data = self._file.read(size)
        self.silent += len(data)
        if self.silent > MOST_SILENT:
            raise Unusable(f"{self.silent:,} of its bytes hold no content")
        return data


class _Tar:
    """Reads the entries of a tar one after the other. `tarfile` limits neither the size of the headers nor the time
    that one header takes."""

    def __init__(self, path: Path, meter: Meter, stack: ExitStack) -> None:
        raw = stack.enter_context(path.open("rb"))
        self._input = _Input(raw)
        self._file = stack.enter_context(_decompress(path.name.lower(), raw, cast("IO[bytes]", self._input)))
        self._meter = meter
        self._headers = 0  # bytes of headers that hold names
        self._fields: dict[bytes, bytes] = {}  # for every entry from now on

    def entries(self) -> Iterator[ArchiveEntry]:
        """Raises Unusable, and _FAILURES where it is damaged."""
        fields: dict[bytes, bytes] = {}  # of the next entry
        while any(block := self._read_exactly(BLOCK_BYTES)):
            kind, size = tar_headers.read_header(block)
            if kind in tar_headers.HOLDS_FIELDS:
                fields |= self._read_fields(kind, size)
                continue
            extended = block[tar_headers.IS_EXTENDED] if kind == tar_headers.OLD_SPARSE else 0
            while extended:  # the next block lists more holes
                extended = self._read_exactly(BLOCK_BYTES)[tar_headers.IS_EXTENDED_AGAIN]
            fields = self._fields | fields
            path = tar_headers.path_of(block, fields)
            self._meter.next(path)
            size = 0 if kind in tar_headers.WITHOUT_CONTENT else int(fields.get(b"size") or size)
            content = self._read_content(size)
            if kind != tar_headers.FOLDER and not (kind == tar_headers.OLD_FILE and path.endswith("/")):
                yield ArchiveEntry(path, _find_tar_fault(kind, path, fields), partial(iter, content))
            for _ in content:  # the caller did not read it
                pass
            self._read_exactly(-size % BLOCK_BYTES)
            fields = {}
        if fields:
            raise EOFError  # their entry is missing
        while self._read(PIECE_BYTES):  # a checksum may follow the end
            pass

    def _read_fields(self, kind: bytes, size: int) -> dict[bytes, bytes]:
        """Returns the fields of a header for the next entry. Stores fields for all entries."""
        self._headers += BLOCK_BYTES + size
        most = LARGEST_HEADER + self._meter.entries * HEADER_OF_AN_ENTRY
        if self._headers > most:
            raise Unusable(f"its headers hold {self._headers:,} bytes, more than {most:,}{_after_entry(self._meter)}")
        content = self._read_exactly(size)
        self._read_exactly(-size % BLOCK_BYTES)
        if kind == tar_headers.LONG_LINK:
            return {}
        fields = tar_headers.long_name(content) if kind == tar_headers.LONG_NAME else tar_headers.pax_fields(content)
        if kind != tar_headers.PAX_FOR_ALL:
            return fields
        self._fields |= fields
        return {}

    def _read_content(self, left: int) -> Iterator[bytes]:
        try:
            while left:
                piece = self._read(min(left, PIECE_BYTES))
                if not piece:
                    raise EOFError
                left -= len(piece)
                yield piece
        except _FAILURES as error:
            raise _damage_error(self._meter) from error

    def _read_exactly(self, size: int) -> bytes:
        data = self._read(size)
        if len(data) != size:
            raise EOFError
        return data

    def _read(self, size: int) -> bytes:
        data = self._file.read(size)
        self._meter.add(len(data))
        self._input.silent = 0
        return data


def _list_tar_entries(path: Path, meter: Meter, stack: ExitStack) -> Iterator[ArchiveEntry]:
    try:
        yield from _Tar(path, meter, stack).entries()
    except _FAILURES as error:
        raise _damage_error(meter) from error


def _decompress(name: str, raw: IO[bytes], counted: IO[bytes]) -> IO[bytes]:
    if name.endswith((".gz", ".tgz")):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=counted, mode="rb"))
    if name.endswith((".bz2", ".tbz2")):
        return bz2.BZ2File(counted)
    if name.endswith((".xz", ".txz")):
        return lzma.LZMAFile(counted)
    if name.endswith((".zst", ".tzst")):
        try:
            zstd: Any = importlib.import_module("compression.zstd")
        except ImportError as error:
            raise Unusable("Python reads .zst from version 3.14 on") from error
        return cast("IO[bytes]", zstd.ZstdFile(counted))
    return raw


def _find_tar_fault(kind: bytes, path: str, fields: Mapping[bytes, bytes]) -> str:
    if kind in tar_headers.LINKS:
        return "a link"
    if kind not in tar_headers.FILES:
        return "not a regular file"
    return "a sparse file" if tar_headers.is_sparse(kind, fields) else unfit_reason(path)


def _after_entry(meter: Meter) -> str:
    return f" (after {shown(meter.entry)})" if meter.entry else ""


def _damage_error(meter: Meter) -> Unusable:
    return Unusable(f"it is damaged, or cut off{_after_entry(meter)}")


# --- zip --------------------------------------------------------------------------------------------------------------


def _list_zip_entries(path: Path, meter: Meter, stack: ExitStack) -> Iterator[ArchiveEntry]:
    try:
        file = stack.enter_context(path.open("rb"))
        _check_directory(file, meter)
        archive = stack.enter_context(zipfile.ZipFile(file))
        for info in archive.infolist():
            meter.next(info.filename)
            name = _read_zip_path(info)
            if not name.endswith("/"):
                yield ArchiveEntry(name, _find_zip_fault(info, name), partial(_read_zip_pieces, archive, info, meter))
    except _ZIP_FAILURES as error:
        raise _damage_error(meter) from error


def _check_directory(file: IO[bytes], meter: Meter) -> None:
    """Counts the entries of a zip before `zipfile` loads them all into memory. Raises Unusable: there are too many, or
    they take too much memory."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _END_BYTES - _LONGEST_COMMENT))
    tail = file.read()
    offset = tail.rfind(_END)
    if offset < 0 or offset + _END_BYTES > len(tail):
        raise Unusable("it is not a zip file, or it is cut off")
    (length,) = struct.unpack_from("<L", tail, offset + 12)
    end = size - len(tail) + offset
    if tail[offset - _LOCATOR_BYTES : offset].startswith(_LOCATOR_64):
        file.seek(max(0, end - _LOCATOR_BYTES - _END_64_BYTES))
        record = file.read(_END_64_BYTES)
        if record.startswith(_END_64):
            (length,) = struct.unpack_from("<Q", record, 40)
            end -= _LOCATOR_BYTES + _END_64_BYTES
    if length > end or length > meter.most_entries * 1000:
        raise Unusable("it is damaged, or its table of entries takes too much memory")
    file.seek(end - length)
    table = file.read(length)
    count = offset = 0
    while table.startswith(_ENTRY, offset) and offset + _ENTRY_BYTES <= length:
        count += 1
        lengths = struct.unpack_from("<HHH", table, offset + 28)
        if lengths[1] > LARGEST_EXTRA:
            name = shown(path_text(table[offset + _ENTRY_BYTES : offset + _ENTRY_BYTES + lengths[0]]))
            raise Unusable(f"{name} has {lengths[1]:,} bytes of extra fields, more than {LARGEST_EXTRA:,}")
        offset += _ENTRY_BYTES + sum(lengths)
        if count > meter.most_entries:
            raise meter.too_many_error()
    file.seek(0)


def _read_zip_path(info: zipfile.ZipInfo) -> str:
    """Returns the name of an entry; a name without the UTF-8 flag is read as UTF-8 too if possible."""
    name = info.filename
    if not info.flag_bits & _UTF8:
        try:
            name = path_text(name.encode("cp437"))
            name.encode("utf-8")
        except UnicodeError:
            name = info.filename
    return name.replace("\\", "/")


def _find_zip_fault(info: zipfile.ZipInfo, name: str) -> str:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a link"
    if kind not in (0, stat.S_IFREG):
        return "not a regular file"
    if info.flag_bits & _ENCRYPTED:
        return "encrypted"
    if info.compress_type not in _READ_METHODS:  # `zipfile` would decompress all of it at once
        return "compressed by another method than deflate"
    return unfit_reason(name)


def _read_zip_pieces(archive: zipfile.ZipFile, info: zipfile.ZipInfo, meter: Meter) -> Iterator[bytes]:
    try:
        with archive.open(info) as file:
            while piece := file.read(PIECE_BYTES):
                meter.add(len(piece))
                yield piece
    except _ZIP_FAILURES as error:
        raise DamagedEntry from error


_LONGEST_PART, _LONGEST_PATH = 255, 1024  # bytes: what Linux and macOS take
_OF_GIT = frozenset({".git", "git~1"})
"""Names of the folder of git, also as Windows and macOS take them: it would be read as a repository."""


def unfit_reason(name: str) -> str:
    """Returns the reason why a name cannot be used; "" if it can."""
    parts = name.split("/")
    if name.startswith(("/", "\\")) or name[1:2] == ":":
        return "an absolute name"
    if ".." in parts:
        return "a name that leads out"
    if "\\" in name or "\0" in name or any(part in ("", ".") for part in parts):
        return "an odd name"
    if len(path_bytes(name)) > _LONGEST_PATH or len(parts) > DEEPEST + 1:
        return "a name that is too long"
    if any(len(path_bytes(part)) > _LONGEST_PART for part in parts):
        return "a name that is too long"
    if any(normalize_name(part) in _OF_GIT for part in parts):
        return "data of git"
    return ""


@lru_cache(1 << 12)  # the folders of one archive come again and again
def normalize_name(name: str) -> str:
    """Returns a form that is equal for names that some system takes for the same, such as names in another case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold()).rstrip(". ")
