"""Themes of the inspector: the program's own and the user's `themes` folder beside the configuration.

A theme that cannot be used degrades: it is left out, the default takes its place, and a notice says which file, which
key, and why. `secateur.render.theme_files` reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from secateur.model import Notice
from secateur.render.theme_files import PALETTE, SIGNALS, STATES, ThemeError, read_colours
from textual.theme import Theme

__all__ = ["BASE_COLOURS", "DEFAULT_THEME", "PALETTE", "SIGNALS", "STATES", "load_themes", "variables"]

DEFAULT_THEME = "secateur-dark"

BASE_COLOURS = tuple(name for name in PALETTE if name != "faint")
"""Colours Textual's own themes have too."""


def load_themes(folders: Iterable[Path]) -> tuple[dict[str, Theme], tuple[Notice, ...]]:
    """Themes by name, later folders winning, and a notice for each file that is left out."""
    themes: dict[str, Theme] = {}
    notices: list[Notice] = []
    for folder in folders:
        for path in sorted(folder.glob("*.toml")) if folder.is_dir() else ():
            try:
                read = read_colours(path)
            except ThemeError as error:
                notices.append(Notice("broken_theme", f"theme {path.name} is left out: {error}"))
                continue
            base: dict[str, Any] = {key: read.colours[key] for key in BASE_COLOURS}
            themes[path.stem] = Theme(name=read.name, dark=read.dark, variables=variables(read.colours), **base)
    return themes, tuple(notices)


def variables(colours: Mapping[str, str]) -> dict[str, str]:
    """Variables of the stylesheets beside Textual's own: `$faint`, `$state-kept`, `$signal-relevance`, ..."""
    return (
        {"faint": colours["faint"], "border-idle": colours["panel"], "border-focus": colours["primary"]}
        | {f"state-{key}": colours[key] for key in STATES}
        | {f"signal-{key}": colours[key] for key in SIGNALS}
    )
