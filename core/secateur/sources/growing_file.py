"""Reads a file that another program writes to: each byte once, in complete lines.

    file = GrowingFile(path)
    change = file.look()       # never waits; the caller decides when to look
    change.kind                # "same" | "grown" | "anew" | "gone"
    change.lines               # complete new lines; for "anew", all lines

A file that was truncated, rewritten or replaced is read again from the start, and the change says so. A line without an
end is held back.
"""

import stat
import zlib
from pathlib import Path
from typing import BinaryIO, Literal

from msgspec import Struct

from secateur.errors import too_large, unreadable

PROBE = 4096  # bytes at the start, and at the end of what was read, by which a file is recognized
_BLOCK = 1 << 20

Change = Literal["same", "grown", "anew", "gone"]


class FileChange(Struct, frozen=True):
    """The difference between two looks."""

    kind: Change
    lines: tuple[bytes, ...] = ()
    why: str = ""  # for "anew" after the first look, for people: "was cut off", "was replaced by another file"


class GrowingFile:
    """Reads a growing file; see the module docstring. Follows symbolic links only if a person named the path itself."""

    def __init__(self, path: Path, largest: int, what: str) -> None:
        """Args: `largest`: most bytes of an accepted file; `what`: the kind of file in errors: "transcript"."""
        self.path, self._largest, self._what = path, largest, what
        self._identity: tuple[int, int] | None = None  # device and inode; None: not read yet
        self._stamp: tuple[int, int] = (0, 0)  # time of the last change in nanoseconds, size
        self._start, self._end = b"", b""
        self._read = 0  # bytes
        self._sum = 0  # CRC-32 of them
        self._was_there = False
        self._taken = False  # the line before the next byte was taken without its line end
        self._rest = b""  # of a line that is not ended yet

    @property
    def open_end(self) -> bytes:
        """The last line, if it has no line end yet."""
        return self._rest

    def take_open_end(self) -> bytes:
        """Takes the last line as it is. Only its line end may still follow; otherwise the file is read again."""
        line, self._rest, self._taken = self._rest, b"", True
        return line

    def look(self) -> FileChange:
        """Returns the change since the last look; the first look reads the whole file. Raises SecateurError:
        `UNREADABLE`, `TOO_LARGE`; `NO_SUCH_FILE` at the first look."""
        try:
            status = self.path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise unreadable(self.path, "it is a folder" if stat.S_ISDIR(status.st_mode) else "it is not a file")
            if status.st_size > self._largest:
                raise too_large(self.path, self._largest, self._what)
            stamp, identity = (status.st_mtime_ns, status.st_size), (status.st_dev, status.st_ino)
            if identity == self._identity and stamp == self._stamp:
                return FileChange("same")
            with self.path.open("rb") as file:
                if (why := self._change_reason(identity, status.st_size, file)) is not None:
                    self._forget()
                before = self._read
                lines = self._read_lines(file)
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

    def _change_reason(self, identity: tuple[int, int], size: int, file: BinaryIO) -> str | None:
        """Returns why the part that was read is no longer the beginning of the file; "" at the first look, None if it
        still is."""
        if self._identity is None:
            return ""
        if identity != self._identity:
            return "was replaced by another file"
        if size < self._read:
            return "was cut off"
        if size == self._read:  # nothing was appended, but the file was written to: compare all of it
            return None if _compute_checksum(file, self._read) == self._sum else "was rewritten"
        if file.read(len(self._start)) != self._start:
            return "was rewritten"
        file.seek(self._read - len(self._end))
        if file.read(len(self._end)) != self._end:
            return "was rewritten"
        return "was rewritten" if self._taken and file.read(1) != b"\n" else None

    def _read_lines(self, file: BinaryIO) -> tuple[bytes, ...]:
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


def _compute_checksum(file: BinaryIO, size: int) -> int:
    checksum = 0
    while size > 0 and (block := file.read(min(_BLOCK, size))):
        checksum, size = zlib.crc32(block, checksum), size - len(block)
    return checksum
