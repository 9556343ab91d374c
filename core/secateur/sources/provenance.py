"""Checks that the repository of a `.git` belongs to the folder of the `.git`.

A `.git` can be a file that names another folder, a link, or a folder that borrows another repository's objects. So a
folder from a stranger could show the content of any repository whose path is guessed. Only what is inside the folder
counts, and what declares that it belongs there: a further work tree (`git worktree add`) or a submodule, whose data in
the other repository names this folder.

The record in a clone: its URL and the time of the fetch. Every repeated command imports this module, so it imports
nothing that fetches.

Finds the git repository of a folder by looking for `.git`, and the commit of its HEAD, without running git.
"""

from __future__ import annotations

import json
import os
import re
import stat
import time
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from msgspec import Struct

from secateur.errors import UsageError
from secateur.sources.git_addresses import git_address
from secateur.system.files import owner

# The flag that allows all of it; `index.trust_git_dir` in the user's own configuration does the same.
ALLOWED_BY = "--trust-git-dir"

_SMALL_FILE = 1 << 16
_OF_A_REPOSITORY = ("HEAD", "config", "index", "packed-refs", "shallow", "commondir", "objects", "refs", "info")
_WORKTREE_SETTING = re.compile(rb'\s*+worktree\s*+=\s*+"?([^"\r\n]*+)("?)\s*+', re.IGNORECASE)
_CORE_SECTION = re.compile(rb"\s*\[core\]\s*", re.IGNORECASE)


def find_foreign(git_dir: Path, dot_git: Path | None) -> str:
    """Returns the part of a repository that lies elsewhere without belonging here, as a clause with its path; "" if all
    of it belongs here.

    Args:
        git_dir: the folder that holds the repository, all links resolved.
        dot_git: the `.git` that led there; None for a bare repository.
    """
    top = dot_git.parent if dot_git else git_dir
    try:
        common = common_folder(git_dir).resolve()
        if not git_dir.is_relative_to(top) and not (dot_git and _points_back(git_dir, common, dot_git)):
            return f"its .git leads to {git_dir}, and nothing there shows that it belongs to this folder"
        if common != git_dir and not _holds(common, git_dir):
            return f"its commondir leads to {common}, which does not hold it"
        inside = (top, common)
        for folder in dict.fromkeys((git_dir, common)):
            link = next((path for path in _find_links(folder) if not _is_inside(path, inside)), None)
            if link is not None:
                return f"{link} is a link to {link.resolve()}"
        borrowed = next((path for path in _list_alternates(common / "objects") if not _is_inside(path, inside)), None)
        if borrowed is None:
            return ""
        whole = "`git repack -ad`, then deleting .git/objects/info/alternates, makes it whole"
        return f"it borrows objects from {borrowed}, as a --shared or --reference clone does ({whole})"
    except (OSError, RuntimeError, ValueError) as error:  # a ring of links, a locked folder, a NUL in a name
        return f"the location of its objects cannot be determined ({getattr(error, 'strerror', None) or error})"


def small_file(path: Path, limit: int = _SMALL_FILE) -> bytes:
    """Returns the first bytes of a regular file, following links as git does; b"" if it cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return b""
        with path.open("rb") as file:
            return file.read(limit)
    except (OSError, ValueError):
        return b""


def common_folder(git_dir: Path) -> Path:
    """Returns the folder that a repository's work trees share: itself, unless it is a further work tree."""
    common = small_file(git_dir / "commondir").rstrip(b"\r\n")
    return git_dir / os.fsdecode(common) if common else git_dir


def _holds(common: Path, git_dir: Path) -> bool:
    return git_dir.parent == common / "worktrees"


def _points_back(git_dir: Path, common: Path, dot_git: Path) -> bool:
    """Tells whether the folder that a `.git` file names has the same owner and names that file, or its folder, in
    turn."""
    if owner(git_dir) != owner(dot_git):
        return False
    if common != git_dir:
        back = small_file(git_dir / "gitdir").rstrip(b"\r\n")
        return bool(back) and _holds(common, git_dir) and (git_dir / os.fsdecode(back)).resolve() == dot_git.resolve()
    work_tree, in_core = b"", False  # `core.worktree`, as git writes it for a submodule
    for line in small_file(git_dir / "config").split(b"\n"):
        if line.lstrip().startswith(b"["):
            in_core = bool(_CORE_SECTION.fullmatch(line))
        elif in_core and (setting := _WORKTREE_SETTING.fullmatch(line)):
            work_tree = (setting[1] if setting[2] else setting[1].rstrip()).replace(b"\\\\", b"\\")
    if not work_tree or dot_git.is_symlink():
        return False
    return (git_dir / os.fsdecode(work_tree)).resolve() == dot_git.parent.resolve()


def _find_links(git_dir: Path) -> Iterator[Path]:
    for name in _OF_A_REPOSITORY:
        if (git_dir / name).is_symlink():
            yield git_dir / name
    objects = git_dir / "objects"
    if not objects.is_dir():  # a further work tree has none
        return
    with os.scandir(objects) as entries:
        folders = [objects, *(Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False))]
    for folder in folders:
        with os.scandir(folder) as entries:
            yield from (Path(entry.path) for entry in entries if entry.is_symlink())


def _list_alternates(objects: Path) -> Iterator[Path]:
    """Yields the folders that a folder of objects borrows from, directly or through others. Raises ValueError: they are
    named in a way that only git can parse."""
    pending, seen = [objects], set()
    while pending:
        folder = pending.pop()
        content = small_file(folder / "info" / "alternates", _SMALL_FILE + 1)
        lines = [line for line in content.split(b"\n") if line and not line.startswith(b"#")]
        if len(content) > _SMALL_FILE or any(line.startswith(b'"') for line in lines):
            raise ValueError(f"{folder / 'info' / 'alternates'} is too long or quotes a path")
        for alternate in ((folder / os.fsdecode(line)).resolve() for line in lines):
            if alternate not in seen:
                seen.add(alternate)
                pending.append(alternate)
                yield alternate


def _is_inside(path: Path, folders: tuple[Path, ...]) -> bool:
    resolved = path.resolve()
    return any(resolved.is_relative_to(folder) for folder in folders)


RECORD = "secateur-clone.json"


class Clone(Struct, frozen=True):
    """The origin of a clone."""

    url: str
    fetched: int  # seconds since 1970
    shallow: bool = False  # the newest commit alone, as it was asked for

    @property
    def when(self) -> str:
        """The minute in which it was fetched, in UTC: the text is the same whenever it is read."""
        return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(self.fetched))


def clone_at(folder: Path) -> Clone | None:
    """Returns the record of a clone; None for any other folder."""
    if not (content := small_file(folder / RECORD)):
        return None
    try:
        record = json.loads(content)
        url, fetched, shallow = record["url"], record["fetched"], record["shallow"]
        if not isinstance(url, str) or git_address(url) is None or not 0 <= int(fetched) < 1 << 40:
            return None
        return Clone(url, int(fetched), bool(shallow))
    except (ValueError, KeyError, TypeError, UsageError):  # a file that secateur did not write
        return None


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
