"""Writes a scenario of what a command decided, or of what is on the screen.

    saved = save_scenario(kind, inputs, settings, Path("tests/refunds.scenario.toml"), session)

What is written was decided again as `secateur check` will: it passes at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from secateur.errors import UsageError, shown
from secateur.kinds.base import Kind
from secateur.output_files import refuse_links, write_output
from secateur.scenarios.location import inputs_folder, root_of
from secateur.scenarios.placed_inputs import PlacedInputs
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
        SecateurError: an input cannot be read, or the file not be written; as `Session.decide`.
    """
    if not path.name.endswith(SUFFIX) or path.name == SUFFIX:
        raise UsageError(f"{shown(path)} is no name of a scenario", hint=f"its name ends in {SUFFIX}")
    refuse_links(path)
    held = read_text(path) if again else ""
    if path.exists() and not again:
        raise UsageError(
            f"{shown(path)} exists already", hint="choose another name; `secateur check --update` records it anew"
        )
    root, base = root_of(path), (base or Path.cwd())
    placed = PlacedInputs(inputs_folder(path), root, base, stdin, again=again)
    given = placed.given(kind, inputs)
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
