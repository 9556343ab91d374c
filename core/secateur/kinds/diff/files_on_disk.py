"""Files of a work tree as git would commit them, without a filter of the repository, and without git's help.

    found, unread = FilesOnDisk(git, objects).listing(git.ls_files())      # {b"a/b.py": (0o100644, id)}

Systems differ: where a file's mode does not say that it is a program, or there are no links, the index says so; where
git is installed to end lines on disk otherwise than in commits, they are compared as they are in commits.
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

Listed = dict[bytes, tuple[int, str]]
"""Mode and id by path."""


class FilesOnDisk:
    """See the module; new contents become objects."""

    def __init__(
        self,
        git: Git,
        objects: TemporaryObjects,
        *,
        tells_executable: bool = TELLS_EXECUTABLE,
        converts_lines: bool = GIT_CONVERTS_LINES,
    ) -> None:
        """The last two are those of this system, but for a test."""
        self._git, self._objects = git, objects
        self._tells_executable, self._converts_lines = tells_executable, converts_lines

    def listing(self, entries: Sequence[TreeEntry]) -> tuple[Listed, list[str]]:
        """Mode and id of every file as it is on disk, what is gone left out; and the files that could not be read,
        which count as unchanged.

        Raises:
            RepositoryError: git failed, or the temporary folder cannot be written.
        """
        found: Listed = {}
        unread: list[str] = []
        candidates: list[tuple[TreeEntry, int]] = []
        absent = self._git.list_absent()
        with Folder(self._git.root) as folder:
            for entry in entries:
                path = path_bytes(entry.path)
                if entry.mode == GITLINK or entry.path in absent:
                    commit = self._submodule_commit(path) if entry.mode == GITLINK else None
                    found[path] = (entry.mode, commit or entry.oid)
                    continue
                mode = self._mode(entry)
                if mode is None:
                    continue
                data = self._target(path) if mode == SYMBOLIC_LINK else None
                data = folder.read(entry.path, LARGEST_FILE) if data is None else data
                if data is None:
                    unread.append(entry.path)
                    if entry.oid:
                        found[path] = (entry.mode, entry.oid)
                    continue
                oid = self._objects.blob_id(data)
                if self._converts_lines and oid != entry.oid:
                    data = self._with_committed_line_ends(entry, data)
                    oid = self._objects.blob_id(data)
                found[path] = (mode, oid)
                if oid != entry.oid:
                    self._objects.blob(data)
                    candidates.append((entry, mode))
            self._put_pointers(folder, candidates, found)
        return found, unread

    def _submodule_commit(self, path: bytes) -> str | None:
        """The commit that a submodule stands at; None where it is not checked out, or its repository lies elsewhere."""
        try:
            git_dir = git_dir_of(Path(os.fsdecode(path_below(self._git.root, path))) / ".git")
        except ValueError:
            return None
        ours = self._git.top, common_folder(self._git.git_dir).resolve()
        if git_dir is None or not any(folder and git_dir.is_relative_to(folder) for folder in ours):
            return None
        return head_commit(git_dir)

    def _mode(self, entry: TreeEntry) -> int | None:
        """The mode git would give a file; None for what is gone, behind a link, or no file."""
        try:
            status = os.lstat(path_below(self._git.root, path_bytes(entry.path)))
        except (OSError, ValueError):
            return None
        if is_link(status):
            return SYMBOLIC_LINK
        if not stat.S_ISREG(status.st_mode):
            return None
        if not self._tells_executable:  # a link is a file there that holds its text
            return entry.mode if entry.mode in (PROGRAM, SYMBOLIC_LINK) else PLAIN_FILE
        return PROGRAM if status.st_mode & 0o100 else PLAIN_FILE

    def _target(self, path: bytes) -> bytes | None:
        try:
            return link_target(path_below(self._git.root, path))
        except (OSError, ValueError):
            return None

    def _with_committed_line_ends(self, entry: TreeEntry, data: bytes) -> bytes:
        """A text as git would commit it: with plain line ends where it is new, or is so in the index."""
        if b"\r\n" not in data or b"\0" in data:
            return data
        plain = data.replace(b"\r\n", b"\n")
        if not entry.oid or self._objects.blob_id(plain) == entry.oid:
            return plain
        (before,) = self._git.blobs([entry.oid], max_bytes=LARGEST_FILE)
        return data if before is None or b"\r\n" in before else plain

    def _put_pointers(self, folder: Folder, candidates: list[tuple[TreeEntry, int]], found: Listed) -> None:
        """Files that the index holds as pointers of Git LFS are compared as pointers: nobody committed their
        content."""
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
                    found[path_bytes(entry.path)] = (mode, self._objects.blob(line))
