"""The keys of the settings: derived from the tables, looked up, checked one at a time, written as a JSON schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from secateur.errors import ConfigError
from secateur.settings.names import RENAMED
from secateur.settings.schema import Settings
from secateur.suggestions import suggested_key, suggestion

FILE_NAME = "secateur.toml"

LONGEST_SHOWN = 60
"""Letters of a wrong value that an error repeats."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the settings: type, range, default and description.

    >>> keys()["graph_rag.max_depth"].allowed()
    'an integer from 1 to 4'
    """

    name: str  # dotted
    type: Any  # what its values are converted to: a type with its range
    kind: type  # the same bare: bool, int, float, str, tuple or dict
    default: Any
    doc: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    flag: str  # what is typed to set it; "": it has no flag of its own
    scope: str  # "any", "user" or "run": who may set it (`about`)
    lowered_only: bool  # a repository may set less than the default and not more

    def allowed(self) -> str:
        """The allowed values, in words."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        word = {
            bool: "true or false",
            int: "an integer",
            float: "a number",
            str: "text",
            tuple: "a list of texts",
            dict: "a table",
        }[self.kind]
        if self.low is not None and self.high is not None:
            return f"{word} from {self.low:g} to {self.high:g}"
        return f"{word} of at least {self.low:g}" if self.low is not None else word


@cache
def keys() -> Mapping[str, Key]:
    """All keys by dotted name, in the order of the tables."""
    return {key.name: key for key in _walk(Settings, "")}


def _walk(table: type, prefix: str) -> Iterator[Key]:
    hints = get_type_hints(table, include_extras=True)
    for spec in fields(table):
        name, hint = prefix + spec.name, hints[spec.name]
        if is_dataclass(hint):
            assert isinstance(hint, type)
            yield from _walk(hint, name + ".")
            continue
        bare, *metas = get_args(hint)
        origin = get_origin(bare)
        choices = get_args(bare) if origin is Literal else ()
        yield Key(
            name=name,
            type=hint,
            kind=bare if origin is None else {Literal: str, tuple: tuple}.get(origin, dict),
            default=spec.default if spec.default_factory is MISSING else spec.default_factory(),
            doc=metas[-1].description,
            low=next((meta.ge for meta in metas if meta.ge is not None), None),
            high=next((meta.le for meta in metas if meta.le is not None), None),
            choices=choices,
            **metas[-1].extra,
        )


def lookup(settings: Settings, name: str) -> Any:
    """The value of a dotted key."""
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def replaced(table: Any, values: Mapping[str, Any]) -> Any:
    """A settings table with other values; `values` are nested as the tables are, and not checked here."""
    new = dict(values)
    for name, value in values.items():
        old = getattr(table, name)
        if is_dataclass(old):
            new[name] = replaced(old, value)
    return replace(table, **new)


def known(name: str, place: str) -> str:
    """The name of a key that is written by this name, or was before; raises ConfigError, with the nearest key, if there
    is none."""
    name = RENAMED.get(name, name)
    if name in keys():
        return name
    tables = dict.fromkeys(key.rpartition(".")[0] for key in keys() if "." in key)
    inside = [key for key in keys() if key.rpartition(".")[0] == name != ""]
    near = suggested_key(name, (*keys(), *tables))
    hint = (
        f"{name} is a table of {', '.join(inside)}"
        if inside
        else f"did you mean {near}?"
        if near
        else "secateur config lists all keys"
    )
    raise ConfigError(f"{place}: unknown key {name}", hint=hint)


def checked(name: str, value: Any, place: str) -> Any:
    """The value as settings hold it; raises ConfigError if its type or range is wrong."""
    key = keys()[name]
    if isinstance(value, set | frozenset):  # a list of texts has an order
        raise _bad(key, value, place)
    try:
        return msgspec.convert(value, key.type)
    except msgspec.ValidationError:
        raise _bad(key, value, place) from None


def _bad(key: Key, value: Any, place: str) -> ConfigError:
    typed = place == key.flag
    shown = str(value) if typed and value != "" else repr(value)
    if len(shown) > LONGEST_SHOWN:
        shown = shown[: LONGEST_SHOWN - 3] + "..."
    near = suggestion(value, key.choices) if isinstance(value, str) else ""
    hint = (
        f"did you mean {near}? " if near else ""
    ) + f"{place if typed else key.name} takes {key.allowed()} (default {key.default!r})"
    return ConfigError(
        f"{place} {shown} is not allowed" if typed else f"{place}: {key.name} = {shown} is not allowed", hint=hint
    )


def schema() -> dict[str, Any]:
    """The JSON schema of `secateur.toml`, derived from the settings."""
    root: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": FILE_NAME}
    root |= {"type": "object", "properties": {}, "additionalProperties": False}
    for key in keys().values():
        if key.scope == "run":
            continue
        node = root
        *tables, leaf = key.name.split(".")
        for table in tables:
            node = node["properties"].setdefault(
                table, {"type": "object", "properties": {}, "additionalProperties": False}
            )
        node["properties"][leaf] = _key_schema(key)
    return root


def _key_schema(key: Key) -> dict[str, Any]:
    out = msgspec.json.schema(key.type) | {"default": key.default}
    return out | {"enum": list(key.choices)} if key.choices else out
