"""Reads `workspace.toml`: the repositories that are searched together.

    repositories = ["one", "../two", "services/*", "https://example.org/three.git",
                    {path = "four", rev = "v1", name = "old-four", only = ["src/**"]}]

Paths are relative to the file's folder; `*` matches any folders there. A repository is called by the last part of its
path (`two`, `three`), or by its `name`; paths in answers begin with that name.

Several repositories as one source, in which each path starts with the name of its repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from secateur.errors import ConfigError, shown
from secateur.notice import Notice
from secateur.settings.loading import read_config
from secateur.sources.files import MAGIC, path_bytes
from secateur.sources.git import HISTORY_LIMIT, HistoryCommit
from secateur.sources.named import is_named
from secateur.sources.source import Source, SourceFile
from secateur.sources.walk import Skip

SUFFIX = ".toml"

MOST = 20_000  # most repositories of a workspace

# Most repositories of a workspace that did not come from this user: each takes processes and open files.
MOST_WITHIN = 200

_NAME = re.compile(r"[^\s/\\:*?!\[\]{}\"<>|\x00-\x1f]{1,100}")
_KEYS = frozenset({"path", "rev", "name", "only"})


class WorkspaceMember(Struct, frozen=True):
    """One repository of a workspace."""

    name: str  # unique, without "/"
    location: str  # a folder, sample:NAME or a git URL
    rev: str | None  # None: the files as they are
    only: tuple[str, ...] = ()  # globs that limit which files answers come from, relative to the repository; (): all


def is_workspace(path: Path) -> bool:
    """Tells whether a path names a workspace: a file whose name ends in .toml."""
    return path.suffix == SUFFIX and path.is_file()


def read_workspace(path: Path, within: Sequence[Path] | None = None) -> list[WorkspaceMember]:
    """Returns the repositories that a file names, in byte order of the paths of their files.

    Args:
        within: folders, with links resolved, that must contain every repository, if the file did not come from this
            user; nothing is then fetched or unpacked. None: no restriction.

    Raises:
        ConfigError: the file cannot be read or is malformed; it names no repository, or two with one name; a
            repository is not `within`.
    """
    import tomli

    try:
        table = tomli.loads(read_config(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}", hint="see https://toml.io for the format") from error
    if unknown := sorted(table.keys() - {"repositories"}):
        raise ConfigError(f"{path}: unknown key {unknown[0]}", hint="a workspace has the key repositories")
    listed = table.get("repositories")
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{path}: names no repositories", hint='write repositories = ["one", "../two"]')
    most = MOST if within is None else MOST_WITHIN
    members: list[WorkspaceMember] = []
    for index, entry in enumerate(listed, 1):
        members += _read_members(path, index, entry, within)
        if len(members) > most:
            raise ConfigError(f"{path}: more than {most:,} repositories are too many", hint="name fewer")
    taken: dict[str, WorkspaceMember] = {}
    for member in members:
        if (other := taken.setdefault(member.name, member)) is not member:
            both = f"{path}: {other.location} and {member.location} are both called {member.name}"
            raise ConfigError(both, hint=f'give one of them another name: {{path = "{member.location}", name = "…"}}')
    return sorted(members, key=lambda member: path_bytes(f"{member.name}/"))


def _read_members(path: Path, index: int, entry: object, within: Sequence[Path] | None) -> Iterator[WorkspaceMember]:
    prefix = f"{path}: repository {index}"
    table = {"path": entry} if isinstance(entry, str) else entry
    if not isinstance(table, dict):
        raise ConfigError(f"{prefix} is neither a text nor a table", hint='write "folder" or {path = "folder"}')
    unknown = sorted(table.keys() - _KEYS)
    only = table.get("only", [])
    texts = [*(value for key, value in table.items() if key != "only"), *(only if isinstance(only, list) else [None])]
    if not unknown and not all(isinstance(value, str) and value and "\0" not in value for value in texts):
        raise ConfigError(f"{prefix}: path, rev and name must be texts, only a list of texts", hint='{path = "one"}')
    if unknown or "path" not in table:
        fault = f"has the unknown key {unknown[0]}" if unknown else "needs a path"
        raise ConfigError(f"{prefix} {fault}", hint='for example {path = "one", rev = "v1", name = "one-v1"}')
    location, rev, name = table["path"], table.get("rev"), table.get("name")
    if within is not None:
        yield from _read_members_within(path, prefix, WorkspaceMember(name or "", location, rev, tuple(only)), within)
        return
    if is_named(location):
        yield WorkspaceMember(_check_name(prefix, name or _last_part(location)), location, rev, tuple(only))
        return
    folder = path.parent / location
    if not MAGIC.search(location):
        yield WorkspaceMember(
            _check_name(prefix, name or _last_part(str(folder.resolve()))), str(folder), rev, tuple(only)
        )
        return
    if location.count("**") > 1:  # each further one walks every folder once more
        raise ConfigError(f"{prefix}: {shown(location)} has ** more than once", hint='write "services/**/api"')
    if not (folders := _match_folders(folder)) or (name and len(folders) > 1):
        several = f"{len(folders)} folders cannot all be called {name}"
        fault = several if folders else f"{location} matches no folder"
        raise ConfigError(f"{prefix}: {fault}", hint="patterns start from the folder of the file")
    for match in folders:
        yield WorkspaceMember(_check_name(prefix, name or match.name), str(match), rev, tuple(only))


def _match_folders(pattern: Path) -> list[Path]:
    top = Path(pattern.anchor) if pattern.is_absolute() else Path()
    try:
        folders = [path for path in top.glob(str(pattern.relative_to(top))) if path.is_dir()]
    except (OSError, ValueError):
        return []
    return sorted(folders, key=lambda path: path_bytes(str(path)))


def _read_members_within(
    path: Path, prefix: str, member: WorkspaceMember, within: Sequence[Path]
) -> Iterator[WorkspaceMember]:
    """Yields the members of an entry whose folders must lie `within`; a member without a name is called by its folder.

    A folder elsewhere and a missing folder are refused with the same message, so that it reveals nothing of this
    machine."""
    folder, last = path.parent / member.location, Path(member.location).name
    refused = ConfigError(
        f"{prefix}: {shown(member.location)} is not a folder that may be read here",
        hint="the workspace of an agent or of a scenario names folders below the opened folder: no URL, and"
        " nothing beside it",
    )
    if is_named(member.location):
        raise refused
    pattern = last if MAGIC.search(last) else ""
    if "**" in pattern or MAGIC.search(str(Path(member.location).parent) if pattern else member.location):
        raise ConfigError(
            f"{prefix}: {shown(member.location)} may have * only in its last part, and no **", hint='write "services/*"'
        )
    try:
        top = (folder.parent if pattern else folder).resolve()
        if not _lies_in(top, within) or not top.is_dir():
            raise refused
        there = [path for path in top.glob(pattern) if path.is_dir()] if pattern else [top]
        folders = [(path.name, path.resolve()) for path in there]
    except (OSError, ValueError, RuntimeError) as error:  # too long, behind a locked folder, a ring of links
        raise refused from error
    if not folders or not all(_lies_in(real, within) for _, real in folders):
        raise refused
    if member.name and len(folders) > 1:
        raise ConfigError(f"{prefix}: {len(folders)} folders cannot all be called {member.name}", hint="leave name out")
    for name, real in folders:
        yield WorkspaceMember(_check_name(prefix, member.name or name), str(real), member.rev, member.only)


def _lies_in(folder: Path, within: Sequence[Path]) -> bool:
    return any(folder.is_relative_to(outer) for outer in within)


def _last_part(location: str) -> str:
    return location.rstrip("/\\").replace("\\", "/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")


def _check_name(prefix: str, name: str) -> str:
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise ConfigError(f"{prefix}: {shown(name)} is not a valid name", hint='set one: {path = "…", name = "one"}')
    return name


def answer_globs(members: Sequence[WorkspaceMember]) -> tuple[str, ...]:
    """Returns the globs of all files that answers come from, relative to the workspace; () for all files."""
    if not any(member.only for member in members):
        return ()
    return tuple(f"{member.name}/{glob}" for member in members for glob in member.only or ("**",))


class MemberSource(Protocol):
    """A repository of a workspace. `source` opens it."""

    @property
    def source(self) -> Source: ...

    def notices(self) -> Sequence[Notice]:
        """The warnings of the source."""

    def skips(self) -> Sequence[Skip]:
        """The paths that the source does not read."""


class WorkspaceSource:
    """The repositories of a workspace file as one source."""

    def __init__(self, path: Path, members: Mapping[str, MemberSource]) -> None:
        """`path`: the workspace file; `members`: by name, in byte order of their paths."""
        self._path, self._members = path.resolve(), members

    @property
    def root(self) -> Path | None:
        """The workspace file. What is stored per folder is stored for this file."""
        return self._path

    @property
    def commit(self) -> str:
        return ""

    @property
    def time(self) -> int:
        return 0

    def describe(self) -> str:
        name = self._path.parent.name if self._path.stem == "workspace" else self._path.stem
        count = len(self._members)
        return f"{name}: {count:,} {'repository' if count == 1 else 'repositories'}"

    def entries(self) -> list[SourceFile]:
        return [
            replace(entry, path=f"{name}/{entry.path}")
            for name, member in self._members.items()
            for entry in member.source.entries()
        ]

    def skips(self) -> list[Skip]:
        return [
            replace(skip, path=f"{name}/{skip.path}")
            for name, member in self._members.items()
            for skip in member.skips()
        ]

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        for path in paths:
            source, own = self._of(path)
            yield path, next((data for _, data in source.read([own])), None) if source is not None else None

    def history(self, limit: int = HISTORY_LIMIT) -> Iterator[HistoryCommit]:
        """Yields the last commits of all repositories, newest first."""
        commits = [commit for member in self._members.values() for commit in member.source.history(limit)]
        return iter(sorted(commits, key=lambda commit: (-commit.time, commit.id))[:limit])

    def changes_of(self, path: str, limit: int) -> list[HistoryCommit]:
        source, own = self._of(path)
        return source.changes_of(own, limit) if source is not None else []

    @property
    def history_id(self) -> str:
        return ""

    def new_commits(self, commit: str, limit: int) -> tuple[list[HistoryCommit], bool] | None:  # noqa: ARG002
        return None

    def is_unchanged(self) -> bool:
        return False

    def notices(self) -> list[Notice]:
        return [
            Notice(notice.code, f"{name}: {notice.message}")
            for name, member in self._members.items()
            for notice in member.notices()
        ]

    def _of(self, path: str) -> tuple[Source | None, str]:
        name, _, own = path.partition("/")
        return self._members[name].source if name in self._members else None, own
