"""The files that the paths of a scenario name: below the root of the repository that holds it, and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from secateur.errors import SecateurError, UsageError, reason_of, shown, too_large, unreadable_folder
from secateur.kinds.base import Input, Kind
from secateur.scenarios.malformed import CANNOT_READ, ScenarioError
from secateur.scenarios.scenario import INPUTS_SUFFIX, SUFFIX
from secateur.sources.confined import LeadsOut, confined

SAMPLE = "sample:"

MOST_FILES = 100_000
"""Files of a folder that are looked at for scenarios."""

LARGEST_INPUT = 64 << 20
"""Bytes of a file that a scenario reads."""

_SKIPPED = (".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv")


def root_of(scenario: Path) -> Path:
    """The root of the repository that holds a scenario's file; without one the folder that the file is in.

    Raises:
        SecateurError: it lies in a folder `.git`.
    """
    folder = _real(scenario).parent
    root = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
    if ".git" in folder.relative_to(root).parts:
        said = f"{shown(scenario)} lies in the data of git"
        raise SecateurError(said, hint="keep scenarios among the files of a repository", code=CANNOT_READ)
    return root


def inputs_folder(scenario: Path) -> Path:
    """The folder beside a scenario's file for copies of inputs."""
    return scenario.with_name(scenario.name.removesuffix(SUFFIX) + INPUTS_SUFFIX)


def found_scenarios(paths: Sequence[Path]) -> list[Path]:
    """The scenarios that files and folders name, each once: those below a folder in byte order. Links in a folder are
    not followed.

    Raises:
        UsageError: there is no such path, or it is no scenario.
        RepositoryError: a folder cannot be read.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        for one in _below(path) if os.path.isdir(path) else [_named(path)]:  # noqa: PTH112 - it never raises
            found.setdefault(_real(one), one)
    return list(found.values())


def _real(path: Path) -> Path:
    """A path without links; as it is where they lead in a circle."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()


def _named(path: Path) -> Path:
    if not os.path.lexists(path):
        raise UsageError(f"there is no file or folder {shown(path)}", hint="check the path")
    if not path.name.endswith(SUFFIX):
        raise UsageError(f"{shown(path)} is no scenario", hint=f"their names end in {SUFFIX}")
    return path


def _below(path: Path) -> Iterator[Path]:
    looked = 0

    def failed(error: OSError) -> None:
        if error.filename is not None and Path(error.filename) == path:
            raise unreadable_folder(path, error)

    for folder, folders, files in os.walk(path, onerror=failed):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.endswith(INPUTS_SUFFIX))
        for name in sorted(files):
            looked += 1
            if looked > MOST_FILES:
                said = f"{shown(path)} holds more than {MOST_FILES:,} files"
                raise UsageError(said, hint="name the folders that hold scenarios")
            one = Path(folder) / name
            if name.endswith(SUFFIX) and one.is_file() and not one.is_symlink():
                yield one


def check_inputs(kind: Kind[Any, Any], given: Mapping[str, Any], root: Path) -> None:
    """Checks that every path among the inputs of a scenario stays below its root, also where it looks like a sample:
    most inputs take none, and there `sample:x.log` is the name of a file. `Environment` holds the same rule while it
    reads.

    Raises:
        SecateurError: `SCENARIO`: one is absolute, or leads out, also through a link.
    """
    for one in kind.inputs:
        for text in _texts(one, given.get(one.name)):
            if one.role == "path":
                _check_path(one.name, text, root)


def _texts(one: Input, value: Any) -> list[str]:
    return [text for text in (value if one.repeatable else [value]) if isinstance(text, str) and text]


def _check_path(name: str, text: str, root: Path) -> None:
    hint = "paths count from the root of the repository that holds the scenario, and stay below it"

    def wrong(what: str) -> ScenarioError:
        return ScenarioError(f"input.{name} = {shown(text)} {what}", hint=hint, where=("input", name))

    if text.startswith(("/", "~")) or "\\" in text or "\0" in text or text == "-":
        raise wrong("is no path below the repository")
    try:
        real = confined(text, root)
        size = real.stat().st_size if real.is_file() else 0
    except LeadsOut as error:
        raise wrong(str(error)) from error
    except OSError as error:
        raise wrong(f"cannot be read: {reason_of(error)}") from error
    if size > LARGEST_INPUT:
        large = too_large(text, LARGEST_INPUT, "input of a scenario")
        raise ScenarioError(large.message, hint=large.hint, code=large.code, where=("input", name))
