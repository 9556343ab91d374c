"""From roles of styled text to terminal styles, for one theme.

Roles are looked up here and not in the stylesheets: two dozen component classes on every widget make Textual match
thousands of rules on each change of focus, which takes longer than deciding about a hundred thousand candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rich.style import Style

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
"""Variable of the theme that colours a role."""

_GROUNDS = {"cursor": "panel", "cursor-blurred": "surface"}
"""Variable of the theme behind a role."""

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
