"""The files that the paths of a scenario name: below the root of the repository that holds it, and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from secateur.errors import SecateurError, shown, too_large, unreadable_folder
from secateur.kinds.base import Input, Kind
from secateur.scenarios.malformed import CANNOT_READ
from secateur.scenarios.scenario import INPUTS_SUFFIX, SUFFIX

SAMPLE = "sample:"

MOST_FILES = 100_000
"""Files of a folder that are looked at for scenarios."""

LARGEST_INPUT = 64 << 20
"""Bytes of a file that a scenario reads."""

_SKIPPED = (".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv")
_MAGIC = re.compile(r"[*?\[]")


def root_of(scenario: Path) -> Path:
    """The root of the repository that holds a scenario's file; without one the folder that the file is in."""
    folder = scenario.resolve().parent
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)


def inputs_folder(scenario: Path) -> Path:
    """The folder beside a scenario's file for copies of inputs."""
    return scenario.with_name(scenario.name.removesuffix(SUFFIX) + INPUTS_SUFFIX)


def found_scenarios(path: Path) -> Iterator[Path]:
    """The scenario of a file; those below a folder, in byte order. Links are not followed.

    Raises:
        RepositoryError: the folder cannot be read.
    """
    if not path.is_dir():
        yield path
        return
    looked = 0

    def failed(error: OSError) -> None:
        if error.filename is not None and Path(error.filename) == path:
            raise unreadable_folder(path, error)

    for folder, folders, files in os.walk(path, onerror=failed):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.endswith(INPUTS_SUFFIX))
        for name in sorted(files):
            looked += 1
            if looked > MOST_FILES:
                return
            one = Path(folder) / name
            if name.endswith(SUFFIX) and one.is_file() and not one.is_symlink():
                yield one


def check_inputs(kind: Kind[Any, Any], given: Mapping[str, Any], root: Path) -> None:
    """Checks that every path among the inputs of a scenario stays below its root.

    Raises:
        SecateurError: `SCENARIO`: one is absolute, or leads out, also through a link.
    """
    for one in kind.inputs:
        for text in _texts(one, given.get(one.name)):
            if one.role == "path" and not text.startswith(SAMPLE):
                _check_path(one.name, text, root)


def _texts(one: Input, value: Any) -> list[str]:
    return [text for text in (value if one.repeatable else [value]) if isinstance(text, str) and text]


def _check_path(name: str, text: str, root: Path) -> None:
    path = PurePosixPath(text)
    hint = "paths count from the root of the repository that holds the scenario, and stay below it"
    if path.is_absolute() or "\\" in text or text.startswith("~") or "\0" in text or text == "-":
        raise SecateurError(
            f"input.{name} = {shown(text)} is no path below the repository", hint=hint, code=CANNOT_READ
        )
    depth = 0
    for part in path.parts:
        depth += -1 if part == ".." else 1
        if depth < 0:
            raise SecateurError(
                f"input.{name} = {shown(text)} leads out of the repository", hint=hint, code=CANNOT_READ
            )
    fixed = [part for part in path.parts if not _MAGIC.search(part)] if _MAGIC.search(text) else list(path.parts)
    try:
        real = root.joinpath(*fixed).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise SecateurError(f"input.{name} = {shown(text)} cannot be read", hint=hint, code=CANNOT_READ) from error
    if not real.is_relative_to(root.resolve()):
        said = f"input.{name} = {shown(text)} is a link that leads out of the repository"
        raise SecateurError(said, hint=hint, code=CANNOT_READ)
    if real.is_file() and real.stat().st_size > LARGEST_INPUT:
        raise too_large(text, LARGEST_INPUT, "input of a scenario")
