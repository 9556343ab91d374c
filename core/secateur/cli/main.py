"""`secateur`: finds the command, runs it, turns errors into messages and exit codes.

Exit codes: 0 done; 1 the work failed; 2 the call was wrong; 3 a budget could not be met where the contract says it must;
4 a check found a difference; 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from secateur import __version__

COMMANDS = {
    "search": "find what answers a query and print it within a token budget",
    "inspect": "open the inspector on a repository (also plain `secateur` on a terminal)",
    "index": "build the index of a repository, or bring it up to date",
    "status": "what is indexed, how fresh it is, what was skipped and why",
    "config": "the settings in force and where each comes from",
}

_EPILOG = """exit codes: 0 done (an empty result is done, with a warning); 1 the work failed; 2 the call was wrong;
3 a budget could not be met where it must; 4 a check found a difference; 130 interrupted.

environment: SECATEUR_CACHE_DIR, SECATEUR_CONFIG_DIR, NO_COLOR.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; only `--help` and `--version` end in SystemExit."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # Two BLAS threads are many times slower than one on matrices of our size.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    name = next((argument for argument in arguments if not argument.startswith("-")), None)
    if name is None and not arguments and sys.stdin.isatty() and sys.stdout.isatty():
        name, arguments = "inspect", ["inspect"]
    parser = _Parser(
        prog="secateur",
        description="Prunes what a language model reads under a token budget, and shows every decision it makes.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"secateur {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for command, summary in COMMANDS.items():
        child = commands.add_parser(command, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if command == name:  # only the command that runs is imported
            import_module(f"secateur.cli.{command}").arguments(child)
    if not arguments:
        parser.print_help()
        return 0
    try:
        options = parser.parse_args(arguments)
        if options.command is None:
            parser.error("name a command")
    except _WrongCall as wrong:
        from secateur.cli.common import usage_failure

        wrong.parser.print_usage(sys.stderr)
        return usage_failure(wrong.parser.prog, wrong.message, wrong.parser.near_words(wrong.message), arguments)
    from secateur.cli.common import guarded

    return guarded(import_module(f"secateur.cli.{options.command}").run, options)


class _WrongCall(Exception):
    """What a parser has to say about the arguments."""

    def __init__(self, parser: _Parser, message: str) -> None:
        super().__init__(message)
        self.parser = parser
        self.message = message


class _Parser(argparse.ArgumentParser):
    """Knows which words may have been meant; never ends the program."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs | {"allow_abbrev": False})

    def error(self, message: str) -> NoReturn:
        """Raise what `main` reports."""
        raise _WrongCall(self, message)

    def near_words(self, message: str) -> list[str]:
        """Words that may stand where the message says another one does: choices, or flags of this command and of those below it."""
        if "invalid choice" in message:
            return [str(choice) for action in self._actions for choice in action.choices or ()]
        own = [option for action in self._actions for option in action.option_strings]
        children = [child for action in self._actions if isinstance(action.choices, dict) for child in action.choices.values()]
        return own + [option for child in children for option in child.near_words(message)]


if __name__ == "__main__":
    sys.exit(main())
