"""Lists the files of a work tree as git would commit them, without running filters of the repository or git.

    listing, unread = FilesOnDisk(git, objects).listing(git.ls_files())      # {b"a/b.py": (0o100644, id)}

Systems differ. If file modes do not show programs, or there are no links, the index decides. If git is installed to
convert line ends on disk, files are compared with the line ends that a commit would have.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from secateur.kinds.diff.temporary_objects import TemporaryObjects
from secateur.sources.files import Folder, path_bytes
from secateur.sources.git import GITLINK, SYMBOLIC_LINK, Git, TreeEntry
from secateur.sources.location import git_dir_of
from secateur.sources.refs import common_folder, head_commit
from secateur.system.files import GIT_CONVERTS_LINES, TELLS_EXECUTABLE, is_link, link_target, path_below

LARGEST_FILE = 256 << 20
"""Bytes of a file on disk above which it is not compared."""

PLAIN_FILE, PROGRAM = 0o100644, 0o100755
"""Modes that git gives files."""

_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_POINTER_BYTES = 1024

Listing = dict[bytes, tuple[int, str]]
"""Mode and id by path."""


class FilesOnDisk:
    """Lists the files on disk (see the module) and stores new contents as objects."""

    def __init__(
        self,
        git: Git,
        objects: TemporaryObjects,
        *,
        tells_executable: bool = TELLS_EXECUTABLE,
        converts_lines: bool = GIT_CONVERTS_LINES,
    ) -> None:
        """The last two describe this system; tests set them."""
        self._git, self._objects = git, objects
        self._tells_executable, self._converts_lines = tells_executable, converts_lines

    def listing(self, entries: Sequence[TreeEntry]) -> tuple[Listing, list[str]]:
        """Lists mode and id of every file that exists on disk, and the unreadable files, which count as unchanged.

        Raises:
            RepositoryError: git failed, or the temporary folder cannot be written.
        """
        listing: Listing = {}
        unread: list[str] = []
        candidates: list[tuple[TreeEntry, int]] = []
        absent = self._git.list_absent()
        with Folder(self._git.root) as folder:
            for entry in entries:
                path = path_bytes(entry.path)
                if entry.mode == GITLINK or entry.path in absent:
                    commit = self._submodule_commit(path) if entry.mode == GITLINK else None
                    listing[path] = (entry.mode, commit or entry.oid)
                    continue
                mode = self._mode(entry)
                if mode is None:
                    continue
                data = self._target(path) if mode == SYMBOLIC_LINK else None
                data = folder.read(entry.path, LARGEST_FILE) if data is None else data
                if data is None:
                    unread.append(entry.path)
                    if entry.oid:
                        listing[path] = (entry.mode, entry.oid)
                    continue
                oid = self._objects.blob_id(data)
                if self._converts_lines and oid != entry.oid:
                    data = self._with_committed_line_ends(entry, data)
                    oid = self._objects.blob_id(data)
                listing[path] = (mode, oid)
                if oid != entry.oid:
                    self._objects.blob(data)
                    candidates.append((entry, mode))
            self._put_pointers(folder, candidates, listing)
        return listing, unread

    def _submodule_commit(self, path: bytes) -> str | None:
        """The commit that a submodule is at; None if it is not checked out or its repository lies elsewhere."""
        try:
            git_dir = git_dir_of(Path(os.fsdecode(path_below(self._git.root, path))) / ".git")
        except ValueError:
            return None
        ours = self._git.top, common_folder(self._git.git_dir).resolve()
        if git_dir is None or not any(folder and git_dir.is_relative_to(folder) for folder in ours):
            return None
        return head_commit(git_dir)

    def _mode(self, entry: TreeEntry) -> int | None:
        """The mode git would give a file; None if it is gone, behind a link, or not a file."""
        try:
            status = os.lstat(path_below(self._git.root, path_bytes(entry.path)))
        except (OSError, ValueError):
            return None
        if is_link(status):
            return SYMBOLIC_LINK
        if not stat.S_ISREG(status.st_mode):
            return None
        if not self._tells_executable:  # links are text files on such a system
            return entry.mode if entry.mode in (PROGRAM, SYMBOLIC_LINK) else PLAIN_FILE
        return PROGRAM if status.st_mode & 0o100 else PLAIN_FILE

    def _target(self, path: bytes) -> bytes | None:
        try:
            return link_target(path_below(self._git.root, path))
        except (OSError, ValueError):
            return None

    def _with_committed_line_ends(self, entry: TreeEntry, data: bytes) -> bytes:
        """Converts a text as git would on commit: to plain line ends if it is new or has them in the index."""
        if b"\r\n" not in data or b"\0" in data:
            return data
        plain = data.replace(b"\r\n", b"\n")
        if not entry.oid or self._objects.blob_id(plain) == entry.oid:
            return plain
        (before,) = self._git.blobs([entry.oid], max_bytes=LARGEST_FILE)
        return data if before is None or b"\r\n" in before else plain

    def _put_pointers(self, folder: Folder, candidates: list[tuple[TreeEntry, int]], listing: Listing) -> None:
        """Replaces files that are Git LFS pointers in the index by pointers: their content was never committed."""
        tracked = [(entry, mode) for entry, mode in candidates if entry.oid and mode != SYMBOLIC_LINK]
        if not tracked:
            return
        blobs = self._git.blobs([entry.oid for entry, _ in tracked], max_bytes=_POINTER_BYTES)
        for (entry, mode), pointer in zip(tracked, blobs, strict=True):
            if pointer and pointer.startswith(_LFS_POINTER):
                from hashlib import sha256

                data = folder.read(entry.path, LARGEST_FILE) or b""
                if not data.startswith(_LFS_POINTER):
                    line = b"%boid sha256:%b\nsize %d\n" % (_LFS_POINTER, sha256(data).hexdigest().encode(), len(data))
                    listing[path_bytes(entry.path)] = (mode, self._objects.blob(line))
