"""Where settings come from: defaults, the repository's file, the user's file, `--config`, flags; later layers win.

A profile is a table of settings. The last layer that names one decides which applies, and it applies there: keys of
that and later layers win over it, keys of earlier layers do not. A file found inside a repository is data of that
repository: it sets the keys of `schema.REPOSITORY_KEYS` alone, also in a profile that it defines or chooses, and of
what costs the machine no more than the default. What else it holds is ignored, and a notice gives the line and the file
where it would count. Every error names the file, the key, what is allowed and the nearest valid key.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from secateur.errors import ConfigError
from secateur.model import Notice
from secateur.nearest import nearest
from secateur.settings import PROFILES, Settings
from secateur.settings.keys import (
    FILE_NAME,
    FLAGS,
    LONGEST_SHOWN,
    LOWERED_ONLY,
    Key,
    build,
    checked,
    keys,
    known,
    lookup,
    schema,
)

__all__ = [
    "FILE_NAME",
    "FLAGS",
    "Committed",
    "Key",
    "Layer",
    "Loaded",
    "keys",
    "load",
    "lookup",
    "merge",
    "schema",
    "with_profile",
    "with_values",
]

MAX_FILE_BYTES = 1 << 20
"""A configuration file above this size is refused: it is not one."""

PROJECT_NAME = "pyproject.toml"
"""The other file of a repository that is read, for its table `[tool.secateur]`, where there is no file of our own."""

_PROJECT_LAYER = f"{PROJECT_NAME} [tool.secateur]"

IGNORED = "config_ignored"
"""Code of the notice that something a repository sets does not count."""

OWN_FILE = f"{FILE_NAME} in your configuration folder"
"""Never its path, which `secateur config` prints: a pack may hold the notice, and the same pack leaves on every
machine."""

_ADDRESS_ONLY = re.compile(r"(?!.*//[^/]*@)[^?#]*", re.DOTALL)
_VARIABLE = re.compile(r"\w{0,64}", re.ASCII)
"""What a server's address and the name of a variable look like: anything else may hold a secret, and is not
repeated."""

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
        """Where it says so: the file, `--set`, or the flag of that key."""
        return FLAGS.get(key_name, self.name) if self.name == "flag" else self.name


@dataclass(frozen=True, slots=True)
class Committed:
    """The configuration files of a repository as a commit has them."""

    files: Mapping[str, bytes]  # by name, of FILE_NAME and PROJECT_NAME those there are
    place: str  # "at 1a2b3c4d5e", for messages

    def table(self) -> tuple[str, dict[str, Any]] | None:
        """The file that counts and what it sets, as it stands there; None where none sets anything.

        Raises:
            ConfigError: the file is malformed.
        """
        if FILE_NAME in self.files:
            return FILE_NAME, _toml(self.files[FILE_NAME], f"{FILE_NAME} {self.place}")
        if PROJECT_NAME in self.files:
            table = _tool_table(self.files[PROJECT_NAME], f"{PROJECT_NAME} {self.place}")
            return (PROJECT_NAME, table) if table is not None else None
        return None


def load(
    root: Path | None,
    *,
    config_file: Path | None = None,
    profile: str | None = None,
    sets: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
    user_dir: Path | None = None,
    committed: Committed | None = None,
) -> Loaded:
    """Settings for a run.

    Args:
        root: the repository's folder, read for `secateur.toml` or `[tool.secateur]` of `pyproject.toml`; None: no
        repository. config_file: a further file (`--config`); must exist. profile: profile chosen on the command line.
        sets: `KEY=VALUE` texts (`--set`); values are TOML, bare words are texts. flags: dotted key -> value of other
        flags (`--budget`, `--depth`, ...). user_dir: the user's config folder. committed: the repository's files as a
        commit has them; then nothing of `root` is read, and a file that is none is a notice: the change
            that mends it must still be readable.

    Raises:
        ConfigError: unknown key, wrong type, value out of range, unreadable or malformed file.
    """
    repository = _committed_layer(committed) if committed else _repository_layer(root)
    layers = [repository] if repository else []
    user = _user_layer(user_dir)
    layers += [user] if user else []
    if config_file is not None:
        layers.append(Layer(str(config_file), _read_toml(config_file)))
    chosen: dict[str, Any] = {"profile": profile} if profile else {}
    layers.append(Layer("--profile", chosen, "run"))
    layers.append(Layer("--set", _parse_sets(sets), "run"))
    layers.append(Layer("flag", _nested(flags or {}), "run"))
    if not committed or not repository:
        return merge(layers)
    try:
        return merge(layers)
    except ConfigError as error:
        loaded = merge(layers[1:])  # what is wrong without it is the user's to mend
        return replace(loaded, notices=(*repository.notices, _broken(error), *loaded.notices))


def merge(layers: Sequence[Layer]) -> Loaded:
    """Merge layers, later ones winning; the last that names a profile lays that profile's table under its own keys."""
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    notices: list[Notice] = []
    flat_layers = [(layer, dict(_flatten(layer.table, layer.name))) for layer in layers]
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
            if keys()[key_name].scope == "run" and layer.scope != "run":
                raise ConfigError(f"{place}: {key_name} belongs to a run, not to a file", hint="pass it as a flag")
            if _may_set(layer, key_name, value, place, notices):
                values[key_name], origins[key_name] = checked(key_name, value, place), place
    if own_profiles:
        values["profiles"] = own_profiles
    settings: Settings = build(Settings, "", values)
    _check_together(settings, origins)
    return Loaded(settings, origins, tuple(dict.fromkeys(notices)))


def _may_set(layer: Layer, key_name: str, value: Any, place: str, notices: list[Notice]) -> bool:
    """Whether a layer may give a key this value; what it may not is ignored and noted."""
    key = keys()[key_name]
    if layer.scope != "repository":
        return True
    if key.scope == "user":
        why = f"{place}: {key_name} counts only from your own configuration or the command line; ignored."
    elif key_name in LOWERED_ONLY and checked(key_name, value, place) > key.default:
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
    """The notices as an answer carries them: of the settings that are ignored the first, and how many more there are.

    A repository can set any number of keys that do not count. Notices take room in a pack; these may not take that of
    the answer.
    """
    ignored = [notice for notice in notices if notice.code == IGNORED]
    if len(ignored) < 2:
        return tuple(notices)
    more = Notice(
        IGNORED,
        f"{len(ignored) - 1:,} more settings are ignored like this; `secateur config` names each, with the line to"
        " write.",
    )
    return (ignored[0], more, *(notice for notice in notices if notice.code != IGNORED))


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
    """The same settings with some dotted keys changed, checked like any other layer.

    Raises:
        ConfigError: unknown key, wrong type, value out of range.
    """
    values = {name: lookup(settings, name) for name in keys()}
    for name, value in changes.items():
        known(name, "settings")
        values[name] = checked(name, value, "settings")
    changed: Settings = build(Settings, "", values)
    _check_together(changed, {})
    return changed


def with_profile(settings: Settings, name: str) -> Settings:
    """The same settings with every key a profile speaks of reset to its default and then to that profile's value."""
    touched = {
        key_name
        for table in (*PROFILES.values(), *settings.profiles.values())
        for key_name, _ in _flatten(table, "profile")
    }
    changes = {key_name: keys()[key_name].default for key_name in touched}
    changes |= dict(_flatten(_profile(name, settings.profiles, "profile"), f"profile {name}"))
    return with_values(settings, changes | {"profile": name})


# --- reading ----------------------------------------------------------------------------------------------------------


def _repository_layer(root: Path | None) -> Layer | None:
    if root is None:
        return None
    own = root / FILE_NAME
    notices: tuple[Notice, ...] = ()
    if _is_plain_file(own):
        return Layer(FILE_NAME, _read_toml(own), "repository")
    if os.path.lexists(own):
        notices = (Notice(IGNORED, f"{FILE_NAME} of the repository is a link or no plain file; ignored."),)
    project = root / PROJECT_NAME
    if _is_plain_file(project):
        try:
            table = _tool_table(_read(project), PROJECT_NAME)
        except ConfigError:  # a broken pyproject.toml is for other tools to report
            table = None
        if table is not None:
            return Layer(_PROJECT_LAYER, table, "repository", notices)
    return Layer(FILE_NAME, {}, "repository", notices) if notices else None


def _committed_layer(committed: Committed) -> Layer | None:
    try:
        found = committed.table()
    except ConfigError as error:  # a broken pyproject.toml is for other tools to report
        return Layer(FILE_NAME, {}, "repository", (_broken(error),)) if FILE_NAME in committed.files else None
    if found is None:
        return None
    name, table = found
    return Layer(f"{_PROJECT_LAYER if name == PROJECT_NAME else name} {committed.place}", table, "repository")


def _broken(error: ConfigError) -> Notice:
    return Notice(IGNORED, f"{error.message}; nothing of the repository's own settings counts.")


def _user_layer(user_dir: Path | None) -> Layer | None:
    path = user_dir / FILE_NAME if user_dir else None
    try:
        if path is None or not path.is_file():
            return None
    except OSError as error:  # a home that may not be entered
        return Layer(
            str(path), {}, notices=(Notice("config_ignored", f"{path}: cannot be read ({error.strerror}); ignored."),)
        )
    return Layer(str(path), _read_toml(path))


def _is_plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _read_toml(path: Path) -> dict[str, Any]:
    return _toml(_read(path), str(path))


def _read(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise ConfigError(
                f"{path}: {size} bytes is too large for a configuration file", hint=f"at most {MAX_FILE_BYTES} bytes"
            )
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"{path}: cannot be read ({error.strerror})", hint="check the path and its permissions"
        ) from error


def _toml(data: bytes, place: str) -> dict[str, Any]:
    import tomli

    try:
        return tomli.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place}: is not UTF-8 at byte {error.start}", hint="save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # malformed, nested too deep, or with numbers of thousands of digits
        raise ConfigError(f"{place}: {error}", hint="see https://toml.io for the format") from error


def _tool_table(data: bytes, place: str) -> dict[str, Any] | None:
    tool = _toml(data, place).get("tool", {})
    table = tool.get("secateur") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _parse_sets(sets: Sequence[str]) -> dict[str, Any]:
    import tomli

    flat: dict[str, Any] = {}
    for text in sets:
        name, equals, raw = text.partition("=")
        name = name.strip()
        if not equals or not name:
            raise ConfigError(f"--set {text!r} is not KEY=VALUE", hint="for example --set graph_rag.max_depth=3")
        known(name, "--set")
        try:
            value: Any = tomli.loads(f"value = {raw.strip()}")["value"]
        except (ValueError, RecursionError):
            value = raw.strip()
        wanted = keys()[name].kind
        if wanted is tuple and isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        elif wanted is str and not isinstance(value, str):
            value = raw.strip()
        flat[name] = value
    return _nested(flat)


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    root: dict[str, Any] = {}
    for name, value in flat.items():
        *tables, leaf = name.split(".")
        node = root
        for table in tables:
            node = node.setdefault(table, {})
        node[leaf] = value
    return root


def _flatten(table: Mapping[str, Any], place: str, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for part, value in table.items():
        name = prefix + part
        if name in keys():
            yield name, value
        elif any(known.startswith(name + ".") for known in keys()):
            if not isinstance(value, Mapping):
                raise ConfigError(
                    f"{place}: {name} is a table, not {value!r}", hint=f"write [{name}] and its keys below it"
                )
            yield from _flatten(value, place, name + ".")
        else:
            known(name, place)


# --- profiles and keys together ---------------------------------------------------------------------------------------


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
        near = nearest(name, known) if isinstance(name, str) else ""
        hint = (f"did you mean {near}? " if near else "") + f"profiles: {', '.join(known)}"
        raise ConfigError(
            f"{place} {name} is not allowed" if place in FLAGS.values() else f"{place}: there is no profile {name!r}",
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
        flat = dict(_flatten(table, place))
        for key_name, value in flat.items():
            if key_name in ("profile", "profiles") or keys()[key_name].scope == "run":
                raise ConfigError(
                    f"{place}: {key_name} cannot be part of a profile",
                    hint="profiles hold weights, budgets and switches",
                )
            checked(key_name, value, place)
        profiles[name] = _nested(
            {key_name: value for key_name, value in flat.items() if _may_set(layer, key_name, value, place, notices)}
        )
    return profiles


def _check_together(settings: Settings, origins: Mapping[str, str]) -> None:
    """What ranges of single keys do not say."""

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
