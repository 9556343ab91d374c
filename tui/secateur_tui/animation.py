"""A recording as one animated SVG: the screens of its stops, each shown as long as its caption takes to read.

A line of the screen that is the same at several stops is drawn once; lines that are seen at the same stops share one
group, which a CSS animation shows and hides. Nothing is fetched, and the same recording is the same bytes.
"""

import asyncio
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from secateur.terminal import cell_width

from secateur_tui.host import Host
from secateur_tui.replay_player import ReplayPlayer, Stop

SIZE = (116, 34)  # columns and rows
CELL, LINE = 8.4, 18  # width of a column and height of a row in pixels, at the size of the font

FONT = 14
EDGE = 10  # pixels around the screen
SHORTEST, LONGEST = 3.0, 9.0  # seconds that a stop is shown
PER_CHARACTER = 0.05  # seconds that a character of a caption takes to read
NO_BREAK = "\u00a0"  # a space that no reader of XML joins with the next one

_LOOK_EVERY = 0.05
_QUIET_LOOKS = 3  # looks in a row at which nothing is under way until a screen is taken


class Run(NamedTuple):
    """Characters of one style in a line."""

    column: int
    text: str
    colour: str
    background: str
    weight: str


Row = tuple[Run, ...]


async def animate_recording(app: Host, player: ReplayPlayer) -> str:
    """Plays a recording without a terminal and returns the picture.

    Raises:
        SecateurError: an event of the recording cannot be done.
    """
    screens: list[list[Row]] = []
    captions: list[str] = []
    async with app.run_test(size=SIZE) as pilot:
        for index in range(len(player.stops)):
            if index:
                await player.move(1)
            await wait_for_rest(app)
            await pilot.pause()
            if player.error is not None:
                raise player.error
            screens.append(_rows(app))
            captions.append(player.caption)
        background = app.current_theme.background or "#000000"
    return draw_svg(
        screens, measure_durations(player.stops, captions), background, player.recording.head.about, captions
    )


async def wait_for_rest(app: Host) -> None:
    """Waits until nothing is under way that would change the screen."""
    quiet = 0
    while quiet < _QUIET_LOOKS:
        await asyncio.sleep(_LOOK_EVERY)
        quiet = 0 if app.at_work else quiet + 1


def measure_durations(stops: Sequence[Stop], captions: Sequence[str]) -> list[float]:
    """Seconds that each stop is shown: as it was recorded, but no shorter than its caption takes to read."""
    ends = [*(stop.at for stop in stops[1:]), stops[-1].at + LONGEST]
    return [
        max(min(max(end - stop.at, SHORTEST), LONGEST), 1.0 + PER_CHARACTER * len(caption))
        for stop, end, caption in zip(stops, ends, captions, strict=True)
    ]


# --- from a screen to runs --------------------------------------------------------------------------------------------


def _rows(app: Host) -> list[Row]:
    strips = app.screen._compositor.render_strips()
    return [read_row(strip) for strip in strips[: app.size.height]]


def read_row(segments: Iterable[Segment]) -> Row:
    runs: list[Run] = []
    column = 0
    for text, style, control in segments:
        if control or not text:
            continue
        run = Run(column, text, *_read_style(style or Style()))
        column += cell_width(text)
        if runs and runs[-1][2:] == run[2:]:
            runs[-1] = runs[-1]._replace(text=runs[-1].text + text)
        else:
            runs.append(run)
    return tuple(runs)


def _read_style(style: Style) -> tuple[str, str, str]:
    colours = (style.bgcolor, style.color) if style.reverse else (style.color, style.bgcolor)
    colour, background = ("" if part is None or part.is_default else part.get_truecolor().hex for part in colours)
    weight = "b" * bool(style.bold) + "i" * bool(style.italic) + "u" * bool(style.underline) + "d" * bool(style.dim)
    return colour, background, weight


# --- from runs to the picture -----------------------------------------------------------------------------------------


_WEIGHTS = {"b": "font-weight:bold", "i": "font-style:italic", "u": "text-decoration:underline", "d": "opacity:.6"}


def draw_svg(
    screens: Sequence[Sequence[Row]], seconds: Sequence[float], background: str, title: str, captions: Sequence[str]
) -> str:
    """Returns screens, each shown for its seconds, as a picture that begins anew at its end."""
    seen: dict[tuple[int, Row], list[int]] = {}
    for index, screen in enumerate(screens):
        for line, row in enumerate(screen):
            seen.setdefault((line, row), []).append(index)
    groups: dict[tuple[int, ...], list[tuple[int, Row]]] = {}
    for line_row, at in seen.items():
        groups.setdefault(tuple(at), []).append(line_row)
    looks: dict[tuple[str, str], str] = {}
    total = sum(seconds)
    starts = [sum(seconds[:index]) / total * 100 for index in range(len(seconds))]
    style, body = [], []
    for index, numbers in enumerate(sorted(groups)):
        text = "".join(_draw_row(line, row, background, looks) for line, row in sorted(groups[numbers]))
        if len(numbers) == len(screens) or not text:
            body.append(text)
            continue
        name = f"f{index}"
        hidden = "" if 0 in numbers else ";visibility:hidden"
        style.append(f"@keyframes {name}{{{_write_keyframes(numbers, starts)}}}")
        style.append(f".{name}{{animation:{name} {total:.2f}s step-end infinite{hidden}}}")
        body.append(f'<g class="{name}">{text}</g>')
    columns = max((cell_width("".join(run.text for run in row)) for screen in screens for row in screen), default=0)
    width, height = columns * CELL + 2 * EDGE, max(map(len, screens)) * LINE + 2 * EDGE
    fonts = f"font:{FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
    rules = []
    for (colour, weight), name in looks.items():
        css = [f"fill:{colour or '#ffffff'}", *(_WEIGHTS[letter] for letter in weight)]
        rules.append(f".{name}{{{';'.join(css)}}}")
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(' '.join(filter(None, captions)))}</desc>",
            "<style>",
            f"text{{{fonts}}}",
            *rules,
            *style,
            "@media(prefers-reduced-motion:reduce){g{animation:none!important}}",
            "</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{background}"/>',
            *(part for part in body if part),
            "</svg>",
            "",
        ]
    )


def _write_keyframes(numbers: Sequence[int], starts: Sequence[float]) -> str:
    parts, before = [], None
    for index, start in enumerate(starts):
        if (shown := index in numbers) is not before:
            parts.append(f"{start:.2f}%{{visibility:{'visible' if shown else 'hidden'}}}")
        before = shown
    return "".join(parts)


def _draw_row(line: int, row: Row, background: str, looks: dict[tuple[str, str], str]) -> str:
    top = EDGE + line * LINE
    rects, texts = [], []
    for column, text, colour, behind, weight in row:
        left, cells = EDGE + column * CELL, cell_width(text)
        if behind and behind.lower() != background.lower():
            rects.append(f'<rect x="{left:.4g}" y="{top}" width="{cells * CELL:.4g}" height="{LINE}" fill="{behind}"/>')
        if stripped := text.strip(" "):
            start = left + (len(text) - len(text.lstrip(" "))) * CELL
            name = looks.setdefault((colour, weight), f"c{len(looks)}")
            length = f' textLength="{cell_width(stripped) * CELL:.4g}"' if len(stripped) > 1 else ""
            attributes = f'x="{start:.4g}" y="{top + FONT - 1}" class="{name}"{length}'
            texts.append(f"<text {attributes}>{escape(stripped, quote=False).replace(' ', NO_BREAK)}</text>")
    return "".join(rects + texts)
