"""Finds the git repository of a folder by looking for `.git`, without running git."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from secateur.sources.provenance import ALLOWED_BY, foreign
from secateur.system.files import owner, user

_READ_AT_START = ("config", "index", "packed-refs", "info/exclude")
"""Files git opens without looking: one that is a pipe would make it wait for ever."""

_GITFILE_BYTES = 1 << 14


class NoGit(Enum):
    """The reasons why there is no `Git` for a folder."""

    NO_REPOSITORY = "it is not in a git repository"
    NO_BINARY = "git was not found on the PATH"
    BROKEN_REPOSITORY = "its .git is damaged, leads nowhere, or has a pipe where git needs a file"


@dataclass(frozen=True, slots=True)
class ForeignRepository:
    """The reason why the repository that a folder leads to is not read: it is not of that folder. Asked for like a
    `NoGit`."""

    value: str

    name = "FOREIGN_REPOSITORY"
    hint = f"If you trust the folder: {ALLOWED_BY}."


@dataclass(frozen=True, slots=True)
class Location:
    """A repository on disk."""

    git_dir: Path
    top: Path | None  # the folder that holds `.git`; None for a bare repository

    def foreign(self) -> str:
        """The part that lies elsewhere without belonging here; "" for nothing: see `provenance`."""
        return foreign(self.git_dir, self.top / ".git" if self.top else None)


def locate(folder: Path) -> Location | None:
    """The repository `folder` is in, found without running git; None when there is none.

    An enclosing repository counts only when it belongs to the same user as `folder` or to us: a `.git` somebody else
    left in a shared parent folder is not ours to read.
    """
    folder = folder.resolve()
    owners = {user(), owner(folder)}
    for candidate in (folder, *folder.parents):
        dot_git = candidate / ".git"
        git_dir = git_dir_of(dot_git)
        if git_dir is not None and (candidate == folder or owner(dot_git) in owners):
            return Location(git_dir, candidate)
        if candidate == folder and _is_git_dir(folder):
            return Location(folder, None)
    return None


def git_dir_of(dot_git: Path) -> Path | None:
    """The repository folder a `.git` stands for: itself, or what a `gitdir:` file (worktree, submodule) names; None
    when it is neither."""
    try:
        if dot_git.is_dir():
            return dot_git.resolve() if _is_git_dir(dot_git) else None
        if not stat.S_ISREG(dot_git.lstat().st_mode):
            return None
        with dot_git.open("rb") as file:
            found = re.fullmatch(rb"gitdir: ([^\0]+?)[\r\n]*", file.read(_GITFILE_BYTES), re.DOTALL)
        target = (dot_git.parent / os.fsdecode(found[1])).resolve() if found else None
    except (OSError, RuntimeError):  # not readable, or a ring of links
        return None
    return target if target and _is_git_dir(target) else None


def _is_git_dir(folder: Path) -> bool:
    """Tells whether a folder is what git demands of a repository: HEAD, and objects and refs here or in the common
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
    """Tells whether a `.git` that is no repository was one, or is meant to be: anything but an empty folder."""
    try:
        return any(dot_git.iterdir()) if dot_git.is_dir() else os.path.lexists(dot_git)
    except OSError:
        return True
