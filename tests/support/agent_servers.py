"""Servers of the Model Context Protocol over small repositories, and what a client makes of their answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mcp import StdioServerParameters
from mcp.server.lowlevel import Server
from secateur.redaction import forget_allowed
from secateur.settings import Committed, Loaded, load
from secateur_agents.mcp.roots import make_roots
from secateur_agents.mcp.server import FACTS, mcp_server
from secateur_agents.mcp.tools import Toolbox

NOON = 1_750_000_000.0
"""The time in every test."""


def server(*folders: Path, fallback: Sequence[Path] = (), flags: Mapping[str, Any] | None = None) -> Server[Any]:
    """A server that may read these folders; without any it asks the client. `flags`: settings of its command."""

    def loaded(root: Path | None, given: Mapping[str, Any], committed: Committed | None, *, lenient: bool) -> Loaded:
        found = load(root, flags={**(flags or {}), **given}, committed=committed, lenient=lenient)
        forget_allowed(found.settings.redaction)  # as the command does
        return found

    toolbox = Toolbox(loaded, os.environ, lambda: NOON)
    roots = make_roots((str(path), path) for path in folders or fallback)
    return mcp_server(toolbox, roots, asks=not folders)


def process(*words: object) -> StdioServerParameters:
    """`secateur mcp WORDS...` for a client that starts it."""
    argv = ["-m", "secateur", "mcp", *map(str, words)]
    return StdioServerParameters(command=sys.executable, args=argv, env={**os.environ, "PYTHONPATH": _python_path()})


def _python_path() -> str:
    return os.pathsep.join(path for path in sys.path if path)


def text(answer: Any) -> str:
    """The text of an answer."""
    (content,) = answer.content
    return str(content.text)


def facts(answer: Any) -> dict[str, Any]:
    """What an answer tells programs, and its text without what the server says below it."""
    whole = text(answer)
    return {**(answer.meta or {}).get(FACTS, {}), "text": whole.rpartition("\n--- ")[0] or whole}
