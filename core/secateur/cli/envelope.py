"""`secateur envelope FILE --model M`: a prompt envelope, trimmed to a context budget."""

from __future__ import annotations

import argparse
from pathlib import Path

from secateur.cli.common import common_arguments, load_settings, say
from secateur.cli.filing import read_input, shown
from secateur.cli.output import emit
from secateur.cli.parsing import whole_number
from secateur.errors import PromptComposeError
from secateur.kinds.envelope.envelope import TrimmedEnvelope, trim_envelope
from secateur.kinds.envelope.sections import parsed
from secateur.render import dumps
from secateur.terminal import visible


def arguments(parser: argparse.ArgumentParser) -> None:
    """Flags of the command."""
    parser.add_argument(
        "file", metavar="FILE", help="the envelope, a JSON object with its seven sections; - reads stdin"
    )
    parser.add_argument(
        "--model",
        metavar="M",
        required=True,
        help="the model it is for; its window gives the budget where none is given",
    )
    parser.add_argument(
        "--context-budget",
        type=whole_number("--context-budget", 0),
        metavar="N",
        help=(
            "tokens the envelope may hold (0 or not given: the share of the window that context_budget.context_share"
            " sets)"
        ),
    )
    parser.add_argument(
        "--reserve",
        type=whole_number("--reserve", 0),
        metavar="N",
        help="tokens kept free for the answer (0 or not given: the window's other share)",
    )
    common_arguments(parser, formats=("json", "text"), default="json")


def run(options: argparse.Namespace) -> int:
    """Prints the frozen output shape, or with text what was done; exit code 3 if the budget cannot be met."""
    loaded = load_settings(options, Path())
    envelope = parsed(_text(options.file))
    trimmed = trim_envelope(envelope, options.model, options.context_budget, options.reserve, loaded.settings)
    for notice in trimmed.notices:
        say(options, f"warning: {notice.message}")
    emit(dumps(trimmed.to_dict()) if options.format == "json" else report(trimmed, loaded.settings.tokens.counter))
    return 0


def report(trimmed: TrimmedEnvelope, counter: str) -> str:
    """The ledger as lines, every section once; the sums are those of the first line."""
    ledger = trimmed.report
    verb = "trimmed" if ledger.applied else "fits as it is"
    lines = [
        (
            f"{verb}: {ledger.before:,} -> {ledger.after:,} tokens ({counter}), budget {ledger.budget:,},"
            f" {ledger.reserve:,} kept free for the answer"
        ),
        "",
    ]
    lines.append(f"{'action':<10} {'tokens':>19}  {'characters':>23}  section")
    for action in ledger.actions:
        tokens = f"{action.before:,} -> {action.after:,}"
        chars = f"{action.before_chars:,} -> {action.after_chars:,}"
        lines.append(f"{action.action:<10} {tokens:>19}  {chars:>23}  {visible(action.section)}")
    return "\n".join(lines) + "\n"


def _text(file: str) -> str:
    try:
        return read_input(file, "envelope").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PromptComposeError(
            f"{shown(file)}: not UTF-8 at byte {error.start}", hint="save the envelope as UTF-8"
        ) from error
