"""A picture of the inspector for the documentation: `python docs/shot.py PATH --query Q --keys "right b i"
--output screen.svg`."""

import argparse
import asyncio
import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from secateur import directories
from secateur.engine import Engine
from secateur.kinds import registry
from secateur.output_files import write_output
from secateur.settings import load
from secateur.sources.named import folder_of
from secateur_tui.animation import wait_for_rest
from secateur_tui.app import Inspector


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the SVG; exit code 0."""
    parser = argparse.ArgumentParser(prog="python docs/shot.py", description=__doc__)
    parser.add_argument("path", help="what is inspected: a folder, sample:NAME, or a file")
    parser.add_argument("--bench", choices=tuple(registry.benches()), default="search")
    parser.add_argument("--query", default="")
    parser.add_argument("--model", default="")
    parser.add_argument("--keys", default="", help="keys to press, separated by spaces, named as Textual names them")
    parser.add_argument("--size", default="120x40", help="columns x rows")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="sets")
    parser.add_argument("--profile")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args(arguments)
    path = folder_of(options.path, directories.cache_dir(os.environ))
    root = path if options.bench == "search" else Path.cwd()
    settings = load(
        root, profile=options.profile, sets=options.sets, user_dir=directories.config_dir(os.environ)
    ).settings
    columns, rows = map(int, options.size.split("x"))
    with contextlib.ExitStack() as stack:
        engine = stack.enter_context(Engine.open(path, settings)) if options.bench == "search" else None
        app = Inspector(
            engine,
            settings,
            path=options.path,
            bench=options.bench,
            query=options.query,
            inputs={"model": options.model},
        )
        asyncio.run(_take(app, (columns, rows), options.keys.split(), options.output))
    return 0


async def _take(app: Inspector, size: tuple[int, int], keys: Sequence[str], output: Path) -> None:
    async with app.run_test(size=size, notifications=True) as pilot:
        await wait_for_rest(app)
        for key in keys:
            await pilot.press(key)
            await wait_for_rest(app)
        write_output(output, app.picture())


if __name__ == "__main__":
    raise SystemExit(main())
