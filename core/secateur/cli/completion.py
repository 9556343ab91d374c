"""`secateur completion bash|zsh|fish` prints the script by which a shell completes commands, flags and their values."""

from __future__ import annotations

import argparse

from secateur.cli.common import common_arguments
from secateur.cli.output import emit
from secateur.cli.parsing import one_of
from secateur.render import SCHEMA_VERSION, dumps

SHELLS = ("bash", "zsh", "fish")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("shell", metavar="SHELL", type=one_of("completion", SHELLS), help="bash, zsh or fish")
    common_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Prints the script: evaluated by the shell, it asks this program at each request."""
    from argcomplete.shell_integration import shellcode

    script = shellcode(["secateur"], use_defaults=False, shell=options.shell).lstrip("\n")
    if options.format == "json":
        script = dumps({"schema_version": SCHEMA_VERSION, "shell": options.shell, "script": script})
    emit(script)
    return 0
