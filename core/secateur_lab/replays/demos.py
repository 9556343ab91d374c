"""The recordings that ship with secateur: one for each kind of context."""

from __future__ import annotations

from secateur.directories import data_dir
from secateur.errors import SecateurError, UsageError
from secateur.kinds import registry
from secateur.suggestions import suggestion

from secateur_lab.replays.recording import SUFFIX, Recording, read_recording

FOLDER = "docs/examples"


def list_demos() -> dict[str, Recording]:
    """Returns the demos by name, in the order of the kinds.

    Raises:
        SecateurError: they were not shipped.
    """
    folder = data_dir(FOLDER)
    paths = {place.name: folder / f"{place.name}{SUFFIX}" for place in registry.BUILT_IN}
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
