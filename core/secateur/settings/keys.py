"""The keys of the settings: derived from the tables, looked up, checked one by one, written as a JSON schema."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from types import MappingProxyType
from typing import Any, TypeVar

import msgspec

from secateur.errors import ConfigError, shown
from secateur.kind_places import others
from secateur.settings.schema import Settings
from secateur.settings.search import OF_KINDS, Key, check_key_value, is_table, keys_in, replace_in_table, walk_keys
from secateur.suggestions import suggested_key, suggestion

FILE_NAME = "secateur.toml"

T = TypeVar("T")


@cache
def keys() -> Mapping[str, Key]:
    """Returns all keys of our own by dotted name, in the order of the tables."""
    return keys_in(Settings)


def keys_beside(name: str, place: str) -> Mapping[str, Key]:
    """Returns the keys among which a dotted name is looked up: ours, or those of the kind that it names. Raises
    ConfigError: it names a kind that is not installed or cannot be used."""
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
    """Returns the keys of the table that a kind of another distribution declares; empty if it declares none. Raises
    ConfigError: it is not installed, it cannot be imported, or its declaration is not a table of settings."""
    if (point := others()[0].get(kind)) is None:
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
    if not is_table(table):
        raise ConfigError("its table is not a msgspec.Struct")
    keys_by_name = {key.name: key for key in walk_keys(table, f"{OF_KINDS}{kind}.")}
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


def lookup(settings: Settings, name: str) -> Any:
    """Returns the value of a dotted key."""
    if name.startswith(OF_KINDS):
        return settings.kinds[name] if name in settings.kinds else key_of(name).default
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def table_of(settings: Settings, kind: str, table: type[T]) -> T:
    """Returns the values of the table that a kind of another distribution declares. Raises ConfigError: the table
    refuses the combination of values."""
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
    changed: Settings = replace_in_table(settings, nest_tables(ours))
    return changed


# Keys of earlier versions, with what to do instead.
REMOVED = {
    **dict.fromkeys(
        (
            *("log.block_share", "log.last_share", "log.last_lines", "log.context_lines", "log.fill"),
            *("log.longest_line", "context_budget.context_share", "context_budget.keep_items"),
            *("context_budget.keep_chars", "conversation_prune.summary_share", "conversation_prune.summary_tokens"),
            *("chunking.keep_together", "context_prune.max_questions", "llm.retries", "llm.concurrency"),
            *("relevance.pool_cap", "relevance.reranked", "preference.half_life", "index.partial_kb"),
        ),
        "it is removed: its value is fixed; secateur config lists what can be set",
    ),
    **dict.fromkeys(
        ("conversation_prune.cache_read_price", "conversation_prune.cache_write_price"),
        "it is removed: the prices are fixed, 0.1 and 1.25; `cache` in JSON has the tokens to price otherwise",
    ),
    "context_budget.extensions": "it is removed: begin the names of fields that may be trimmed with x_",
    "chunking.max_file_kb": "it is removed: !GLOB in chunking.ignore takes a file of any size in",
    "chunking.rules": "it is removed: name a file with --rules",
    "ui.compare_first": "it is removed: the comparison is shown once, unless a profile is chosen",
    "ui.watch": "it is removed: changes are named; secateur inspect --follow reads them and asks again",
    **dict.fromkeys(
        ("inputs", "inputs.clone_mb", "inputs.clone_seconds"),
        "it is removed: the limits are fixed; fetch a larger repository with git, and name the folder",
    ),
    "inputs.archive_mb": "it is removed: archives are no longer read; unpack yours (tar xf) and name the folder",
    "ui.remember": "it is removed: save a profile, a scenario or a recording of what you want to keep",
}


def check_name(name: str, place: str) -> str:
    """Returns the name if a key has it; raises ConfigError, with the nearest key, if none does."""
    among = keys_beside(name, place)
    if name in among:
        return name
    tables = dict.fromkeys(key.rpartition(".")[0] for key in among if "." in key)
    inside = [key for key in among if key.rpartition(".")[0] == name != ""]
    near = suggested_key(name, (*among, *tables))
    if name in REMOVED:
        hint = REMOVED[name]
    elif inside:
        hint = f"{name} is a table of {', '.join(inside)}"
    else:
        hint = f"did you mean {near}?" if near else "secateur config lists all keys"
    raise ConfigError(f"{place}: unknown key {name}", hint=hint)


def check_value(name: str, value: Any, place: str) -> Any:
    """Converts a value as settings hold it; raises ConfigError if its type or range is wrong."""
    return check_key_value(key_of(name), value, place)


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
        node["properties"][leaf] = msgspec.json.schema(key.type) | {"default": key.default}
        if key.choices:
            node["properties"][leaf]["enum"] = list(key.choices)
    return root
