"""Workspaces in the roots of a server: answered as one, and no way out of the roots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp
import pytest
from secateur import Engine, Settings
from secateur.settings.layers import with_profile
from support.agent_servers import facts, server, text
from support.repos import SHOP, write

TILL = {
    "till/drawer.py": (
        "def open_drawer(order):\n    '''Open the drawer for a refund.'''\n    return count_coins(order)\n\n\n"
        "def count_coins(order):\n    return len(order)\n"
    ),
}
QUERY = "where is a refund paid out in coins?"
SECRET = "def hidden_refund(coins):\n    return 'a refund in coins that nobody here may read'\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root of two repositories and the workspace that names them; beside it, what may not be read."""
    write(tmp_path / "outside", {"private.py": SECRET})
    write(tmp_path / "root/shop", SHOP)
    write(tmp_path / "root/till", TILL)
    return named(tmp_path / "root", '"shop", "till"')


def named(root: Path, repositories: str) -> Path:
    (root / "workspace.toml").write_text(f"repositories = [{repositories}]\n")
    return root


async def called(root: Path, tool: str = "search", **arguments: object) -> Any:
    given = {"path": "workspace.toml", **({"query": QUERY} if tool == "search" else {}), **arguments}
    async with mcp.Client(server(root)) as client:
        return await client.call_tool(tool, given)


async def test_a_search_of_a_workspace_is_that_of_the_engine(root: Path) -> None:
    found = facts(await called(root, budget=400, detail="source"))
    with Engine.open(root / "workspace.toml", with_profile(Settings(budget=400), "recommended")) as engine:
        assert found["text"] == engine.render(engine.search(QUERY, use_cache=False))
    assert {item["file"].partition("/")[0] for item in found["items"]} == {"shop", "till"}


async def test_a_symbol_and_its_calls_are_named_with_the_repository(root: Path) -> None:
    found = facts(await called(root, "expand", symbol="till/till/drawer.py::open_drawer"))
    assert found["at"].startswith("till/till/drawer.py:")
    assert [end["id"] for end in found["callees"]] == ["till/till/drawer.py::count_coins"]


async def test_a_pattern_and_a_link_within_the_root_name_repositories(root: Path) -> None:
    (root / "svc").mkdir()
    (root / "svc/drawers").symlink_to(root / "till")
    found = facts(await called(named(root, '"svc/*", "sho*"'), budget=4000))
    assert {item["file"].partition("/")[0] for item in found["items"]} == {"drawers", "shop"}


async def test_an_edit_of_the_file_counts_from_the_next_call_on(root: Path) -> None:
    async with mcp.Client(server(root)) as client:
        asked = {"path": "workspace.toml", "query": QUERY, "budget": 4000}
        before = facts(await client.call_tool("search", asked))
        named(root, '"till"')
        after = facts(await client.call_tool("search", asked))
    assert any(item["file"].startswith("shop/") for item in before["items"])
    assert {item["file"].partition("/")[0] for item in after["items"]} == {"till"}


@pytest.mark.parametrize(
    "repository",
    [
        '"../outside"',
        '"{outside}"',
        '"shop/../../outside"',
        '"linked"',
        '"lin*"',
        '"../*"',
        '"../outs*"',
        '"{outside}/*"',
        '{path = "../outside", rev = "HEAD"}',
        '"gone"',
        '"../gone"',
        '"sample:orders"',
        '"https://127.0.0.1:9/one.git"',
        '"file:///somewhere/one.git"',
        '"git@127.0.0.1:one.git"',
    ],
)
async def test_what_lies_outside_the_roots_is_refused(root: Path, repository: str) -> None:
    outside = root.parent / "outside"
    (root / "linked").symlink_to(outside)
    named(root, f'"shop", {repository.replace("{outside}", str(outside))}')
    for tool, arguments in (("search", {}), ("expand", {"symbol": "hidden_refund"})):
        answer = await called(root, tool, **arguments)
        assert answer.is_error
        assert "repository 2" in text(answer)
        assert "is not a folder that may be read here" in text(answer)
        assert "nobody here" not in text(answer)
        assert str(root.parent) not in text(answer)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('repositories = ["*/*"]', "only in its last part"),
        ('repositories = ["**/till"]', "only in its last part"),
        ('repositories = ["**"]', "only in its last part"),
        ('repositories = ["no*"]', "is not a folder that may be read here"),
        ("repositories = [", "workspace.toml"),
        ("[project]\nname = 'shop'", "unknown key project"),
        ("repositories = [" + ", ".join(f'{{path = "till", name = "n{n}"}}' for n in range(201)) + "]", "too many"),
        ("#" * (2**20 + 1), "too large"),
    ],
)
async def test_a_malformed_workspace_is_said_to_be_so(root: Path, content: str, said: str) -> None:
    (root / "workspace.toml").write_text(content)
    answer = await called(root)
    assert answer.is_error
    assert said in text(answer)


async def test_tools_that_read_no_workspace_say_that_it_is_a_file(root: Path) -> None:
    answer = await called(root, "review")
    assert answer.is_error
    assert "workspace.toml is a file" in text(answer)


async def test_a_folder_with_a_workspace_is_a_folder(root: Path) -> None:
    found = facts(await called(named(root, '"../outside"'), path=""))
    assert not any("private" in item["file"] for item in found["items"])
    assert any(item["file"].startswith("shop/shop/") for item in found["items"])
