"""`secateur mcp [PATH…]` serves coding agents by the Model Context Protocol."""

import os
import signal
import sys
import time
from importlib.util import find_spec

from secateur import CommandCall, CommandParser, Environment, RepositoryError, SecateurError, UsageError

MOST_PORT = 65_535


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="*",
        help="folders that may be read, or sample:NAME (default: the client's roots, or else the current folder)",
    )
    parser.add_argument(
        "--http",
        type=parser.whole_number("--http", 0),
        metavar="PORT",
        help="serve streamable HTTP on 127.0.0.1 instead of standard input and output; 0 takes a free port",
    )
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Runs the command; exit code 0 when the client has closed its end."""
    if options.http is not None and options.http > MOST_PORT:
        raise UsageError(f"--http {options.http} is no port", hint=f"ports are 0 to {MOST_PORT:,}")
    if find_spec("mcp") is None:
        raise SecateurError.missing_extra("secateur mcp", "mcp")
    folders = [(name, Environment().folder_of(name)) for name in options.path]
    for _, path in folders:
        if not path.is_dir():
            raise RepositoryError(f"no such folder: {path}", hint="check the path", code="NO_SUCH_FOLDER")
    if not folders and (here := Environment().base) is not None:
        folders = [(".", here)]
    options.quiet_settings(None, {}, None)  # a wrong flag or file is said now, and not to the first call

    import anyio

    from secateur_agents.mcp.roots import make_roots
    from secateur_agents.mcp.server import mcp_server
    from secateur_agents.mcp.tools import Toolbox

    roots = make_roots(folders)
    toolbox = Toolbox(options.quiet_settings, os.environ, time.time, trusts_git_dir=options.trusts_git_dir())
    if options.http is not None:
        from secateur_agents.mcp.http_server import serve_http

        anyio.run(
            serve_http, mcp_server(toolbox, roots), options.http, lambda address: options.say(f"listening on {address}")
        )
        return 0
    from secateur_agents.mcp.stdio import serve

    if options.on_terminal(sys.stdin):
        options.say("waiting for a client of the Model Context Protocol on standard input; Ctrl-C ends it")
    options.format = "text"  # from here on standard output carries the protocol alone, also when Ctrl-C ends it
    ended = anyio.run(serve, mcp_server(toolbox, roots, asks=not options.path))
    if ended == signal.SIGINT:
        raise KeyboardInterrupt
    if ended:
        signal.raise_signal(ended)
    return 0
