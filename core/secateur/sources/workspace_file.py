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

from secateur.errors import ConfigError, shown
from secateur.settings.loading import read_config
from secateur.sources.files import path_bytes
from secateur.sources.named import is_named

SUFFIX = ".toml"

MOST = 20_000
"""Repositories of a workspace."""

MOST_WITHIN = 200
"""Repositories of a workspace that nobody at this machine chose: each takes processes and open files."""

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


def read_workspace(path: Path, within: Sequence[Path] | None = None) -> list[WorkspaceMember]:
    """The repositories that a file names, in byte order of the paths of their files.

    Args:
        within: folders, links resolved, that every repository must be a folder in: of a file that nobody at this
            machine chose. Nothing is fetched or unpacked for it. None: it may name whatever its user may.

    Raises:
        ConfigError: the file cannot be read or is malformed; it names none, or two by one name; one is not `within`.
    """
    listed = _table(path).get("repositories")
    if not isinstance(listed, list) or not listed:
        raise ConfigError(f"{path}: names no repositories", hint='write repositories = ["one", "../two"]')
    most = MOST if within is None else MOST_WITHIN
    members: list[WorkspaceMember] = []
    for number, entry in enumerate(listed, 1):
        members += _members(path, number, entry, within)
        if len(members) > most:
            raise ConfigError(f"{path}: more than {most:,} repositories are too many", hint="name fewer")
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


def _members(path: Path, number: int, entry: object, within: Sequence[Path] | None) -> Iterator[WorkspaceMember]:
    """The members that one entry names: several where it is a pattern."""
    place = f"{path}: repository {number}"
    table = {"path": entry} if isinstance(entry, str) else entry
    if not isinstance(table, dict):
        raise ConfigError(f"{place} is no text and no table", hint='write "folder" or {path = "folder"}')
    unknown = sorted(table.keys() - _KEYS)
    only = table.get("only", [])
    texts = [*(value for key, value in table.items() if key != "only"), *(only if isinstance(only, list) else [None])]
    if not unknown and not all(isinstance(value, str) and value and "\0" not in value for value in texts):
        raise ConfigError(f"{place}: path, rev and name are texts, only a list of texts", hint='{path = "one"}')
    if unknown or "path" not in table:
        said = f"has no key {unknown[0]}" if unknown else "needs a path"
        raise ConfigError(f"{place} {said}", hint='for example {path = "one", rev = "v1", name = "one-v1"}')
    location, rev, name = table["path"], table.get("rev"), table.get("name")
    if within is not None:
        yield from _members_within(path, place, WorkspaceMember(name or "", location, rev, tuple(only)), within)
        return
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


def _members_within(
    path: Path, place: str, member: WorkspaceMember, within: Sequence[Path]
) -> Iterator[WorkspaceMember]:
    """The members of an entry whose folders must lie in others; a member without a name goes by its folder's.

    What lies elsewhere, and what is not there, is refused in the same words: they tell nothing of this machine.
    """
    folder, last = path.parent / member.location, Path(member.location).name
    refused = ConfigError(
        f"{place}: {shown(member.location)} is no folder that may be read here",
        hint="the workspace of an agent or of a scenario names folders below the folder that was opened: no URL, no"
        " archive, and nothing beside it",
    )
    if is_named(member.location):
        raise refused
    pattern = last if _GLOB.search(last) else ""
    if "**" in pattern or _GLOB.search(str(Path(member.location).parent) if pattern else member.location):
        raise ConfigError(
            f"{place}: {shown(member.location)} may have * in its last part alone, and no **", hint='write "services/*"'
        )
    try:
        top = (folder.parent if pattern else folder).resolve()
        if not _lies_in(top, within) or not top.is_dir():
            raise refused
        there = [one for one in top.glob(pattern) if one.is_dir()] if pattern else [top]
        found = [(one.name, one.resolve()) for one in there]
    except (OSError, ValueError, RuntimeError) as error:  # too long, behind a locked folder, a ring of links
        raise refused from error
    if not found or not all(_lies_in(real, within) for _, real in found):
        raise refused
    if member.name and len(found) > 1:
        raise ConfigError(f"{place}: {len(found)} folders cannot all be called {member.name}", hint="leave name out")
    for name, real in found:
        yield WorkspaceMember(_checked(place, member.name or name), str(real), member.rev, member.only)


def _lies_in(folder: Path, within: Sequence[Path]) -> bool:
    return any(folder.is_relative_to(one) for one in within)


def _last(location: str) -> str:
    """The last part of a path or URL, as a clone would be called."""
    return location.rstrip("/\\").replace("\\", "/").rpartition("/")[2].rpartition(":")[2].removesuffix(".git")


def _checked(place: str, name: str) -> str:
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise ConfigError(f"{place}: {shown(name)} is no name", hint='give it one: {path = "…", name = "one"}')
    return name


def parts_of(members: Sequence[WorkspaceMember]) -> tuple[str, ...]:
    """The globs of all files that answers are drawn from, by their paths in the workspace; () where it is all."""
    if not any(member.only for member in members):
        return ()
    return tuple(f"{member.name}/{glob}" for member in members for glob in member.only or ("**",))
