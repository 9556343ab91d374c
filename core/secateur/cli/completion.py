"""`secateur completion bash|zsh|fish` prints the script by which a shell completes commands, flags and their values."""

from typing import Annotated

from msgspec import Meta

from secateur.cli.command_parser import CommandParser
from secateur.cli.common import CommandCall
from secateur.cli.output import emit
from secateur.cli.parsing import one_of
from secateur.shape import SCHEMA_VERSION, Shape, Version, dumps

SHELLS = ("bash", "zsh", "fish")


class CompletionOutput(Shape, frozen=True):
    """The output of `secateur completion SHELL --format json`."""

    schema_version: Version
    shell: str
    script: Annotated[str, Meta(description="The text that the shell evaluates.")]


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("shell", metavar="SHELL", type=one_of("completion", SHELLS), help="bash, zsh or fish")
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Prints the script: evaluated by the shell, it asks this program at each request."""
    from argcomplete.shell_integration import shellcode

    script = shellcode(["secateur"], use_defaults=False, shell=options.shell).lstrip("\n")
    if options.format == "json":
        script = dumps(CompletionOutput(SCHEMA_VERSION, options.shell, script))
    emit(script)
    return 0
