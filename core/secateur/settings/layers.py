"""Merges the layers of settings: defaults, the repository's file, the user's file, `--config`, flags; later layers win.

A profile is a table of settings. The last layer that names a profile decides which applies. Its keys override those of
earlier layers, and are overridden by the keys of that layer and later ones. A file inside a repository is data of that
repository: it may only set keys of scope "any" (`tables.about`), also in its profiles, and only values that cost the
machine no more than the default. Everything else in it is ignored, with a notice that gives the line to write and the
file for it. Every error names the file, the key, what is allowed and the nearest valid key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from pathlib import PurePath
from typing import Any

from msgspec import Struct, structs

from secateur.errors import LONGEST_SHOWN, ConfigError, shown
from secateur.notice import Notice
from secateur.settings.keys import (
    FILE_NAME,
    check_name,
    check_value,
    key_of,
    keys_beside,
    kind_keys,
    nest_tables,
    replace_values,
)
from secateur.settings.schema import PROFILES, Settings, profile_table
from secateur.settings.search import OF_KINDS
from secateur.toml_values import toml_value

BASE = "base"  # key of a profile that names the built-in one whose values it has where it says nothing
IGNORED = "config_ignored"  # code of the notice that a setting of a repository is ignored
# The message in place of further notices of that code.
_FURTHER = "{:,} more settings are ignored in the same way; `secateur config` lists them, with the lines to write."

# Shown instead of the path, which `secateur config` prints: an answer holds the notice, and must be the same on every
# machine.
OWN_FILE = f"{FILE_NAME} in your configuration folder"

_ADDRESS_ONLY = re.compile(r"(?!.*//[^/]*@)[^?#]*", re.DOTALL)
# Pattern of a variable's name. Any other text may hold a secret, and is not repeated.
_VARIABLE = re.compile(r"\w{0,64}", re.ASCII)


class Loaded(Struct, frozen=True):
    """Settings in force, where each key that is not a default came from, and what was ignored."""

    settings: Settings
    origins: Mapping[str, str]
    notices: tuple[Notice, ...]


class Layer(Struct, frozen=True):
    """One origin of settings: its name in messages, its table, and who may have written it."""

    name: str
    table: Mapping[str, Any]
    scope: str = "user"  # "repository" may set "any" keys only; "user" also "user" keys; "run" everything
    notices: tuple[Notice, ...] = ()  # about parts that were not read

    def place(self, key_name: str) -> str:
        """Returns the origin of a key's value for messages: the file, `--set`, or the key's flag."""
        return (key_of(key_name).flag or self.name) if self.name == "flag" else self.name


def merge(layers: Sequence[Layer]) -> Loaded:
    """Merges layers; later ones win. The last layer that names a profile puts its table below the layer's own keys."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    notices: list[Notice] = []
    flat_layers = [(layer, _by_name(layer.table, layer, notices)) for layer in layers]
    own_profiles: dict[str, Any] = {}
    for layer, flat in flat_layers:
        notices += layer.notices
        own_profiles |= _check_profiles(flat["profiles"], layer, notices) if "profiles" in flat else {}
    profiles = {
        layer.name: profile_table(flat["profile"], own_profiles, layer.name)
        for layer, flat in flat_layers
        if "profile" in flat
    }
    chosen = list(profiles)[-1:]
    # built-in values are trusted, whoever chose the profile
    trusted = [dict(_flatten(table, name)) for name, table in PROFILES.items()] if chosen else []
    for layer, flat in flat_layers:
        if layer.name in chosen:
            place = f"profile {flat['profile']}"
            for key_name, value in _flatten(profiles[layer.name], place):
                built_in = any(table.get(key_name) == value for table in trusted)
                if built_in or _may_set(
                    layer, key_name, check_value(key_name, value, place), f"{layer.name} ({place})", notices
                ):
                    values[key_name], origins[key_name] = check_value(key_name, value, place), place
        for key_name, value in flat.items():
            place = layer.place(key_name)
            if key_of(key_name).scope == "run" and layer.scope != "run":
                raise ConfigError(f"{place}: {key_name} belongs to a run, not to a file", hint="pass it as a flag")
            if _may_set(layer, key_name, value, place, notices):
                values[key_name], origins[key_name] = check_value(key_name, value, place), place
    if own_profiles:
        values["profiles"] = own_profiles
    _shrink_overlap(Settings(), values)
    # Its tables count as given: no profile adds to them what a layer may not set.
    given = Settings(**{name: copy(value) for name, value in structs.asdict(Settings()).items()})
    settings = replace_values(given, values)
    _check_together(settings, origins)
    return Loaded(settings, origins, tuple(dict.fromkeys(notices)))


def _may_set(layer: Layer, key_name: str, value: Any, place: str, notices: list[Notice]) -> bool:
    key = key_of(key_name)
    if layer.scope != "repository":
        return True
    if key.scope == "user":
        why = f"{place}: {key_name} counts only from your own configuration or the command line; ignored."
    elif key.lowered_only and check_value(key_name, value, place) > key.default:
        why = f"{place}: {key_name} = {value} is more than a repository may set ({key.default}); ignored."
    else:
        return True
    table, _, leaf = key_name.rpartition(".")
    where = f"in {OWN_FILE} below [{table}]"  # a dotted key at the top would clash with a table of that name
    notices.append(
        Notice(IGNORED, f"{why} To have it count, write this {where}: {leaf} = {_shown_value(key_name, value)}")
    )
    return False


def condense_notices(notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """Returns the notices for an answer: the first ignored setting, and how many more there are.

    A repository can set any number of ignored keys, and these must not hide the other warnings.
    """
    ignored = [notice for notice in notices if notice.code == IGNORED]
    if len(ignored) > 1:
        ignored = [ignored[0], Notice(IGNORED, _FURTHER.format(len(ignored) - 1))]
    return (*ignored, *(notice for notice in notices if notice.code != IGNORED))


def _shown_value(key_name: str, value: Any) -> str:
    """Returns a value as TOML, or a placeholder if it is long, or an address or name that may hold a secret."""
    shown = toml_value(value)
    printable = len(shown) <= LONGEST_SHOWN
    if key_name.endswith(".base_url"):
        printable = printable and _ADDRESS_ONLY.fullmatch(str(value)) is not None
    elif key_name.endswith(".api_key_env"):
        printable = printable and _VARIABLE.fullmatch(str(value)) is not None
    return shown if printable else "(the value as the file has it)"


def with_values(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """Returns a copy of the settings with some dotted keys changed, checked like any other layer. Another profile is
    taken first, as `with_profile` does. Raises ConfigError: unknown key, wrong type, value out of range."""
    values: dict[str, Any] = {}
    for written, value in changes.items():
        name = check_name(written, "settings")
        values[name] = check_value(name, value, "settings")
    if values.get("profile", settings.profile) != settings.profile:
        values = _profile_values(settings, values["profile"]) | values
    _shrink_overlap(settings, values)
    changed = replace_values(settings, values)
    _check_together(changed, {})
    return changed


def _shrink_overlap(settings: Settings, values: dict[str, Any]) -> None:
    """Adds the overlap for a window that is set alone and is not larger than the overlap: the default share of it."""
    size, overlap = "context_prune.sliding_window_size", "context_prune.sliding_window_overlap"
    if size in values and overlap not in values and settings.context_prune.sliding_window_overlap >= values[size]:
        usual = Settings().context_prune
        values[overlap] = values[size] * usual.sliding_window_overlap // usual.sliding_window_size


def with_profile(settings: Settings, name: str) -> Settings:
    """Returns a copy of the settings in which every key of any profile is reset to its default, then set as this
    profile has it."""
    return with_values(settings, _profile_values(settings, name) | {"profile": name})


def _profile_values(settings: Settings, name: str) -> dict[str, Any]:
    touched = {
        key_name
        for table in (*PROFILES.values(), *settings.profiles.values())
        for key_name in _by_name(table, Layer("profile", {}))
    }
    changes = {key_name: key_of(key_name).default for key_name in touched}
    return changes | _by_name(profile_table(name, settings.profiles, "profile"), Layer(f"profile {name}", {}))


def _by_name(
    table: Mapping[str, Any], layer: Layer, notices: list[Notice] | None = None, inside: str = ""
) -> dict[str, Any]:
    # Do not show the path of a file; see OWN_FILE.
    place = (f"your {PurePath(layer.name).name}" if layer.scope == "user" else layer.name) + inside
    if layer.scope != "run" and isinstance(table.get("kinds"), Mapping):
        table = {**table, "kinds": _installed_kind_tables(table["kinds"], place, notices)}
    return dict(_flatten(table, layer.name + inside))


def _installed_kind_tables(tables: Mapping[str, Any], place: str, notices: list[Notice] | None) -> dict[str, Any]:
    """Returns the tables of kinds that can be used here. A notice names each other table: one file may serve several
    machines, and only some have the package."""
    usable = {}
    for name, table in tables.items():
        try:
            kind_keys(name)
            usable[name] = table
        except ConfigError as error:
            if notices is not None:
                notices.append(
                    Notice(IGNORED, f"{place}: [kinds.{shown(name)}] is ignored: {error.message}; {error.hint}")
                )
    return usable


def _flatten(table: Mapping[str, Any], place: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for part, value in table.items():
        name = prefix + part
        among = keys_beside(name, place)
        if name in among:
            yield name, value
        elif name + "." == OF_KINDS or any(key_name.startswith(name + ".") for key_name in among):
            if not isinstance(value, Mapping):
                raise ConfigError(
                    f"{place}: {name} is a table, not {value!r}", hint=f"write [{name}] and its keys below it"
                )
            yield from _flatten(value, place, name + ".")
        else:
            check_name(name, place)


def _check_profiles(tables: Any, layer: Layer, notices: list[Notice]) -> dict[str, Any]:
    profiles: dict[str, Any] = {}
    if not isinstance(tables, Mapping):
        raise ConfigError(
            f"{layer.name}: profiles is a table of tables", hint="write [profiles.NAME.smart_pruning] and keys below it"
        )
    for name, table in tables.items():
        place = f"{layer.name} [profiles.{name}]"
        if name in PROFILES:  # a repository must not change the meaning of `spec`
            raise ConfigError(f"{place}: {name} is built in", hint="choose another name")
        if not isinstance(table, Mapping):
            raise ConfigError(f"{place} is not a table", hint="write [profiles.NAME.smart_pruning] and keys below it")
        own = {part: value for part, value in table.items() if part != BASE}
        flat = _by_name(own, layer, notices, f" [profiles.{name}]")
        for key_name, value in flat.items():
            if key_name in ("profile", "profiles") or key_of(key_name).scope == "run":
                raise ConfigError(
                    f"{place}: {key_name} cannot be part of a profile",
                    hint="profiles hold weights, budgets and switches",
                )
            check_value(key_name, value, place)
        base = dict(_flatten(profile_table(table[BASE], {}, f"{place} {BASE}"), place)) if BASE in table else {}
        allowed = {name: value for name, value in flat.items() if _may_set(layer, name, value, place, notices)}
        profiles[name] = nest_tables(base | allowed)
    return profiles


def _check_together(settings: Settings, origins: Mapping[str, str]) -> None:

    def bad(name: str, shown: str, wrong: str, hint: str) -> ConfigError:
        return ConfigError(f"{origins.get(name, 'settings')}: {shown} {wrong}", hint=hint)

    prune = settings.context_prune
    if prune.sliding_window_overlap >= prune.sliding_window_size:
        name = "context_prune.sliding_window_overlap"
        wrong = f"is not less than the window of {prune.sliding_window_size}"
        raise bad(
            name,
            f"{name} = {prune.sliding_window_overlap}",
            wrong,
            "make the overlap smaller than context_prune.sliding_window_size",
        )
    if settings.graph_rag.cache_dir.startswith("~"):
        name = "graph_rag.cache_dir"
        wrong = "names a folder outside the repository"
        raise bad(name, f"{name} = {settings.graph_rag.cache_dir}", wrong, "give a path below the repository")
    for table, server in (("llm", settings.llm), ("embedding", settings.embedding)):
        # A secret in such a setting would be printed by `secateur config`: it is refused, and not repeated.
        if not _ADDRESS_ONLY.fullmatch(server.base_url):
            name = f"{table}.base_url"
            raise bad(
                name,
                name,
                "holds more than an address",
                f"a key goes into an environment variable that {table}.api_key_env names",
            )
        if not _VARIABLE.fullmatch(server.api_key_env):
            name = f"{table}.api_key_env"
            raise bad(
                name,
                name,
                "is not the name of an environment variable",
                "put the key into a variable and its name here",
            )
    for model, window in settings.context_budget.windows.items():
        if window < 1:
            name = "context_budget.windows"
            raise bad(name, f"{name}.{model} = {window}", "is not allowed", "a window is 1 or more tokens")
