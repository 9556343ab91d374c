"""The kinds of context there are: ours, and those that other distributions register.

A distribution registers one by an entry point of the group `secateur.kinds` that names a subclass of `Kind`:

    [project.entry-points."secateur.kinds"]
    tickets = "my_package.tickets:Tickets"

Command line, inspector, docs and Python API derive from this registry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from secateur.errors import UsageError, shown
from secateur.ledger import Notice

if TYPE_CHECKING:
    from secateur.kinds.base import Kind

GROUP = "secateur.kinds"

UNAVAILABLE = "kind_unavailable"
"""Code of the notices about kinds that cannot be used."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place where a kind is found, and its description before it is imported."""

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

COMMANDS = ("inspect", "check", "index", "status", "config")
"""Commands that prune nothing. No kind of another distribution has the name of one, or of a kind or command of ours."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")

_DECLARED = ("name", "command", "title", "about", "noun", "opening", "inputs", "budget", "knobs")
"""The attributes that a kind has to declare."""


@cache
def places() -> Mapping[str, Place | EntryPoint]:
    """Every kind by name, not imported yet: ours first, then those of other distributions by name."""
    return MappingProxyType({**{place.name: place for place in BUILT_IN}, **_others()[0]})


@cache
def _others() -> tuple[Mapping[str, EntryPoint], tuple[Notice, ...]]:
    """The kinds of other distributions by name, and which of them cannot be used for their name."""
    found: dict[str, EntryPoint] = {}
    wrong = []
    ours = {name for place in BUILT_IN for name in (place.name, place.command)}
    for point in sorted(set(entry_points(group=GROUP)), key=lambda point: (point.name, point.value)):
        what = (
            "a name is small letters, digits, - and _"
            if not _NAME.fullmatch(point.name)
            else "the name is that of a kind of ours"
            if point.name in ours
            else "the name is that of a command"
            if point.name in COMMANDS
            else f"the name is that of {found[point.name].value}"
            if point.name in found
            else ""
        )
        if what:
            wrong.append(Notice(UNAVAILABLE, _unusable(point, what).message))
        else:
            found[point.name] = point
    return found, tuple(wrong)


def other_commands() -> Mapping[str, str]:
    """Command, which is the kind's name, -> summary, of the kinds of other distributions."""
    loaded = _loaded()[0]
    return {name: loaded[name].about if name in loaded else "cannot be used" for name in _others()[0]}


def kind_of(command: str) -> Kind[Any, Any]:
    """The kind that a command prunes; raises as `kind`."""
    return kind(next((place.name for place in BUILT_IN if place.command == command), command))


@cache
def kind(name: str) -> Kind[Any, Any]:
    """The kind of a name.

    Raises:
        UsageError: there is none, or the module that registers it cannot be loaded.
    """
    ours = next((place for place in BUILT_IN if place.name == name), None)
    place = ours or places().get(name)  # what others register is looked up only where it is meant: it takes a while
    if place is None:
        raise UsageError(f"there is no kind of context named {name}", hint=f"kinds: {', '.join(places())}")
    if isinstance(place, Place):
        built_in: Kind[Any, Any] = getattr(import_module(place.module), place.attribute)()
        return built_in
    try:
        made = place.load()()
        what = _lacks(made, name)
    except (Exception, SystemExit) as error:  # other people's code: whatever it raises costs that kind alone
        raise _unusable(place, f"{type(error).__name__}: {error}") from error
    if what:
        raise _unusable(place, what)
    other: Kind[Any, Any] = made
    return other


def _lacks(made: object, name: str) -> str:
    """The fault that keeps an object from being the kind of a name; "" for nothing."""
    from secateur.kinds.base import Kind
    from secateur.settings import keys

    if not isinstance(made, Kind):
        return "it is no secateur.kinds.base.Kind"
    missing = [one for one in _DECLARED if not hasattr(made, one)]
    if missing:
        return f"it declares no {', '.join(missing)}"
    if (made.name, made.command) != (name, name):
        return f"its name and its command have to be {name}, as it is registered"
    if not made.inputs or not made.inputs[0].title:
        return "its first input needs a title: the screen has a field for it"
    named = (made.budget.key, *(knob.key for knob in made.knobs), *(flag.key for flag in made.flags))
    unknown = [key for key in named if key not in keys()]
    return f"there is no setting {unknown[0]}" if unknown else ""


def kinds() -> Mapping[str, Kind[Any, Any]]:
    """Every kind that can be loaded, by name: ours first."""
    return MappingProxyType({**{place.name: kind(place.name) for place in BUILT_IN}, **_loaded()[0]})


def problems() -> tuple[Notice, ...]:
    """The errors of kinds that other distributions register."""
    return (*_others()[1], *_loaded()[1])


@cache
def _loaded() -> tuple[Mapping[str, Kind[Any, Any]], tuple[Notice, ...]]:
    """The kinds of other distributions that can be used, and what is wrong with the others."""
    found: dict[str, Kind[Any, Any]] = {}
    wrong: list[Notice] = []
    for name in _others()[0]:
        try:
            found[name] = kind(name)
        except UsageError as error:
            wrong.append(Notice(UNAVAILABLE, error.message))
    return found, tuple(wrong)


def _unusable(point: EntryPoint, what: str) -> UsageError:
    return UsageError(
        f"the kind of context {shown(point.name)} ({shown(point.value)}) cannot be used: {what}",
        hint="mend or uninstall the package that registers it",
    )
