"""A file that another program writes to: each byte is read once, in complete lines.

    file = GrowingFile(path)
    change = file.look()       # never waits; who looks decides when
    change.kind                # "same" | "grown" | "anew" | "gone"
    change.lines               # complete lines that were not seen before; of "anew", all that there are

What was cut off, written anew, or replaced by another file is read anew, and said. A line that is not ended yet waits.
"""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from secateur.errors import too_large, unreadable
from secateur.system.files import open_shared

PROBE = 4096
"""Bytes at the start, and at the end of what was read, by which a file is known again."""

_BLOCK = 1 << 20

Change = Literal["same", "grown", "anew", "gone"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """The difference between two looks."""

    kind: Change
    lines: tuple[bytes, ...] = ()
    why: str = ""  # for people, of "anew" after the first look: "was cut off", "was replaced by another file"


class GrowingFile:
    """See the module docstring. Symbolic links are followed only where the path itself was named by a person."""

    def __init__(self, path: Path, largest: int, what: str) -> None:
        """`largest`: bytes above which the file is refused; `what`: it is, for errors: "transcript"."""
        self.path, self._largest, self._what = path, largest, what
        self._identity: tuple[int, int] | None = None  # device and inode; None: not read yet
        self._stamp: tuple[int, int] = (0, 0)  # time of the last change in nanoseconds, size
        self._start, self._end = b"", b""
        self._read = 0  # bytes
        self._sum = 0  # CRC-32 of them
        self._was_there = False
        self._taken = False  # the line before the next byte was taken without its end
        self._rest = b""  # of a line that is not ended yet

    @property
    def open_end(self) -> bytes:
        """The last line, where it is not ended yet."""
        return self._rest

    def take_open_end(self) -> bytes:
        """Takes the last line as it is: only its end may still come, or the file is read anew."""
        line, self._rest, self._taken = self._rest, b"", True
        return line

    def look(self) -> FileChange:
        """The change since the last look; the first reads all that there is.

        Raises:
            SecateurError: `UNREADABLE`, `TOO_LARGE`; `NO_SUCH_FILE` at the first look.
        """
        try:
            found = self.path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise unreadable(self.path, "it is a folder" if stat.S_ISDIR(found.st_mode) else "it is no file")
            if found.st_size > self._largest:
                raise too_large(self.path, self._largest, self._what)
            stamp, identity = (found.st_mtime_ns, found.st_size), (found.st_dev, found.st_ino)
            if identity == self._identity and stamp == self._stamp:
                return FileChange("same")
            with open_shared(self.path) as file:
                why = self._changed(identity, found.st_size, file)
                if why is not None:
                    self._forget()
                before = self._read
                lines = self._complete(file)
        except FileNotFoundError as error:
            if not self._was_there:
                raise unreadable(self.path, error) from error
            self._forget()
            return FileChange("gone")
        except (OSError, ValueError) as error:
            raise unreadable(self.path, error) from error
        self._identity, self._stamp, self._was_there = identity, stamp, True
        if why is not None:
            return FileChange("anew", lines, why)
        return FileChange("grown" if self._read > before else "same", lines)

    def _forget(self) -> None:
        self._identity, self._read, self._sum = None, 0, 0
        self._start = self._end = self._rest = b""
        self._taken = False

    def _changed(self, identity: tuple[int, int], size: int, file: BinaryIO) -> str | None:
        """The reason why what was read is not the beginning of the file any more; "" at the first look, None where it
        still is."""
        if self._identity is None:
            return ""
        if identity != self._identity:
            return "was replaced by another file"
        if size < self._read:
            return "was cut off"
        if size == self._read:  # nothing was added, but it was written to: only reading it all tells what
            return None if _sum_of(file, self._read) == self._sum else "was written anew"
        if file.read(len(self._start)) != self._start:
            return "was written anew"
        file.seek(self._read - len(self._end))
        if file.read(len(self._end)) != self._end:
            return "was written anew"
        return "was written anew" if self._taken and file.read(1) != b"\n" else None

    def _complete(self, file: BinaryIO) -> tuple[bytes, ...]:
        """The complete lines behind what was read, without their ends."""
        file.seek(self._read)
        data = file.read(self._largest + 1 - self._read)
        if self._read + len(data) > self._largest:
            raise too_large(self.path, self._largest, self._what)
        if not data:
            return ()
        self._read += len(data)
        self._sum = zlib.crc32(data, self._sum)
        if len(self._start) < PROBE:
            self._start += data[: PROBE - len(self._start)]
        self._end = (self._end + data[-PROBE:])[-PROBE:]
        if self._taken:
            data, self._taken = data[1:], False
        *lines, self._rest = (self._rest + data).split(b"\n")
        return tuple(lines)


def _sum_of(file: BinaryIO, size: int) -> int:
    """CRC-32 of the first bytes of a file."""
    found = 0
    while size > 0 and (block := file.read(min(_BLOCK, size))):
        found, size = zlib.crc32(block, found), size - len(block)
    return found


def regular_files(folder: Path, endings: tuple[str, ...], most: int) -> list[os.DirEntry[str]]:
    """The files of a folder with names that end so, by name; no symbolic links. Empty where there is no such folder, or
    it cannot be read.

    Args:
        most: entries of the folder that are looked at.
    """
    found: list[os.DirEntry[str]] = []
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= most:
                break
            with suppress(OSError):
                if entry.name.endswith(endings) and entry.is_file(follow_symlinks=False):
                    found.append(entry)
    return sorted(found, key=lambda entry: entry.name)


def subfolders(folder: Path, most: int) -> list[Path]:
    """The folders in a folder, by name; no symbolic links. Empty where there are none."""
    found: list[Path] = []
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= most:
                break
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    found.append(Path(entry.path))
    return sorted(found)
