"""The looks of states and signals on pages and pictures: a pattern for each besides its colour, and the palettes. The
budget bar: one segment per item in the order of the output, one for what is around them, and the free room.

Reads themes: palettes in TOML files, built-in ones and the user's. Independent of screens: pages use them too.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import tomli

from secateur import directories
from secateur.render.report.content import DecisionReport, ReportItem
from secateur.terminal import clip

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


DARK = "secateur-dark"
# The theme of a page by media query; without a query where no other holds.
THEMES: Mapping[str, str] = {
    "": "secateur-light",
    "(prefers-contrast: more)": "secateur-contrast-light",
    "(prefers-color-scheme: dark)": DARK,
    "(prefers-color-scheme: dark) and (prefers-contrast: more)": "secateur-contrast",
    "print": "secateur-contrast-light",
}

# Look -> its tile of eight by eight on a pale ground; a look without a tile is plain: kept, and relevance.
PATTERNS: Mapping[str, str] = {
    "shortened": '<path class="ink-shortened" d="M-1 5 5 -1 M3 9 9 3" stroke-width="2.6"/>',
    "summarised": '<circle class="dot-summarised" cx="2" cy="2" r="1.5"/><circle class="dot-summarised" cx="6" cy="6"'
    ' r="1.5"/>',
    "wrapper": '<path class="ink-faint" d="M0 2H8M0 6H8" stroke-width="1"/>',
    "hotspot": '<path class="ink-hotspot" d="M-1 5 5 -1 M3 9 9 3" stroke-width="2.6"/>',
    "distance": '<circle class="dot-distance" cx="2" cy="2" r="1.5"/><circle class="dot-distance" cx="6" cy="6"'
    ' r="1.5"/>',
    "preference": '<path class="ink-preference" d="M2 0V8M6 0V8" stroke-width="2"/>',
    "boost": '<path class="ink-boost" d="M0 0 8 8M8 0 0 8" stroke-width="1.6"/>',
}

_TINTS = {"wrapper": "faint"}


def _variable(name: str) -> str:
    prefix = "state-" if name in STATES else ""
    return f"--{'signal-' if name in SIGNALS else prefix}{name}"


def pattern_defs() -> str:
    """Returns the patterns as SVG; colours come from the surrounding style."""
    tiles = (
        f'<pattern id="{look}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect class="ground-{_TINTS.get(look, look)}" width="8" height="8"/>{tile}</pattern>'
        for look, tile in PATTERNS.items()
    )
    return f"<defs>{''.join(tiles)}</defs>"


def pattern_styles() -> str:
    """Returns the style rules that colour the patterns and signals."""
    rules = []
    for look in PATTERNS:
        name = _TINTS.get(look, look)
        colour = f"var({_variable(name)})"
        rules.append(f".ink-{name} {{ stroke: {colour}; fill: none; }} .dot-{name} {{ fill: {colour}; }}")
        rules.append(f".ground-{name} {{ fill: {colour}; fill-opacity: .28; }}")
    for name in SIGNALS:
        rules.append(f"rect.{name} {{ fill: {f'url(#{name})' if name in PATTERNS else f'var(--signal-{name})'}; }}")
    return "\n".join(rules)


def known_signal(name: str) -> str:
    """Returns the look of a term: that of a known signal, or the plain one."""
    return name if name in SIGNALS else SIGNALS[0]


def stacked_bar(terms: Mapping[str, float], most: float, wide: int) -> str:
    """Draws the terms of a score side by side on a track, in SVG; `most` is as long as the track."""
    drawn, left = [f'<rect class="track" width="{wide}" height="11"/>'], 0.0
    for name, value in terms.items():
        part = wide * max(0.0, value) / most if most > 0 else 0.0
        if part >= 0.01:
            drawn.append(f'<rect class="{known_signal(name)}" x="{left:.2f}" width="{part:.2f}" height="11"/>')
            left += part
    return "".join(drawn)


@cache
def palette(name: str) -> ThemeColours:
    """Returns a built-in theme."""
    return read_colours(directories.data_dir("themes") / f"{name}.toml")


def page_styles() -> str:
    """Returns the style rules of a page: a property for each colour of the theme that holds, such as `--background`,
    `--state-kept` and `--signal-relevance`, and the patterns."""
    rules = []
    for media, name in THEMES.items():
        theme = palette(name)
        declared = "; ".join(f"{_variable(key)}: {colour}" for key, colour in theme.colours.items())
        root = f":root {{ color-scheme: {'dark' if theme.dark else 'light'}; {declared}; }}"
        rules.append(f"@media {media} {{ {root} }}" if media else root)
    return "\n".join((*rules, pattern_styles()))


# Most segments of a bar: more would be thinner than a line, so neighbours with one state are merged.
MOST_SEGMENTS = 500

SHORTEST_LABEL = 8  # characters of the shortest name on a segment
# Marks between the parts of a name: of a path, of a heading, and before a method; not a file's extension.
_PARTS = re.compile(r"[/>] ?|\.(?=[^.]{3,}$)")

WRAPPER, FREE = "wrapper", "free"


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of the bar."""

    tokens: int
    look: str  # label of a state, WRAPPER or FREE
    told: str  # for people: "Money.round, 120 tokens, kept"
    item: int | None = None  # number of the item it leads to
    label: str = ""  # the name of the item


def segments_of(report: DecisionReport) -> list[Segment]:
    """Returns all segments. They sum to the budget, or to the tokens of the output if those are more."""
    least = max(report.budget, report.after) // MOST_SEGMENTS
    runs: list[list[ReportItem]] = []
    held = 0
    for item in report.going_out:
        if not runs or held >= least or runs[-1][0].state is not item.state:
            runs.append([])
            held = 0
        runs[-1].append(item)
        held += item.after
    segments = []
    for run in runs:
        first, label, tokens = max(run, key=lambda item: item.after), run[0].state.label, sum(one.after for one in run)
        location = f" ({first.place})" if first.place else ""
        beside = f" and {len(run) - 1:,} more" if len(run) > 1 else location
        told = f"{first.name}{beside}, {tokens:,} tokens, {label}"
        segments += [Segment(tokens, label, told, first.number, first.name)] if tokens > 0 else []
    for state, sums in report.unlisted.items():
        told = f"{sums.number:,} others {state.label}, {sums.after:,} tokens"
        segments += [Segment(sums.after, state.label, told)] if sums.after > 0 else []
    if report.wrapper > 0:
        segments.append(Segment(report.wrapper, WRAPPER, f"around the items: {report.wrapper:,} tokens"))
    free = report.free + min(0, report.wrapper)  # the segments before it overlap by as much as they are fewer together
    return segments + ([Segment(free, FREE, f"free: {report.free:,} tokens")] if free > 0 else [])


def fit_name(name: str, room: int) -> str:
    """Fits a name into so many characters: only its last part, or cut; "" if there is no room for a word."""
    if room < SHORTEST_LABEL:
        return ""
    if len(name) <= room:
        return name
    last = _PARTS.split(name)[-1]
    return last if last and len(last) <= room else clip(last or name, room)
