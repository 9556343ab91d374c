"""The keys of the settings: derived from the tables, looked up, checked one by one, written as a JSON schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from secateur.errors import ConfigError, shown
from secateur.kind_places import others
from secateur.settings.ranges import about
from secateur.settings.schema import Settings
from secateur.suggestions import suggested_key, suggestion

FILE_NAME = "secateur.toml"

LONGEST_SHOWN = 60
"""Characters of a wrong value that an error repeats."""

OF_KINDS = "kinds."
"""Prefix of the keys for kinds of other distributions: `[kinds.NAME]` is the table that the kind declares."""

_KINDS: Mapping[Any, type] = {
    **{plain: plain for plain in (bool, int, float, str, tuple, dict)},
    Literal: str,
    Mapping: dict,
}
"""By type, or by the origin of a generic type: the `Key.kind`."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Key:
    """One key of the settings: type, range, default and description.

    >>> keys()["graph_rag.max_depth"].allowed()
    'an integer from 1 to 4'
    """

    name: str  # dotted
    type: Any  # the type that values are converted to, with its range
    kind: type  # the type without its range: bool, int, float, str, tuple or dict
    default: Any
    doc: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    flag: str  # the flag that sets it; "" if it has none
    scope: str  # "any", "user" or "run": who may set it (`about`)
    lowered_only: bool  # a repository may only set a value below the default

    def allowed(self) -> str:
        """Returns the allowed values, in words."""
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
    """Returns all keys of our own by dotted name, in the order of the tables."""
    return {key.name: key for key in _walk(Settings, "")}


def keys_beside(name: str, place: str) -> Mapping[str, Key]:
    """Returns the keys among which a dotted name is looked up: ours, or those of the kind that it names.

    Raises:
        ConfigError: it names a kind that is not installed or cannot be used.
    """
    if not name.startswith(OF_KINDS):
        return keys()
    try:
        return kind_keys(name.split(".")[1])
    except ConfigError as error:
        raise ConfigError(f"{place}: {error.message}", hint=error.hint) from error


def key_of(name: str) -> Key:
    """Returns the key with a dotted name. Raises KeyError if there is none, and ConfigError like `keys_beside`."""
    return keys_beside(name, "settings")[name]


def kind_keys(kind: str) -> Mapping[str, Key]:
    """Returns the keys of the table that a kind of another distribution declares; empty if it declares none.

    Raises:
        ConfigError: it is not installed, it cannot be imported, or its declaration is not a table of settings.
    """
    point = others()[0].get(kind)
    if point is None:
        near = suggestion(kind, others()[0])
        hint = f"did you mean {OF_KINDS}{near}?" if near else "install the package that registers it"
        raise ConfigError(f"no installed package registers a kind of context named {shown(kind)}", hint=hint)
    try:
        return declared_keys(kind, getattr(point.load(), "table", None))
    except (Exception, SystemExit) as error:  # other people's code: an error must affect only that kind
        reason = error.message if isinstance(error, ConfigError) else f"{type(error).__name__}: {error}"
        hint = "repair or uninstall the package that registers it"
        raise ConfigError(f"the kind of context {shown(kind)} cannot be used: {reason}", hint=hint) from error


@cache
def declared_keys(kind: str, table: type | None) -> Mapping[str, Key]:
    """Returns the keys of a kind's table. Raises ConfigError if a field has no default, a default that its type
    forbids, or a type that no setting has."""
    if table is None:
        return {}
    if not _is_table(table) or is_dataclass(table):
        raise ConfigError("its table is not a msgspec.Struct")
    keys_by_name = {key.name: key for key in _walk(table, f"{OF_KINDS}{kind}.")}
    for key in keys_by_name.values():
        check_key_value(key, key.default, "its table")
    return MappingProxyType(keys_by_name)


def installed_keys() -> Mapping[str, Key]:
    """Returns all keys of our own, then those of every usable kind of another distribution."""
    keys_by_name = dict(keys())
    for name in others()[0]:
        with suppress(ConfigError):
            keys_by_name |= kind_keys(name)
    return keys_by_name


def _walk(table: type, prefix: str) -> Iterator[Key]:
    hints = get_type_hints(table, include_extras=True)
    for attribute, part, default in _fields(table):
        name, hint = prefix + part, hints[attribute]
        if name + "." == OF_KINDS:
            continue
        if default is msgspec.NODEFAULT:
            raise ConfigError(f"{name} has no default")
        if _is_table(hint):
            yield from _walk(hint, name + ".")
            continue
        bare, *metas = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        metas = [meta for meta in metas if isinstance(meta, msgspec.Meta)]
        origin = get_origin(bare)
        kind = _KINDS.get(origin or bare)
        choices = get_args(bare) if origin is Literal else ()
        if kind is None or (kind is tuple and get_args(bare) != (str, ...)) or not all(type(x) is str for x in choices):
            raise ConfigError(f"{name} has a type that settings cannot have")
        metadata = next((meta for meta in reversed(metas) if meta.extra), about(""))
        yield Key(
            name=name,
            type=hint,
            kind=kind,
            default=default,
            doc=next((meta.description for meta in metas if meta.description), ""),
            low=next((meta.ge for meta in metas if meta.ge is not None), None),
            high=next((meta.le for meta in metas if meta.le is not None), None),
            choices=choices,
            **(metadata.extra or {}),
        )


def _fields(table: type) -> Iterator[tuple[str, str, Any]]:
    """Yields the attribute, key part, and default of every field of a table."""
    if is_dataclass(table):
        for spec in fields(table):
            yield spec.name, spec.name, spec.default if spec.default_factory is MISSING else spec.default_factory()
        return
    for entry in msgspec.structs.fields(table):
        made = entry.default if entry.default_factory is msgspec.NODEFAULT else entry.default_factory()
        yield entry.name, entry.encode_name, made


def _is_table(hint: Any) -> TypeGuard[type]:
    return isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, msgspec.Struct))


def lookup(settings: Settings, name: str) -> Any:
    """Returns the value of a dotted key."""
    if name.startswith(OF_KINDS):
        return settings.kinds[name] if name in settings.kinds else key_of(name).default
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def table_of(settings: Settings, kind: str, table: type[T]) -> T:
    """Returns the values of the table that a kind of another distribution declares.

    Raises:
        ConfigError: the table refuses the combination of values.
    """
    prefix = f"{OF_KINDS}{kind}."
    own = {name.removeprefix(prefix): value for name, value in settings.kinds.items() if name.startswith(prefix)}
    try:
        return msgspec.convert(nest_tables(own), table)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"[{prefix[:-1]}]: {error}", hint="secateur config shows where each value comes from"
        ) from error


def nest_tables(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Turns values by dotted key into nested tables."""
    root: dict[str, Any] = {}
    for name, value in flat.items():
        *tables, leaf = name.split(".")
        node = root
        for table in tables:
            node = node.setdefault(table, {})
        node[leaf] = value
    return root


def replace_values(settings: Settings, flat: Mapping[str, Any]) -> Settings:
    """Returns the settings with other values by dotted key. The values are not checked."""
    ours = {name: value for name, value in flat.items() if not name.startswith(OF_KINDS)}
    if len(ours) < len(flat):
        ours["kinds"] = {**settings.kinds, **{name: value for name, value in flat.items() if name not in ours}}
    changed: Settings = _replace_in_table(settings, nest_tables(ours))
    return changed


def _replace_in_table(table: Any, values: Mapping[str, Any]) -> Any:
    new = dict(values)
    for name, value in values.items():
        old = getattr(table, name)
        if is_dataclass(old):
            new[name] = _replace_in_table(old, value)
    return replace(table, **new)


def check_name(name: str, place: str) -> str:
    """Returns the name if a key has it; raises ConfigError, with the nearest key, if none does."""
    among = keys_beside(name, place)
    if name in among:
        return name
    tables = dict.fromkeys(key.rpartition(".")[0] for key in among if "." in key)
    inside = [key for key in among if key.rpartition(".")[0] == name != ""]
    near = suggested_key(name, (*among, *tables))
    if inside:
        hint = f"{name} is a table of {', '.join(inside)}"
    else:
        hint = f"did you mean {near}?" if near else "secateur config lists all keys"
    raise ConfigError(f"{place}: unknown key {name}", hint=hint)


def check_value(name: str, value: Any, place: str) -> Any:
    """Converts a value as settings hold it; raises ConfigError if its type or range is wrong."""
    return check_key_value(key_of(name), value, place)


def check_key_value(key: Key, value: Any, place: str) -> Any:
    """Does the same for a given key."""
    if isinstance(value, set | frozenset):  # a set has no order, but a list of texts needs one
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
    """Returns the JSON schema of `secateur.toml`, derived from the settings."""
    root: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": FILE_NAME}
    root |= {"type": "object", "properties": {}, "additionalProperties": False}
    for key in installed_keys().values():
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
