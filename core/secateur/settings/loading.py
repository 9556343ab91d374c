"""Finds and loads settings: the repository's file, the user's file, `--config`, `--set` and flags."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from secateur.errors import ConfigError
from secateur.notice import Notice
from secateur.settings.keys import FILE_NAME, check_name, key_of, nest_tables
from secateur.settings.layers import IGNORED, Layer, Loaded, merge

MAX_FILE_BYTES = 1 << 20  # a larger file is refused: it cannot be a configuration file
# The second configuration file of a repository: its table `[tool.secateur]` is read if FILE_NAME is missing.
PROJECT_NAME = "pyproject.toml"

_PROJECT_LAYER = f"{PROJECT_NAME} [tool.secateur]"


class Committed(Struct, frozen=True):
    """The configuration files of a repository at a commit."""

    files: Mapping[str, bytes]  # content by name: FILE_NAME, PROJECT_NAME or both
    place: str  # "at 1a2b3c4d5e", for messages

    def table(self) -> tuple[str, dict[str, Any]] | None:
        """Returns the name of the file that counts and its table; None if no file sets anything. Raises ConfigError:
        the file is malformed."""
        if FILE_NAME in self.files:
            return FILE_NAME, _toml(self.files[FILE_NAME], f"{FILE_NAME} {self.place}")
        if PROJECT_NAME in self.files:
            table = _tool_table(self.files[PROJECT_NAME], f"{PROJECT_NAME} {self.place}")
            return (PROJECT_NAME, table) if table is not None else None
        return None


def load(
    root: Path | None,
    *,
    config_file: Path | Layer | None = None,
    profile: str | None = None,
    sets: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
    user_dir: Path | Layer | None = None,
    committed: Committed | None = None,
    further: Sequence[Layer] = (),
    lenient: bool = False,
) -> Loaded:
    """Loads the settings for a run.

    Args:
        root: the repository's folder, read for `secateur.toml` or `[tool.secateur]` of `pyproject.toml`; None: no
            repository.
        config_file: a further file (`--config`), which must exist, or its layer as `config_layer` read it.
        profile: profile chosen on the command line.
        sets: `KEY=VALUE` texts (`--set`); values are TOML, bare words are texts.
        flags: dotted key -> value of other flags (`--budget`, `--depth`, ...).
        user_dir: the user's config folder, or its layer as `user_layer` read it.
        committed: the repository's files at a commit; `root` is then not read, and the call is `lenient`: the change
            that repairs a file must still be readable.
        further: layers that win over all others.
        lenient: a faulty file of the repository only causes a notice.

    Raises:
        ConfigError: unknown key, wrong type, value out of range, unreadable or malformed file.
    """
    user = user_layer(user_dir)
    others = [user] if user else []
    others += [] if config_file is None else [config_layer(config_file)]
    others += [
        Layer("--profile", {"profile": profile} if profile else {}, "run"),
        Layer("--set", _parse_sets(sets), "run"),
        Layer("flag", nest_tables(flags or {}), "run"),
        *further,
    ]
    repository = None
    try:
        repository = _committed_layer(committed) if committed else _repository_layer(root)
        return merge([repository, *others] if repository else others)
    except ConfigError as error:
        if not (lenient or committed):
            raise
        loaded = merge(others)  # an error in the other layers is the user's to repair
        ignored = Notice(IGNORED, f"{error.message}; all of the repository's own settings are ignored.")
        return replace(loaded, notices=(*(repository.notices if repository else ()), ignored, *loaded.notices))


class SettingsSources(Struct, frozen=True):
    """Everything but the repository that a call loads settings from; its fields are those of `load`.

    sources = SettingsSources(profile="recommended", user_dir=own)
    sources.over("[settings]", {"budget": 900}).load(root).settings
    """

    profile: str | None = None
    config_file: Path | Layer | None = None
    sets: Sequence[str] = ()
    flags: Mapping[str, Any] = field(default_factory=dict)
    user_dir: Path | Layer | None = None
    further: Sequence[Layer] = ()

    def load(self, root: Path | None, committed: Committed | None = None, *, lenient: bool = False) -> Loaded:
        """Loads the settings in force for a folder, or for a repository's files at a commit; raises as `load`."""
        return load(root, committed=committed, lenient=lenient, **asdict(self))

    def over(self, name: str, table: Mapping[str, Any]) -> SettingsSources:
        """Returns the same with a table that wins over all others; `name` is its origin in messages."""
        return replace(self, further=(*self.further, Layer(name, table, "run")))

    def carried(self) -> SettingsSources:
        """Returns the same with the user's files replaced by their content, for a process that may not have them.
        Raises ConfigError."""
        config = None if self.config_file is None else config_layer(self.config_file)
        return replace(self, config_file=config, user_dir=user_layer(self.user_dir))


def _repository_layer(root: Path | None) -> Layer | None:
    if root is None:
        return None
    own = root / FILE_NAME
    notices: tuple[Notice, ...] = ()
    if _is_plain_file(own):
        return Layer(FILE_NAME, _read_toml(own), "repository")
    if os.path.lexists(own):
        notices = (Notice(IGNORED, f"{FILE_NAME} of the repository is a link or not a plain file; ignored."),)
    project = root / PROJECT_NAME
    if _is_plain_file(project):
        try:
            table = _tool_table(read_config(project), PROJECT_NAME)
        except ConfigError:  # a broken pyproject.toml is for other tools to report
            table = None
        if table is not None:
            return Layer(_PROJECT_LAYER, table, "repository", notices)
    return Layer(FILE_NAME, {}, "repository", notices) if notices else None


def _committed_layer(committed: Committed) -> Layer | None:
    try:
        file_table = committed.table()
    except ConfigError:
        if FILE_NAME in committed.files:
            raise
        return None  # a broken pyproject.toml is for other tools to report
    if file_table is None:
        return None
    name, table = file_table
    return Layer(f"{_PROJECT_LAYER if name == PROJECT_NAME else name} {committed.place}", table, "repository")


def config_layer(file: Path | Layer) -> Layer:
    """Returns the layer of a file that a call names; an existing layer is returned unchanged. Raises ConfigError."""
    return file if isinstance(file, Layer) else Layer(str(file), _read_toml(file))


def user_layer(user_dir: Path | Layer | None) -> Layer | None:
    """Returns the layer of the user's own file, None without one; a layer is returned unchanged. Raises ConfigError."""
    if isinstance(user_dir, Layer):
        return user_dir
    path = user_dir / FILE_NAME if user_dir else None
    try:
        if path is None or not path.is_file():
            return None
    except OSError as error:  # the home folder may not be entered
        return Layer(
            str(path), {}, notices=(Notice("config_ignored", f"{path}: cannot be read ({error.strerror}); ignored."),)
        )
    return Layer(str(path), _read_toml(path))


def _is_plain_file(path: Path) -> bool:
    with suppress(OSError):  # whoever reads the folder says that it cannot be read
        return path.is_file() and not path.is_symlink()
    return False


def _read_toml(path: Path) -> dict[str, Any]:
    return _toml(read_config(path), str(path))


def read_config(path: Path) -> bytes:
    """Returns the bytes of a configuration file. Raises ConfigError: it cannot be read, or is too large."""
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
        kind = key_of(check_name(name, "--set")).kind
        try:
            value: Any = tomli.loads(f"value = {raw.strip()}")["value"]
        except (ValueError, RecursionError):
            value = raw.strip()
        if kind is tuple and isinstance(value, str):
            value = [part.strip() for part in value.split(",") if part.strip()]
        elif kind is str and not isinstance(value, str):
            value = raw.strip()
        flat[name] = value
    return nest_tables(flat)
