"""`secateur inspect [PATH]`: the inspector, found through an entry point; without a terminal the headless report."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import entry_points

from secateur.cli.common import common_arguments, load_settings, sample_or_path, say
from secateur.cli.output import on_terminal
from secateur.cli.parsing import whole_number
from secateur.errors import UsageError

BENCHES = ("search",)
ANNOUNCED = ("files", "conversation", "envelope", "diff")
"""Benches the contract names; asking for one is no slip of the pen."""

GROUP = "secateur.inspector"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the command."""
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help="a folder, or sample:NAME[/FOLDER] (default: here)")
    parser.add_argument("--query", metavar="Q", default="", help="start with this query")
    parser.add_argument("--bench", metavar="BENCH", default=BENCHES[0], help=f"which bench to open: {', '.join(BENCHES)} (default {BENCHES[0]})")
    parser.add_argument("--rev", metavar="COMMIT", help="read this commit instead of the working tree")
    parser.add_argument("--budget", type=whole_number("--budget", 0), metavar="N", help="start with this budget")
    common_arguments(parser, formats=("text", "json", "markdown", "xml"))


def run(options: argparse.Namespace) -> int:
    """Opens the inspector; where there is no terminal, prints what `secateur search` prints."""
    if options.bench not in BENCHES:
        raise UsageError(
            f"there is no bench {options.bench} yet" if options.bench in ANNOUNCED else f"there is no bench {options.bench}",
            hint=f"benches: {', '.join(BENCHES)}",
        )
    path = sample_or_path(options.path)
    flags = {} if options.budget is None else {"budget": options.budget}
    loaded = load_settings(options, path, flags)
    if not (on_terminal(sys.stdin) and on_terminal(sys.stdout)):
        return _headless(options, str(path))
    found = next(iter(entry_points(group=GROUP)), None)
    if found is None:
        raise UsageError("the inspector is not installed", hint="install the whole distribution: pip install secateur")
    inspector = found.load()
    return int(inspector(path, query=options.query, settings=loaded.settings, rev=options.rev, bench=options.bench, notices=loaded.notices) or 0)


def _headless(options: argparse.Namespace, path: str) -> int:
    from secateur.cli import search, status

    say(options, "no terminal here: printing the headless report")
    command = search if options.query else status
    parser = argparse.ArgumentParser()
    command.arguments(parser)
    words = [options.query, path] if options.query else [path]
    words += [f"--rev={options.rev}"] if options.rev else []
    words += [f"--budget={options.budget}"] if options.budget is not None and options.query else []
    defaults = parser.parse_args(words)
    for name in ("config", "profile", "sets", "counter", "format", "quiet", "verbose", "debug"):
        setattr(defaults, name, getattr(options, name))
    code: int = command.run(defaults)
    return code
