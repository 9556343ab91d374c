"""The file beside an unpacked archive that says what it was unpacked from. It imports little."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from secateur.notice import Notice
from secateur.sources.provenance import small_file

RECORD = "secateur-archive.json"

LEFT_OUT = "archive_entries"
"""Code of the notice that entries of an archive are not read."""

SUFFIXES = (
    *(".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".tar.zst", ".tzst"),
    *(".tar", ".zip"),
)
"""Endings of the names of archives, the longer ones first."""

_RECORD_BYTES = 1 << 20


class LeftOutEntries(Struct, frozen=True):
    """Entries of an archive that are not read for one reason."""

    reason: str
    count: int
    first: str


class UnpackedArchive(Struct, frozen=True):
    """Says what a folder was unpacked from."""

    archive: str  # the name of its file
    left_out: Sequence[LeftOutEntries] = field(default_factory=tuple)

    def notice(self) -> Notice | None:
        """Returns the warning about entries that are not read; None if all are."""
        if not self.left_out:
            return None
        left_out = ", ".join(f"{entry.count:,} ({entry.reason}; the first is {entry.first})" for entry in self.left_out)
        return Notice(LEFT_OUT, f"Entries of {self.archive} are left out: {left_out}.")


def is_archive(path: Path) -> bool:
    """Tells whether a path is a file whose name ends like that of an archive."""
    try:
        return path.name.lower().endswith(SUFFIXES) and path.is_file()
    except (OSError, ValueError):
        return False


def archive_at(folder: Path) -> UnpackedArchive | None:
    """Returns the archive that a folder was unpacked from; None for any other folder."""
    content = small_file(folder.parent / RECORD, _RECORD_BYTES)
    if not content:
        return None
    try:
        record = json.loads(content)
        left = [LeftOutEntries(str(out["reason"]), int(out["count"]), str(out["first"])) for out in record["left_out"]]
        return UnpackedArchive(str(record["archive"]), tuple(left)) if record["folder"] == folder.name else None
    except (ValueError, KeyError, TypeError):
        return None
