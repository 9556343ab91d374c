"""The files that a scenario names: only files below the root of the repository that holds it.

Proposes a name for a new file: a scenario, or a report.

Inputs as a file in a repository names them: by paths below the repository's root, or by copies beside the file.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import secateur
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


MOST_WORDS = 6  # most words of a query in a name
LONGEST = 40  # most characters of a name
_WORDS = re.compile(r"[^\W_]+")


def propose_name(kind: Kind[Any, Any], inputs: Mapping[str, Any], folder: Path, ending: str) -> str:
    """Proposes a name that no file in the folder has, from the query or else from the input file."""
    name = _name(kind, inputs)
    numbered = (f"{name}{f'-{index}' if index > 1 else ''}{ending}" for index in range(1, 1000))
    return next((candidate for candidate in numbered if not (folder / candidate).exists()), f"{name}{ending}")


def _name(kind: Kind[Any, Any], inputs: Mapping[str, Any]) -> str:
    texts = [inputs[input_.name] for input_ in kind.inputs if input_.lines and isinstance(inputs[input_.name], str)]
    first = next((line for text in texts for line in text.splitlines() if _WORDS.search(line)), "")
    words = [word.lower() for word in _WORDS.findall(first)[:MOST_WORDS]]
    while len(words) > 1 and len("-".join(words)) > LONGEST:
        words.pop()
    if words:
        return "-".join(words)[:LONGEST]
    return next(filter(None, ("-".join(_WORDS.findall(Path(text).stem)) for text in _paths(kind, inputs))), kind.name)[
        :LONGEST
    ]


def _paths(kind: Kind[Any, Any], inputs: Mapping[str, Any]) -> Iterator[str]:
    for input_ in kind.inputs:
        value = inputs[input_.name]
        if input_.role == "path":
            yield from (text for text in (value if isinstance(value, list) else [value]) if text and text != "-")


@dataclass
class PlacedInputs:
    """See the module docstring."""

    folder: Path  # for copies
    root: Path
    base: Path  # start of relative names
    stdin: bytes | None = None
    noun: str = "scenario"  # what names the inputs, for errors
    again: bool = False  # existing copies are overwritten
    reading: secateur.Environment = field(
        default_factory=secateur.Environment
    )  # its redactor takes credentials out of what is written
    copies: dict[Path, bytes] = field(default_factory=dict)

    def given(self, kind: secateur.Kind[Any, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the inputs that are not the defaults, by name.

        Raises:
            UsageError: one is a folder outside the repository.
            SecateurError: one cannot be read, so it cannot be copied.
        """
        given: dict[str, Any] = {}
        for spec in kind.inputs:
            value = inputs.get(spec.name)
            if spec.role == "output" or value in (None, "", [], False, spec.default):
                continue
            given[spec.name] = [self.text(spec, item) for item in value] if spec.repeatable else self.text(spec, value)
        for spec in kind.inputs:
            optional = spec.positional and spec.role == "path" and not spec.required
            if optional and spec.name not in given and "diff" not in given:
                given[spec.name] = self.text(spec, spec.default or ".")
        return given

    def text(self, spec: secateur.Input, value: Any) -> Any:
        """Returns the value to write for an input."""
        if not isinstance(value, str):
            return value
        if value == "-":
            if self.stdin is None:
                raise secateur.UsageError("standard input was empty", hint="name a file instead of -")
            if spec.role == "path":
                return self._copied(f"{spec.name}.txt", self.stdin)
            return self.reading.redactor.data(self.stdin).decode("utf-8", "replace")
        if spec.role == "revision":
            git = secateur.Git.discover(self.root)
            return git.resolve(value) if isinstance(git, secateur.Git) else value
        if spec.role == "path":
            return value if spec.folders and value.startswith(SAMPLE) else self._below(spec, value)
        return self.reading.redactor.text(value)

    def _below(self, spec: secateur.Input, value: str) -> str:
        path = Path(os.path.normpath(self.base.resolve() / value))
        if path.is_relative_to(self.root):
            return path.relative_to(self.root).as_posix()
        real = path.resolve()
        if real.is_relative_to(self.root):
            return real.relative_to(self.root).as_posix()
        if not path.is_file() or (
            spec.workspaces and secateur.is_workspace(path)
        ):  # a copy would be beside other folders
            raise secateur.UsageError(
                f"{secateur.shown(value)} lies outside {secateur.shown(self.root)}, which holds the {self.noun}",
                hint=f"save the {self.noun} inside the repository that it uses",
            )
        return self._copied(path.name, secateur.read_file(path, LARGEST_INPUT, f"input of a {self.noun}"))

    def _copied(self, name: str, data: bytes) -> str:
        data = self.reading.redactor.data(data)
        path = self.folder / name
        index = 1
        while path in self.copies and self.copies[path] != data:
            index += 1
            path = self.folder / f"{index}-{name}"
        for spec in (self.folder, path):
            secateur.refuse_links(spec)
        if path.exists() and path not in self.copies and not self.again:
            raise secateur.UsageError(
                f"{secateur.shown(path)} already exists", hint=f"choose another name for the {self.noun}"
            )
        self.copies[path] = data
        return path.resolve().relative_to(self.root).as_posix()

    @contextmanager
    def written(self) -> Iterator[None]:
        """Keeps the copies on disk; removes all of them again after an error."""
        folder = self.folder
        made = bool(self.copies) and not folder.exists()
        before = {path: path.read_bytes() for path in self.copies if path.is_file()}
        written = []
        try:
            for path, data in self.copies.items():
                secateur.write_output(path, data.decode("utf-8", "surrogateescape"), make_folder=1)
                written.append(path)
            yield
        except BaseException:
            for path in written:
                with suppress(OSError, secateur.SecateurError):
                    if path in before:
                        secateur.write_output(path, before[path].decode("utf-8", "surrogateescape"))
                    else:
                        path.unlink()
            if made:
                with suppress(OSError):
                    folder.rmdir()
            raise
