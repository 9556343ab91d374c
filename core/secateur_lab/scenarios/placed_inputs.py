"""Inputs as a file in a repository names them: by paths below the repository's root, or by copies beside the file."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import secateur

from secateur_lab.scenarios.location import LARGEST_INPUT, SAMPLE


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
