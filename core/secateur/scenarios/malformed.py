"""Errors about the file of a scenario, which name file, line and key."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from secateur.errors import SecateurError, shown
from secateur.scenarios.toml_places import KeyPath, dotted, toml_places
from secateur.scenarios.toml_writing import flat
from secateur.suggestions import suggestion

CANNOT_READ = "SCENARIO"
"""Code of these errors."""

SETTINGS_LAYER = "[settings]"
"""The place of a scenario's settings, as errors about settings name it."""

_TOLD_APART = 3
"""Letters from which a value that an error repeats is taken for the input that holds it."""

_AT = re.compile(r"line (\d+)")


class ScenarioError(SecateurError):
    """The file of a scenario does not hold what it must.

    Attributes:
        where: the key that is wrong; () where `line` is known.
        line: in the file, from 1; 0: not known yet.
    """

    default_code = CANNOT_READ

    def __init__(
        self, message: str, *, hint: str = "", code: str | None = None, where: KeyPath = (), line: int = 0
    ) -> None:
        super().__init__(message, hint=hint, code=code)
        self.where = where
        self.line = line


def malformed(path: Path, line: int, what: str, hint: str, code: str | None = None) -> ScenarioError:
    """The error about a line of a scenario's file."""
    return ScenarioError(f"{shown(path)}:{line}: {what}", hint=hint, code=code, line=line)


def placed(
    error: SecateurError, path: Path, text: str, given: Mapping[str, Any], settings: Mapping[str, Any]
) -> SecateurError:
    """An error of deciding with the file and the line of the key that it is about; unchanged where that is none.

    Args:
        text: of the scenario's file.
        given: its inputs.
        settings: its settings, nested.
    """
    if isinstance(error, ScenarioError):
        if error.line:
            return error
        where = error.where
    else:
        where = _set_by(error.message, settings) or _given_by(error.message, given)
    if not where:
        return error
    line = toml_places(text).line(where)
    said = error.message
    if not isinstance(error, ScenarioError) and where[0] == "input":
        said = f"{dotted(where)}: {said}"
    return malformed(path, line, said.removeprefix(f"{SETTINGS_LAYER}: "), error.hint, error.code)


def _set_by(message: str, settings: Mapping[str, Any]) -> KeyPath:
    """The setting that an error names, where one of the scenario's own is wrong."""
    if not message.startswith(SETTINGS_LAYER):
        return ()
    named = [name for name, _ in flat(settings) if name in message]
    return ("settings", *max(named, key=len).split(".")) if named else ("settings",)


def _given_by(message: str, given: Mapping[str, Any]) -> KeyPath:
    """The input whose value an error repeats."""
    found: list[tuple[int, KeyPath]] = []
    for name, value in given.items():
        for number, one in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(one, str) and len(one) >= _TOLD_APART and shown(one) in message:
                found.append((len(one), ("input", name, number) if isinstance(value, list) else ("input", name)))
    return max(found, key=lambda one: one[0])[1] if found else ()


def no_toml(path: Path, text: str, error: Exception) -> ScenarioError:
    said = str(error) or "it is nested too deeply"
    lines = text.split("\n")
    found = _AT.search(said)
    if found:
        line = int(found[1])
    elif isinstance(error, RecursionError):
        line = max(range(len(lines)), key=lambda number: sum(map(lines[number].count, "[{."))) + 1
    elif "digits" in said:
        line, said = max(range(len(lines)), key=lambda number: len(lines[number])) + 1, "a number has too many digits"
    else:
        line = len(lines)
    hint = "save it without a byte order mark" if text.startswith("\ufeff") else "write it as TOML v1.0"
    return malformed(path, line, said.partition(" (at ")[0], hint)


def check_values(value: Any, where: KeyPath, path: Path, text: str) -> None:
    """Raises: a value is a date, or a number that is none."""
    if isinstance(value, Mapping):
        for name, inside in value.items():
            check_values(inside, (*where, name), path, text)
    elif isinstance(value, list):
        for number, inside in enumerate(value):
            check_values(inside, (*where, number), path, text)
    elif not isinstance(value, (str, int)) and not (isinstance(value, float) and math.isfinite(value)):
        said = f"{dotted(where)} = {shortened(str(value))} is not allowed"
        raise malformed(path, toml_places(text).line(where), said, "write a number, a text, true or false, or a list")


def invalid(path: Path, text: str, table: Mapping[str, Any], said: str, top: type[Struct]) -> ScenarioError:
    """The error of msgspec about a table, with line and key: "Expected `str`, got `int` - at `$.expect.must_keep[0]`".

    Args:
        top: the type that the table was to be converted to.
    """
    what, _, written = said.partition(" - at `")
    where = _located(top, table, written.rstrip("`").removeprefix("$"))
    keys = [part for part in where if isinstance(part, str)]
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what, re.DOTALL)
    places = toml_places(text)
    if unknown:
        name = unknown[1]
        struct = _first(_type_at(top, keys), _is_struct)
        known = tuple(struct.__struct_fields__) if struct else ()
        near = suggestion(name, known)
        hint = f"did you mean {near}?" if near else f"keys here: {', '.join(known)}"
        return malformed(path, places.line((*where, name)), f"unknown key {dotted((*where, name))}", hint)
    missing = re.fullmatch(r"Object missing required field `(.*)`", what)
    if missing:
        said = f"{dotted((*where, missing[1]))} is missing"
        return malformed(path, places.line(where), said, "write it, or save the file again")
    value = re.fullmatch(r"Invalid enum value (.*)", what, re.DOTALL)
    if value:
        choices = _first(_type_at(top, keys), lambda one: get_origin(one) is Literal)
        said = f"{dotted(where)}: there is no value {shortened(value[1])}"
        return malformed(path, places.line(where), said, f"one of {', '.join(get_args(choices))}")
    told = re.sub(r"`(\w+)( \| null)?`", lambda found: _TYPES.get(found[1], found[1]), what)
    told = told.replace("Expected ", "it takes ", 1).replace("`", "")
    hint = "docs/scenarios.md lists every key with its values"
    return malformed(path, places.line(where), f"{dotted(where)}: {told}", hint)


_TYPES = {
    "str": "a text",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}


def _located(top: type[Struct], table: Mapping[str, Any], written: str) -> KeyPath:
    """The path that msgspec writes as `.judged[...]`, with the key that it leaves out."""
    where: KeyPath = ()
    for name, number in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", written):
        where = (*where, _culprit(top, table, where) if number == "..." else name or int(number))
    return where


def _culprit(top: type[Struct], table: Mapping[str, Any], where: KeyPath) -> str:
    """The first key of the table at a path whose value alone is already wrong."""
    inside: Any = table
    for part in where:
        inside = inside[part]
    inner = get_args(_type_at(top, [part for part in where if isinstance(part, str)]))[1]  # of dict[str, inner]
    for name, value in inside.items():
        try:
            msgspec.convert(value, inner)
        except msgspec.ValidationError:
            return str(name)
    return str(next(iter(inside)))


def _type_at(top: type[Struct], keys: Sequence[str]) -> Any:
    """The type of a field, through structs, lists and tables."""
    found: Any = top
    for key in keys:
        struct = _first(found, _is_struct)
        if struct is not None:
            found = get_type_hints(struct, include_extras=True).get(key, found)
    return found


def _first(type_: Any, wanted: Callable[[Any], bool]) -> Any:
    """The first of a type and its arguments that is wanted; None: none is."""
    if wanted(type_):
        return type_
    return next((found for one in get_args(type_) if (found := _first(one, wanted)) is not None), None)


def _is_struct(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, Struct)


def shortened(value: object) -> str:
    """A value as an error repeats it."""
    return shown(value if isinstance(value, str) else repr(value))
