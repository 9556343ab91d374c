"""The tests of the MCP server need the extra `mcp`, those of `secateur with` the extra `proxy`; both are in the group
`dev`. Without them they are left out."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [
    *([] if find_spec("mcp") else ["test_mcp_*.py"]),
    *([] if find_spec("httpx2") else ["test_with_*.py"]),
]
