"""The tool `recall`: what was cleared from a conversation comes back over the protocol."""

from __future__ import annotations

import os
from pathlib import Path

import mcp
import pytest
from secateur_agents.mcp.pages import TEXT_TOKENS
from secateur_agents.store import user_store
from support.agent_servers import NOON, server, text

DIGEST = "0123456789ab"


async def test_a_digest_gives_the_text_back_whole_or_by_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(tmp_path / "state"))
    long = "".join(f"line {number}\n" for number in range(TEXT_TOKENS // 4))
    user_store(os.environ, lambda: NOON).keep({DIGEST: "one\ntwo\n", "f" * 12: long})
    async with mcp.Client(server(tmp_path)) as client:
        assert text(await client.call_tool("recall", {"digest": DIGEST})) == "one\ntwo\n"
        assert text(await client.call_tool("recall", {"digest": DIGEST, "lines": "2"})) == "two\n"
        first = text(await client.call_tool("recall", {"digest": "f" * 12}))
        body, _, foot = first.rpartition("\n--- ")
        shown = body.count("\n")
        assert long.startswith(body) and foot == f"{TEXT_TOKENS // 4 - shown:,} lines more: name them"
        rest = text(await client.call_tool("recall", {"digest": "f" * 12, "lines": f"{shown + 1}-"}))
        assert f"{body}{rest}" == long
        missing = await client.call_tool("recall", {"digest": "a" * 12})
        assert missing.is_error and "nothing is kept under aaaaaaaaaaaa" in text(missing)
