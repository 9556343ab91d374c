"""Inputs as a file that is part of a repository names them: below the root of the repository, or copied beside the
file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from secateur.errors import SecateurError, UsageError, shown, too_large, unwritable
from secateur.inputs import read_input
from secateur.kinds.base import Input, Kind
from secateur.output_files import make_folder, refuse_links, write_output
from secateur.redaction import Redactor
from secateur.scenarios.location import LARGEST_INPUT, SAMPLE
from secateur.sources.git import Git
from secateur.sources.workspace_file import is_workspace


@dataclass
class PlacedInputs:
    """See the module docstring."""

    folder: Path  # for copies
    root: Path
    base: Path  # that relative names start from
    stdin: bytes | None = None
    noun: str = "scenario"  # for errors: what names the inputs
    again: bool = False  # copies that are there already are written anew
    redactor: Redactor = field(default_factory=Redactor)  # what is written holds no credential, whatever was decided on
    copies: dict[Path, bytes] = field(default_factory=dict)

    def given(self, kind: Kind[Any, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs that are not the defaults, by name.

        Raises:
            UsageError: one is a folder outside the repository.
            SecateurError: one cannot be read, and so not be copied.
        """
        given: dict[str, Any] = {}
        for one in kind.inputs:
            value = inputs.get(one.name)
            if one.role == "output" or value in (None, "", [], False, one.default):
                continue
            given[one.name] = [self.text(one, item) for item in value] if one.repeatable else self.text(one, value)
        for one in kind.inputs:
            optional = one.positional and one.role == "path" and not one.required
            if optional and one.name not in given and "diff" not in given:
                given[one.name] = self.text(one, one.default or ".")
        return given

    def text(self, one: Input, value: Any) -> Any:
        """The value that is written for an input."""
        if not isinstance(value, str):
            return value
        if value == "-":
            if self.stdin is None:
                raise UsageError("there is nothing that standard input held", hint="name a file instead of -")
            return (
                self._copied(f"{one.name}.txt", self.stdin)
                if one.role == "path"
                else _decoded(self.redactor.data(self.stdin))
            )
        if one.role == "revision":
            return self._commit(value)
        if one.role == "path":
            return value if one.folders and value.startswith(SAMPLE) else self._below(one, value)
        return self.redactor.text(value)

    def _below(self, one: Input, value: str) -> str:
        place = Path(os.path.normpath(self.base.resolve() / value))
        if place.is_relative_to(self.root):
            return place.relative_to(self.root).as_posix()
        real = place.resolve()
        if real.is_relative_to(self.root):
            return real.relative_to(self.root).as_posix()
        if not place.is_file() or (one.workspaces and is_workspace(place)):  # a copy would stand among other folders
            raise UsageError(
                f"{shown(value)} lies outside {shown(self.root)}, which holds the {self.noun}",
                hint=f"save the {self.noun} inside the repository that it is about",
            )
        data = read_input(str(place), "input", regular=True)
        if len(data) > LARGEST_INPUT:
            raise too_large(value, LARGEST_INPUT, f"input of a {self.noun}")
        return self._copied(place.name, data)

    def _copied(self, name: str, data: bytes) -> str:
        data = self.redactor.data(data)
        place = self.folder / name
        number = 1
        while place in self.copies and self.copies[place] != data:
            number += 1
            place = self.folder / f"{number}-{name}"
        for one in (self.folder, place):
            refuse_links(one)
        if place.exists() and place not in self.copies and not self.again:
            raise UsageError(f"{shown(place)} exists already", hint=f"choose another name for the {self.noun}")
        self.copies[place] = data
        return place.resolve().relative_to(self.root).as_posix()

    def _commit(self, rev: str) -> str:
        git = Git.discover(self.root)
        return git.resolve(rev) if isinstance(git, Git) else rev

    @contextmanager
    def written(self) -> Iterator[None]:
        """Holds the copies on disk; all of them are gone again where something fails."""
        folder = self.folder
        made = bool(self.copies) and not folder.exists()
        before = {place: place.read_bytes() for place in self.copies if place.is_file()}
        try:
            if made:
                make_folder(folder)
            for place, data in self.copies.items():
                write_output(place, data.decode("utf-8", "surrogateescape"))
            yield
        except BaseException as error:
            for place in self.copies:
                with suppress(OSError, SecateurError):
                    if place in before:
                        write_output(place, before[place].decode("utf-8", "surrogateescape"))
                    else:
                        place.unlink()
            if made:
                with suppress(OSError):
                    folder.rmdir()
            if isinstance(error, OSError):
                raise unwritable(folder, error) from error
            raise


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
