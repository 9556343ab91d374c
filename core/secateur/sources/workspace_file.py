"""Reads `workspace.toml`: the repositories that are searched as one.

    repositories = ["one", "../two", "services/*", "https://example.org/three.git",
                    {path = "four", rev = "v1", name = "old-four", only = ["src/**"]}]

Paths start from the file's folder; `*` stands for any folders there. A repository goes by its last part (`two`,
`three`), or by the name that is given: names begin the paths of files in answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur.errors import ConfigError
from secateur.settings.loading import read_config
from secateur.sources.files import path_bytes
from secateur.sources.named import is_named

SUFFIX = ".toml"

MOST = 20_000
"""Repositories of a workspace."""

_NAME = re.compile(r"[^\s/\\:*?!\[\]{}\"<>|\x00-\x1f]{1,100}")
_KEYS = frozenset({"path", "rev", "name", "only"})
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class WorkspaceMember:
    """One repository of a workspace."""

    name: str  # unique, without "/"
    location: str  # a folder, sample:NAME or a git URL
    rev: str | None  # None: the files as they are
    only: tuple[str, ...] = ()  # globs of the files that answers are drawn from, by their paths there; (): all


def is_workspace(path: Path) -> bool:
    """Tells whether a path names a workspace: a file that ends in .toml."""
    return path.suffix == SUFFIX and path.is_file()


def read_workspace(path: Path) -> list[WorkspaceMember]:
    """The repositories that a file names, in byte order of the paths of their files.

    Raises:
        ConfigError: the file cannot be read or is malformed; it names none, or two by one name.
    """
    listed = _table(path).get("repositories")
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{path}: names no repositories", hint='write repositories = ["one", "../two"]')
    members = [member for number, entry in enumerate(listed, 1) for member in _members(path, number, entry)]
    if len(members) > MOST:
        raise ConfigError(f"{path}: {len(members):,} repositories are too many", hint=f"at most {MOST:,}")
    taken: dict[str, WorkspaceMember] = {}
    for member in members:
        other = taken.setdefault(member.name, member)
        if other is not member:
            raise ConfigError(
                f"{path}: {other.location} and {member.location} are both called {member.name}",
                hint=f'give one of them another name: {{path = "{member.location}", name = "…"}}',
            )
    return sorted(members, key=lambda member: path_bytes(f"{member.name}/"))


def _table(path: Path) -> dict[str, Any]:
    import tomli

    try:
        found = tomli.loads(read_config(path).decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}", hint="see https://toml.io for the format") from error
    unknown = sorted(found.keys() - {"repositories"})
    if unknown:
        raise ConfigError(f"{path}: there is no key {unknown[0]}", hint="a workspace has the key repositories")
    return found


def _members(path: Path, number: int, entry: object) -> Iterator[WorkspaceMember]:
    """The members that one entry names: several where it is a pattern."""
    place = f"{path}: repository {number}"
    table = {"path": entry} if isinstance(entry, str) else entry
    if not isinstance(table, dict):
        raise ConfigError(f"{place} is no text and no table", hint='write "folder" or {path = "folder"}')
    unknown = sorted(table.keys() - _KEYS)
    only = table.get("only", [])
    texts = [*(value for key, value in table.items() if key != "only"), *(only if isinstance(only, list) else [None])]
    if not unknown and not all(isinstance(value, str) and value for value in texts):
        raise ConfigError(f"{place}: path, rev and name are texts, only a list of texts", hint='{path = "one"}')
    if unknown or "path" not in table:
        said = f"has no key {unknown[0]}" if unknown else "needs a path"
        raise ConfigError(f"{place} {said}", hint='for example {path = "one", rev = "v1", name = "one-v1"}')
    location, rev, name = table["path"], table.get("rev"), table.get("name")
    if is_named(location):
        yield WorkspaceMember(_checked(place, name or _last(location)), location, rev, tuple(only))
        return
    folder = path.parent / location
    if not _GLOB.search(location):
        yield WorkspaceMember(_checked(place, name or _last(str(folder.resolve()))), str(folder), rev, tuple(only))
        return
    found = _folders(folder)
    if not found or (name and len(found) > 1):
        said = f"{location} stands for no folder" if not found else f"{len(found)} folders cannot all be called {name}"
        raise ConfigError(f"{place}: {said}", hint="patterns start from the folder of the file")
    for one in found:
        yield WorkspaceMember(_checked(place, name or one.name), str(one), rev, tuple(only))


def _folders(pattern: Path) -> list[Path]:
    """The folders that a pattern stands for, in byte order."""
    top = Path(pattern.anchor) if pattern.is_absolute() else Path()
    try:
        found = [one for one in top.glob(str(pattern.relative_to(top))) if one.is_dir()]
    except (OSError, ValueError):
        return []
    return sorted(found, key=lambda one: path_bytes(str(one)))


def _last(location: str) -> str:
    """The last part of a path or URL, as a clone would be called."""
    return location.rstrip("/\\").replace("\\", "/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")


def _checked(place: str, name: str) -> str:
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise ConfigError(f"{place}: {name!r} is no name", hint='give it one: {path = "…", name = "one"}')
    return name


def parts_of(members: Sequence[WorkspaceMember]) -> tuple[str, ...]:
    """The globs of all files that answers are drawn from, by their paths in the workspace; () where it is all."""
    if not any(member.only for member in members):
        return ()
    return tuple(f"{member.name}/{glob}" for member in members for glob in member.only or ("**",))
