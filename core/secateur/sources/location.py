"""Finds the git repository of a folder by looking for `.git`, and the commit of its HEAD, without running git."""

from __future__ import annotations

import os
import re
import stat
from enum import Enum
from pathlib import Path

from msgspec import Struct

from secateur.sources.provenance import ALLOWED_BY, common_folder, find_foreign, small_file
from secateur.system.files import owner

# Files that git opens without checking them: a pipe would make it wait for ever.
_READ_AT_START = ("config", "index", "packed-refs", "info/exclude")

_GITFILE_BYTES = 1 << 14


class NoGit(Enum):
    """The reasons why there is no `Git` for a folder."""

    NO_REPOSITORY = "it is not in a git repository"
    NO_BINARY = "git was not found on the PATH"
    BROKEN_REPOSITORY = "its .git is damaged, leads nowhere, or has a pipe where git needs a file"


class ForeignRepository(Struct, frozen=True):
    """The reason why the repository that a folder leads to is not read: it does not belong to that folder. Has the
    attributes of a `NoGit`."""

    value: str

    name = "FOREIGN_REPOSITORY"
    hint = f"If you trust the folder: {ALLOWED_BY}."


class Location(Struct, frozen=True):
    """A repository on disk."""

    git_dir: Path
    top: Path | None  # the folder that holds `.git`; None for a bare repository

    def find_foreign(self) -> str:
        """Returns the part that lies elsewhere and does not belong here, or "". See `provenance`."""
        return find_foreign(self.git_dir, self.top / ".git" if self.top else None)


def locate(folder: Path) -> Location | None:
    """Finds the repository that contains `folder`, without running git; None outside of repositories.

    An enclosing repository counts only if it belongs to the owner of `folder` or to us: a `.git` that somebody else
    left in a shared parent folder must not be read.
    """
    folder = folder.resolve()
    owners = {os.geteuid(), owner(folder)}
    for candidate in (folder, *folder.parents):
        dot_git = candidate / ".git"
        git_dir = git_dir_of(dot_git)
        if git_dir is not None and (candidate == folder or owner(dot_git) in owners):
            return Location(git_dir, candidate)
        if candidate == folder and _is_git_dir(folder):
            return Location(folder, None)
    return None


def git_dir_of(dot_git: Path) -> Path | None:
    """Returns the repository folder that a `.git` stands for: itself, or the target of a `gitdir:` file (worktree,
    submodule); None if it is neither."""
    try:
        if dot_git.is_dir():
            return dot_git.resolve() if _is_git_dir(dot_git) else None
        if not stat.S_ISREG(dot_git.lstat().st_mode):
            return None
        with dot_git.open("rb") as file:
            match = re.fullmatch(rb"gitdir: ([^\0]+?)[\r\n]*", file.read(_GITFILE_BYTES), re.DOTALL)
        target = (dot_git.parent / os.fsdecode(match[1])).resolve() if match else None
    except (OSError, RuntimeError):  # not readable, or a ring of links
        return None
    return target if target and _is_git_dir(target) else None


def _is_git_dir(folder: Path) -> bool:
    """Tells whether a folder has what git demands of a repository: HEAD, and objects and refs there or in the common
    folder of worktrees."""
    try:
        if not ((folder / "HEAD").is_symlink() or (folder / "HEAD").is_file()):
            return False
        if any((folder / name).exists() and not (folder / name).is_file() for name in _READ_AT_START):
            return False
        return (folder / "commondir").is_file() or ((folder / "objects").is_dir() and (folder / "refs").is_dir())
    except OSError:
        return False


def is_remnant(dot_git: Path) -> bool:
    """Tells whether an invalid `.git` was a repository or is meant to be one: anything but an empty folder."""
    try:
        return any(dot_git.iterdir()) if dot_git.is_dir() else os.path.lexists(dot_git)
    except OSError:
        return True


HEAD = "HEAD"

_COMMIT = re.compile(rb"(?:[0-9a-f]{40}|[0-9a-f]{64})\n?")
_SYMBOLIC = re.compile(rb"ref:[ \t]*(refs/[^\x00-\x20\x7f:?*\[\\^~]+)\n?")
_MOST_LINKS = 5  # most symbolic references in a row, as in git
_PACKED_BYTES = 16 << 20  # two hundred thousand references


def head_commit(git_dir: Path) -> str | None:
    """Returns the commit id that HEAD leads to; None if the files do not say it plainly. Every search needs it, for
    each repository of a workspace; what only git can resolve is left to git."""
    content, common = small_file(git_dir / HEAD), common_folder(git_dir)
    for _ in range(_MOST_LINKS):
        if _COMMIT.fullmatch(content):
            return content.strip().decode("ascii")
        reference = _SYMBOLIC.fullmatch(content)
        if reference is None or b".." in reference[1] or not (common / "refs").is_dir():
            return None
        loose_file = common / os.fsdecode(reference[1])
        if os.path.lexists(loose_file):
            content = small_file(loose_file)
        else:
            packed = small_file(common / "packed-refs", _PACKED_BYTES)
            end = packed.find(b" " + reference[1] + b"\n")
            content = packed[packed.rfind(b"\n", 0, end) + 1 : end] if end >= 0 else b""
    return None
