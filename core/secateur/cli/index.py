"""`secateur index [PATH]`: build the index, or bring it up to date."""

from __future__ import annotations

import argparse

from secateur.cli.common import ProgressBar, common_arguments, load_settings, sample_or_path
from secateur.cli.output import emit
from secateur.cli.parsing import integer
from secateur.cli.status import render


def arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the command."""
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help="a folder, or sample:NAME[/FOLDER] (default: here)")
    parser.add_argument("--rev", metavar="COMMIT", help="read this commit instead of the working tree")
    parser.add_argument("--workers", type=integer, metavar="N", help="parser processes; 0 = one per core")
    common_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Exit 0 also when some files were skipped; they are counted."""
    from secateur.engine import Engine

    path = sample_or_path(options.path)
    loaded = load_settings(options, path, {} if options.workers is None else {"index.workers": options.workers})
    progress = ProgressBar(options)
    with Engine.open(path, loaded.settings, rev=options.rev) as engine:
        try:
            status = engine.freshen(progress)
        finally:
            progress.close()
    emit(render(status, options.format, [], options.verbose))
    return 0
