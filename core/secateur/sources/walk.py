"""Lists the files of a folder: with git's help, or by our own walk where git cannot be asked.

Both list the same: regular files that are tracked or not ignored, in byte order of their paths. Symbolic links are not
followed, special files not opened, nested repositories and submodules not entered; each is recorded with its reason.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

from secateur.sources.files import DEEPEST, Folder, path_bytes, path_text
from secateur.sources.git import GITLINK, Git
from secateur.sources.globs import MOST_STATES
from secateur.sources.ignore import DEFAULT_IGNORE, IgnoreFilter, Rules
from secateur.sources.location import git_dir_of
from secateur.system.files import is_folder, is_link, path_below, status_of

IGNORE_FILE = ".gitignore"
_EXCLUDE_FILE = ".git/info/exclude"
IGNORE_FILE_BYTES = 256 * 1024
"""A longer `.gitignore` is passed over: nobody wrote it."""

MOST_STATES_OF_ALL = 1 << 20
"""Bytes of patterns with wildcards that one walk takes. What is passed over is listed as skipped; so is what exceeds
MOST_STATES for one path."""


class SkipReason(StrEnum):
    """The reasons why a path is not read."""

    SYMBOLIC_LINK = "symbolic_link"
    SPECIAL_FILE = "special_file"
    NESTED_REPOSITORY = "nested_repository"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    IGNORED_BY_SETTING = "ignored_by_setting"
    RULES_TOO_LARGE = "rules_too_large"  # ignore rules that are not applied; the file itself is read like any other


@dataclass(frozen=True, slots=True)
class Skip:
    """A path that is not read, and why. Folders end in `/`."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A regular file below the root."""

    path: str
    size: int  # bytes
    token: str  # changes when the file does: date, size, inode
    time: int  # when it was last modified, seconds since 1970


@dataclass(frozen=True, slots=True)
class Listing:
    """The files and folders of a folder, both in byte order of the paths."""

    files: tuple[ListedFile, ...]
    skipped: tuple[Skip, ...]


def deep_reason(path: str, ignore: IgnoreFilter) -> SkipReason | None:
    """The reason why a file below too many folders is not read; None for any other. Asks the user's patterns for no
    folder below DEEPEST."""
    if path.count("/") <= DEEPEST:
        return None
    outer = "/".join(path.split("/", DEEPEST)[:DEEPEST])
    return SkipReason.IGNORED_BY_SETTING if ignore.ignores_folder(outer) else SkipReason.TOO_DEEP


class _Builder:
    """Sorts what is met into files and skips; the rules that hold for every way of listing."""

    def __init__(self, ignore: IgnoreFilter, max_file_bytes: int) -> None:
        self._ignore = ignore
        self._max_file_bytes = max_file_bytes
        self._files: list[ListedFile] = []
        self._skipped: list[Skip] = []

    def enters(self, folder: str) -> bool:
        """Tells whether the user's own patterns let a folder in."""
        if self._ignore.ignores_folder(folder):
            self.skip(folder + "/", SkipReason.IGNORED_BY_SETTING)
            return False
        if folder.count("/") >= DEEPEST:
            self.skip(folder + "/", SkipReason.TOO_DEEP)
            return False
        return True

    def add(self, path: str, status: os.stat_result) -> None:
        """Record a path that is no folder."""
        if self._ignore.ignores(path):
            self.skip(path, SkipReason.IGNORED_BY_SETTING)
        elif is_link(status):
            self.skip(path, SkipReason.SYMBOLIC_LINK)
        elif not stat.S_ISREG(status.st_mode):
            self.skip(path, SkipReason.SPECIAL_FILE)
        elif status.st_size > self._max_file_bytes:
            self.skip(path, SkipReason.TOO_LARGE)
        else:
            token = f"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_size:x}-{status.st_ino:x}"
            self._files.append(ListedFile(path, status.st_size, token, status.st_mtime_ns // 1_000_000_000))

    def leaves_out_deep(self, path: str) -> bool:
        """Records a path below too many folders; False for any other."""
        reason = deep_reason(path, self._ignore)
        if reason is not None:
            self.skip(path, reason)
        return reason is not None

    def skip(self, path: str, reason: SkipReason) -> None:
        self._skipped.append(Skip(path, reason))

    def listing(self) -> Listing:
        files = sorted(self._files, key=lambda found: path_bytes(found.path))
        return Listing(
            tuple(files), tuple(sorted(set(self._skipped), key=lambda skip: (path_bytes(skip.path), skip.reason)))
        )


def list_with_git(git: Git, ignore: IgnoreFilter, max_file_bytes: int) -> Listing:
    """Tracked files and untracked ones that git does not ignore, as they are in the work tree now. Raises
    RepositoryError."""
    found = _Builder(ignore, max_file_bytes)
    links: dict[str, str] = {"": ""}  # folder -> the symbolic link on the way to it, "" for none
    for entry in git.ls_files():
        if entry.mode == GITLINK:
            found.skip(entry.path + "/", SkipReason.NESTED_REPOSITORY)
            continue
        if found.leaves_out_deep(entry.path):
            continue
        folder = entry.path.rpartition("/")[0]
        if link := links[folder] if folder in links else _link_above(git.root, folder, links):
            found.skip(link, SkipReason.SYMBOLIC_LINK)
            continue
        try:
            status = os.lstat(path_below(git.root, path_bytes(entry.path)))
        except (FileNotFoundError, NotADirectoryError):
            continue  # deleted, not committed yet
        except (OSError, ValueError):
            found.skip(entry.path, SkipReason.UNREADABLE)
            continue
        if is_link(status) or not stat.S_ISDIR(status.st_mode):
            found.add(entry.path, status)
    return found.listing()


def _link_above(root: Path, folder: str, links: dict[str, str]) -> str:
    """The first symbolic link on the way from the root to a tracked folder; "" when there is none."""
    unknown: list[str] = []
    while folder not in links:
        unknown.append(folder)
        folder = folder.rpartition("/")[0]
    link = links[folder]
    for inner in reversed(unknown):
        if not link and _is_link(root, inner):
            link = inner
        links[inner] = link
    return link


def _is_link(root: Path, path: str) -> bool:
    try:
        return is_link(os.lstat(path_below(root, path_bytes(path))))
    except (OSError, ValueError):
        return False


def walk(root: Path, ignore: IgnoreFilter, max_file_bytes: int, *, top: Path | None = None) -> Listing:
    """The files below `root` that no `.gitignore` there, and no default pattern (`DEFAULT_IGNORE`), leaves out.

    `top` is the top folder of the repository `root` is in, whose rules then hold too; None when there is none. Never
    raises for what it meets on the way.
    """
    found = _Builder(ignore, max_file_bytes)
    with Folder(top or root) as folder:
        start = _below(top, root) if top else ""
        reader = _RuleReader(folder)
        rules = _rules_above(reader, start, in_repository=top is not None)
        pending = [("", rules)]
        while pending:
            place, above = pending.pop()
            pending.extend(_enter(root, place, start, above, reader, found))
    return found.listing()


_Layers = tuple[tuple[int, Rules], ...]
"""Rules that hold in a folder, nearest first, each with the length of the path (from the top) it is relative to."""


class _RuleReader:
    """Reads ignore rules as long as deciding by them stays cheap."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._left = MOST_STATES_OF_ALL

    def read(self, path: str, above: _Layers = ()) -> Rules | None:
        """The rules of a file, none where it is gone; None for one that is too long or whose patterns, with those
        above, are too many."""
        content = self._folder.read(path, 2 * IGNORE_FILE_BYTES)
        rules = Rules.parse(content or b"")
        states = rules.states
        if (
            len(content or b"") > IGNORE_FILE_BYTES
            or states > self._left
            or states + sum(layer.states for _, layer in above) > MOST_STATES
        ):
            return None
        self._left -= states
        return rules


def _rules_above(reader: _RuleReader, start: str, *, in_repository: bool) -> _Layers:
    """Rules of the folders above the root: the defaults, `.git/info/exclude`, and each `.gitignore` from the top
    down."""
    layers: _Layers = ((0, Rules.of(DEFAULT_IGNORE)),)
    if in_repository:
        layers = ((0, reader.read(_EXCLUDE_FILE) or Rules(())), *layers)
    for place in _places(start)[:-1]:
        layers = _with_rules(reader, place, layers) or layers
    return layers


def _with_rules(reader: _RuleReader, place: str, above: _Layers) -> _Layers | None:
    """The rules above a folder and its own; None where its own are passed over."""
    rules = reader.read(place + IGNORE_FILE, above)
    if rules is None:
        return None
    return ((len(path_bytes(place)), rules), *above) if rules else above


def _ignored(path: bytes, layers: _Layers, *, is_folder: bool) -> bool:
    """Tells whether the nearest rules with an opinion leave `path` (from the top) out."""
    for length, rules in layers:
        decision = rules.decide(path[length:], is_folder=is_folder)
        if decision is not None:
            return decision
    return False


def is_ignored_folder(top: Path, folder: Path) -> bool:
    """Tells whether the rules of the repository at `top` leave `folder`, or a folder above it, out."""
    with Folder(top) as opened:
        reader = _RuleReader(opened)
        layers: _Layers = ((0, reader.read(_EXCLUDE_FILE) or Rules(())),)
        for place, inner in pairwise(_places(_below(top, folder))):
            layers = _with_rules(reader, place, layers) or layers
            if _ignored(path_bytes(inner[:-1]), layers, is_folder=True):
                return True
    return False


def _below(top: Path, folder: Path) -> str:
    """Path of a folder from the top, with a trailing slash; "" for the top itself."""
    return "" if folder == top else folder.relative_to(top).as_posix() + "/"


def _places(folder: str) -> list[str]:
    """The folders on the way: "", "a/", "a/b/" for "a/b/"."""
    return ["", *(folder[: i + 1] for i, char in enumerate(folder) if char == "/")]


def _enter(
    root: Path, folder: str, start: str, above: _Layers, reader: _RuleReader, found: _Builder
) -> Iterator[tuple[str, _Layers]]:
    """Record the files of one folder; yields the folders in it that are to be entered."""
    try:
        absolute = path_below(root, path_bytes(folder))
        with os.scandir(absolute) as entries:
            children = sorted(entries, key=lambda entry: entry.name)
    except (OSError, ValueError) as error:
        if not folder or not isinstance(error, FileNotFoundError):  # else it went away since it was listed
            found.skip(folder or "./", SkipReason.UNREADABLE)
        return
    names = {child.name for child in children}
    if folder and b".git" in names and git_dir_of(Path(os.fsdecode(absolute)) / ".git"):
        found.skip(folder, SkipReason.NESTED_REPOSITORY)
        return
    layers = _with_rules(reader, start + folder, above) if path_bytes(IGNORE_FILE) in names else above
    if layers is None:
        found.skip(folder + IGNORE_FILE, SkipReason.RULES_TOO_LARGE)
        layers = above
    for child in children:
        if child.name == b".git":
            continue
        path = folder + path_text(child.name)
        try:
            enters = is_folder(child)
            if _ignored(path_bytes(start + path), layers, is_folder=enters):
                continue
            if not enters:
                found.add(path, status_of(child))
            elif found.enters(path):
                yield path + "/", layers
        except FileNotFoundError:
            continue  # it went away since the folder was listed, as a file does that is written beside and renamed
        except OSError:
            found.skip(path, SkipReason.UNREADABLE)
