"""`secateur demo [NAME]`: a recorded session for each kind of context, on the screen; without a terminal as text."""

from __future__ import annotations

from collections.abc import Mapping

from secateur import (
    BUILT_IN,
    SCHEMA_VERSION,
    CommandCall,
    CommandParser,
    SecateurError,
    Shape,
    UsageError,
    Version,
    completed_by,
    data_dir,
    dumps,
    emit,
    suggestion,
    visible,
)

from secateur_lab.commands.replay import play
from secateur_lab.replays.recording import SUFFIX, Recording, read_recording

FOLDER = "docs/examples"
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


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    names = ", ".join(place.name for place in BUILT_IN)
    name = parser.add_argument("name", metavar="NAME", nargs="?", help=f"which: {names} (default: list them)")
    completed_by(name, _demo_names)
    parser.common_arguments()


def _demo_names(_prefix: str) -> Mapping[str, str]:
    return {name: visible(title_of(one).partition(". ")[0].rstrip(".")) for name, one in list_demos().items()}


def run(options: CommandCall) -> int:
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


def list_demos() -> dict[str, Recording]:
    """Returns the demos by name, in the order of the kinds.

    Raises:
        SecateurError: they were not shipped.
    """
    folder = data_dir(FOLDER)
    paths = {place.name: folder / f"{place.name}{SUFFIX}" for place in BUILT_IN}
    there = {name: read_recording(path) for name, path in paths.items() if path.is_file()}
    if not there:
        hint = "install the published package or work from a checkout"
        raise SecateurError("the demos are not installed", hint=hint, code="NO_DEMOS")
    return there


def find_demo(name: str) -> Recording:
    """Returns a demo by name.

    Raises:
        UsageError: there is no such demo.
    """
    known = list_demos()
    if name not in known:
        near = suggestion(name, known)
        hint = f"did you mean {near}?" if near else f"demos: {', '.join(known)}"
        raise UsageError(f"unknown demo {name}", hint=hint)
    return known[name]


def title_of(recording: Recording) -> str:
    """Returns the description of a demo without the name of its kind: "which code answers a question"."""
    _, colon, rest = recording.head.about.partition(": ")
    return rest if colon else recording.head.about
