"""Where settings come from: defaults, the repository's file, the user's file, `--config`, flags; later layers win.

A profile is a table of settings. The last layer that names one decides which applies, and it applies there: keys of that and later
layers win over it, keys of earlier layers do not. A file found inside a repository is data of that repository: keys of scope "user"
(servers, keys, folders) and more than the default of what costs the machine are ignored there and reported, also in a profile that it
defines or chooses. Every error names the file, the key, what is allowed and the nearest valid key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur.errors import ConfigError
from secateur.model import Notice
from secateur.nearest import nearest
from secateur.schema import FILE_NAME, FLAGS, Key, build, checked, keys, known, lookup, schema
from secateur.settings import PROFILES, Settings

__all__ = ["FILE_NAME", "FLAGS", "Key", "Layer", "Loaded", "keys", "load", "lookup", "merge", "schema", "with_profile", "with_values"]

LOWERED_ONLY = frozenset({"index.max_file_kb"})
"""Keys that cost the machine: a repository may set less than the default and not more."""

MAX_FILE_BYTES = 1 << 20
"""A configuration file above this size is refused: it is not one."""

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


def load(
    root: Path | None,
    *,
    config_file: Path | None = None,
    profile: str | None = None,
    sets: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
    user_dir: Path | None = None,
) -> Loaded:
    """Settings for a run.

    Args:
        root: the repository's folder, read for `secateur.toml` or `[tool.secateur]` of `pyproject.toml`; None: no repository.
        config_file: a further file (`--config`); must exist.
        profile: profile chosen on the command line.
        sets: `KEY=VALUE` texts (`--set`); values are TOML, bare words are texts.
        flags: dotted key -> value of other flags (`--budget`, `--depth`, ...).
        user_dir: the user's config folder.

    Raises:
        ConfigError: unknown key, wrong type, value out of range, unreadable or malformed file.
    """
    layers = [layer for layer in (_repository_layer(root), _user_layer(user_dir)) if layer]
    if config_file is not None:
        layers.append(Layer(str(config_file), _read_toml(config_file)))
    chosen: dict[str, Any] = {"profile": profile} if profile else {}
    layers.append(Layer("--profile", chosen, "run"))
    layers.append(Layer("--set", _parse_sets(sets), "run"))
    layers.append(Layer("flag", _nested(flags or {}), "run"))
    return merge(layers)


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
    profiles = {layer.name: _profile(flat["profile"], own_profiles, layer.name) for layer, flat in flat_layers if "profile" in flat}
    chosen = list(profiles)[-1:]
    for layer, flat in flat_layers:
        if layer.name in chosen:
            place = f"profile {flat['profile']}"
            for key_name, value in _flatten(profiles[layer.name], place):
                if _may_set(layer, key_name, checked(key_name, value, place), f"{layer.name} ({place})", notices):
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
        notices.append(Notice("config_ignored", f"{place}: {key_name} counts only from your own configuration or the command line; ignored."))
        return False
    if key_name in LOWERED_ONLY and checked(key_name, value, place) > key.default:
        notices.append(Notice("config_ignored", f"{place}: {key_name} = {value} is more than a repository may set ({key.default}); ignored."))
        return False
    return True


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
    touched = {key_name for table in (*PROFILES.values(), *settings.profiles.values()) for key_name, _ in _flatten(table, "profile")}
    changes = {key_name: keys()[key_name].default for key_name in touched}
    changes |= dict(_flatten(_profile(name, settings.profiles, "profile"), f"profile {name}"))
    return with_values(settings, changes | {"profile": name})


# --- reading -----------------------------------------------------------------------------------------------------------


def _repository_layer(root: Path | None) -> Layer | None:
    if root is None:
        return None
    own = root / FILE_NAME
    notices: tuple[Notice, ...] = ()
    if _is_plain_file(own):
        return Layer(FILE_NAME, _read_toml(own), "repository")
    if os.path.lexists(own):
        notices = (Notice("config_ignored", f"{FILE_NAME} of the repository is a link or no plain file; ignored."),)
    project = root / "pyproject.toml"
    if _is_plain_file(project):
        try:
            tool = _read_toml(project).get("tool", {})
        except ConfigError:  # a broken pyproject.toml is for other tools to report
            tool = None
        table = tool.get("secateur") if isinstance(tool, dict) else None
        if isinstance(table, dict):
            return Layer("pyproject.toml [tool.secateur]", table, "repository", notices)
    return Layer(FILE_NAME, {}, "repository", notices) if notices else None


def _user_layer(user_dir: Path | None) -> Layer | None:
    path = user_dir / FILE_NAME if user_dir else None
    try:
        if path is None or not path.is_file():
            return None
    except OSError as error:  # a home that may not be entered
        return Layer(str(path), {}, notices=(Notice("config_ignored", f"{path}: cannot be read ({error.strerror}); ignored."),))
    return Layer(str(path), _read_toml(path))


def _is_plain_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _read_toml(path: Path) -> dict[str, Any]:
    import tomli

    try:
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise ConfigError(f"{path}: {size} bytes is too large for a configuration file", hint=f"at most {MAX_FILE_BYTES} bytes")
        return tomli.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})", hint="check the path and its permissions") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: is not UTF-8 at byte {error.start}", hint="save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:  # malformed, nested too deep, or with numbers of thousands of digits
        raise ConfigError(f"{path}: {error}", hint="see https://toml.io for the format") from error


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
                raise ConfigError(f"{place}: {name} is a table, not {value!r}", hint=f"write [{name}] and its keys below it")
            yield from _flatten(value, place, name + ".")
        else:
            known(name, place)


# --- profiles and keys together ----------------------------------------------------------------------------------------


def _profile(name: Any, own: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    table = own.get(name) if isinstance(name, str) and name in own else PROFILES.get(name) if isinstance(name, str) else None
    if table is None:
        known = (*PROFILES, *sorted(own))
        near = nearest(name, known) if isinstance(name, str) else ""
        hint = (f"did you mean {near}? " if near else "") + f"profiles: {', '.join(known)}"
        raise ConfigError(f"{place} {name} is not allowed" if place in FLAGS.values() else f"{place}: there is no profile {name!r}", hint=hint)
    return table


def _checked_profiles(tables: Any, layer: Layer, notices: list[Notice]) -> dict[str, Any]:
    """The profiles of a layer with what it may set in them, which for a repository is what it may set at all."""
    profiles: dict[str, Any] = {}
    if not isinstance(tables, Mapping):
        raise ConfigError(f"{layer.name}: profiles is a table of tables", hint="write [profiles.NAME.smart_pruning] and keys below it")
    for name, table in tables.items():
        place = f"{layer.name} [profiles.{name}]"
        if name in PROFILES:  # `spec` is the specs, whatever a repository says
            raise ConfigError(f"{place}: {name} is built in", hint="choose another name")
        if not isinstance(table, Mapping):
            raise ConfigError(f"{place} is not a table", hint="write [profiles.NAME.smart_pruning] and keys below it")
        flat = dict(_flatten(table, place))
        for key_name, value in flat.items():
            if key_name in ("profile", "profiles") or keys()[key_name].scope == "run":
                raise ConfigError(f"{place}: {key_name} cannot be part of a profile", hint="profiles hold weights, budgets and switches")
            checked(key_name, value, place)
        profiles[name] = _nested({key_name: value for key_name, value in flat.items() if _may_set(layer, key_name, value, place, notices)})
    return profiles


def _check_together(settings: Settings, origins: Mapping[str, str]) -> None:
    """What ranges of single keys do not say."""

    def bad(name: str, shown: str, wrong: str, hint: str) -> ConfigError:
        return ConfigError(f"{origins.get(name, 'settings')}: {shown} {wrong}", hint=hint)

    prune = settings.context_prune
    if prune.sliding_window_overlap >= prune.sliding_window_size:
        name = "context_prune.sliding_window_overlap"
        wrong = f"is not less than the window of {prune.sliding_window_size}"
        raise bad(name, f"{name} = {prune.sliding_window_overlap}", wrong, "make the overlap smaller than context_prune.sliding_window_size")
    for table, server in (("llm", settings.llm), ("embedding", settings.embedding)):
        # A secret that strays into a setting would be printed by `secateur config`: it is refused without being repeated.
        if re.search(r"//[^/]*@|[?#]", server.base_url):
            name = f"{table}.base_url"
            raise bad(name, name, "holds more than an address", f"a key goes into an environment variable that {table}.api_key_env names")
        if not re.fullmatch(r"\w{0,64}", server.api_key_env, re.ASCII):
            name = f"{table}.api_key_env"
            raise bad(name, name, "is not the name of an environment variable", "put the key into a variable and its name here")
    for symbol, factor in settings.boosts.items():
        if not 0 <= factor <= MAX_BOOST:
            hint = f"a boost is a factor from 0 to {MAX_BOOST}; --pin keeps a symbol first"
            raise ConfigError(f"--boost {symbol}={factor:g} is not allowed", hint=hint)
    for model, window in settings.context_budget.windows.items():
        if window < 1:
            name = "context_budget.windows"
            raise bad(name, f"{name}.{model} = {window}", "is not allowed", "a window is 1 or more tokens")
