"""`secateur hook AGENT` answers a hook that `agent-setup` registered with an agent: JSON on both sides.

Whatever is wrong, it prints nothing and ends with exit code 0, so that the agent goes on as if there was no hook. It
ends by itself in time, because Gemini CLI waits for a hook that it could not end.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

from secateur import CommandCall, CommandParser

from secateur_agents.agent_hooks import AGENTS

MOST_SECONDS = 4.0
"""Less than the time that `agent-setup` lets an agent wait."""

MOST_BYTES = 128 * 1024 * 1024
"""Largest call that is read."""


def arguments(parser: CommandParser) -> None:
    """Adds the flags of the command."""
    parser.add_argument("agent", metavar="AGENT", type=parser.one_of("AGENT", AGENTS), help=", ".join(AGENTS))
    parser.common_arguments()


def run(options: CommandCall) -> int:
    """Prints the answer to the call on standard input, or nothing."""
    timer = threading.Timer(MOST_SECONDS, os._exit, (0,))
    timer.daemon = True
    timer.start()
    import json

    from secateur_agents.agent_hooks import answer_hook
    from secateur_agents.store import user_store

    with suppress(Exception):
        call = json.loads(sys.stdin.buffer.read(MOST_BYTES))
        settings = lambda: options.load_settings(None).settings  # noqa: E731 - most hooks need none
        answer = answer_hook(options.agent, call, settings, user_store(os.environ), os.environ)
        if answer:
            options.emit(json.dumps(answer) + "\n")
    timer.cancel()
    return 0
