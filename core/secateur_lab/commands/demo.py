"""`secateur demo [NAME]`: a recorded session for each kind of context, on the screen; without a terminal as text."""

from __future__ import annotations

import argparse

from secateur.cli import completers
from secateur.cli.common import common_arguments
from secateur.cli.output import emit
from secateur.cli.parsing import completed_by
from secateur.kinds import registry
from secateur.render import dumps
from secateur.shape import SCHEMA_VERSION, Shape, Version
from secateur.terminal import visible

from secateur_lab.commands.replay import play
from secateur_lab.replays.demos import find_demo, list_demos, title_of

NAME_CELLS = 13


class DemoShape(Shape, frozen=True):
    """One recording that comes along."""

    name: str
    about: str
    file: str


class DemosOutput(Shape, frozen=True):
    """The output of `secateur demo --format json`."""

    schema_version: Version
    demos: list[DemoShape]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of the command."""
    names = ", ".join(place.name for place in registry.BUILT_IN)
    name = parser.add_argument("name", metavar="NAME", nargs="?", help=f"which: {names} (default: list them)")
    completed_by(name, completers.demos)
    common_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Plays a demo; without a name lists them."""
    if options.name is not None:
        return play(find_demo(options.name), options)
    known = list_demos()
    if options.format == "json":
        listed = [DemoShape(name, title_of(one), str(one.path)) for name, one in known.items()]
        emit(dumps(DemosOutput(SCHEMA_VERSION, listed)))
        return 0
    rows = [f"secateur demo {name:<{NAME_CELLS}} {visible(title_of(one))}" for name, one in known.items()]
    emit("\n".join(rows) + "\n")
    return 0
