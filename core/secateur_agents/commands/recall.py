"""`secateur recall DIGEST`: what was taken out of a conversation, by the digest that stands in its place."""

import os

from secateur import CommandCall, CommandParser


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("digest", metavar="DIGEST", help="the 12 digits behind `recall` in a placeholder or a summary")
    parser.add_argument("--lines", metavar="A-B", default="", help="only these lines of it: 10-80, 10- or 10")
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Prints the text; exit code 1 where nothing is kept under the digest."""
    from secateur import dumps

    from secateur_agents.store import user_store

    text = user_store(os.environ).recall(options.digest, options.lines)
    if options.format == "json":
        options.emit(dumps({"digest": options.digest[:12], "text": text}))
    else:
        options.emit(text if text.endswith("\n") else f"{text}\n")
    return 0
