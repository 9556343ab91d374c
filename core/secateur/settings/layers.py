"""Merges the layers of settings: defaults, the repository's file, the user's file, `--config`, flags; later layers win.

A profile is a table of settings. The last layer that names one decides which applies, and it applies there: keys of
that and later layers win over it, keys of earlier layers do not. A file found inside a repository is data of that
repository: it sets the keys of scope "any" alone (`ranges.about`), also in a profile that it defines or chooses, and of
what costs the machine no more than the default. What else it holds is ignored, and a notice gives the line and the file
where it would count. Every error names the file, the key, what is allowed and the nearest valid key."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from secateur.errors import ConfigError, shown
from secateur.notice import Notice
from secateur.settings.keys import (
    FILE_NAME,
    LONGEST_SHOWN,
    OF_KINDS,
    checked,
    key_of,
    keys_beside,
    kind_keys,
    known,
    nested,
    replaced,
)
from secateur.settings.profiles import PROFILES
from secateur.settings.schema import Settings
from secateur.suggestions import suggestion

IGNORED = "config_ignored"
"""Code of the notice that something a repository sets does not count."""

_FURTHER = "{:,} more settings are ignored like this; `secateur config` names each, with the line to write."
"""The message in place of further notices of that code."""

OWN_FILE = f"{FILE_NAME} in your configuration folder"
"""Never its path, which `secateur config` prints: a pack may hold the notice, and the same pack leaves on every
machine."""

_ADDRESS_ONLY = re.compile(r"(?!.*//[^/]*@)[^?#]*", re.DOTALL)
_VARIABLE = re.compile(r"\w{0,64}", re.ASCII)
"""Pattern of the name of a variable: anything else may hold a secret, and is not repeated."""

MAX_BOOST = 1000
"""A factor beyond which every priority is out of sight; what must be kept is pinned."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Settings in force, where each key that is not a default came from, and what was ignored."""

    settings: Settings
    origins: Mapping[str, str]
    notices: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """One place settings come from: its name in messages, its table, and whether it is the repository's own."""

    name: str
    table: Mapping[str, Any]
    scope: str = "user"  # "repository" may set "any" keys only; "user" also "user" keys; "run" everything
    notices: tuple[Notice, ...] = ()  # what of that place was not even read

    def place(self, key_name: str) -> str:
        """The place that sets it: the file, `--set`, or the flag of that key."""
        return (key_of(key_name).flag or self.name) if self.name == "flag" else self.name


def merge(layers: Sequence[Layer]) -> Loaded:
    """Merge layers, later ones winning; the last that names a profile lays that profile's table under its own keys."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    notices: list[Notice] = []
    flat_layers = [(layer, _by_name(layer.table, layer, notices)) for layer in layers]
    own_profiles: dict[str, Any] = {}
    for layer, flat in flat_layers:
        notices += layer.notices
        own_profiles |= _checked_profiles(flat["profiles"], layer, notices) if "profiles" in flat else {}
    profiles = {
        layer.name: _profile(flat["profile"], own_profiles, layer.name)
        for layer, flat in flat_layers
        if "profile" in flat
    }
    chosen = list(profiles)[-1:]
    for layer, flat in flat_layers:
        if layer.name in chosen:
            place = f"profile {flat['profile']}"
            for key_name, value in _flatten(profiles[layer.name], place):
                built_in = flat["profile"] in PROFILES  # what those hold is ours, whoever chose them
                if built_in or _may_set(
                    layer, key_name, checked(key_name, value, place), f"{layer.name} ({place})", notices
                ):
                    values[key_name], origins[key_name] = checked(key_name, value, place), place
        for key_name, value in flat.items():
            place = layer.place(key_name)
            if key_of(key_name).scope == "run" and layer.scope != "run":
                raise ConfigError(f"{place}: {key_name} belongs to a run, not to a file", hint="pass it as a flag")
            if _may_set(layer, key_name, value, place, notices):
                values[key_name], origins[key_name] = checked(key_name, value, place), place
    if own_profiles:
        values["profiles"] = own_profiles
    settings = replaced(Settings(), values)
    _check_together(settings, origins)
    return Loaded(settings, origins, tuple(dict.fromkeys(notices)))


def _may_set(layer: Layer, key_name: str, value: Any, place: str, notices: list[Notice]) -> bool:
    """Tells whether a layer may give a key this value; what it may not is ignored and noted."""
    key = key_of(key_name)
    if layer.scope != "repository":
        return True
    if key.scope == "user":
        why = f"{place}: {key_name} counts only from your own configuration or the command line; ignored."
    elif key.lowered_only and checked(key_name, value, place) > key.default:
        why = f"{place}: {key_name} = {value} is more than a repository may set ({key.default}); ignored."
    else:
        return True
    table, _, leaf = key_name.rpartition(".")
    where = f"in {OWN_FILE} below [{table}]"  # a dotted key at the top would clash with a table of that name
    notices.append(
        Notice(IGNORED, f"{why} To have it count, write this {where}: {leaf} = {_shown_value(key_name, value)}")
    )
    return False


def condensed(notices: Sequence[Notice]) -> tuple[Notice, ...]:
    """Returns the notices as an answer carries them: the first ignored setting, and how many more there are.

    A repository can set any number of keys that do not count. Notices take room in a pack; these may not take that of
    the answer.
    """
    ignored = [notice for notice in notices if notice.code == IGNORED]
    if len(ignored) > 1:
        ignored = [ignored[0], Notice(IGNORED, _FURTHER.format(len(ignored) - 1))]
    return (*ignored, *(notice for notice in notices if notice.code != IGNORED))


def _shown_value(key_name: str, value: Any) -> str:
    """A value as TOML; a word for it where it is long, or an address or name that may hold a secret."""
    shown = _toml_value(value)
    told = bool(shown) and len(shown) <= LONGEST_SHOWN
    if key_name.endswith(".base_url"):
        told = told and _ADDRESS_ONLY.fullmatch(str(value)) is not None
    elif key_name.endswith(".api_key_env"):
        told = told and _VARIABLE.fullmatch(str(value)) is not None
    return shown if told else "(the value as it stands there)"


def _toml_value(value: Any) -> str:
    """A value as TOML writes it on one line; "" for one that settings cannot hold."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value) if abs(value) <= sys.float_info.max else ""
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            items = [_toml_value(item) for item in value]
            return f"[{', '.join(items)}]" if all(items) else ""
        case Mapping():
            pairs = [(_toml_value(str(name)), _toml_value(item)) for name, item in value.items()]
            return (
                "{ " + ", ".join(f"{name} = {item}" for name, item in pairs) + " }"
                if pairs and all(item for _, item in pairs)
                else ""
            )
    return ""


def with_values(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    """A copy of the settings with some dotted keys changed, checked like any other layer.

    Raises:
        ConfigError: unknown key, wrong type, value out of range.
    """
    values: dict[str, Any] = {}
    for written, value in changes.items():
        name = known(written, "settings")
        values[name] = checked(name, value, "settings")
    changed = replaced(settings, values)
    _check_together(changed, {})
    return changed


def with_profile(settings: Settings, name: str) -> Settings:
    """A copy of the settings with every key a profile speaks of reset to its default and then to that profile's
    value."""
    touched = {
        key_name
        for table in (*PROFILES.values(), *settings.profiles.values())
        for key_name in _by_name(table, Layer("profile", {}))
    }
    changes = {key_name: key_of(key_name).default for key_name in touched}
    changes |= _by_name(_profile(name, settings.profiles, "profile"), Layer(f"profile {name}", {}))
    return with_values(settings, changes | {"profile": name})


def _by_name(
    table: Mapping[str, Any], layer: Layer, notices: list[Notice] | None = None, inside: str = ""
) -> dict[str, Any]:
    """Returns the values that a table sets, by dotted key."""
    # Never the path of a file, as with OWN_FILE.
    place = (f"your {PurePath(layer.name).name}" if layer.scope == "user" else layer.name) + inside
    if layer.scope != "run" and isinstance(table.get("kinds"), Mapping):
        table = {**table, "kinds": _of_installed_kinds(table["kinds"], place, notices)}
    return dict(_flatten(table, layer.name + inside))


def _of_installed_kinds(tables: Mapping[str, Any], place: str, notices: list[Notice] | None) -> dict[str, Any]:
    """The tables of kinds that can be used here; each other is noted: one file serves machines of which only some have
    the package."""
    found = {}
    for name, table in tables.items():
        try:
            kind_keys(name)
            found[name] = table
        except ConfigError as error:
            if notices is not None:
                said = f"{place}: [kinds.{shown(name)}] is ignored: {error.message}; {error.hint}"
                notices.append(Notice(IGNORED, said))
    return found


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
            known(name, place)


def _profile(name: Any, own: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    table = (
        own.get(name)
        if isinstance(name, str) and name in own
        else PROFILES.get(name)
        if isinstance(name, str)
        else None
    )
    if table is None:
        known = (*PROFILES, *sorted(own))
        near = suggestion(name, known) if isinstance(name, str) else ""
        hint = (f"did you mean {near}? " if near else "") + f"profiles: {', '.join(known)}"
        raise ConfigError(
            f"{place} {name} is not allowed" if place == "--profile" else f"{place}: there is no profile {name!r}",
            hint=hint,
        )
    return table


def _checked_profiles(tables: Any, layer: Layer, notices: list[Notice]) -> dict[str, Any]:
    """The profiles of a layer with what it may set in them, which for a repository is what it may set at all."""
    profiles: dict[str, Any] = {}
    if not isinstance(tables, Mapping):
        raise ConfigError(
            f"{layer.name}: profiles is a table of tables", hint="write [profiles.NAME.smart_pruning] and keys below it"
        )
    for name, table in tables.items():
        place = f"{layer.name} [profiles.{name}]"
        if name in PROFILES:  # `spec` is the specs, whatever a repository says
            raise ConfigError(f"{place}: {name} is built in", hint="choose another name")
        if not isinstance(table, Mapping):
            raise ConfigError(f"{place} is not a table", hint="write [profiles.NAME.smart_pruning] and keys below it")
        flat = _by_name(table, layer, notices, f" [profiles.{name}]")
        for key_name, value in flat.items():
            if key_name in ("profile", "profiles") or key_of(key_name).scope == "run":
                raise ConfigError(
                    f"{place}: {key_name} cannot be part of a profile",
                    hint="profiles hold weights, budgets and switches",
                )
            checked(key_name, value, place)
        profiles[name] = nested(
            {key_name: value for key_name, value in flat.items() if _may_set(layer, key_name, value, place, notices)}
        )
    return profiles


def _check_together(settings: Settings, origins: Mapping[str, str]) -> None:
    """Checks what ranges of single keys cannot express."""

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
    for table, server in (("llm", settings.llm), ("embedding", settings.embedding)):
        # A secret that strays into a setting would be printed by `secateur config`: it is refused without being
        # repeated.
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
    for symbol, factor in settings.boosts.items():
        if not 0 <= factor <= MAX_BOOST:
            wrong = f"--boost {symbol}={factor:g} is not allowed: boosts are factors from 0 to {MAX_BOOST}"
            raise ConfigError(wrong, hint="--pin keeps a symbol first")
    for model, window in settings.context_budget.windows.items():
        if window < 1:
            name = "context_budget.windows"
            raise bad(name, f"{name}.{model} = {window}", "is not allowed", "a window is 1 or more tokens")
