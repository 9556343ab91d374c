"""Makes diffs in a repository of our own, in a temporary folder, that borrows the objects of another.

The other repository's configuration — attributes that call a file binary, drivers, filters, converters, orders,
replaced objects — is never read here. Uncommitted contents become objects here, without a filter, and nothing is
written to the repository itself.

    with TemporaryObjects(git) as objects:
        tree = objects.tree({b"a.py": (0o100644, objects.blob(data))})
        diff = objects.git.diff(git.tree(commit), tree)

A work tree is listed as git would commit it:

    listing, unread = FilesOnDisk(git, objects).listing(git.ls_files())      # {b"a/b.py": (0o100644, id)}

Systems differ. If file modes do not show programs, or there are no links, the index decides. If git is installed to
convert line ends on disk, files are compared with the line ends that a commit would have.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from secateur.errors import RepositoryError
from secateur.sources.files import Folder, path_bytes
from secateur.sources.git import GITLINK, SYMBOLIC_LINK, Git, TreeEntry
from secateur.sources.process import find_git
from secateur.sources.provenance import Location, common_folder, git_dir_of, head_commit
from secateur.system.files import path_below

TREE = 0o040000

# Largest file for which git shows how it differs: no chunk has room for a diff of a larger one.
LARGEST_COMPARED = 8 << 20

_SHA256_DIGITS = 64
_CONFIG = "[core]\n\trepositoryformatversion = {version}\n\tbare = true\n\tbigFileThreshold = {largest}\n{extensions}"
_SHA256_EXTENSION = "[extensions]\n\tobjectFormat = sha256\n"
_FASTEST = 1  # compression level: the objects are read once


class TemporaryObjects:
    """A temporary repository (see the module). `git` reads it; ids are the ids of git. Raises RepositoryError: git is
    gone, or the temporary folder cannot be written."""

    def __init__(self, git: Git, *, digits: int) -> None:
        self._of = git.root
        self._sha256 = digits == _SHA256_DIGITS
        self._objects_of_it = common_folder(git.git_dir).resolve() / "objects"
        if (binary := find_git(os.environ.get("PATH", ""), outside=git.top or git.git_dir)) is None:
            raise RepositoryError(
                "git was not found on the PATH", hint="Install git, or give a diff with --diff.", code="NO_BINARY"
            )
        self._binary = binary

    def __enter__(self) -> TemporaryObjects:
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="secateur-")).resolve()
            for part in ("objects/info", "refs"):
                (self._folder / part).mkdir(parents=True)
            (self._folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
            version, extensions = (1, _SHA256_EXTENSION) if self._sha256 else (0, "")
            (self._folder / "config").write_text(
                _CONFIG.format(version=version, extensions=extensions, largest=LARGEST_COMPARED), encoding="ascii"
            )
            path = os.fsencode(self._objects_of_it.as_posix())
            plain = [bytes([byte]) if 32 <= byte <= 126 and byte not in b'"\\' else b"\\%03o" % byte for byte in path]
            (self._folder / "objects/info/alternates").write_bytes(b'"%b"\n' % b"".join(plain))
        except OSError as error:
            raise _cannot_write("folder", error) from error
        self.git = Git(self._binary, Location(self._folder, None), self._folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        if isinstance(error, RepositoryError):  # name the repository, not the temporary folder
            error.message = error.message.replace(str(self._folder), str(self._of))
            error.args = (error.message,)

    def blob_id(self, data: bytes) -> str:
        """Returns the id of a content without writing it."""
        return self._hash(b"blob %d\0" % len(data), data)

    def blob(self, data: bytes) -> str:
        """Writes a content and returns its id."""
        return self._keep(b"blob %d\0" % len(data), data)

    def tree(self, files: Mapping[bytes, tuple[int, str]]) -> str:
        """Writes a tree of (mode, id) by path, with all trees below it, and returns its id. A path that is also a
        folder of another path is left out."""
        folders: dict[bytes, dict[bytes, tuple[int, str]]] = {}
        entries: dict[bytes, tuple[int, str]] = {}
        for path, entry in files.items():
            folder, slash, rest = path.partition(b"/")
            if slash:
                folders.setdefault(folder, {})[rest] = entry
            else:
                entries[path] = entry
        for folder, below in folders.items():
            entries[folder] = (TREE, self.tree(below))
        ordered = sorted(entries.items(), key=lambda item: item[0] + (b"/" if item[1][0] == TREE else b""))
        data = b"".join(b"%o %b\0%b" % (mode, name, bytes.fromhex(oid)) for name, (mode, oid) in ordered)
        return self._keep(b"tree %d\0" % len(data), data)

    def _hash(self, head: bytes, data: bytes) -> str:
        digest = hashlib.sha256(head) if self._sha256 else hashlib.sha1(head, usedforsecurity=False)
        digest.update(data)
        return digest.hexdigest()

    def _keep(self, head: bytes, data: bytes) -> str:
        oid = self._hash(head, data)
        path = self._folder / "objects" / oid[:2] / oid[2:]
        if not path.exists():
            try:
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(zlib.compress(head + data, _FASTEST))
            except OSError as error:
                raise _cannot_write("file", error) from error
        return oid


def _cannot_write(what: str, error: OSError) -> RepositoryError:
    return RepositoryError(
        f"cannot write a temporary {what}: {error.strerror}", hint="Set TMPDIR to a folder with room.", code="TEMPORARY"
    )


LARGEST_FILE = 256 << 20  # bytes of a file on disk above which it is not compared

PLAIN_FILE, PROGRAM = 0o100644, 0o100755  # modes that git gives files
_LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_POINTER_BYTES = 1024

Listing = dict[bytes, tuple[int, str]]  # mode and id by path


class FilesOnDisk:
    """Lists the files on disk (see the module) and stores new contents as objects."""

    def __init__(self, git: Git, objects: TemporaryObjects) -> None:
        self._git, self._objects = git, objects

    def listing(self, entries: Sequence[TreeEntry]) -> tuple[Listing, list[str]]:
        """Lists mode and id of every file that exists on disk, and the unreadable files, which count as unchanged.
        Raises RepositoryError: git failed, or the temporary folder cannot be written."""
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
                if (mode := self._mode(entry)) is None:
                    continue
                data = self._target(path) if mode == SYMBOLIC_LINK else None
                data = folder.read(entry.path, LARGEST_FILE) if data is None else data
                if data is None:
                    unread.append(entry.path)
                    if entry.oid:
                        listing[path] = (entry.mode, entry.oid)
                    continue
                oid = self._objects.blob_id(data)
                listing[path] = (mode, oid)
                if oid != entry.oid:
                    self._objects.blob(data)
                    candidates.append((entry, mode))
            self._put_pointers(folder, candidates, listing)
        return listing, unread

    def _submodule_commit(self, path: bytes) -> str | None:
        try:
            git_dir = git_dir_of(Path(os.fsdecode(path_below(self._git.root, path))) / ".git")
        except ValueError:
            return None
        ours = self._git.top, common_folder(self._git.git_dir).resolve()
        if git_dir is None or not any(folder and git_dir.is_relative_to(folder) for folder in ours):
            return None
        return head_commit(git_dir)

    def _mode(self, entry: TreeEntry) -> int | None:
        try:
            status = os.lstat(path_below(self._git.root, path_bytes(entry.path)))
        except (OSError, ValueError):
            return None
        if stat.S_ISLNK(status.st_mode):
            return SYMBOLIC_LINK
        if not stat.S_ISREG(status.st_mode):
            return None
        return PROGRAM if status.st_mode & 0o100 else PLAIN_FILE

    def _target(self, path: bytes) -> bytes | None:
        try:
            return os.readlink(path_below(self._git.root, path))  # noqa: PTH115 - bytes
        except (OSError, ValueError):
            return None

    def _put_pointers(self, folder: Folder, candidates: list[tuple[TreeEntry, int]], listing: Listing) -> None:
        """Replaces files that are Git LFS pointers in the index by pointers: their content was never committed."""
        tracked = [(entry, mode) for entry, mode in candidates if entry.oid and mode != SYMBOLIC_LINK]
        if not tracked:
            return
        blobs = self._git.blobs([entry.oid for entry, _ in tracked], max_bytes=_POINTER_BYTES)
        for (entry, mode), pointer in zip(tracked, blobs, strict=True):
            if pointer and pointer.startswith(_LFS_POINTER):
                data = folder.read(entry.path, LARGEST_FILE) or b""
                if not data.startswith(_LFS_POINTER):
                    digest = hashlib.sha256(data).hexdigest().encode()
                    line = b"%boid sha256:%b\nsize %d\n" % (_LFS_POINTER, digest, len(data))
                    listing[path_bytes(entry.path)] = (mode, self._objects.blob(line))
