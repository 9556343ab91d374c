"""`secateur run -- COMMAND`: runs a command, and prints of its output what `secateur log` leaves of it.

On a terminal the command has it to itself. Anywhere else, as in the shell of an agent, its output is pruned when it has
ended, and the store keeps the whole. The exit code is the command's, and where pruning fails, all of its output is
printed.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading

from secateur import CommandCall, CommandParser

from secateur_agents.command_output import MOST_TOKENS, import_pruner, prune_output

MOST_BYTES = 64 * 1024 * 1024
"""Longer output is passed on as it comes."""

_CHUNK = 1 << 16

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
    out, data, too_long = sys.stdout.buffer, bytearray(), False
    importing = threading.Thread(target=import_pruner, daemon=True)
    assert isinstance(process.stdout, io.BufferedReader)
    try:
        while chunk := process.stdout.read1(_CHUNK):
            data += chunk
            if len(data) > options.max_tokens and importing.ident is None:
                importing.start()  # while the command works
            if too_long := too_long or len(data) > MOST_BYTES:
                out.write(data)
                data.clear()
        out.write(data if too_long else _pruned(bytes(data), options))
        out.flush()
        return _code(process.wait())
    except BaseException:  # an agent ends a command that takes too long, and reads what it printed so far
        process.terminate()
        out.write(data)
        out.flush()
        process.wait()
        raise


def _code(code: int) -> int:
    return code if code >= 0 else SIGNALLED - code


def _pruned(data: bytes, options: CommandCall) -> bytes:
    """Returns what is printed of an output."""
    if len(data) <= options.max_tokens:  # a token is a byte or more
        return data
    try:
        from secateur_agents.savings import SavingsRecord
        from secateur_agents.store import user_store

        settings = options.load_settings(None).settings
        store = user_store(os.environ)
        pruned = prune_output(data, options.query, options.max_tokens, settings, store)
        if pruned is None:
            return data
        store.savings.add(SavingsRecord("run", store.session, pruned.before, pruned.after))
        return pruned.text.encode("utf-8", "replace")
    except Exception as error:  # an agent loses nothing, whatever is wrong here
        options.say(f"secateur: the output is whole: {error}")
        return data
