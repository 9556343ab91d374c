"""No credential reaches a client, whichever tool reads it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import mcp
import pytest
from support.agent_servers import facts, server, text
from support.credentials import drawn
from support.repos import SHOP, committed, git, write

KEY = "AKIA" + "Q3EGRIZ7NOTAKEY2"  # made up, in the shape of one
USE = f'def connect():\n    """The storage of refunds."""\n    return storage("{KEY}")\n'
MESSAGES = [{"role": "user", "content": f"why is {KEY} refused?"}, {"role": "assistant", "content": "it is no key"}]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = committed(tmp_path / "shop", SHOP)
    write(root, {"shop/storage.py": USE, "build.log": f"12:00:00 step 1\n12:00:01 ERROR {KEY} is refused\n"})
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Storage")
    return root


@pytest.mark.parametrize(
    ("tool", "call", "told"),
    [
        ("search", {"query": "connect the storage of refunds", "detail": "source"}, True),
        ("search", {"query": f"who uses {KEY}"}, False),
        ("expand", {"symbol": "connect"}, True),
        ("prune", {"files": ["shop/storage.py"], "request": "storage", "kind": "files"}, True),
        ("prune", {"files": ["build.log"]}, True),
        ("prune", {"text": f"12:00:01 ERROR {KEY} is refused\n"}, True),
        ("prune", {"messages": MESSAGES}, True),
        ("review", {"base": "HEAD~1"}, True),
    ],
)
async def test_no_tool_shows_a_credential(shop: Path, tool: str, call: dict[str, Any], told: bool) -> None:
    async with mcp.Client(server(shop)) as client:
        answer = await client.call_tool(tool, call)
        assert not answer.is_error, text(answer)
        assert KEY not in answer.model_dump_json()
        found = facts(answer)
        assert ("[redacted: " in found["text"]) or not told
        if found.get("items") and told:
            assert any(item.get("redacted") for item in found["items"])
            explained = await client.call_tool("explain", {"result": found["result"], "item": found["items"][0]["id"]})
            assert KEY not in explained.model_dump_json()


async def test_the_user_may_leave_credentials_in(shop: Path) -> None:
    async with mcp.Client(server(shop, flags={"redaction.enabled": False})) as client:
        assert KEY in text(await client.call_tool("expand", {"symbol": "connect"}))


async def test_what_was_typed_stays_known_under_other_settings_of_credentials(shop: Path) -> None:
    typed = f"password-{drawn(Random(1), 32, '0123456789abcdef')}"  # no rule knows it in an error that repeats it
    async with mcp.Client(server(shop, flags={"redaction.scanner": "rules"})) as client:
        answer = await client.call_tool("expand", {"symbol": typed})
        assert answer.is_error and typed.removeprefix("password-") not in answer.model_dump_json()
