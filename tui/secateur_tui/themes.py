"""Themes of the inspector: the program's own and the user's `themes` folder beside the configuration; and from roles of
styled text to the terminal styles of a theme.

A theme that cannot be used degrades: it is left out, the default takes its place, and a notice says which file, which
key, and why. `secateur.render.report.looks` reads them.

Roles are looked up here and not in the stylesheets: two dozen component classes on every widget make Textual match
thousands of rules on each change of focus, which takes longer than deciding about a hundred thousand candidates.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.style import Style
from secateur.model import Notice
from secateur.render.report.looks import PALETTE, SIGNALS, STATES, ThemeError, read_colours
from textual.theme import Theme

DEFAULT_THEME = "secateur-dark"

BASE_COLOURS = tuple(name for name in PALETTE if name != "faint")  # colours Textual's own themes have too


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
            # of the stylesheets, beside Textual's own: `$faint`, `$state-kept`, `$signal-relevance`, ...
            faint, idle, focus = (read.colours[key] for key in ("faint", "panel", "primary"))
            variables = {"faint": faint, "border-idle": idle, "border-focus": focus}
            variables |= {f"state-{key}": read.colours[key] for key in STATES}
            variables |= {f"signal-{key}": read.colours[key] for key in SIGNALS}
            themes[path.stem] = Theme(name=read.name, dark=read.dark, variables=variables, **base)
    return themes, tuple(notices)


# Variable of the theme that colours a role.
_COLOURS = {
    "faint": "faint",
    "accent": "accent",
    "warning": "warning",
    "error": "error",
    "success": "success",
    "kept": "state-kept",
    "shortened": "state-shortened",
    "summarised": "state-summarised",
    "dropped": "state-dropped",
    "relevance": "signal-relevance",
    "hotspot": "signal-hotspot",
    "distance": "signal-distance",
    "preference": "signal-preference",
    "boost": "signal-boost",
    "up": "success",
    "down": "error",
    "key": "accent",
    "string": "success",
    "comment": "faint",
    "keyword": "signal-relevance",
    "number": "signal-hotspot",
}

_GROUNDS = {"cursor": "panel", "cursor-blurred": "surface"}  # variable of the theme behind a role

_BOLD = frozenset({"bold", "key", "cursor", "match"})
_ITALIC = frozenset({"comment"})
_UNDERLINED = frozenset({"match"})

ROLES = frozenset({"bold", *_UNDERLINED, *_COLOURS, *_GROUNDS})


class Palette:
    """Styles by role. A role may be several names; later ones lie on top. Unknown names add nothing."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._single = {
            role: Style(
                color=variables[_COLOURS[role]] if role in _COLOURS else None,
                bgcolor=variables[_GROUNDS[role]] if role in _GROUNDS else None,
                bold=True if role in _BOLD else None,
                italic=True if role in _ITALIC else None,
                underline=True if role in _UNDERLINED else None,
            )
            for role in sorted(ROLES)
        }
        self.style = lru_cache(maxsize=512)(self._style)

    def _style(self, role: str) -> Style:
        style = Style.null()
        for name in role.split():
            style += self._single.get(name, Style.null())
        return style
