"""The files of an archive that was unpacked into the cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from secateur.sources.archive_record import UnpackedArchive
from secateur.sources.location import NoGit
from secateur.sources.source import MAX_FILE_BYTES
from secateur.sources.worktree import WorktreeSource


class UnpackedSource(WorktreeSource):
    """A folder without git, whatever repository the cache may lie in. It says which entries were left out."""

    def __init__(
        self, root: Path, archive: UnpackedArchive, *, ignore: Sequence[str] = (), max_file_bytes: int = MAX_FILE_BYTES
    ) -> None:
        super().__init__(root, NoGit.NO_REPOSITORY, ignore=ignore, max_file_bytes=max_file_bytes)
        if (notice := archive.notice()) is not None:
            self._note(notice.code, notice.message)

    def _top(self) -> Path | None:
        return None
