"""The tests of the MCP server need the extra `mcp`, which is in the group `dev`; without it they are left out."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("mcp") else ["test_mcp_*.py"]
