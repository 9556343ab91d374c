"""Themes are palettes in TOML files: the program's own and the user's `themes` folder beside the configuration.

A theme that cannot be used degrades: it is left out, the default takes its place, and a notice says which file, which
key, and why.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import tomli
from secateur.model import Notice
from textual.theme import Theme

DEFAULT_THEME = "secateur-dark"

MAX_THEME_BYTES = 64 * 1024
"""A theme file above this size is not one."""

PALETTE = (
    "background",
    "surface",
    "panel",
    "foreground",
    "faint",
    "primary",
    "secondary",
    "accent",
    "success",
    "warning",
    "error",
)
BASE_COLOURS = tuple(name for name in PALETTE if name != "faint")
"""Colours Textual's own themes have too."""

STATES = ("kept", "shortened", "summarised", "dropped")
SIGNALS = ("relevance", "hotspot", "distance", "preference", "boost")
_TABLES = {"palette": PALETTE, "states": STATES, "signals": SIGNALS}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


class ThemeError(Exception):
    """Raised for a theme file that is wrong."""


def load_themes(folders: Iterable[Path]) -> tuple[dict[str, Theme], tuple[Notice, ...]]:
    """Themes by name, later folders winning, and a notice for each file that is left out."""
    themes: dict[str, Theme] = {}
    notices: list[Notice] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            try:
                themes[path.stem] = read_theme(path)
            except ThemeError as error:
                notices.append(Notice("broken_theme", f"theme {path.name} is left out: {error}"))
    return themes, tuple(notices)


def read_theme(path: Path) -> Theme:
    """One theme file.

    Raises:
        ThemeError: unreadable, not TOML, an unknown or missing key, not a colour.
    """
    table = _read(path)
    for name in table:
        if name != "dark":
            _known(name, _TABLES)
    colours: dict[str, str] = {}
    for table_name, keys in _TABLES.items():
        given = table.get(table_name, {})
        if not isinstance(given, dict):
            raise ThemeError(f"{table_name} is not a table")
        for key in given:
            _known(key, keys, f"{table_name}.")
        for key in keys:
            if key not in given:
                raise ThemeError(f"{table_name}.{key} is missing")
            if not isinstance(given[key], str) or not _COLOUR.fullmatch(given[key]):
                raise ThemeError(f"{table_name}.{key} is not a colour like #8fbf9f")
            colours[key] = given[key]
    if not isinstance(table.get("dark", True), bool):
        raise ThemeError("dark is not true or false")
    base: dict[str, Any] = {key: colours[key] for key in BASE_COLOURS}
    return Theme(name=path.stem, dark=table.get("dark", True), variables=variables(colours), **base)


def variables(colours: dict[str, str]) -> dict[str, str]:
    """Variables of the stylesheets beside Textual's own: `$faint`, `$state-kept`, `$signal-relevance`, ..."""
    return (
        {"faint": colours["faint"], "border-idle": colours["panel"], "border-focus": colours["primary"]}
        | {f"state-{key}": colours[key] for key in STATES}
        | {f"signal-{key}": colours[key] for key in SIGNALS}
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():  # reading a pipe would wait for whoever writes to it
            raise ThemeError("no regular file")
        with path.open("rb") as file:
            data = file.read(MAX_THEME_BYTES + 1)
        if len(data) > MAX_THEME_BYTES:
            raise ThemeError(f"larger than {MAX_THEME_BYTES} bytes")
        return tomli.loads(data.decode("utf-8"))
    except RecursionError as error:
        raise ThemeError("nested too deep") from error
    except (OSError, ValueError) as error:  # not readable, not UTF-8, not TOML, a number of thousands of digits
        raise ThemeError(str(error)) from error


def _known(name: str, names: Iterable[str], prefix: str = "") -> None:
    if name not in names:
        near = difflib.get_close_matches(name, list(names), n=1)
        raise ThemeError(f"unknown key {prefix}{name}" + (f"; did you mean {prefix}{near[0]}?" if near else ""))
