"""The files that a scenario names: only files below the root of the repository that holds it."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from secateur import Kind, RepositoryError, SecateurError, UsageError, confine_path, shown

from secateur_lab.scenarios.links import behind_link
from secateur_lab.scenarios.malformed import CANNOT_READ, ScenarioError
from secateur_lab.scenarios.scenario import INPUTS_SUFFIX, SUFFIX

SAMPLE = "sample:"

MOST_FILES = 100_000  # most files of a folder that are searched for scenarios
LARGEST_INPUT = 64 << 20  # most bytes of a file that a scenario reads
_SKIPPED = (".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv")


def root_of(scenario: Path) -> Path:
    """Returns the root of the repository that holds a scenario's file, or without a repository the file's folder.
    Raises SecateurError: it lies in a folder `.git`."""
    folder = _real(scenario).parent
    root = next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)
    if ".git" in folder.relative_to(root).parts:
        message = f"{shown(scenario)} lies in the data of git"
        raise SecateurError(message, hint="keep scenarios among the files of a repository", code=CANNOT_READ)
    return root


def inputs_folder(scenario: Path) -> Path:
    """Returns the folder beside a scenario's file for copies of inputs."""
    return scenario.with_name(scenario.name.removesuffix(SUFFIX) + INPUTS_SUFFIX)


def find_scenarios(paths: Sequence[Path]) -> list[Path]:
    """Returns the scenarios that files and folders name, each once; those below a folder in byte order. Links in a
    folder are not followed.

    Raises:
        UsageError: a path does not exist, or is not a scenario.
        RepositoryError: a folder cannot be read.
    """
    scenarios: dict[Path, Path] = {}
    for path in paths:
        is_folder = os.path.isdir(path)  # noqa: PTH112
        if not is_folder and not os.path.lexists(path):
            raise UsageError(f"there is no file or folder {shown(path)}", hint="check the path")
        if not is_folder and not path.name.endswith(SUFFIX):
            raise UsageError(f"{shown(path)} is not a scenario", hint=f"their names end in {SUFFIX}")
        for scenario in _scenarios_below(path) if is_folder else [path]:
            scenarios.setdefault(_real(scenario), scenario)
    return list(scenarios.values())


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return path.absolute()


def _scenarios_below(path: Path) -> Iterator[Path]:
    looked = 0

    def failed(error: OSError) -> None:
        if error.filename is not None and Path(error.filename) == path:
            message = f"cannot read {path}: {error.strerror or error}"
            raise RepositoryError(message, hint="check the path and its permissions", code="UNREADABLE_FOLDER")

    for folder, folders, files in os.walk(path, onerror=failed):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.endswith(INPUTS_SUFFIX))
        for name in sorted(files):
            looked += 1
            if looked > MOST_FILES:
                message = f"{shown(path)} holds more than {MOST_FILES:,} files"
                raise UsageError(message, hint="name the folders that hold scenarios")
            file = Path(folder) / name
            if name.endswith(SUFFIX) and file.is_file() and not behind_link(file, path.__eq__):
                yield file


def check_inputs(kind: Kind[Any, Any], given: Mapping[str, Any], root: Path) -> None:
    """Checks that every path among a scenario's inputs stays below its root, even if it looks like a sample: most
    inputs accept no samples, so `sample:x.log` is a file name. `Environment` applies the same rule while reading.
    Raises SecateurError: `SCENARIO`: a path is absolute, or leads out, also through a link."""
    for input_ in kind.inputs:
        value: Any = given.get(input_.name)
        if input_.role == "path":
            for text in value if input_.repeatable else [value]:
                if isinstance(text, str) and text:
                    _check_path(input_.name, text, root)


def _check_path(name: str, text: str, root: Path) -> None:
    hint = "paths are relative to the root of the repository that holds the scenario, and stay below it"

    def wrong(what: str) -> ScenarioError:
        return ScenarioError(f"input.{name} = {shown(text)} {what}", hint=hint, where=("input", name))

    if text.startswith(("/", "~")) or "\\" in text or "\0" in text or text == "-":
        raise wrong("is not a path below the repository")
    try:
        real = confine_path(text, root)
        size = real.stat().st_size if real.is_file() else 0
    except ValueError as error:
        raise wrong(str(error)) from error
    except OSError as error:
        raise wrong(f"cannot be read: {error.strerror or error}") from error
    if size > LARGEST_INPUT:
        message = f"{shown(text)} is larger than {LARGEST_INPUT:,} bytes"
        hint = "no input of a scenario is that large: check the path"
        raise ScenarioError(message, hint=hint, code="TOO_LARGE", where=("input", name))
