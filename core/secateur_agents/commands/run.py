"""`secateur run -- COMMAND`: runs a command, and prints of its output what `secateur log` leaves of it.

On a terminal the command has it to itself. Anywhere else, as in the shell of an agent, the first lines pass at once,
the rest is pruned when the command has ended, and the store keeps the whole. The exit code is the command's, and where
pruning fails, all of its output is printed.
"""

import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress

from secateur import CommandCall, CommandParser, SecateurError, Settings

from secateur_agents.command_output import MOST_TOKENS, RunningOutput, import_pruner

_CHUNK = 1 << 16
_HELD_BACK = "secateur: at most {:,} tokens of output are printed, so the rest waits until the command ends"

# Exit codes of a shell; a command that a signal ended has the last and the number of the signal.
NOT_FOUND, NOT_EXECUTABLE, SIGNALLED = 127, 126, 128


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("words", metavar="COMMAND", nargs="+", help="the command and its arguments, after --")
    parser.add_argument("--query", metavar="Q", default="", help="lines with words of this query come first")
    parser.add_argument(
        "--max-tokens",
        type=parser.whole_number("--max-tokens", 0),
        default=MOST_TOKENS,
        metavar="N",
        help=f"most tokens of output to print; a quarter of them while it runs (default {MOST_TOKENS})",
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
    importing = threading.Thread(target=import_pruner, daemon=True)
    output: RunningOutput | None = None
    assert isinstance(process.stdout, io.BufferedReader)
    try:
        try:
            settings = options.load_settings(None).settings
        except SecateurError as error:
            options.say(f"secateur: your settings are ignored: {error.message}")
            settings = Settings()
        output = RunningOutput(settings, options.max_tokens)
        while chunk := process.stdout.read1(_CHUNK):
            _write([output.take(chunk)])
            if output.full and importing.ident is None:
                importing.start()  # while the command works
                options.say(_HELD_BACK.format(options.max_tokens))
        _write(_pruned(output, options))
        return _code(process.wait())
    except BaseException:  # an agent ends a command that takes too long, and reads what it printed so far
        process.terminate()
        with suppress(OSError):  # nobody reads it
            _write(output.rest() if output is not None else ())
        process.wait()
        raise


def _write(blocks: Iterable[bytes]) -> None:
    for block in blocks:
        sys.stdout.buffer.write(block)
        sys.stdout.buffer.flush()


def _code(code: int) -> int:
    return code if code >= 0 else SIGNALLED - code


def _pruned(output: RunningOutput, options: CommandCall) -> Iterable[bytes]:
    if not output.prunable:
        return output.rest()
    try:
        from secateur_agents.savings import SavingsRecord
        from secateur_agents.store import user_store

        store = user_store(os.environ)
        if (pruned := output.prune(options.query, store)) is not None:
            store.savings.add(SavingsRecord("run", store.session, pruned.before, pruned.after))
            return [pruned.text.encode("utf-8", "replace")]
    except Exception as error:  # an agent loses nothing, whatever is wrong here
        options.say(f"secateur: the output is not pruned: {error}")
    return output.rest()
