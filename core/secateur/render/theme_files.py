"""Reads themes: palettes in TOML files, built-in ones and the user's. Independent of screens: pages use them too."""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli

MAX_THEME_BYTES = 64 * 1024  # a larger file cannot be a theme

PALETTE = (
    *("background", "surface", "panel", "foreground", "faint"),
    *("primary", "secondary", "accent", "success", "warning", "error"),
)
STATES = ("kept", "shortened", "summarised", "dropped")
SIGNALS = ("relevance", "hotspot", "distance", "preference", "boost")
_TABLES = {"palette": PALETTE, "states": STATES, "signals": SIGNALS}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


class ThemeError(Exception):
    """A theme file is invalid."""


@dataclass(frozen=True, slots=True)
class ThemeColours:
    """The colours of a theme by name, as `#rrggbb`, for PALETTE, STATES and SIGNALS."""

    name: str
    dark: bool
    colours: Mapping[str, str]


def read_colours(path: Path) -> ThemeColours:
    """Reads one theme file. Raises ThemeError: unreadable, not TOML, an unknown or missing key, not a colour."""
    table = _read(path)
    for name in table:
        if name != "dark":
            _check_key(name, _TABLES)
    colours: dict[str, str] = {}
    for table_name, keys in _TABLES.items():
        given = table.get(table_name, {})
        if not isinstance(given, dict):
            raise ThemeError(f"{table_name} is not a table")
        for key in given:
            _check_key(key, keys, f"{table_name}.")
        for key in keys:
            if key not in given:
                raise ThemeError(f"{table_name}.{key} is missing")
            if not isinstance(given[key], str) or not _COLOUR.fullmatch(given[key]):
                raise ThemeError(f"{table_name}.{key} is not a colour like #8fbf9f")
            colours[key] = given[key]
    if not isinstance(table.get("dark", True), bool):
        raise ThemeError("dark is not true or false")
    return ThemeColours(path.stem, table.get("dark", True), colours)


def _read(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file():  # reading a pipe would wait for its writer
            raise ThemeError("not a regular file")
        with path.open("rb") as file:
            data = file.read(MAX_THEME_BYTES + 1)
        if len(data) > MAX_THEME_BYTES:
            raise ThemeError(f"larger than {MAX_THEME_BYTES} bytes")
        return tomli.loads(data.decode("utf-8"))
    except RecursionError as error:
        raise ThemeError("nested too deep") from error
    except (OSError, ValueError) as error:  # not readable, not UTF-8, not TOML, a number of thousands of digits
        raise ThemeError(str(error)) from error


def _check_key(name: str, names: Iterable[str], prefix: str = "") -> None:
    if name not in names:
        near = difflib.get_close_matches(name, list(names), n=1)
        raise ThemeError(f"unknown key {prefix}{name}" + (f"; did you mean {prefix}{near[0]}?" if near else ""))
