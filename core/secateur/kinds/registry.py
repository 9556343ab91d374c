"""The kinds of context there are: ours, and those that other distributions register.

A distribution registers one by an entry point of the group `secateur.kinds` that names a subclass of `Kind`:

    [project.entry-points."secateur.kinds"]
    tickets = "my_package.tickets:Tickets"

Command line, inspector, docs and Python API derive from this registry.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from secateur.errors import SecateurError, UsageError
from secateur.kind_places import (
    BUILT_IN,
    COMMANDS,
    FLAGS_OF_ALL,
    FLAGS_OF_INSPECT,
    UNAVAILABLE,
    Place,
    others,
    unusable,
)
from secateur.notice import Notice

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from secateur.kinds.base import Kind

__all__ = [
    "BUILT_IN",
    "COMMANDS",
    "HEAD",
    "Declared",
    "benches",
    "get_kind",
    "kind_names",
    "kind_of",
    "kinds",
    "other_commands",
    "places",
    "problems",
    "recognise_kind",
]

HEAD = 1 << 16
"""Bytes by which a file is told: every transcript and every envelope begins as one."""

_DECLARED = ("name", "wording", "inputs", "budget", "knobs")
"""The attributes that a kind has to declare."""

_OF_FIELDS = ("holds", "title", "placeholder")
"""Texts of an input that its field on the screen shows."""

_INPUT = re.compile(r"[a-z][a-z0-9_]*")
_METAVAR = re.compile(r"[^\s()\[\]]+")  # argparse cannot wrap a usage with others


@cache
def places() -> Mapping[str, Place | EntryPoint]:
    """Every kind by name, not imported yet: ours first, then those of other distributions by name."""
    return MappingProxyType({**{place.name: place for place in BUILT_IN}, **others()[0]})


def kind_names() -> Sequence[str]:
    """The name of every kind: ours first."""
    return tuple(places())


class Declared(NamedTuple):
    """The facts of a kind that a start of the inspector needs; see `Kind`."""

    title: str
    about: str
    fields: Mapping[str, str]  # its flags of `inspect` -> what stands for their values
    opens_folders: bool = False  # a folder that is named without a bench is opened in this one
    loads_itself: Collection[str] = ()  # tables of settings that a repository sets only as `Kind.load` finds them


def benches() -> Mapping[str, Declared]:
    """Every kind that can be used, by name as in `kinds`; ours are not imported."""
    from secateur.kinds.arguments import fields_of

    found = {
        place.name: Declared(
            place.name.capitalize(), place.about, place.fields, place.opens_folders, place.loads_itself
        )
        for place in BUILT_IN
    }
    for name, kind in _loaded()[0].items():
        fields = {one.name: one.metavar for one in fields_of(kind.inputs)}
        found[name] = Declared(kind.wording.title, kind.wording.about, fields)
    return MappingProxyType(found)


def other_commands() -> Mapping[str, str]:
    """Command, which is the kind's name, -> summary, of the kinds of other distributions."""
    loaded = _loaded()[0]
    return {name: loaded[name].wording.about if name in loaded else "cannot be used" for name in others()[0]}


def kind_of(command: str) -> Kind[Any, Any]:
    """The kind that a command prunes; raises as `kind`."""
    return get_kind(next((place.name for place in BUILT_IN if place.command == command), command))


@cache
def get_kind(name: str) -> Kind[Any, Any]:
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
    except SecateurError as error:
        raise unusable(place, error.message) from error
    except (Exception, SystemExit) as error:  # other people's code: whatever it raises costs that kind alone
        raise unusable(place, f"{type(error).__name__}: {error}") from error
    if what:
        raise unusable(place, what)
    other: Kind[Any, Any] = made
    return other


def _lacks(made: object, name: str) -> str:
    """The fault that keeps an object from being the kind of a name; "" for nothing."""
    from secateur.kinds.base import Kind, Wording
    from secateur.settings import keys
    from secateur.settings.keys import declared_keys

    if not isinstance(made, Kind):
        return "it is no secateur.Kind"
    missing = [one for one in _DECLARED if not hasattr(made, one)]
    if missing:
        return f"it declares no {', '.join(missing)}"
    if made.name != name:
        return f"its name has to be {name}, as it is registered"
    if not isinstance(made.wording, Wording):
        return "its wording is no secateur.Wording"
    for field, text in asdict(made.wording).items():
        if not isinstance(text, str) or (field != "entries" and not text.strip()):
            return f"its {field} is no text"
    if wrong := _no_text(made):
        return f"{wrong} is no text"
    if not made.inputs or not made.inputs[0].title:
        return "its first input needs a title: the screen has a field for it"
    known = {**keys(), **declared_keys(name, made.table)}
    named = (made.budget.key, *(knob.key for knob in made.knobs), *(flag.key for flag in made.flags))
    unknown = [key for key in named if key not in known]
    if unknown:
        return f"there is no setting {unknown[0]}"
    for key in (known[knob.key] for knob in made.knobs if knob is not made.budget):
        if key.kind is not bool and not key.choices and None in (key.low, key.high):
            return f"its knob {key.name} has no range: a least and a greatest value, or choices"
    return _collision(made)


def _no_text(made: Kind[Any, Any]) -> str:
    """The first text of an input, a flag or a knob that is none, as "the help of its input path"; "" for nothing."""
    parts = (
        *(("input", one, one.name, ("name", "help", "metavar", *_OF_FIELDS)) for one in made.inputs),
        *(("flag", one, one.key, ("key", "metavar", "help", "typed")) for one in made.flags),
        *(("knob", one, one.key, ("key", "label")) for one in (made.budget, *made.knobs)),
    )
    wrong = (
        f"the {field} of its {what} {name}"
        for what, one, name, fields in parts
        for field in fields
        if not isinstance(getattr(one, field), str)
    )
    return next(wrong, "")


def _collision(made: Kind[Any, Any]) -> str:
    """The fault of its inputs and flags that its command or `inspect` cannot take; "" for none."""
    from secateur.kinds.arguments import opened_inputs

    inputs = [one.name for one in made.inputs]
    flags = [flag.name.removeprefix("--").replace("-", "_") for flag in made.flags]
    for name in (*inputs, *flags):
        if not _INPUT.fullmatch(name):
            return f"an input or flag cannot be called {name!r}: small letters, digits and _"
        if name in FLAGS_OF_ALL or (name in inputs and name in FLAGS_OF_INSPECT):
            return f"its input or flag {name} has the name of one of ours"
        if (*inputs, *flags).count(name) > 1:
            return f"two of its inputs and flags are called {name}"
    if "path" in inputs and "path" not in opened_inputs(made.inputs, ""):
        return "its input path is not what is opened: call it something else"
    values = [flag.metavar for flag in made.flags if flag.kind is not bool]
    wrong = [one for one in (*(one.metavar for one in made.inputs), *values) if not _METAVAR.fullmatch(one)]
    return f"{wrong[0]!r} cannot stand for a value in a usage" if wrong else ""


def head_of(data: bytes) -> str:
    """The beginning of a text as `Kind.recognises` takes it, without white space in front."""
    return data[:HEAD].decode("utf-8-sig", "replace").lstrip()


def recognise_kind(path: Path, data: bytes | None = None) -> Kind[Any, Any]:
    """The kind that takes a text for its own, by its name and how it begins.

    Args:
        data: the text; None: that of the file at the path; a file that cannot be read has none.
    """
    if data is None:
        with suppress(OSError), path.open("rb") as file:
            data = file.read(HEAD)
    head = head_of(data or b"")
    known = [*benches()][::-1]  # what has fewer signs of its own stands further in front
    return next(one for name in known if _recognises(one := get_kind(name), path, head))


def _recognises(one: Kind[Any, Any], path: Path, head: str) -> bool:
    """Tells whether a file is of a kind. Other people's code is shown any file that is opened: where it fails, it is
    not."""
    try:
        return bool(one.recognises(path, head))
    except Exception:
        if one.name in other_commands():
            return False
        raise


def kinds() -> Mapping[str, Kind[Any, Any]]:
    """Every kind that can be loaded, by name: ours first."""
    return MappingProxyType({**{place.name: get_kind(place.name) for place in BUILT_IN}, **_loaded()[0]})


def problems() -> tuple[Notice, ...]:
    """The errors of kinds that other distributions register."""
    return (*others()[1], *_loaded()[1])


@cache
def _loaded() -> tuple[Mapping[str, Kind[Any, Any]], tuple[Notice, ...]]:
    """The kinds of other distributions that can be used, and what is wrong with the others."""
    found: dict[str, Kind[Any, Any]] = {}
    wrong: list[Notice] = []
    for name in others()[0]:
        try:
            found[name] = get_kind(name)
        except UsageError as error:
            wrong.append(Notice(UNAVAILABLE, error.message))
    return found, tuple(wrong)
