"""The folders that a server may read, and the paths in them that a client names."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from secateur import UsageError, confine_path, shown

MOST_ROOTS = 32  # most folders of one client

ELSEWHERE = "(a path outside the roots)"

_ABSOLUTE = re.compile(r"(?<![\w.:/~<])/(?:[^\s/'\"`(),;:]+/)+[^\s'\"`(),;:]*")


@dataclass(frozen=True, slots=True)
class RootFolder:
    """A folder that may be read, with links resolved, and its name for the client."""

    name: str
    folder: Path


@dataclass(frozen=True, slots=True)
class PlaceInRoot:
    """A file or folder in a root."""

    root: RootFolder
    inside: str  # relative to the root; "." is the root itself

    @property
    def path(self) -> Path:
        return self.root.folder / self.inside


class Roots:
    """The folders that calls may read.

    >>> roots.resolve_path("src/shop").inside
    'src/shop'
    """

    def __init__(self, folders: Sequence[RootFolder], cache: Path) -> None:
        self.folders = tuple(folders)
        self._cache = cache

    def resolve_path(self, path: str) -> PlaceInRoot:
        """Resolves a client's path: a root's name, a path in a root, or an empty path if there is only one root. Raises
        UsageError: it does not exist; it is outside the roots, also by links; it is unclear which root is meant."""
        if not self.folders:
            raise UsageError(
                "there is no folder to read", hint="open a folder in the client, or start `secateur mcp PATH`"
            )
        if path in ("", "."):
            if len(self.folders) > 1:
                raise UsageError("path is empty, and there are several roots", hint=f"roots: {self.names}")
            return PlaceInRoot(self.folders[0], ".")
        if len(path) > 4096 or "\0" in path:
            raise UsageError("path: it is not a valid path", hint=f"roots: {self.names}")
        outside = False
        meant = [(root, path) for root in self.folders]
        for root in self.folders:
            name = root.name.rstrip("/")
            if not path.startswith("/") and (path == root.name or path.startswith(f"{name}/")):
                meant.append((root, path[len(name) :].lstrip("/") or "."))
        for root, inside in meant:
            try:
                real = confine_path(inside, root.folder)
                if real.exists():
                    return PlaceInRoot(root, str(real.relative_to(root.folder)))
            except ValueError:
                outside = True
            except OSError:  # behind a locked folder
                continue
        if outside or path.startswith(("/", "~")):
            raise UsageError(f"path: {self.hide_paths(shown(path))} is outside the roots", hint=f"roots: {self.names}")
        raise UsageError(f"path: there is no {shown(path)}", hint=f"paths are relative to a root: {self.names}")

    def resolve_files(self, path: str) -> PlaceInRoot:
        """Resolves a path, or a pattern such as `src/**/*.py`. Raises UsageError: it may lead out of its root; see also
        `resolve_path`."""
        if not is_pattern(path):
            return self.resolve_path(path)
        parts = path.split("/")
        first = next(index for index, part in enumerate(parts) if is_pattern(part))
        if path.startswith(("/", "~")) or ".." in parts[first:]:
            raise UsageError(
                f"files: {self.hide_paths(shown(path))} may lead outside the roots", hint=f"roots: {self.names}"
            )
        folder = self.resolve_path("/".join(parts[:first]))
        return PlaceInRoot(folder.root, "/".join([*([] if folder.inside == "." else [folder.inside]), *parts[first:]]))

    @property
    def names(self) -> str:
        """The names of the roots for a sentence."""
        return ", ".join(shown(root.name) for root in self.folders)

    def hide_paths(self, text: str) -> str:
        """Removes paths of this machine from a message: those in a root become relative to it, others are dropped."""
        for root in sorted(self.folders, key=lambda root: -len(str(root.folder))):
            text = text.replace(f"{root.folder}/", "").replace(str(root.folder), root.name)
        text = text.replace(str(self._cache), "(the cache folder)")
        return _ABSOLUTE.sub(ELSEWHERE, text)


def is_pattern(path: str) -> bool:
    """Tells whether a path is a pattern."""
    return not {*"*?["}.isdisjoint(path)


def make_roots(folders: Iterable[tuple[str, Path]]) -> list[RootFolder]:
    """Returns roots for existing folders, each once and with a unique name. `folders`: (name, path); those that are not
    folders are left out."""
    roots: dict[Path, RootFolder] = {}
    for name, folder in folders:
        with suppress(OSError, ValueError, RuntimeError):
            real = folder.resolve(strict=True)
            if real.is_dir() and real not in roots and len(roots) < MOST_ROOTS:
                name = name if name.startswith("sample:") else real.name or "/"
                unique, suffix, taken = name, 1, {root.name for root in roots.values()}
                while unique in taken:
                    suffix += 1
                    unique = f"{name}-{suffix}"
                roots[real] = RootFolder(unique, real)
    return [*roots.values()]


def folder_of_uri(uri: str) -> tuple[str, Path] | None:
    """Returns the folder of a root that a client names by `file:///…`, as its name and as a path; None for anything
    else."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not path.startswith("/") or "\0" in path:
        return None
    return path, Path(path)
