"""Lists the files of a folder: with git, or with our own walk if git cannot be used.

Both list the same: regular files that are tracked or not ignored, in byte order of their paths. Symbolic links, special
files, nested repositories and submodules are not read; each is recorded with its reason.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

from msgspec import Struct

from secateur.sources.files import DEEPEST, Folder, path_bytes, path_text
from secateur.sources.git import GITLINK, Git
from secateur.sources.globs import MOST_STATES
from secateur.sources.ignore import DEFAULT_IGNORE, IgnoreFilter, Rules
from secateur.sources.provenance import git_dir_of
from secateur.system.files import path_below

IGNORE_FILE = ".gitignore"
_EXCLUDE_FILE = ".git/info/exclude"
IGNORE_FILE_BYTES = 256 * 1024  # a longer `.gitignore` is ignored: nobody wrote it by hand

# Most bytes of wildcard patterns in one walk. Rules beyond it, or beyond MOST_STATES for one path, are listed as
# skipped.
MOST_STATES_OF_ALL = 1 << 20


class SkipReason(StrEnum):
    """The reasons why a path is not read."""

    SYMBOLIC_LINK = "symbolic_link"
    SPECIAL_FILE = "special_file"
    NESTED_REPOSITORY = "nested_repository"
    UNREADABLE = "unreadable"
    NOT_CHECKED_OUT = "not_checked_out"  # a sparse checkout leaves it out
    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    IGNORED_BY_SETTING = "ignored_by_setting"
    RULES_TOO_LARGE = "rules_too_large"  # ignore rules that are not applied; the file itself is read like any other


class Skip(Struct, frozen=True):
    """A path that is not read, and why. Folders end in `/`."""

    path: str
    reason: str


class ListedFile(Struct, frozen=True):
    """A regular file below the root."""

    path: str
    size: int  # bytes
    token: str  # changes when the file does: date, size, inode
    time: int  # when it was last modified, seconds since 1970


class Listing(Struct, frozen=True):
    """The files and folders of a folder, both in byte order of the paths."""

    files: tuple[ListedFile, ...]
    skipped: tuple[Skip, ...]


def deep_reason(path: str, ignore: IgnoreFilter) -> SkipReason | None:
    """Returns the reason why a file below too many folders is not read; None for any other. Checks the user's patterns
    only for folders above DEEPEST."""
    if path.count("/") <= DEEPEST:
        return None
    outer = "/".join(path.split("/", DEEPEST)[:DEEPEST])
    return SkipReason.IGNORED_BY_SETTING if ignore.ignores_folder(outer) else SkipReason.TOO_DEEP


class _ListingBuilder:
    """Sorts paths into files and skips, by the rules that every way of listing shares."""

    def __init__(self, ignore: IgnoreFilter, max_file_bytes: int) -> None:
        self._ignore = ignore
        self._max_file_bytes = max_file_bytes
        self._files: list[ListedFile] = []
        self._skipped: list[Skip] = []

    def enters(self, folder: str) -> bool:
        """Tells whether a folder is to be entered, and records it if not."""
        if self._ignore.ignores_folder(folder):
            self.skip(folder + "/", SkipReason.IGNORED_BY_SETTING)
            return False
        if folder.count("/") >= DEEPEST:
            self.skip(folder + "/", SkipReason.TOO_DEEP)
            return False
        return True

    def add(self, path: str, status: os.stat_result) -> None:
        """Records a path that is not a folder."""
        if self._ignore.ignores(path):
            self.skip(path, SkipReason.IGNORED_BY_SETTING)
        elif stat.S_ISLNK(status.st_mode):
            self.skip(path, SkipReason.SYMBOLIC_LINK)
        elif not stat.S_ISREG(status.st_mode):
            self.skip(path, SkipReason.SPECIAL_FILE)
        elif status.st_size > self._max_file_bytes:
            self.skip(path, SkipReason.TOO_LARGE)
        else:
            token = f"{status.st_mtime_ns:x}-{status.st_ctime_ns:x}-{status.st_size:x}-{status.st_ino:x}"
            self._files.append(ListedFile(path, status.st_size, token, status.st_mtime_ns // 1_000_000_000))

    def leaves_out_deep(self, path: str) -> bool:
        """Records a path below too many folders and returns True; False for any other."""
        if (reason := deep_reason(path, self._ignore)) is not None:
            self.skip(path, reason)
        return reason is not None

    def skip(self, path: str, reason: SkipReason) -> None:
        self._skipped.append(Skip(path, reason))

    def listing(self) -> Listing:
        files = sorted(self._files, key=lambda file: path_bytes(file.path))
        skipped = sorted(set(self._skipped), key=lambda skip: (path_bytes(skip.path), skip.reason))
        return Listing(tuple(files), tuple(skipped))


def list_with_git(git: Git, ignore: IgnoreFilter, max_file_bytes: int) -> Listing:
    """Lists tracked files and untracked ones that git does not ignore, as they are in the work tree now. Raises
    RepositoryError."""
    builder = _ListingBuilder(ignore, max_file_bytes)
    gone: list[str] = []
    links: dict[str, str] = {"": ""}  # folder -> the symbolic link on the way to it, or ""
    for entry in git.ls_files():
        if entry.mode == GITLINK:
            builder.skip(entry.path + "/", SkipReason.NESTED_REPOSITORY)
            continue
        if builder.leaves_out_deep(entry.path):
            continue
        folder = entry.path.rpartition("/")[0]
        if link := links[folder] if folder in links else _find_link_above(git.root, folder, links):
            builder.skip(link, SkipReason.SYMBOLIC_LINK)
            continue
        try:
            status = os.lstat(path_below(git.root, path_bytes(entry.path)))
        except (FileNotFoundError, NotADirectoryError):
            gone.append(entry.path)
            continue
        except (OSError, ValueError):
            builder.skip(entry.path, SkipReason.UNREADABLE)
            continue
        if not stat.S_ISDIR(status.st_mode):
            builder.add(entry.path, status)
    absent = git.list_absent() if gone else frozenset()
    for path in gone:  # the others are deleted, and that is not committed yet
        if path in absent:
            builder.skip(path, SkipReason.NOT_CHECKED_OUT)
    return builder.listing()


def _find_link_above(root: Path, folder: str, links: dict[str, str]) -> str:
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
        return stat.S_ISLNK(os.lstat(path_below(root, path_bytes(path))).st_mode)
    except (OSError, ValueError):
        return False


def walk(root: Path, ignore: IgnoreFilter, max_file_bytes: int, *, top: Path | None = None) -> Listing:
    """Lists the files below `root` that no `.gitignore` there, and no default pattern (`DEFAULT_IGNORE`), leaves out.

    `top` is the top folder of the repository around `root`, whose rules then apply too, or None. Never
    raises for a path below `root`.
    """
    builder = _ListingBuilder(ignore, max_file_bytes)
    with Folder(top or root) as folder:
        start = _path_from_top(top, root) if top else ""
        reader = _RuleReader(folder)
        pending = [("", _read_rules_above(reader, start, in_repository=top is not None))]
        while pending:
            folder_path, above = pending.pop()
            pending.extend(_enter(root, folder_path, start, above, reader, builder))
    return builder.listing()


# The rules that apply in a folder, nearest first, each with the length of the path that it is relative to.
_Layers = tuple[tuple[int, Rules], ...]


class _RuleReader:
    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._left = MOST_STATES_OF_ALL

    def read(self, path: str, above: _Layers = ()) -> Rules | None:
        """Returns the rules of a file, empty if it is gone; None if it is too long, or has too many patterns together
        with the rules above."""
        content = self._folder.read(path, 2 * IGNORE_FILE_BYTES) or b""
        rules = Rules.parse(content)
        states = rules.states
        together = states + sum(layer.states for _, layer in above)
        if len(content) > IGNORE_FILE_BYTES or states > self._left or together > MOST_STATES:
            return None
        self._left -= states
        return rules


def _read_rules_above(reader: _RuleReader, start: str, *, in_repository: bool) -> _Layers:
    """Returns the rules above the root: the defaults, `.git/info/exclude`, and each `.gitignore` from the top down."""
    layers: _Layers = ((0, Rules.of(DEFAULT_IGNORE)),)
    if in_repository:
        layers = ((0, reader.read(_EXCLUDE_FILE) or Rules(())), *layers)
    for folder in _list_folders_to(start)[:-1]:
        layers = _add_rules(reader, folder, layers) or layers
    return layers


def _add_rules(reader: _RuleReader, folder: str, above: _Layers) -> _Layers | None:
    if (rules := reader.read(folder + IGNORE_FILE, above)) is None:
        return None
    return ((len(path_bytes(folder)), rules), *above) if rules else above


def _is_ignored(path: bytes, layers: _Layers, *, is_folder: bool) -> bool:
    for length, rules in layers:
        if (decision := rules.decide(path[length:], is_folder=is_folder)) is not None:
            return decision
    return False


def is_ignored_folder(top: Path, folder: Path) -> bool:
    """Tells whether the rules of the repository at `top` ignore `folder` or a folder above it."""
    with Folder(top) as opened:
        reader = _RuleReader(opened)
        layers: _Layers = ((0, reader.read(_EXCLUDE_FILE) or Rules(())),)
        for outer, inner in pairwise(_list_folders_to(_path_from_top(top, folder))):
            layers = _add_rules(reader, outer, layers) or layers
            if _is_ignored(path_bytes(inner[:-1]), layers, is_folder=True):
                return True
    return False


def _path_from_top(top: Path, folder: Path) -> str:
    return "" if folder == top else folder.relative_to(top).as_posix() + "/"


def _list_folders_to(folder: str) -> list[str]:
    return ["", *(folder[: i + 1] for i, char in enumerate(folder) if char == "/")]


def _enter(
    root: Path, folder: str, start: str, above: _Layers, reader: _RuleReader, builder: _ListingBuilder
) -> Iterator[tuple[str, _Layers]]:
    try:
        absolute = path_below(root, path_bytes(folder))
        with os.scandir(absolute) as entries:
            children = sorted(entries, key=lambda entry: entry.name)
    except (OSError, ValueError) as error:
        if not folder or not isinstance(error, FileNotFoundError):  # otherwise it was removed since it was listed
            builder.skip(folder or "./", SkipReason.UNREADABLE)
        return
    names = {child.name for child in children}
    if folder and b".git" in names and git_dir_of(Path(os.fsdecode(absolute)) / ".git"):
        builder.skip(folder, SkipReason.NESTED_REPOSITORY)
        return
    layers = _add_rules(reader, start + folder, above) if path_bytes(IGNORE_FILE) in names else above
    if layers is None:
        builder.skip(folder + IGNORE_FILE, SkipReason.RULES_TOO_LARGE)
        layers = above
    for child in children:
        if child.name == b".git":
            continue
        path = folder + path_text(child.name)
        try:
            enters = child.is_dir(follow_symlinks=False)
            if _is_ignored(path_bytes(start + path), layers, is_folder=enters):
                continue
            if not enters:
                builder.add(path, child.stat(follow_symlinks=False))
            elif builder.enters(path):
                yield path + "/", layers
        except FileNotFoundError:
            continue  # removed since the folder was listed, like a temporary file that is renamed
        except OSError:
            builder.skip(path, SkipReason.UNREADABLE)
