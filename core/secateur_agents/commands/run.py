"""`secateur run -- COMMAND`: runs a command, and prints of its output what `secateur log` leaves of it.

On a terminal the command has it to itself. Anywhere else, as in the shell of an agent, its output is pruned when it has
ended, and the store keeps the whole. The exit code is the command's, and where pruning fails, all of its output is
printed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

from secateur import CommandCall, CommandParser

MOST_TOKENS = 4_000
"""Tokens of output that are printed, by default."""

MOST_BYTES = 64 * 1024 * 1024
"""Longer output is passed on as it comes."""

NOT_FOUND, NOT_EXECUTABLE, SIGNALLED = 127, 126, 128
"""Exit codes of a shell; a command that a signal ended has the last and the number of the signal."""


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("words", metavar="COMMAND", nargs="+", help="the command and its arguments, behind --")
    parser.add_argument("--query", metavar="Q", default="", help="lines that hold words of it come before other lines")
    parser.add_argument(
        "--max-tokens",
        type=parser.whole_number("--max-tokens", 0),
        default=MOST_TOKENS,
        metavar="N",
        help=f"tokens of output that are printed (default {MOST_TOKENS})",
    )
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Runs the command; its exit code."""
    try:
        if options.on_terminal(sys.stdout):
            return _code(subprocess.call(options.words))
        process = subprocess.Popen(options.words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except OSError as error:
        options.say(f"secateur: cannot run {options.words[0]}: {error.strerror or error}")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    out = sys.stdout.buffer
    try:
        assert process.stdout is not None
        data = process.stdout.read(MOST_BYTES)
        more = process.stdout.read(1)
        out.write(data + more if more else _pruned(data, options))
        while more and (more := process.stdout.read(1 << 16)):
            out.write(more)
        out.flush()
        return _code(process.wait())
    except BaseException:
        process.terminate()
        process.wait()
        raise


def _code(code: int) -> int:
    return code if code >= 0 else SIGNALLED - code


def _pruned(data: bytes, options: CommandCall) -> bytes:
    """Returns what is printed of an output."""
    if len(data) <= options.max_tokens:  # a token is a byte or more
        return data
    try:
        from secateur import Environment, format_outcome, get_kind, prune, with_values

        from secateur_agents.store import user_store

        settings = with_values(options.load_settings(None).settings, {get_kind("log").budget.key: options.max_tokens})
        environment = Environment(stdin=lambda _most: data)
        outcome = prune("log", settings, environment=environment, path="-", query=options.query or None)
        ledger = outcome.ledger
        if ledger.before <= options.max_tokens:
            return data
        digest = hashlib.sha256(data).hexdigest()[:12]
        user_store(os.environ).keep({digest: data.decode("utf-8", "replace")})
        text = format_outcome(outcome, "plain").rstrip("\n")
        foot = f"--- {ledger.after:,} of {ledger.before:,} tokens; secateur recall {digest} gives the whole"
        return f"{text}\n{foot}\n".encode("utf-8", "replace")
    except Exception as error:  # an agent loses nothing, whatever is wrong here
        options.say(f"secateur: the output is whole: {error}")
        return data
