"""Writes a scenario from the decisions of a command, or from those on the screen.

    saved = save_scenario(kind, inputs, settings, Path("tests/refunds.scenario.toml"), session)

The decisions are made again in the same way as by `secateur check`: the scenario passes at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from secateur import Kind, Settings, UsageError, refuse_links, shown, write_output

from secateur_lab.scenarios.location import inputs_folder, root_of
from secateur_lab.scenarios.placed_inputs import PlacedInputs
from secateur_lab.scenarios.running import Session, settings_of
from secateur_lab.scenarios.scenario import (
    FORMAT,
    SUFFIX,
    Expect,
    Scenario,
    dump_scenario,
    parse_scenario,
    read_text,
    replace_scenario,
)
from secateur_lab.scenarios.toml_writing import nested


@dataclass(frozen=True)
class Saved:
    """A scenario that was written, and its copies of inputs."""

    path: Path
    scenario: Scenario
    copies: tuple[Path, ...]  # of inputs from outside the repository, beside the scenario


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
        path: the scenario's file.
        again: the file already holds a scenario. Its input, settings and recorded decisions are replaced; its
            assertions, judgements and comments stay.
        base: the start of relative inputs; None: the working folder.
        stdin: the content of standard input, if an input is `-`.

    Raises:
        UsageError: the name is not valid, the file exists, an input is a folder outside the repository.
        SecateurError: an input cannot be read, or the file cannot be written; like `Session.decide`.
    """
    if not path.name.endswith(SUFFIX) or path.name == SUFFIX:
        raise UsageError(f"{shown(path)} is not the name of a scenario", hint=f"its name ends in {SUFFIX}")
    refuse_links(path)
    held = read_text(path) if again else ""
    if path.exists() and not again:
        raise UsageError(
            f"{shown(path)} already exists", hint="choose another name; `secateur check --update` records it again"
        )
    root, base = root_of(path), (base or Path.cwd())
    placed = PlacedInputs(inputs_folder(path), root, base, stdin, again=again)
    given = placed.given(kind, inputs)
    if again:
        scenario = msgspec.structs.replace(parse_scenario(held, path), kind=kind.name, input=given)
    else:
        scenario = Scenario(FORMAT, kind.name, about, input=given, expect=expect or Expect())
    with placed.written():  # the decisions use the files as they will be
        environment = session.environment(root)
        needed = settings_of(kind, kind.blank_inputs() | given, settings, environment)
        scenario = msgspec.structs.replace(scenario, settings=nested(needed))
        decided = session.decide(scenario, root)
        scenario = msgspec.structs.replace(scenario, recorded=decided.recorded())
        write_output(path, replace_scenario(held, scenario) if again else dump_scenario(scenario))
    return Saved(path, scenario, tuple(placed.copies))
