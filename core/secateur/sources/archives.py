"""Unpacks archives into the user's cache, where they are read as folders without git.

    folder = unpack_archive(Path("flask-3.0.tgz"), cache_dir, FetchOptions())    # …/archives/flask-3.0-4f2c…/flask-3.0
    archive_at(folder).notice()                                            # entries that were left out

The folder is named by the content, so a second call finds it. An archive is unpacked into a temporary folder and
renamed: the result is complete or missing. Only plain files are written, into a new folder, under names that cannot
lead out of it. A single folder at the top that holds everything is dropped."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from itertools import accumulate
from operator import add
from pathlib import Path
from time import monotonic

import msgspec

from secateur.errors import RepositoryError, shown, unreadable
from secateur.progress import Progress, unreported
from secateur.settings import InputLimits
from secateur.sources.archive_entries import DamagedEntry, Meter, Unusable, normalize_name, open_archive
from secateur.sources.archive_record import RECORD, SUFFIXES, LeftOutEntries, UnpackedArchive, archive_at
from secateur.sources.cache_folders import hold_folder, remove_folder, unwritable_cache
from secateur.sources.fetch_options import FetchOptions
from secateur.sources.files import path_bytes

UNUSABLE = "ARCHIVE_REFUSED"
"""Code of the error for an archive that is not read."""

RATIO = 100
"""Most bytes that one byte of an archive may unpack to: source code shrinks to a tenth, a log to a fiftieth."""

ENTRIES_PER_MB = 100
"""Most entries of an archive for each megabyte that it may unpack to: 200,000 for the usual 2,000 MB."""

_FREE_BYTES = 50_000_000  # always allowed, whatever the ratio
_FREE_NAMES, _NAMES_OF_AN_ENTRY = 1000, 3
"""Files and folders that an archive may always create, and how many more per entry: most archives have an entry for
each folder too."""

_REMOVING_SECONDS = 1.0
_FOLDER, _UNFINISHED = "archives", ".new"  # no name begins with a dot
_LAYOUT = b"1"
"""Changes when the same archive would be unpacked to another folder."""

_DIGEST_DIGITS = 16
_NAME_LETTERS = 40
_PIECE_BYTES = 1 << 20
_NAME_REFUSED = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)
_MB = 10**6

_digests: dict[tuple[str, int, int, int, int], str] = {}
"""Digest by path and file status, for a call that asks several times."""


def archive_cache_folder(path: Path, cache_dir: Path, progress: Progress = unreported) -> Path:
    """Returns the folder for an archive's content, which may not exist yet. Raises SecateurError if it cannot be
    read."""
    stem = path.name[: -len(next(suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)))]
    clean = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in stem)
    name = clean.strip(".")[:_NAME_LETTERS] or "archive"
    return cache_dir / _FOLDER / f"{name}-{_compute_digest(path, progress)}" / name


def unpack_archive(path: Path, cache_dir: Path, options: FetchOptions | None) -> Path:
    """Returns the folder with the content of an archive.

    Raises:
        RepositoryError: it is damaged, encrypted, or reaches a limit (`ARCHIVE_REFUSED`); the cache cannot be written.
        SecateurError: it cannot be read.
    """
    options = options or FetchOptions()
    if options.reads is not None:
        options.reads(path)
    with options.open_progress() as progress:
        folder = archive_cache_folder(path, cache_dir, progress)
        if archive_at(folder) is not None and folder.is_dir():
            return folder
        home = folder.parent
        try:
            home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with hold_folder(home, progress):
                if archive_at(folder) is None or not folder.is_dir():
                    _unpack(path, folder, options.limits(), progress)
        except OSError as error:
            raise unwritable_cache(home, error) from error
    return folder


def remove_unpacked(path: Path, cache_dir: Path) -> int:
    """Removes an unpacked archive and returns how many bytes it held. Raises OSError."""
    return remove_folder(archive_cache_folder(path, cache_dir).parent)


def _unpack(path: Path, folder: Path, limits: InputLimits, progress: Progress) -> None:
    """Writes the files of an archive into a new folder and renames it. Raises RepositoryError, OSError."""
    home, unfinished = folder.parent, folder.with_name(_UNFINISHED)
    shutil.rmtree(home, ignore_errors=True)  # of a process that was killed
    unfinished.mkdir(parents=True)
    most = min(limits.archive_mb * _MB, max(_FREE_BYTES, RATIO * path.stat().st_size))
    meter = Meter(most, limits.archive_mb * ENTRIES_PER_MB, lambda done: progress("unpacking", done // _MB, 0))
    writer = _Writer(unfinished, meter)
    try:
        try:
            with open_archive(path, meter) as entries:
                for entry in entries:
                    writer.take(entry.path, entry.fault, entry.pieces)
        except Unusable as error:
            raise _refusal_error(path, str(error), limits) from error
        if not writer.files and writer.left_out:
            first = next(iter(writer.left_out.values()))
            raise _refusal_error(
                path, f"none of its entries can be read: {first.first} is left out ({first.reason})", limits
            )
        top = writer.sole_top
        left_out = [writer.left_out[reason] for reason in sorted(writer.left_out)]
        record = msgspec.to_builtins(UnpackedArchive(path.name, left_out)) | {"folder": folder.name}
        home.joinpath(RECORD).write_text(json.dumps(record) + "\n", encoding="utf-8")
        (unfinished / top).rename(folder)
    except Exception:
        shutil.rmtree(home, ignore_errors=True)
        raise
    except BaseException:  # somebody who presses Ctrl-C does not wait until a hundred thousand files are removed
        remove_within(_REMOVING_SECONDS, home)
        raise
    shutil.rmtree(unfinished, ignore_errors=True)


def remove_within(seconds: float, home: Path) -> None:
    """Removes what it can of a folder in the given time; the next call to unpack removes the rest."""
    until = monotonic() + seconds
    with suppress(OSError):
        for folder, _, files in os.walk(os.fsencode(home), topdown=False):
            for name in files:
                if monotonic() < until:
                    os.unlink(os.path.join(folder, name))  # noqa: PTH108, PTH118 - bytes
            os.rmdir(folder)  # noqa: PTH106 - bytes


class _Writer:
    """Writes entries below its own folder, each name once."""

    def __init__(self, root: Path, meter: Meter) -> None:
        self._root = os.fsencode(root)
        self._meter = meter
        self._names: dict[str, str] = {}  # by normalized name -> the path; folders end in `/`
        self._tops: set[str] = set()
        self.left_out: dict[str, LeftOutEntries] = {}
        self.files = 0

    @property
    def sole_top(self) -> str:
        """The only top-level folder, if it holds every file; otherwise ""."""
        top = next(iter(self._tops), "")
        return top.removesuffix("/") if len(self._tops) == 1 and top.endswith("/") else ""

    def take(self, path: str, fault: str, pieces: Callable[[], Iterable[bytes]]) -> None:
        """Writes one entry, or counts it as left out."""
        fault = fault or self._claim_name(path)
        if not fault:
            fault = self._write(path, pieces)
        if fault:
            before = self.left_out.get(fault, LeftOutEntries(fault, 0, shown(path)))
            self.left_out[fault] = LeftOutEntries(fault, before.count + 1, before.first)
            return
        self.files += 1
        top, slash, _ = path.partition("/")
        self._tops.add(top + slash)

    def _claim_name(self, path: str) -> str:
        """Claims a name. Returns the reason why it is not free; "" if it is."""
        parts = path.split("/")
        endings = ["/"] * (len(parts) - 1) + [""]
        paths = accumulate(map(add, parts, endings))
        wanted = dict(zip(accumulate(f"{normalize_name(part)}/" for part in parts), paths, strict=True))
        for key, claimed in wanted.items():
            other = self._names.get(key)
            if other is not None and (other != claimed or not claimed.endswith("/")):
                return "a name that occurs twice" if other == claimed else "a name that equals another on some systems"
        self._names |= wanted
        most = _FREE_NAMES + _NAMES_OF_AN_ENTRY * self._meter.entries
        if len(self._names) > most:
            raise Unusable(
                f"its first {self._meter.entries:,} entries need more than {most:,} folders (at {shown(path)})"
            )
        return ""

    def _write(self, path: str, pieces: Callable[[], Iterable[bytes]]) -> str:
        target = os.path.join(self._root, path_bytes(path))  # noqa: PTH118 - bytes
        try:
            os.makedirs(os.path.dirname(target), exist_ok=True)  # noqa: PTH103, PTH120 - bytes
            with open(target, "xb") as file:  # noqa: PTH123 - bytes
                for piece in pieces():
                    file.write(piece)
        except DamagedEntry:
            os.unlink(target)  # noqa: PTH108 - bytes
            return "damaged"
        except OSError as error:
            if error.errno not in _NAME_REFUSED:
                raise
            return "a name that this system does not allow"
        return ""


def _compute_digest(path: Path, progress: Progress) -> str:
    try:
        status = path.stat()
        look = str(path.absolute()), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
        if look not in _digests:
            total = sha256(_LAYOUT)
            with path.open("rb") as file:
                while piece := file.read(_PIECE_BYTES):
                    total.update(piece)
                    progress("reading", 0, 0)
            _digests[look] = total.hexdigest()[:_DIGEST_DIGITS]
        return _digests[look]
    except OSError as error:
        raise unreadable(path, error) from error


def _refusal_error(path: Path, reason: str, limits: InputLimits) -> RepositoryError:
    hint = "unpack it yourself, if you trust it, and name the folder"
    if "entries" in reason or "unpacks to" in reason:
        hint += f"; the limits are {RATIO} bytes for one, inputs.archive_mb = {limits.archive_mb:,} and"
        hint += f" {ENTRIES_PER_MB} entries for each of these megabytes"
    return RepositoryError(f"{shown(path)} is not read: {reason}", hint=hint, code=UNUSABLE)
