"""Writes profiles into configuration files that people wrote, and keeps their comments and order.

    write_profile(own_file(config_dir), "fast", settings)            # [profiles.fast] of your own file
    write_profile(repository_file(root), "fast", settings)           # only keys that a repository may set
    adopt_profile(config_dir, "recommended")                         # profile = "recommended", in your own file

A file is changed in place or not at all: the new text is parsed and compared with the intended values before it
replaces the old file.
"""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from secateur.errors import ConfigError, SecateurError, UsageError, shown, unwritable
from secateur.output_files import write_output
from secateur.settings import (
    FILE_NAME,
    PROFILES,
    PROJECT_NAME,
    Layer,
    Settings,
    installed_keys,
    key_of,
    lookup,
    merge,
    with_profile,
)
from secateur.settings.keys import nest_tables
from secateur.settings.layers import BASE
from secateur.settings.loading import read_config
from secateur.system.files import one_at_a_time
from secateur.toml_values import toml_value

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,63}")

# Prefixes of keys that describe a machine, which are not part of a profile.
_OF_THE_MACHINE = ("index.", "embedding.", "llm.", "ui.", "graph_rag.cache_", "kinds.")

_FLAGS = {"pins": "--pin", "excludes": "--exclude", "boosts": "--boost"}


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A configuration file and the table in it that holds our settings."""

    path: Path
    table: tuple[str, ...] = ()  # ("tool", "secateur") of pyproject.toml
    scope: str = "user"  # "repository": it may only set the keys of scope "any"


@dataclass(frozen=True, slots=True)
class WrittenProfile:
    """A profile as it was written, and the settings that could not be part of it."""

    name: str
    path: Path
    base: str  # the built-in profile whose values it has otherwise
    values: Mapping[str, Any]  # by dotted key
    refused: Mapping[str, str]  # dotted key -> why

    @property
    def table(self) -> Mapping[str, Any]:
        """The profile as it is read back."""
        return nest_tables(_flat(PROFILES[self.base]) | dict(self.values))


def own_file(user_dir: Path) -> ConfigFile:
    """Returns the user's own configuration file."""
    return ConfigFile(user_dir / FILE_NAME)


def repository_file(root: Path) -> ConfigFile:
    """Returns the configuration file of a repository: its `secateur.toml`, or `[tool.secateur]` if only that exists.
    Raises ConfigError: it is a link, which is never read."""
    own, project = root / FILE_NAME, root / PROJECT_NAME
    if own.is_symlink():
        raise ConfigError(f"{shown(own)} is a link, which is never read", hint="put a plain file in its place")
    if not own.exists() and project.is_file() and not project.is_symlink():
        tool = _data(_text(project), project).get("tool")
        if isinstance(tool, dict) and isinstance(tool.get("secateur"), dict):
            return ConfigFile(project, ("tool", "secateur"), "repository")
    return ConfigFile(own, (), "repository")


def base_of(settings: Settings) -> str:
    """Returns the built-in profile that settings are written relative to: that in force, or the most similar one."""
    if settings.profile in PROFILES:
        return settings.profile
    keys = [name for name, key in installed_keys().items() if key.scope != "run"]
    bases = {name: with_profile(Settings(), name) for name in PROFILES}
    return min(bases, key=lambda base: sum(lookup(settings, name) != lookup(bases[base], name) for name in keys))


def profile_of(settings: Settings, scope: str = "user") -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the settings as values of a profile by key, and why each other setting cannot be part of it.

    A profile holds what differs from its base, except what describes the machine. `scope`: "repository": for a file
    that may only set the keys of scope "any".
    """
    base = with_profile(Settings(), base_of(settings))
    values: dict[str, Any] = {}
    refused: dict[str, str] = {}
    for name, key in installed_keys().items():
        value = lookup(settings, name)
        if name in ("profile", "profiles") or name.startswith(_OF_THE_MACHINE):
            continue
        if key.scope == "run":
            if name != "budget" and value:
                refused[name] = f"it belongs to a run: pass {_FLAGS.get(name, '--set')}"
        elif value != lookup(base, name):
            values[name] = msgspec.to_builtins(value)
    if settings.budget >= 0:
        values.pop("graph_rag.token_budget", None)
        key = key_of("graph_rag.token_budget")
        if key.low is not None and key.high is not None and key.low <= settings.budget <= key.high:
            values |= {key.name: settings.budget} if settings.budget != lookup(base, key.name) else {}
        else:
            refused["budget"] = (
                f"{settings.budget:,} belongs to a run; a profile can hold {key.low:,.0f} to {key.high:,.0f}:"
                f" pass --budget {settings.budget}"
            )
    if scope == "repository":
        for name, value in list(values.items()):
            if (key := key_of(name)).scope != "any" or (key.lowered_only and value > key.default):
                refused[name] = "only your own configuration or the command line may set it"
                del values[name]
    return values, refused


def write_profile(file: ConfigFile, name: str, settings: Settings) -> WrittenProfile:
    """Writes the settings as `[profiles.NAME]`: its base and what differs; a profile of that name is replaced.

    Raises:
        UsageError: the name is invalid, or that of a built-in profile.
        ConfigError: the file is malformed, or written in a way that cannot be changed.
        SecateurError: it cannot be written.
    """
    if name in PROFILES:
        raise UsageError(f"{name} is built in and cannot be changed", hint="choose another name")
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid name for a profile", hint="letters, digits, - and _; at most 64")
    values, refused = profile_of(settings, file.scope)
    base = base_of(settings)
    if not values and base == Settings().profile:
        raise UsageError("there is nothing to write: every setting has its default", hint="change one first")
    was = with_profile(Settings(), base)
    written = {BASE: base, **values}

    def change_values(data: dict[str, Any]) -> None:
        profiles = _at(data, file.table).setdefault("profiles", {})
        kept = {key: old for key, old in _flat(profiles.get(name, {})).items() if key.startswith(_OF_THE_MACHINE)}
        profiles[name] = nest_tables({**kept, **written})

    def edit_document(document: Any) -> None:
        from tomlkit.items import InlineTable

        profile = _make_table(document, (*file.table, "profiles", name))
        for key in list(_flat(profile.unwrap())):
            if key not in written and not key.startswith(_OF_THE_MACHINE):
                _delete_key(profile, key.split("."))
        for key, value in written.items():
            *tables, leaf = key.split(".")
            table = _make_table(profile, tables)
            table[leaf] = value
            if key != BASE and not isinstance(table, InlineTable):
                table[leaf].comment(f"was {toml_value(msgspec.to_builtins(lookup(was, key)))}")

    _change(file, change_values, edit_document)
    return WrittenProfile(name, file.path, base, values, refused)


def adopt_profile(user_dir: Path, name: str) -> Path:
    """Makes a profile the default of the user's own configuration; returns its file.

    Raises:
        UsageError: neither a built-in profile nor one of the user's own file.
        ConfigError, SecateurError: see `write_profile`.
    """
    file = own_file(user_dir)
    own = _data(_text(file.path), file.path).get("profiles", {}) if file.path.exists() else {}
    known = (*PROFILES, *sorted(own if isinstance(own, dict) else {}))
    if name not in known:
        raise UsageError(
            f"{shown(name)} is not one of your profiles",
            hint=f"yours: {', '.join(known)}; write another into your own file first",
        )

    def change_values(data: dict[str, Any]) -> None:
        data["profile"] = name

    def edit_document(document: Any) -> None:
        document["profile"] = name

    _change(file, change_values, edit_document)
    return file.path


def _change(file: ConfigFile, change_values: Any, edit_document: Any) -> None:
    """Replaces a file. `change_values` makes the change to the values, and `edit_document` makes the same change to the
    text."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    with ExitStack() as stack:
        try:
            if file.scope == "user":
                file.path.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(one_at_a_time(file.path.parent))
        except OSError as error:
            raise unwritable(file.path, error) from error
        text = _text(file.path) if file.path.exists() else ""
        meant = deepcopy(_data(text, file.path))
        try:
            change_values(meant)
            document = tomlkit.parse(text)
            edit_document(document)
            new = tomlkit.dumps(document)
            if _data(new, file.path) != meant:
                raise ValueError("the change would alter other settings")
        except (TOMLKitError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ConfigError(
                f"{shown(file.path)} is written in a way that cannot be changed: {error}",
                hint="write [profiles.NAME] as a table of its own, or choose the other file",
            ) from error
        merge([Layer(str(file.path), _at(meant, file.table), file.scope)])  # raises if it could not be read
        try:  # the user's own file may be a link, for example into a folder of dotfiles
            write_output(Path(os.path.realpath(file.path)) if file.scope == "user" else file.path, new)
        except SecateurError as error:
            hint = "check the permissions of the file and its folder" if error.code == "OUTPUT" else error.hint
            raise SecateurError(error.message, hint=hint, code=error.code) from error


def _flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping) and prefix + name not in installed_keys():
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _text(path: Path) -> str:
    try:
        return read_config(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown(path)}: not UTF-8 at byte {error.start}", hint="save it as UTF-8") from error


def _data(text: str, path: Path) -> dict[str, Any]:
    import tomli

    try:
        return tomli.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{shown(path)}: {error}", hint="repair it first: nothing was written") from error


def _at(data: dict[str, Any], table: Sequence[str]) -> dict[str, Any]:
    for part in table:
        data = data[part]
    return data


def _make_table(document: Any, path: Sequence[str]) -> Any:
    import tomlkit
    import tomlkit.items

    table = document
    for index, part in enumerate(path):
        if part not in table:
            inline = isinstance(table, tomlkit.items.InlineTable)  # only inline tables fit into one
            made = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=index < len(path) - 1 or None)
            table[part] = made
        table = table[part]
    return table


def _delete_key(table: Any, path: Sequence[str]) -> None:
    first, *rest = path
    if rest:
        _delete_key(table[first], rest)
        if not table[first]:
            del table[first]
    else:
        del table[first]
