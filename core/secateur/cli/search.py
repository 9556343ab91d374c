"""`secateur search QUERY [PATH]`: the graph-rag search, headless."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

from secateur.cli.common import ProgressBar, common_arguments, load_settings, sample_or_path, say
from secateur.cli.output import emit
from secateur.cli.parsing import integer, whole_number
from secateur.errors import UsageError, no_standard_input

LOW = 4
"""Exit code of `--fail-on-low`, as of every check that finds what it looks for."""

DROPPED_LISTED = 20
"""As `render.DROPPED_LISTED`, which is not imported for the sake of a help text."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the command."""
    parser.add_argument(
        "query", metavar="QUERY", help="what to look for, in words, names, or a whole issue text; - reads stdin"
    )
    parser.add_argument(
        "path", metavar="PATH", nargs="?", default=".", help="a folder, or sample:NAME[/FOLDER] (default: here)"
    )
    parser.add_argument(
        "--budget", type=whole_number("--budget", 0), metavar="N", help="tokens the pack may hold (default 8000)"
    )
    parser.add_argument(
        "--weights", metavar="R,H,D", help="weights of relevance, hotspot and distance, e.g. 0.4,0.3,0.3"
    )
    parser.add_argument("--top-k", type=integer, metavar="K", help="anchors, 5-50 (default 10)")
    parser.add_argument("--depth", type=integer, metavar="D", help="steps of calls followed, 1-4 (default 2)")
    parser.add_argument("--strategy", metavar="S", help="priority (default), relevance or density")
    parser.add_argument("--rev", metavar="COMMIT", help="read this commit instead of the working tree")
    parser.add_argument(
        "--pin",
        action="append",
        default=[],
        metavar="ID",
        help="keep this symbol id first (--explain shows ids); repeatable",
    )
    parser.add_argument("--exclude", action="append", default=[], metavar="ID", help="drop this symbol id; repeatable")
    parser.add_argument(
        "--boost",
        action="append",
        default=[],
        metavar="ID=X",
        help="multiply the priority of a symbol id by X; repeatable",
    )
    parser.add_argument("--no-cache", action="store_true", help="do not read or write the result cache")
    parser.add_argument(
        "--explain",
        action="store_true",
        help=(
            "with text: id of every candidate, every part of every score, the path of calls, the reason of each drop; "
            "with json: those parts, and what would change each decision, proven"
        ),
    )
    parser.add_argument(
        "--dropped",
        type=number_or_all,
        default=DROPPED_LISTED,
        metavar="N|all",
        help=f"with json: list at most N dropped candidates (default {DROPPED_LISTED})",
    )
    parser.add_argument(
        "--fail-on-low", action="store_true", help="exit 4 where nothing, or hardly anything, here answers the query"
    )
    common_arguments(parser, formats=("text", "json", "markdown", "xml"))


def run(options: argparse.Namespace) -> int:
    """Exit 0 also for an empty result, whose warning says which kind of empty it is; LOW with `--fail-on-low`."""
    from secateur.engine import Engine

    query = _piped() if options.query == "-" else options.query
    path = sample_or_path(options.path)
    loaded = load_settings(options, path, flags(options))
    progress = ProgressBar(options)
    with Engine.open(path, loaded.settings, rev=options.rev, notices=loaded.notices) as engine:
        try:
            answer = engine.answer(
                query,
                options.format,
                explain=options.explain,
                dropped=options.dropped,
                use_cache=not options.no_cache,
                progress=progress,
            )
        finally:
            progress.close()
        if options.verbose:
            status = engine.status()
            say(
                options,
                f"{status.source}: {status.files:,} files, {status.fragments:,} fragments, {status.read:,} read now,"
                f" cached answer: {answer.cached}",
            )
    emit(answer.text)
    if not answer.text:  # a pack of which the budget holds not even the reason why it is empty
        for warning in answer.warnings:
            say(options, f"warning: {warning.message}")
    return LOW if options.fail_on_low and answer.low else 0


def number_or_all(text: str) -> int | None:
    """A whole number, or None for `all`."""
    return None if text == "all" else whole_number("--dropped", 0)(text)


def _piped() -> str:
    if sys.stdin is None:
        raise no_standard_input("query", "write the query instead of -")
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def flags(options: argparse.Namespace) -> dict[str, Any]:
    """The command's flags as settings."""
    values: dict[str, Any] = {}
    for name, key in (
        ("budget", "budget"),
        ("top_k", "graph_rag.top_k"),
        ("depth", "graph_rag.max_depth"),
        ("strategy", "smart_pruning.strategy"),
    ):
        if getattr(options, name) is not None:
            values[key] = getattr(options, name)
    if options.weights is not None:
        for name, weight in zip(("relevance", "hotspot", "distance"), _weights(options.weights), strict=True):
            values[f"smart_pruning.priority_weights.{name}"] = weight
    if options.pin:
        values["pins"] = options.pin
    if options.exclude:
        values["excludes"] = options.exclude
    if options.boost:
        values["boosts"] = dict(_boost(text) for text in options.boost)
    return values


def _weights(text: str) -> tuple[float, float, float]:
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) != 3 or not all(math.isfinite(part) for part in parts):
        raise UsageError(
            f"--weights {text!r} is not three numbers",
            hint="for example --weights 0.4,0.3,0.3 (relevance, hotspot, distance)",
        )
    return parts[0], parts[1], parts[2]


def _boost(text: str) -> tuple[str, float]:
    symbol, equals, factor = text.rpartition("=")
    try:
        value = float(factor)
    except ValueError:
        value = math.nan
    if not equals or not math.isfinite(value):
        raise UsageError(
            f"--boost {text!r} is not ID=FACTOR", hint="for example --boost orders/money.py::Money.round=1.5"
        )
    return symbol, value
