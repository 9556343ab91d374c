"""A picture of the page that `secateur inspect --serve` shows in a browser: `python docs/served.py sample:orders
--budget 1000 --until "979 of 1,000" --output page.svg`.

It asks the server what the page's script asks, and puts the answer on a terminal of its own. That knows what Textual
writes, and nothing else of a terminal: any other sequence is an error.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from pathlib import Path

import aiohttp
from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.segment import Segment
from secateur import directories
from secateur.output_files import write_output
from secateur.terminal import cell_width
from secateur_tui.animation import CELL, EDGE, LINE, Row, draw_svg, read_row
from secateur_tui.host import load_themes
from textual.theme import Theme

PATIENCE = 30.0
"""Seconds after which a text that is waited for does not come."""

BAR = 44
"""Height of the browser's bar, in pixels."""

COLOURS = {True: ("#41484e", "#2b2f33", "#d3d8dc"), False: ("#d5dade", "#f7f8f9", "#3d444a")}
"""Whether the theme is dark -> the browser's colours: of its bar, of the field with the address, of letters."""

CURSOR = re.compile(r"\x1b\[(\d+);(\d+)H|\x1b\[\?\d+[hl]|\x1b\[\?\d+\$p|\x1b\][^\x07]*\x07|\n")
"""Moves the cursor (to a row and a column from 1), or sets something that is not seen. Behind a line's end stands a
move."""

STYLED = re.compile(r"(?:[^\x00-\x1f]|\x1b\[[\d;]*m)*")
"""Text with colours."""


class Terminal:
    """What a terminal shows of the bytes that it is fed."""

    def __init__(self, columns: int, lines: int) -> None:
        self.size = columns, lines
        self._cells = [[Segment(" ")] * columns for _ in range(lines)]
        self._decoder, self._console = AnsiDecoder(), Console()

    def feed(self, data: bytes) -> None:
        """Shows more bytes. Raises ValueError: a sequence is unknown."""
        text, at, row, column = data.decode(), 0, 0, 0
        for move in (*CURSOR.finditer(text), None):
            styled = text[at : move.start() if move else None]
            if not STYLED.fullmatch(styled):
                raise ValueError(f"unknown in {styled!r}")
            for part in self._decoder.decode_line(styled).render(self._console):
                for character in part.text:
                    cells = [Segment(character, part.style), *[Segment("")] * (cell_width(character) - 1)]
                    self._cells[row][column : column + len(cells)] = cells
                    column += len(cells)
            if move and move[1]:
                row, column = int(move[1]) - 1, int(move[2]) - 1
            at = move.end() if move else at

    @property
    def rows(self) -> list[Row]:
        """The lines of the screen."""
        return [read_row(line) for line in self._cells]

    def __str__(self) -> str:
        return "\n".join("".join(cell.text for cell in line) for line in self._cells)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the SVG; exit code 0."""
    parser = argparse.ArgumentParser(prog="python docs/served.py", description=__doc__)
    parser.add_argument("--size", default="116x35", help="columns x rows")
    parser.add_argument("--first", action="append", default=[], help="text that is there before KEYS; repeatable")
    parser.add_argument("--keys", default="", help="characters to type")
    parser.add_argument("--until", action="append", default=[], help="text that is there at last; repeatable")
    parser.add_argument("--theme", default="secateur-dark")
    parser.add_argument("--output", type=Path, required=True)
    options, words = parser.parse_known_args(arguments)
    serve = ("-P", "-m", "secateur.cli.main", "inspect", *words, "--set", f"ui.theme={options.theme}", "--serve")
    with subprocess.Popen((sys.executable, *serve), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[4]
            screen = Terminal(*map(int, options.size.split("x")))
            asyncio.run(load_page(address, screen, (options.first, options.keys), (options.until, "")))
        finally:
            server.terminate()
    shown = re.sub(r":\d+/[\w-]+/", ":8000/…/", address)  # the port and the secret differ each time
    themes, _ = load_themes((directories.data_dir("themes"),))
    write_output(options.output, draw_page(shown, screen.rows, themes[options.theme]))
    return 0


async def load_page(address: str, screen: Terminal, *steps: tuple[Sequence[str], str]) -> None:
    """Opens the page; for each step waits until the screen shows all its texts, then types its keys."""
    size = "width={}&height={}".format(*screen.size)
    listening = False
    async with aiohttp.ClientSession() as client, asyncio.timeout(PATIENCE):
        while not listening:  # the address is printed before
            with suppress(aiohttp.ClientConnectorError):
                async with client.get(address) as page:
                    listening = page.ok
        async with client.ws_connect(f"{address}ws?{size}", origin=address.rsplit("/", 2)[0]) as connection:
            await connection.send_json(["focus"])
            for texts, keys in steps:
                while not all(text in str(screen) for text in texts):
                    screen.feed(await connection.receive_bytes())
                for key in keys:
                    await connection.send_json(["stdin", key])


def draw_page(address: str, rows: list[Row], theme: Theme) -> str:
    """The screen below a browser's bar with the address."""
    bar, field, letters = COLOURS[theme.dark]
    width, height = sum(len(run.text) for run in rows[0]) * CELL + 2 * EDGE, len(rows) * LINE + 2 * EDGE
    screen = draw_svg([rows], [1.0], theme.background or "", f"The inspector at {address}", [])
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height + BAR:g}" role="img">',
            f'<rect width="100%" height="{BAR + EDGE}" rx="8" fill="{bar}"/>',
            *(f'<circle cx="{x}" cy="{BAR / 2:g}" r="6" fill="{field}"/>' for x in (20, 40, 60)),
            f'<rect x="82" y="9" width="{width - 92:g}" height="26" rx="13" fill="{field}"/>',
            f'<text x="98" y="27" fill="{letters}">{escape(address)}</text>',
            screen.replace("<svg", f'<svg y="{BAR}" width="{width:g}" height="{height:g}"', 1) + "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main())
