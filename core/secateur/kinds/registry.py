"""The kinds of context there are: ours, and those that other distributions register.

A distribution registers one by an entry point of the group `secateur.kinds` that names a subclass of `Kind`:

    [project.entry-points."secateur.kinds"]
    tickets = "my_package.tickets:Tickets"

Command line, inspector, docs and Python API derive from this registry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from secateur.errors import UsageError
from secateur.ledger import Notice

if TYPE_CHECKING:
    from secateur.kinds.base import Kind

GROUP = "secateur.kinds"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a kind is found, and what there is to say of it before it is imported."""

    name: str
    command: str
    summary: str  # of the command, for its help
    module: str
    attribute: str


BUILT_IN = (
    Place(
        "search",
        "search",
        "find what answers a query and print it within a token budget",
        "secateur.kinds.search.kind",
        "Search",
    ),
    Place(
        "files",
        "files",
        "bring files within a number of tokens: the best ones whole, or the lines that matter",
        "secateur.kinds.files.kind",
        "FilesKind",
    ),
    Place(
        "conversation",
        "conversation",
        "prune a transcript to a safe zone of tokens: clear tool results, summarize, truncate",
        "secateur.kinds.conversation.kind",
        "Conversation",
    ),
    Place(
        "envelope",
        "envelope",
        "trim a prompt envelope to a model's context budget",
        "secateur.kinds.envelope.kind",
        "Envelope",
    ),
    Place(
        "diff",
        "chunk",
        "cut a pull request into chunks that fit a model, every changed file accounted for",
        "secateur.kinds.diff.kind",
        "PullRequest",
    ),
    Place(
        "log",
        "log",
        "bring a log within a number of tokens: what failed first, verbatim lines only",
        "secateur.kinds.log.kind",
        "LogKind",
    ),
)
"""Ours, in the order of the inspector's keys."""


@cache
def places() -> Mapping[str, Place | EntryPoint]:
    """Every kind by name, not imported yet: ours first, then those of other distributions by name."""
    ours: dict[str, Place | EntryPoint] = {place.name: place for place in BUILT_IN}
    others = sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))
    return MappingProxyType(ours | {point.name: point for point in reversed(others) if point.name not in ours})


def other_commands() -> Mapping[str, str]:
    """Command, which is the kind's name, -> summary, of the kinds of other distributions."""
    return {
        name: f"prune what {place.value.partition(':')[0]} reads"
        for name, place in places().items()
        if not isinstance(place, Place)
    }


def kind_of(command: str) -> Kind[Any, Any]:
    """The kind that a command prunes; raises as `kind`."""
    return kind(next((place.name for place in BUILT_IN if place.command == command), command))


@cache
def kind(name: str) -> Kind[Any, Any]:
    """The kind of a name.

    Raises:
        UsageError: there is none, or the module that registers it cannot be loaded.
    """
    from secateur.kinds.base import Kind

    ours = next((place for place in BUILT_IN if place.name == name), None)
    place = ours or places().get(name)  # what others register is looked up only where it is meant: it takes a while
    if place is None:
        raise UsageError(f"there is no kind of context named {name}", hint=f"kinds: {', '.join(places())}")
    if isinstance(place, Place):
        built_in: Kind[Any, Any] = getattr(import_module(place.module), place.attribute)()
        return built_in
    try:
        made = place.load()()
    except Exception as error:  # other people's code: whatever it raises costs that kind alone
        raise _unusable(place, f"{type(error).__name__}: {error}") from error
    if not isinstance(made, Kind) or made.name != name:
        raise _unusable(place, f"it is no secateur.kinds.base.Kind named {name}")
    return made


def kinds() -> Mapping[str, Kind[Any, Any]]:
    """Every kind that can be loaded, by name."""
    return _loaded()[0]


def problems() -> tuple[Notice, ...]:
    """The errors of kinds that other distributions register."""
    return _loaded()[1]


@cache
def _loaded() -> tuple[Mapping[str, Kind[Any, Any]], tuple[Notice, ...]]:
    found: dict[str, Kind[Any, Any]] = {}
    wrong: list[Notice] = []
    for name in places():
        try:
            found[name] = kind(name)
        except UsageError as error:
            wrong.append(Notice("kind_unavailable", error.message))
    return MappingProxyType(found), tuple(wrong)


def _unusable(point: EntryPoint, what: str) -> UsageError:
    return UsageError(
        f"the kind of context {point.name} ({point.value}) cannot be used: {what}",
        hint="mend or uninstall the package that registers it",
    )
