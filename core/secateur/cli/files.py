"""`secateur files PATH…`: files brought within a number of tokens, headless."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from secateur import directories
from secateur.cli.common import ProgressBar, common_arguments, here, input_bytes, load_settings, model_line, say
from secateur.cli.output import emit
from secateur.cli.parsing import integer
from secateur.errors import UsageError
from secateur.settings.keys import FILE_NAME
from secateur.terminal import clip, clip_left, visible

if TYPE_CHECKING:
    from secateur.kinds.conversation.transcripts import Transcript
    from secateur.kinds.files.sourcecode import Entry, PrunedFiles

SHOWN_FILES = 40
"""Files that do not leave which the text lists without --verbose."""

SHOWN_RANGES = 6
"""Stretches of lines of a file that the text lists without --verbose."""

_NAME_CELLS = 44
_SETTINGS = {
    "max_tokens": "max_tokens",
    "strategy": "strategy",
    "window": "sliding_window_size",
    "overlap": "sliding_window_overlap",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the command."""
    parser.add_argument(
        "paths", metavar="PATH", nargs="+", help="files, folders, patterns such as 'src/**/*.py', or sample:NAME[/PATH]"
    )
    parser.add_argument("--query", metavar="Q", help="what the files are for; - reads stdin")
    parser.add_argument(
        "--conversation",
        metavar="FILE",
        help="a transcript whose last questions say what the files are for; - reads stdin",
    )
    parser.add_argument(
        "--max-tokens", type=integer, metavar="N", help="tokens the files may hold together (default 8000)"
    )
    parser.add_argument(
        "--strategy",
        metavar="S",
        help=(
            "score (default): the best files; extract: the best files, and snippets of the rest; delete: files in their"
            " order"
        ),
    )
    parser.add_argument("--window", type=integer, metavar="W", help="lines of a window over a large file (default 100)")
    parser.add_argument("--overlap", type=integer, metavar="O", help="lines two windows share (default 20)")
    common_arguments(parser, formats=("text", "json", "markdown"))


def run(options: argparse.Namespace) -> int:
    """Exit 0 also where nothing leaves; a warning says which kind of empty it is."""
    from secateur.kinds.files.extracts import MARKDOWN, PLAIN
    from secateur.kinds.files.inputs import read_files
    from secateur.kinds.files.pruning import document, prune_files, question_of
    from secateur.llm import open_model
    from secateur.render import dumps

    loaded = load_settings(options, root_of(options.paths), flags(options))
    rules = loaded.settings.context_prune
    query = _query(options)
    if rules.strategy != "delete" and rules.enabled and not query.strip() and options.conversation is None:
        raise UsageError(
            f"strategy {rules.strategy} needs to know what the files are for",
            hint="give --query or --conversation, or --strategy delete",
        )
    transcript = _transcript(options.conversation)
    question = question_of(query, transcript, rules.query_messages)
    model = open_model(loaded.settings.llm, os.environ) if rules.strategy != "delete" else None
    files, notices = read_files(options.paths, loaded.settings, directories.cache_dir(os.environ))
    form = MARKDOWN if options.format == "markdown" else PLAIN
    progress = ProgressBar(options)
    try:
        pruned = prune_files(files, loaded.settings, question, form=form, llm=model, progress=progress)
    finally:
        progress.close()
    warnings = [*loaded.notices, *(transcript.notices if transcript is not None else ()), *notices, *pruned.warnings]
    if options.format == "json":
        emit(dumps(as_json(pruned) | {"warnings": [notice.to_dict() for notice in warnings]}))
    elif options.format == "markdown":
        for notice in warnings[len(loaded.notices) :]:  # those of the settings were said
            say(options, f"warning: {notice.message}")
        emit(document(pruned))
    else:
        emit(as_text(pruned, [notice.message for notice in warnings], loaded.settings.tokens.counter, options.verbose))
    return 0


def flags(options: argparse.Namespace) -> dict[str, Any]:
    """The command's flags as settings."""
    return {
        f"context_prune.{key}": getattr(options, name)
        for name, key in _SETTINGS.items()
        if getattr(options, name) is not None
    }


def as_json(pruned: PrunedFiles) -> dict[str, Any]:
    """The JSON of the contract, with the decision on every file besides."""
    return {
        "files": [
            {"module_name": file.module_name, "source_code": file.source_code, "tokens": file.tokens}
            for file in pruned.files
        ],
        "decisions": [entry.to_dict() for entry in pruned.entries],
        "report": pruned.report.to_dict(),
    }


def as_text(pruned: PrunedFiles, warnings: list[str], counter: str, verbose: bool) -> str:
    """Figures, then a line a file; with `verbose` also every piece that was tried."""
    from secateur.model import State

    report, states = pruned.report, [entry.state for entry in pruned.entries]
    counts = ", ".join(
        f"{states.count(state):,} {state.label}" for state in (State.KEPT, State.SHORTENED, State.DROPPED)
    )
    lines = [
        f"{'files':<9} {len(states):,}: {counts}; strategy {pruned.strategy}",
        f"{'tokens':<9} {report.before:,} -> {report.after:,} ({counter}), budget {report.budget:,}",
    ]
    lines += model_line(report.calls)
    lines += [f"! {visible(message)}" for message in warnings]
    dropped = [entry for entry in pruned.entries if entry.state is State.DROPPED]
    shown = {
        entry.number
        for entry in (dropped if verbose else sorted(dropped, key=lambda entry: -entry.score)[:SHOWN_FILES])
    }
    for entry in pruned.entries:
        if entry.state is not State.DROPPED or entry.number in shown:
            lines += _rows(entry, verbose)
    if len(shown) < len(dropped):
        lines.append(f"  ... and {len(dropped) - len(shown):,} more that were dropped (--verbose lists all)")
    return "\n".join(lines) + "\n"


def _rows(entry: Entry, verbose: bool) -> list[str]:
    score = f"{entry.score:4.1f}" if entry.judge else "   -"
    said = entry.why.replace("_", " ")
    if entry.ranges:
        shown = entry.ranges if verbose else entry.ranges[:SHOWN_RANGES]
        more = len(entry.ranges) - len(shown)
        said += " " + ", ".join(f"{start}-{end}" for start, end in shown) + (f" and {more:,} more" if more else "")
    if entry.why in ("no_room", "larger_than_budget"):
        lines = f"lines {entry.tried[0].start}-{entry.tried[0].end} need" if entry.tried else "needs"
        said += f": {lines} {entry.needed:,}, {entry.left:,} left"
    if entry.threshold is not None:
        said += f": {entry.threshold}"
    if entry.hint:
        said += f"; {entry.hint}"
    if entry.said:
        said += f" ({entry.judge}: {entry.said})"
    name = f"{clip_left(visible(entry.module_name), _NAME_CELLS):<{_NAME_CELLS}}"
    rows = [f"{entry.state.glyph} {score}  {name} {entry.before:>8,} -> {entry.after:>6,}  {visible(said)}"]
    for piece in entry.tried if verbose else ():
        figures = (
            "kept" if piece.kept else f"{piece.why.replace('_', ' ')}: needs {piece.needed:,}, {piece.left:,} left"
        )
        rows.append(
            f"       {piece.score:4.1f}  {piece.start}-{piece.end} {clip(visible(piece.name), _NAME_CELLS)}  {figures}"
        )
    return rows


def root_of(paths: list[str]) -> Path | None:
    """Whose configuration counts: that of the repository the first path is in, else the current folder's; None where
    that is gone."""
    current = here()
    try:
        first = Path(paths[0]).resolve()
        for folder in (first, *first.parents) if first.exists() else ():
            if (folder / FILE_NAME).is_file() or (folder / ".git").exists():
                return folder
            if current and folder == current.resolve():
                break
    except (OSError, ValueError, RuntimeError):  # no path at all: reading it says so
        pass
    return current


def _query(options: argparse.Namespace) -> str:
    if options.query != "-":
        return options.query or ""
    if options.conversation == "-":
        raise UsageError(
            "--query and --conversation cannot both be read from standard input", hint="write one of them to a file"
        )
    return input_bytes("-", "query", instead="give --query something else than -").decode("utf-8", "replace")


def _transcript(name: str | None) -> Transcript | None:
    from secateur.kinds.conversation.transcripts import read_transcript

    if name is None:
        return None
    return read_transcript(
        input_bytes(name, "conversation", hint="check --conversation"), "standard input" if name == "-" else name
    )
