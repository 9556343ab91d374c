"""`secateur demo [NAME]`: a recorded session for each kind of context, on the screen; without a terminal as text."""

from __future__ import annotations

import argparse

from secateur.cli import completers
from secateur.cli.common import common_arguments
from secateur.cli.output import emit
from secateur.cli.parsing import completed_by
from secateur.cli.replay import play
from secateur.kinds import registry
from secateur.render import SCHEMA_VERSION, dumps
from secateur.replays.demos import demo, demos, title_of
from secateur.terminal import visible

NAME_CELLS = 13


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of the command."""
    names = ", ".join(place.name for place in registry.BUILT_IN)
    name = parser.add_argument("name", metavar="NAME", nargs="?", help=f"which: {names} (default: list them)")
    completed_by(name, completers.demos)
    common_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Plays a demo; without a name lists them."""
    if options.name is not None:
        return play(demo(options.name), options)
    known = demos()
    if options.format == "json":
        listed = [{"name": name, "about": title_of(one), "file": str(one.path)} for name, one in known.items()]
        emit(dumps({"schema_version": SCHEMA_VERSION, "demos": listed}))
        return 0
    rows = [f"secateur demo {name:<{NAME_CELLS}} {visible(title_of(one))}" for name, one in known.items()]
    emit("\n".join(rows) + "\n")
    return 0
