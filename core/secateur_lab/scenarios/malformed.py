"""Errors about a scenario's file. They name file, line and key."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct
from secateur import SecateurError, shown, suggestion

from secateur_lab.scenarios.toml_writing import KeyPath, dotted, flat, toml_places

CANNOT_READ = "SCENARIO"  # code of these errors
SETTINGS_LAYER = "[settings]"  # the origin of a scenario's settings, in errors about settings
_LEAST_REPEATED = 3  # least characters of a value in an error by which the input that holds it is recognised
_AT = re.compile(r"line (\d+)")


class ScenarioError(SecateurError):
    """A scenario's file is malformed.

    Attributes:
        where: the wrong key; () if `line` is known.
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
    """Returns the error about a line of a scenario's file."""
    return ScenarioError(f"{shown(path)}:{line}: {what}", hint=hint, code=code, line=line)


def add_location(
    error: SecateurError, path: Path, text: str, given: Mapping[str, Any], settings: Mapping[str, Any]
) -> SecateurError:
    """Adds the file, and the line of the key that it concerns, to an error of deciding; unchanged if it has no key.

    Args:
        text: the text of the scenario's file.
        given: its inputs.
        settings: its settings, nested.
    """
    if isinstance(error, ScenarioError):
        if error.line:
            return error
        where = error.where
    else:
        where = _setting_path(error.message, settings) or _input_path(error.message, given)
    if not where:
        return error
    line = toml_places(text).line(where)
    message = error.message
    if not isinstance(error, ScenarioError) and where[0] == "input":
        message = f"{dotted(where)}: {message}"
    return malformed(path, line, message.removeprefix(f"{SETTINGS_LAYER}: "), error.hint, error.code)


def _setting_path(message: str, settings: Mapping[str, Any]) -> KeyPath:
    if not message.startswith(SETTINGS_LAYER):
        return ()
    named = [name for name, _ in flat(settings) if name in message]
    return ("settings", *max(named, key=len).split(".")) if named else ("settings",)


def _input_path(message: str, given: Mapping[str, Any]) -> KeyPath:
    candidates: list[tuple[int, KeyPath]] = []
    for name, value in given.items():
        for index, item in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(item, str) and len(item) >= _LEAST_REPEATED and shown(item) in message:
                candidates.append((len(item), ("input", name, index) if isinstance(value, list) else ("input", name)))
    return max(candidates, key=lambda item: item[0])[1] if candidates else ()


def toml_error(path: Path, text: str, error: Exception) -> ScenarioError:
    message = str(error) or "it is nested too deeply"
    lines = text.split("\n")
    if match := _AT.search(message):
        line = int(match[1])
    elif isinstance(error, RecursionError):
        line = max(range(len(lines)), key=lambda index: sum(map(lines[index].count, "[{."))) + 1
    elif "digits" in message:
        line, message = max(range(len(lines)), key=lambda index: len(lines[index])) + 1, "a number has too many digits"
    else:
        line = len(lines)
    hint = "save it without a byte order mark" if text.startswith("\ufeff") else "write it as TOML v1.0"
    return malformed(path, line, message.partition(" (at ")[0], hint)


def check_values(value: Any, where: KeyPath, path: Path, text: str) -> None:
    """Raises an error if a value is a date, or a number that is not finite."""
    if isinstance(value, Mapping):
        for name, inside in value.items():
            check_values(inside, (*where, name), path, text)
    elif isinstance(value, list):
        for index, inside in enumerate(value):
            check_values(inside, (*where, index), path, text)
    elif not isinstance(value, (str, int)) and not (isinstance(value, float) and math.isfinite(value)):
        what = f"{dotted(where)} = {shorten(str(value))} is not allowed"
        raise malformed(path, toml_places(text).line(where), what, "write a number, a text, true or false, or a list")


def schema_error(path: Path, text: str, table: Mapping[str, Any], error: str, top: type[Struct]) -> ScenarioError:
    """Adds line and key to msgspec's error about a table: "Expected `str`, got `int` - at `$.expect.must_keep[0]`".
    `top`: the type that the table was to be converted to."""
    what, _, written = error.partition(" - at `")
    where: KeyPath = ()
    for name, index in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", written.rstrip("`")):  # [...]: some key
        where = (*where, _first_invalid_key(top, table, where) if index == "..." else name or int(index))
    keys = [part for part in where if isinstance(part, str)]
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", what, re.DOTALL)
    places = toml_places(text)
    if unknown:
        name = unknown[1]
        struct = _first_type(_type_at(top, keys), _is_struct)
        known = tuple(struct.__struct_fields__) if struct else ()
        near = suggestion(name, known)
        hint = f"did you mean {near}?" if near else f"keys here: {', '.join(known)}"
        return malformed(path, places.line((*where, name)), f"unknown key {dotted((*where, name))}", hint)
    if missing := re.fullmatch(r"Object missing required field `(.*)`", what):
        error = f"{dotted((*where, missing[1]))} is missing"
        return malformed(path, places.line(where), error, "write it, or save the file again")
    if value := re.fullmatch(r"Invalid enum value (.*)", what, re.DOTALL):
        choices = _first_type(_type_at(top, keys), lambda type_: get_origin(type_) is Literal)
        error = f"{dotted(where)}: unknown value {shorten(value[1])}"
        return malformed(path, places.line(where), error, f"one of {', '.join(get_args(choices))}")
    expected = re.sub(r"`(\w+)( \| null)?`", lambda match: _TYPES.get(match[1], match[1]), what)
    expected = expected.replace("Expected ", "it takes ", 1).replace("`", "")
    hint = "docs/reference/scenario-file.md lists every key with its values"
    return malformed(path, places.line(where), f"{dotted(where)}: {expected}", hint)


_TYPES = {"str": "a text", "int": "an integer", "float": "a number", "bool": "true or false", "array": "a list"}
_TYPES |= {"object": "a table", "null": "nothing"}


def _first_invalid_key(top: type[Struct], table: Mapping[str, Any], where: KeyPath) -> str:
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
    type_: Any = top
    for key in keys:
        if (struct := _first_type(type_, _is_struct)) is not None:
            type_ = get_type_hints(struct, include_extras=True).get(key, type_)
    return type_


def _first_type(type_: Any, wanted: Callable[[Any], bool]) -> Any:
    if wanted(type_):
        return type_
    return next((match for argument in get_args(type_) if (match := _first_type(argument, wanted)) is not None), None)


def _is_struct(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, Struct)


def shorten(value: object) -> str:
    """Formats a value for an error."""
    return shown(value if isinstance(value, str) else repr(value))
