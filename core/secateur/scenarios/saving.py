"""Writes a scenario of what a command decided, or of what is on the screen.

    saved = save_scenario(kind, inputs, settings, Path("tests/refunds.scenario.toml"), session)

What is written was decided again as `secateur check` will: it passes at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from secateur.errors import UsageError, shown, too_large, unwritable
from secateur.inputs import read_input
from secateur.kinds.base import Input, Kind
from secateur.output_files import write_output
from secateur.scenarios.location import LARGEST_INPUT, SAMPLE, inputs_folder, root_of
from secateur.scenarios.running import Session, settings_of
from secateur.scenarios.scenario import (
    FORMAT,
    SUFFIX,
    Expect,
    Scenario,
    dump_scenario,
    parse_scenario,
    read_text,
    with_scenario,
)
from secateur.settings import Settings
from secateur.settings.keys import nested
from secateur.sources.git import Git


@dataclass(frozen=True)
class Saved:
    """A scenario that was written."""

    path: Path
    scenario: Scenario
    copies: tuple[Path, ...]  # of inputs from outside the repository, beside it


def save_scenario(
    kind: Kind[Any, Any],
    inputs: Mapping[str, Any],
    settings: Settings,
    path: Path,
    session: Session,
    *,
    base: Path | None = None,
    stdin: bytes | None = None,
    expect: Expect | None = None,
    about: str = "",
    again: bool = False,
) -> Saved:
    """Writes the scenario of an input and its settings, with the decisions recorded; all of it or nothing.

    Args:
        path: of the file that will hold it.
        again: the file holds a scenario already: its input, settings and recorded decisions are written anew, its
            assertions, judgements and comments stay.
        base: the folder that relative inputs start from; None: the working folder.
        stdin: what was read of standard input, where an input is `-`.

    Raises:
        UsageError: it is no name of a scenario, the file exists, an input is a folder outside the repository.
        SecateurError: an input cannot be read; as `Session.decide`.
    """
    if not path.name.endswith(SUFFIX) or path.name == SUFFIX:
        raise UsageError(f"{shown(path)} is no name of a scenario", hint=f"its name ends in {SUFFIX}")
    held = read_text(path) if again else ""
    if path.exists() and not again:
        raise UsageError(
            f"{shown(path)} exists already", hint="choose another name; `secateur check --update` records it anew"
        )
    root, base = root_of(path), (base or Path.cwd())
    placed = _Placed(path, root, base, stdin, again)
    given: dict[str, Any] = {}
    for one in kind.inputs:
        value = inputs.get(one.name)
        if one.role == "output" or value in (None, "", [], False, one.default):
            continue
        given[one.name] = [placed.text(one, item) for item in value] if one.repeatable else placed.text(one, value)
    for one in kind.inputs:
        if one.positional and one.role == "path" and one.name not in given and not one.required and "diff" not in given:
            given[one.name] = placed.text(one, one.default or ".")
    if again:
        scenario = msgspec.structs.replace(parse_scenario(held, path), kind=kind.name, input=given)
    else:
        scenario = Scenario(FORMAT, kind.name, about, input=given, expect=expect or Expect())
    with placed.written():  # it is decided on what will be there
        environment = session.environment(root)
        told = settings_of(kind, kind.blank() | given, settings, environment)
        scenario = msgspec.structs.replace(scenario, settings=nested(told))
        decided = session.decide(scenario, root)
        scenario = msgspec.structs.replace(scenario, recorded=decided.recorded())
        write_output(path, with_scenario(held, scenario) if again else dump_scenario(scenario))
    return Saved(path, scenario, tuple(placed.copies))


@dataclass
class _Placed:
    """Inputs as a scenario names them: below the root of its repository, or copied beside it."""

    path: Path
    root: Path
    base: Path
    stdin: bytes | None
    again: bool = False  # copies that are there already are written anew
    copies: dict[Path, bytes] = field(default_factory=dict)

    def text(self, one: Input, value: Any) -> Any:
        """The value that is written for an input."""
        if not isinstance(value, str):
            return value
        if value == "-":
            if self.stdin is None:
                raise UsageError("there is nothing that standard input held", hint="name a file instead of -")
            return self._copied(f"{one.name}.txt", self.stdin) if one.role == "path" else _decoded(self.stdin)
        if one.role == "revision":
            return self._commit(value)
        return self._below(value) if one.role == "path" and not value.startswith(SAMPLE) else value

    def _below(self, value: str) -> str:
        place = Path(os.path.normpath(self.base.resolve() / value))
        if place.is_relative_to(self.root):
            return place.relative_to(self.root).as_posix()
        real = place.resolve()
        if real.is_relative_to(self.root):
            return real.relative_to(self.root).as_posix()
        if not place.is_file():
            raise UsageError(
                f"{shown(value)} lies outside {shown(self.root)}, which holds the scenario",
                hint="save the scenario inside the repository that it is about",
            )
        data = read_input(str(place), "input", regular=True)
        if len(data) > LARGEST_INPUT:
            raise too_large(value, LARGEST_INPUT, "input of a scenario")
        return self._copied(place.name, data)

    def _copied(self, name: str, data: bytes) -> str:
        folder = inputs_folder(self.path)
        place = folder / name
        number = 1
        while place in self.copies and self.copies[place] != data:
            number += 1
            place = folder / f"{number}-{name}"
        if place.exists() and place not in self.copies and not self.again:
            raise UsageError(f"{shown(place)} exists already", hint="choose another name for the scenario")
        self.copies[place] = data
        return place.resolve().relative_to(self.root).as_posix()

    def _commit(self, rev: str) -> str:
        git = Git.discover(self.root)
        return git.resolve(rev) if isinstance(git, Git) else rev

    @contextmanager
    def written(self) -> Iterator[None]:
        """Holds the copies on disk; all of them are gone again where something fails."""
        folder = inputs_folder(self.path)
        made = bool(self.copies) and not folder.exists()
        before = {place: place.read_bytes() for place in self.copies if place.is_file()}
        try:
            if made:
                folder.mkdir()
            for place, data in self.copies.items():
                write_output(place, data.decode("utf-8", "surrogateescape"))
            yield
        except BaseException as error:
            for place in self.copies:
                with suppress(OSError):
                    place.write_bytes(before[place]) if place in before else place.unlink()
            if made:
                with suppress(OSError):
                    folder.rmdir()
            if isinstance(error, OSError):
                raise unwritable(folder, error) from error
            raise


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")
