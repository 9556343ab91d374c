"""`secateur demo [NAME]`: plays a recorded session of a kind of context on the screen, or prints it without a
terminal."""

from collections.abc import Mapping
from pathlib import Path

import secateur

from secateur_lab.commands.replay import play
from secateur_lab.replays.recording import SUFFIX, Recording, read_recording

FOLDER = "docs/examples"
NAME_CELLS = 13

# The demo that tells all of it: the problem, the cut, why, what would keep an item, and how a test guards it.
STORY = "search"


class DemoShape(secateur.Shape, frozen=True):
    """One recording that comes along."""

    name: str
    about: str
    file: str


class DemosOutput(secateur.Shape, frozen=True):
    """The output of `secateur demo --format json`."""

    schema_version: secateur.Version
    demos: list[DemoShape]


def arguments(parser: secateur.CommandParser) -> None:
    """Adds the flags of the command."""
    names = ", ".join(_recordings())
    name = parser.add_argument("name", metavar="NAME", nargs="?", help=f"which: {names} (default: {STORY})")

    def demo_names(_prefix: str) -> Mapping[str, str]:
        titles = {name: title_of(recording).partition(". ")[0] for name, recording in list_demos().items()}
        return {name: secateur.visible(title.rstrip(".")) for name, title in titles.items()}

    parser.completed_by(name, demo_names)
    parser.common_arguments()


def run(options: secateur.CommandCall) -> int:
    """Plays a demo. Without a name it plays the whole story and names the other demos; JSON lists them all."""
    if options.name is not None:
        return play(find_demo(options.name), options)
    known = list_demos()
    if options.format == "json":
        listed = [DemoShape(name, title_of(recording), str(recording.path)) for name, recording in known.items()]
        options.emit(secateur.dumps(DemosOutput(secateur.SCHEMA_VERSION, listed)))
        return 0
    code = play(find_demo(STORY), options)
    for name, recording in known.items():
        if name != STORY:
            options.say(f"secateur demo {name:<{NAME_CELLS}} {secateur.visible(title_of(recording))}")
    return code


def _recordings() -> dict[str, Path]:
    paths = {name: secateur.data_dir(FOLDER) / f"{name}{SUFFIX}" for name in secateur.kind_names()}
    return {name: path for name, path in paths.items() if path.is_file()}


def list_demos() -> dict[str, Recording]:
    """Returns the demos by name, in the order of the kinds. Raises SecateurError: they were not shipped."""
    if not (demos := {name: read_recording(path) for name, path in _recordings().items()}):
        raise secateur.SecateurError(
            "the demos are not installed", hint="install the published package or work from a checkout", code="NO_DEMOS"
        )
    return demos


def find_demo(name: str) -> Recording:
    """Returns a demo by name. Raises UsageError: there is no such demo."""
    known = list_demos()
    if name not in known:
        near = secateur.suggestion(name, known)
        raise secateur.UsageError(
            f"unknown demo {name}", hint=f"did you mean {near}?" if near else f"demos: {', '.join(known)}"
        )
    return known[name]


def title_of(recording: Recording) -> str:
    """Returns the description of a demo without the name of its kind: "which code answers a question"."""
    _, colon, rest = recording.head.about.partition(": ")
    return rest if colon else recording.head.about
