"""Examines what `agent-setup` wrote: which entries are there, whether the server answers, and what it costs."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from secateur import count_tokens

from secateur_agents.config_edits import ConfigEntry, UnreadableConfigError, remove_entry

ANSWER_SECONDS = 20.0
"""Most time for a server to start and to list its tools."""


@dataclass(frozen=True, slots=True)
class ServerHealth:
    """The answer of a server, or the reason why there is none."""

    seconds: float = 0.0
    tools: int = 0
    tokens: int = 0  # of the descriptions of the tools, in every request of the agent
    error: str = ""


def entry_status(entry: ConfigEntry, text: str | None) -> str:
    """Returns `registered`, `your own` for an entry that differs from ours, `missing` or why the text is not read."""
    try:
        if entry.add(text) != text:
            return "missing"
        return "registered" if remove_entry(entry, text) != text else "your own"
    except UnreadableConfigError as error:
        return f"not readable, {error}"


def examine_server(command: str, args: list[str], environ: Mapping[str, str] = os.environ) -> ServerHealth:
    """Starts a server as an agent does, and lists its tools."""
    try:
        import anyio
        import mcp
        from mcp import StdioServerParameters, stdio_client
    except ImportError:
        return ServerHealth(error="the extra mcp is missing: pip install 'secateur[mcp]'")

    async def listed() -> list[Any]:
        server = StdioServerParameters(command=command, args=args, env=dict(environ))
        with anyio.fail_after(ANSWER_SECONDS), Path(os.devnull).open("w") as errors:
            async with mcp.Client(stdio_client(server, errors)) as client:
                return list((await client.list_tools()).tools)

    begun = time.monotonic()
    try:
        tools = anyio.run(listed)
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        reason = f"none within {ANSWER_SECONDS:g} s" if isinstance(error, TimeoutError) else str(error)
        return ServerHealth(error=reason or type(error).__name__)
    described = [json.dumps([tool.name, tool.description, tool.input_schema]) for tool in tools]
    return ServerHealth(time.monotonic() - begun, len(tools), sum(map(count_tokens, described)))
