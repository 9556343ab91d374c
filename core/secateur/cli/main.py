"""`secateur`: finds the command, runs it, turns errors into messages and exit codes.

Exit codes: 0 done; 1 the work failed; 2 the call was wrong; 3 a budget could not be met where the contract says it
must; 4 a check found a difference; 130 interrupted.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from secateur.cli.command_parser import CommandParser, MixingParser
from secateur.cli.interruption import raise_again, wants_json
from secateur.cli.output import on_terminal, report_interruption
from secateur.cli.parsing import Parser, literal, paragraph, refuse_command
from secateur.distributions import entry_points_of
from secateur.errors import SecateurError, UsageError
from secateur.kind_places import BUILT_IN, COMMANDS_GROUP, unusable
from secateur.kind_places import commands as commands_beside
from secateur.kinds import registry
from secateur.recognised import begin_run, ignore_allowed, may_hold_token
from secateur.version import __version__

if TYPE_CHECKING:
    from secateur.cli.common import CommandCall


def leave(code: int) -> None:
    """Ends the process with this exit code without waiting for its other threads, or taking apart what it holds.

    Python waits at its end for threads of executors, also for one inside a parser that nothing interrupts, and frees
    every object one by one. Whoever calls this has put away what must be kept; output is written out, and what was
    registered with `atexit` is done.
    """
    try:
        atexit._run_exitfuncs()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):  # the stream is missing, or nobody reads it any more
                stream.flush()
        os._exit(code)


_OF_KINDS = {kind.command: kind.summary for kind in BUILT_IN}

# Ours; kinds and commands of other distributions add theirs.
COMMANDS = {
    "search": _OF_KINDS["search"],
    "inspect": "see and tune decisions on a screen (also plain `secateur` on a terminal)",
    **_OF_KINDS,
    "check": "run scenarios: show which decisions changed and which assertions fail",
    "mine": "make judged cases from a repository's history: a commit message, and the functions it changed",
    "evaluate": "measure how well profiles answer judged cases: recall, precision and nDCG, with intervals",
    "tune": "fit a profile's weights on judged cases, and measure the gain on held-out ones",
    "replay": "run a recorded session and print what each event changed",
    "demo": "watch a recorded session: what is dropped, why, and what would keep it",
    "mcp": "serve coding agents over the Model Context Protocol: search, expand, prune, explain, review, recall",
    "run": "run a command, print the part of its output worth reading, and store the whole",
    "with": "run a coding agent and prune its requests on their way to the model provider",
    "recall": "print what was cut from a conversation, by the digest in its placeholder",
    "saved": "show what pruning took out of each session: requests, cuts, tokens, price",
    "sessions": "list coding agents' sessions on this machine: what fills them, how much is dead weight",
    "prefer": "add, remove or list the symbols that you prefer in a repository",
    "index": "build the index of a repository, or bring it up to date",
    "status": "show what is indexed, how fresh it is, what was skipped and why",
    "config": "show the settings in force and where each comes from",
    "completion": "print the script that completes commands, flags and values in bash, zsh or fish",
}

# Commands whose module is beside this one; those of packages beside the engine are found by entry point.
_IN_THIS_FOLDER = frozenset(("completion", "config", "index", "inspect", "prefer", "status"))

# Thresholds of the garbage collector for the program: modules are most of what a short command makes, and stay.
_COLLECTIONS = 500_000, 20, 50

_EPILOG = """for example:
  secateur search "where is the refund total rounded?" sample:orders --budget 1000
  secateur inspect sample:orders --query "where is the refund total rounded?" --budget 1000
  secateur status --examples     questions that your own repository suggests

exit codes: 0 done (also with an empty result, and a warning); 1 the work failed; 2 the call was wrong;
3 a required budget cannot be met; 4 a check found a difference; 130 interrupted.

environment: SECATEUR_CACHE_DIR, SECATEUR_CONFIG_DIR, SECATEUR_STATE_DIR, NO_COLOR.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; only `--help` and `--version` end in SystemExit.

    Without `argv` it is the program: threads that are still at work then do not keep it from ending.
    """
    if argv is None:
        gc.set_threshold(*_COLLECTIONS)
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        if argv is None and "_ARGCOMPLETE" in os.environ:  # a shell asks for the words that may come next
            from secateur.cli.completers import complete

            complete(lambda words: _build_parser(words, CommandParser)[0])
        code = _run(arguments)
    except KeyboardInterrupt:  # before the command began, while it was imported
        code = report_interruption(as_json=wants_json(arguments))
    if argv is None:
        leave(code)
    return code


def _run(arguments: list[str]) -> int:
    # Two BLAS threads are many times slower than one on matrices of our size.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if arguments[:1] == ["hook"]:  # old configurations of agents still call it: it changes nothing
        return 0
    if not arguments and on_terminal(sys.stdin) and on_terminal(sys.stdout):
        arguments = ["inspect"]
    try:
        _begin_run(arguments)
        options = _parse(arguments)
    except SecateurError as wrong:
        from secateur.cli.common import failure

        return failure(wrong, as_json=wants_json(arguments))
    if options is None:
        return 0
    from secateur.cli.common import CommandCall, run_guarded

    raise_again()
    return run_guarded(command(options.command)[1], CommandCall(**vars(options)))


_ASSIGNMENT = re.compile(r"(?<!\S)[^\s=:-]*+[=:-](?=\S*\d)\S{8}")


def _begin_run(arguments: Sequence[str]) -> None:
    """Nothing is known of earlier calls of this process; credentials in the words of this one are."""
    begin_run()
    typed = "\n".join(arguments)
    if "--no-redact" in arguments:
        ignore_allowed(lambda *_: True)
    elif may_hold_token(typed) or _ASSIGNMENT.search(typed):  # few calls have one
        from secateur.redaction import recognise_in_typed_text

        recognise_in_typed_text(typed)


def command(name: str) -> tuple[Callable[[CommandParser], None], Callable[[CommandCall], int]]:
    """Finds the functions that declare and run a command. Nothing of other commands is imported. Raises UsageError: its
    module cannot be loaded, or is not installed."""
    if name in _OF_KINDS or (name not in COMMANDS and name not in commands_beside()[0]):
        from secateur.cli import kind_command

        kind = registry.kind_of(name)
        return partial(kind_command.arguments, kind), partial(kind_command.run, kind)
    own = f"secateur.cli.{name}" if name in _IN_THIS_FOLDER else entry_points_of("secateur", COMMANDS_GROUP).get(name)
    if own:
        module = import_module(own)
        return module.arguments, module.run
    if (point := commands_beside()[0].get(name)) is None:
        raise UsageError(f"the command {name} is not installed", hint="install secateur again: docs/use/install.md")
    try:
        module = point.load()
        return module.arguments, module.run
    except (Exception, SystemExit) as error:  # other people's code: whatever it raises costs that command alone
        raise unusable(point, f"{type(error).__name__}: {error}") from error


def _build_parser(
    arguments: Sequence[str], of_commands: type[CommandParser] = MixingParser
) -> tuple[Parser, dict[str, Parser], int]:
    """Returns the parser for a call, the parsers of the commands, and the position of the command in the call. Only the
    called command gets its arguments; a call that begins with it has no other, which would take 3 ms."""
    parser = Parser(
        prog="secateur",
        description="Prunes what a language model reads under a token budget, and shows every decision it makes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"secateur {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=of_commands)
    position = next((at for at, argument in enumerate(arguments) if not argument.startswith("-")), len(arguments))
    name = arguments[position] if position < len(arguments) else None
    known = dict(COMMANDS)
    if name not in COMMANDS or position:
        beside, wrong = commands_beside()
        known |= registry.other_commands()
        known |= {
            other: f"a command of {point.dist and point.dist.name}"
            for other, point in beside.items()
            if other not in known
        }
        warnings = [paragraph(f"warning: {notice.message}") for notice in (*registry.problems(), *wrong)]
        parser.epilog = "\n\n".join([_EPILOG.rstrip("\n"), *warnings])
    children: dict[str, Any] = {  # of the class `of_commands`
        listed_name: commands.add_parser(
            listed_name, help=literal(summary), description=paragraph(summary[0].upper() + summary[1:] + ".")
        )
        for listed_name, summary in known.items()
        if position or name not in known or listed_name == name
    }
    if name in children:  # only the command that runs is imported
        command(name)[0](children[name])
    return parser, children, position


def _parse(arguments: Sequence[str]) -> argparse.Namespace | None:
    parser, children, position = _build_parser(arguments)
    if not arguments:
        parser.print_help()
        return None
    if position < len(arguments) and arguments[position] not in children:
        refuse_command(arguments[position], list(children))
    options, extras = parser.parse_known_args(arguments)
    early = next((argument for argument in arguments[:position] if argument in extras and argument != "--"), None)
    if early is not None:
        parser.refuse(early)
    if options.command is None:
        parser.error("name a command")
    if extras:
        children[options.command].refuse(next((extra for extra in extras if extra.startswith("-")), extras[0]))
    return options


if __name__ == "__main__":
    sys.exit(main())
