"""`secateur check PATH…`: runs scenarios and says which decisions changed and which assertions fail."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

from secateur.cli.common import ProgressBar, common_arguments
from secateur.cli.output import emit
from secateur.output_files import write_output
from secateur.scenarios.check import Result, check_one, exit_code, updated_text
from secateur.scenarios.location import found_scenarios
from secateur.scenarios.report import json_report, text_report
from secateur.scenarios.running import session

FORMATS: Mapping[str, Callable[[Sequence[Result], bool], str]] = {"text": text_report, "json": json_report}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", default=["."], help="scenarios, or folders that hold some (default: here)"
    )
    parser.add_argument(
        "--update", action="store_true", help="record the decisions as they are now; assertions stay as they are"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="GLOB", help="only scenarios whose path matches; repeatable"
    )
    common_arguments(parser, formats=tuple(FORMATS))


def run(options: argparse.Namespace) -> int:
    """Exit code 4 where a decision changed or an assertion failed, 1 where a scenario cannot run."""
    found = [path for name in options.paths for path in found_scenarios(Path(name))]
    paths = [path for path in dict.fromkeys(found) if _named(path, options.only)]
    progress, results = ProgressBar(options, unit="scenarios"), []
    try:
        with session(os.environ) as opened:
            for number, path in enumerate(paths):
                progress("checking", number, len(paths))
                result = check_one(path, opened)
                results.append(_updated(result) if options.update else result)
    finally:
        progress.close()
    emit(FORMATS[options.format](results, options.verbose))
    return exit_code(results)


def _named(path: Path, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch(path.as_posix(), one) or fnmatch(path.name, one) for one in patterns)


def _updated(result: Result) -> Result:
    text = updated_text(result)
    if text is None:
        return result
    write_output(result.path, text)
    return replace(result, updated=True)
