"""Lists the kinds of context: the built-in ones, and those that other distributions register.

A distribution registers a kind by an entry point of the group `secateur.kinds` that names a subclass of `Kind`:

    [project.entry-points."secateur.kinds"]
    tickets = "my_package.tickets:Tickets"

Command line, inspector, docs and Python API derive from this registry.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from secateur.errors import SecateurError, UsageError
from secateur.kind_places import BUILT_IN, FLAGS_OF_ALL, FLAGS_OF_INSPECT, UNAVAILABLE, Place, others, unusable
from secateur.notice import Notice

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from secateur.kinds.base import Kind

HEAD = 1 << 16  # bytes at the start of a file that are enough to recognise its kind
_DECLARED = ("name", "wording", "inputs", "budget", "knobs")  # the attributes that a kind must declare
_OF_FIELDS = ("holds", "title", "placeholder")  # texts of an input that its field on the screen shows
_INPUT = re.compile(r"[a-z][a-z0-9_]*")
_METAVAR = re.compile(r"[^\s()\[\]]+")  # argparse cannot wrap a usage with others


@cache
def places() -> Mapping[str, Place | EntryPoint]:
    """Every kind by name, not imported yet: built-in kinds, then those of other distributions by name."""
    return MappingProxyType({**{place.name: place for place in BUILT_IN}, **others()[0]})


def kind_names() -> Sequence[str]:
    """The names of all kinds, built-in ones first."""
    return tuple(places())


class Declared(NamedTuple):
    """The facts of a kind that starting the inspector needs; see `Kind`."""

    title: str
    about: str
    fields: Mapping[str, str]  # its flags of `inspect` -> their metavars
    opens_folders: bool = False  # a folder without a named bench opens in this one
    loads_itself: Collection[str] = ()  # tables of settings that a repository sets only through `Kind.load`


def benches() -> Mapping[str, Declared]:
    """All usable kinds by name, without importing the built-in ones."""
    from secateur.kinds.base import fields_of

    declared = {
        built_in.name: Declared(
            built_in.name.capitalize(), built_in.about, built_in.fields, built_in.opens_folders, built_in.loads_itself
        )
        for built_in in BUILT_IN
    }
    for name, kind in _load_others()[0].items():
        fields = {field_input.name: field_input.metavar for field_input in fields_of(kind.inputs)}
        declared[name] = Declared(kind.wording.title, kind.wording.about, fields)
    return MappingProxyType(declared)


def other_commands() -> Mapping[str, str]:
    """Maps the commands of other distributions' kinds, named like the kind, to their summaries."""
    loaded = _load_others()[0]
    return {name: loaded[name].wording.about if name in loaded else "cannot be used" for name in others()[0]}


def kind_of(command: str) -> Kind[Any, Any]:
    """The kind of a command; raises as `get_kind`."""
    return get_kind(next((place.name for place in BUILT_IN if place.command == command), command))


@cache
def get_kind(name: str) -> Kind[Any, Any]:
    """Returns the kind with this name. Raises UsageError: there is no such kind, or it cannot be loaded."""
    ours = next((place for place in BUILT_IN if place.name == name), None)
    place = ours or places().get(name)  # other distributions are searched only if needed: it takes a while
    if place is None:
        raise UsageError(f"there is no kind of context named {name}", hint=f"kinds: {', '.join(places())}")
    if isinstance(place, Place):
        built_in: Kind[Any, Any] = getattr(import_module(place.module), place.attribute)()
        return built_in
    try:
        made = place.load()()
        what = _find_fault(made, name)
    except SecateurError as error:
        raise unusable(place, error.message) from error
    except (Exception, SystemExit) as error:  # other people's code: any error costs only that kind
        raise unusable(place, f"{type(error).__name__}: {error}") from error
    if what:
        raise unusable(place, what)
    other: Kind[Any, Any] = made
    return other


def _find_fault(made: object, name: str) -> str:
    """Returns why an object cannot be the kind with this name; "" if it can."""
    from secateur.kinds.base import Kind, Wording
    from secateur.settings import keys
    from secateur.settings.keys import declared_keys

    if not isinstance(made, Kind):
        return "it is not a secateur.Kind"
    if missing := [attribute for attribute in _DECLARED if not hasattr(made, attribute)]:
        return f"it declares no {', '.join(missing)}"
    if made.name != name:
        return f"its name has to be {name}, as it is registered"
    if not isinstance(made.wording, Wording):
        return "its wording is not a secateur.Wording"
    for field, text in structs.asdict(made.wording).items():
        if not isinstance(text, str) or (field != "entries" and not text.strip()):
            return f"its {field} is not a text"
    if wrong := _find_non_text(made):
        return f"{wrong} is not a text"
    if not made.inputs or not made.inputs[0].title:
        return "its first input needs a title: the screen has a field for it"
    known = {**keys(), **declared_keys(name, made.table)}
    named = (made.budget.key, *(knob.key for knob in made.knobs), *(flag.key for flag in made.flags))
    if unknown := [key for key in named if key not in known]:
        return f"there is no setting {unknown[0]}"
    for key in (known[knob.key] for knob in made.knobs if knob is not made.budget):
        if key.kind is not bool and not key.choices and None in (key.low, key.high):
            return f"its knob {key.name} has no range: a least and a greatest value, or choices"
    return _find_collision(made)


def _find_non_text(made: Kind[Any, Any]) -> str:
    """Names the first attribute of an input, flag or knob that is not text, as "the help of its input path"; else
    ""."""
    parts = (
        *(("input", part, part.name, ("name", "help", "metavar", *_OF_FIELDS)) for part in made.inputs),
        *(("flag", part, part.key, ("key", "metavar", "help", "typed")) for part in made.flags),
        *(("knob", part, part.key, ("key", "label")) for part in (made.budget, *made.knobs)),
    )
    wrong = (
        f"the {field} of its {what} {name}"
        for what, part, name, fields in parts
        for field in fields
        if not isinstance(getattr(part, field), str)
    )
    return next(wrong, "")


def _find_collision(made: Kind[Any, Any]) -> str:
    """Returns why its command or `inspect` cannot take its inputs and flags; "" if they can."""
    from secateur.kinds.base import PIN, opened_inputs

    inputs = [declared.name for declared in made.inputs]
    flags = [flag.name.removeprefix("--").replace("-", "_") for flag in made.flags]
    taken = FLAGS_OF_ALL - {"pin"} if PIN in made.flags else FLAGS_OF_ALL
    for name in (*inputs, *flags):
        if not _INPUT.fullmatch(name):
            return f"an input or flag cannot be called {name!r}: small letters, digits and _"
        if name in taken or (name in inputs and name in FLAGS_OF_INSPECT):
            return f"its input or flag {name} has the name of one of ours"
        if (*inputs, *flags).count(name) > 1:
            return f"two of its inputs and flags are called {name}"
    if "path" in inputs and "path" not in opened_inputs(made.inputs, ""):
        return "its input path is not what is opened: call it something else"
    values = [flag.metavar for flag in made.flags if flag.kind is not bool]
    wrong = [
        declared
        for declared in (*(declared.metavar for declared in made.inputs), *values)
        if not _METAVAR.fullmatch(declared)
    ]
    return f"{wrong[0]!r} cannot stand for a value in a usage" if wrong else ""


def head_of(data: bytes) -> str:
    """Decodes the beginning of a text for `Kind.recognises`, without leading white space."""
    return data[:HEAD].decode("utf-8-sig", "replace").lstrip()


def recognise_kind(path: Path, data: bytes | None = None) -> Kind[Any, Any]:
    """Finds the kind that recognises a text, by its name and its beginning. `data`: the text; None: the text of the
    file at the path, or "" if it cannot be read."""
    if data is None:
        with suppress(OSError), path.open("rb") as file:
            data = file.read(HEAD)
    head = head_of(data or b"")
    known = [*benches()][::-1]  # kinds with fewer signs of their own come first in the list
    return next(kind for name in known if _recognises(kind := get_kind(name), path, head))


def _recognises(kind: Kind[Any, Any], path: Path, head: str) -> bool:
    """Tells whether a kind recognises a file. If another distribution's code fails on it, it does not."""
    try:
        return bool(kind.recognises(path, head))
    except Exception:
        if kind.name in other_commands():
            return False
        raise


def kinds() -> Mapping[str, Kind[Any, Any]]:
    """All kinds that can be loaded, by name, built-in ones first."""
    return MappingProxyType({**{place.name: get_kind(place.name) for place in BUILT_IN}, **_load_others()[0]})


def problems() -> tuple[Notice, ...]:
    """The errors of other distributions' kinds."""
    return (*others()[1], *_load_others()[1])


@cache
def _load_others() -> tuple[Mapping[str, Kind[Any, Any]], tuple[Notice, ...]]:
    usable: dict[str, Kind[Any, Any]] = {}
    errors: list[Notice] = []
    for name in others()[0]:
        try:
            usable[name] = get_kind(name)
        except UsageError as error:
            errors.append(Notice(UNAVAILABLE, error.message))
    return usable, tuple(errors)
