"""The folders that a server reads: those it was started with, else those of the client; nothing beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mcp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.errors import UsageError
from secateur_agents.mcp.roots import ELSEWHERE, RootFolder, Roots, folder_of_uri, make_roots
from support.agent_servers import facts, server, text
from support.repos import QUERY, SHOP, write

SECRET = "the combination is 1234"


@pytest.fixture
def places(tmp_path: Path) -> Path:
    """`shop`, which may be read, and `private`, which may not; links lead from the one to the other."""
    write(tmp_path / "shop", SHOP | {"notes.txt": "Refunds are rounded.\n"})
    write(tmp_path / "private", {"secret.py": f"# {SECRET}\n", "secateur.toml": "budget = 10\n"})
    (tmp_path / "shop" / "link").symlink_to(tmp_path / "private")
    (tmp_path / "shop" / "linked.py").symlink_to(tmp_path / "private" / "secret.py")
    (tmp_path / "shop" / "ring").symlink_to(tmp_path / "shop" / "ring")
    return tmp_path


def ways_out(places: Path) -> list[str]:
    return [
        str(places / "private"),
        str(places / "private" / "secret.py"),
        "../private",
        "../private/secret.py",
        "shop/../../private",
        "link",
        "link/secret.py",
        "linked.py",
        "ring",
        "/etc/passwd",
        "~/.ssh",
        "~root",
        "/",
        "..",
        "a" * 5000,
        "nul\0byte",
        "link/*.py",
        "../private/*.py",
        "*/../../private/*.py",
        "/etc/*",
        "file:///etc/passwd",
        "sample:orders",
    ]


async def test_no_path_leads_out_of_the_roots_and_no_error_names_one(places: Path) -> None:
    async with mcp.Client(server(places / "shop")) as client:
        for way in ways_out(places):
            calls: list[tuple[str, dict[str, Any]]] = [
                ("prune", {"files": [way], "request": "combination", "kind": "files"}),
                ("prune", {"files": [way], "kind": "log"}),
                ("search", {"query": "combination", "path": way}),
                ("expand", {"symbol": "refund_total", "path": way}),
                ("review", {"path": way}),
            ]
            for name, call in calls:
                answer = await client.call_tool(name, call)
                said = text(answer)
                assert answer.is_error, (name, way)
                assert SECRET not in said
                assert str(places) not in said
                assert "hint: " in said
        for call in ({"files": ["."], "request": "combination"}, {"files": ["**/*"], "request": "combination"}):
            answer = await client.call_tool("prune", {**call, "budget": 5000})
            assert SECRET not in text(answer)
        assert SECRET not in text(await client.call_tool("search", {"query": "combination"}))


async def test_a_root_is_named_by_its_name_a_path_in_it_or_the_whole_path(places: Path) -> None:
    write(places / "docs", {"a.md": "# Refunds\n\nRounded.\n"})
    async with mcp.Client(server(places / "shop", places / "docs")) as client:
        for path in ("shop", str(places / "shop"), "shop/shop", "docs"):
            assert not (await client.call_tool("search", {"query": QUERY, "path": path})).is_error
        which = await client.call_tool("search", {"query": QUERY})
        assert which.is_error
        assert "roots: shop, docs" in text(which)
        file = await client.call_tool("search", {"query": QUERY, "path": "notes.txt"})
        assert "is a file" in text(file)


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")  # in the newest era, not in the older
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_roots_of_the_client_count_where_no_folder_was_given(places: Path, era: str) -> None:
    from mcp.types import ListRootsResult, Root

    asked = 0

    async def roots(_context: object) -> ListRootsResult:
        nonlocal asked
        asked += 1
        listed = [Root(uri=f"file://{places}/shop"), Root(uri=f"file://{places}/gone")]  # type: ignore[arg-type]
        return ListRootsResult(roots=listed)

    async with mcp.Client(server(fallback=[places / "private"]), mode=era, list_roots_callback=roots) as client:
        answer = await client.call_tool("search", {"query": QUERY})
        assert facts(answer)["items"][0]["id"] == "shop/refund.py::refund_total"
        assert (await client.call_tool("search", {"query": QUERY, "path": str(places / "private")})).is_error
        assert asked == 1
        if era == "legacy":
            await client.session.send_roots_list_changed()
            assert not (await client.call_tool("search", {"query": QUERY})).is_error
            assert asked == 2
    async with mcp.Client(server(places / "shop"), mode=era, list_roots_callback=roots) as client:
        asked = 0
        assert (await client.call_tool("search", {"query": QUERY, "path": str(places / "private")})).is_error
        assert asked == 0  # those that the server was started with are all there is


async def test_without_roots_and_folders_the_current_one_is_read(places: Path) -> None:
    async with mcp.Client(server(fallback=[places / "shop"])) as client:
        assert not (await client.call_tool("search", {"query": QUERY})).is_error
    async with mcp.Client(server()) as client:
        nothing = await client.call_tool("search", {"query": QUERY})
        assert nothing.is_error
        assert "secateur mcp PATH" in text(nothing)


async def test_a_repository_sets_only_what_it_may(places: Path) -> None:
    write(places / "shop", {"secateur.toml": 'graph_rag.token_budget = 4444\n[llm]\nmodel = "evil"\n'})
    async with mcp.Client(server(places / "shop")) as client:
        answer = facts(await client.call_tool("search", {"query": QUERY, "detail": "source"}))
    assert answer["budget"] == 4444
    assert any("llm." in warning for warning in answer["warnings"])


@pytest.mark.parametrize("content", ["[graph_rag\n", "[graph_rag]\ntop_q = 7\n", "\udcff", "#" * 2_000_000])
async def test_a_faulty_file_of_a_repository_is_a_warning(places: Path, content: str) -> None:
    write(places / "shop", {"secateur.toml": content.encode("utf-8", "surrogateescape")})
    async with mcp.Client(server(places / "shop")) as client:
        for tool, more in (
            ("search", {"query": QUERY}),
            ("expand", {"symbol": "shop/refund.py::refund_total"}),
            ("prune", {"files": ["shop/*.py"], "request": QUERY}),
        ):
            called = await client.call_tool(tool, more)
            assert not called.is_error, text(called)
            warnings = facts(called)["warnings"]
            assert sum("all of the repository's own settings are ignored" in warning for warning in warnings) == 1
            assert "secateur.toml" in warnings[0] and str(places) not in warnings[0]


def test_uris_of_roots_are_folders_of_this_machine(tmp_path: Path) -> None:
    assert folder_of_uri("file:///a/b%20c") == ("/a/b c", Path("/a/b c"))
    assert folder_of_uri("file://localhost/a") == ("/a", Path("/a"))
    for uri in ("http://a/b", "file://elsewhere/a", "a", "file:", "file:///a%00b", "file://[", ""):
        assert folder_of_uri(uri) is None
    one, two = tmp_path / "x" / "shop", tmp_path / "y" / "shop"
    for folder in (one, two):
        folder.mkdir(parents=True)
    found = make_roots([("a", one), ("b", two), ("c", one), ("d", tmp_path / "gone")])
    assert [(root.name, root.folder) for root in found] == [("shop", one), ("shop-2", two)]


@given(st.text(max_size=40))
def test_any_path_is_in_a_root_or_an_error(path: str) -> None:
    here = Path(__file__).parent.resolve()
    roots = Roots([RootFolder("agents", here)], Path("/nonexistent/cache"))
    try:
        assert roots.resolve_path(path).path.resolve().is_relative_to(here)
    except UsageError as error:
        assert str(here) not in error.message + error.hint


def test_messages_hold_no_path_of_the_machine() -> None:
    roots = Roots([RootFolder("shop", Path("/home/mei/shop"))], Path("/home/mei/.cache/secateur"))
    said = (
        "/home/mei/shop/a.py and /home/mei/shop and /home/mei/.cache/secateur/x and /etc/ssh/key: 3/4, a/b, http://x/y"
    )
    hidden = roots.hide_paths(said)
    assert hidden == f"a.py and shop and (the cache folder)/x and {ELSEWHERE}: 3/4, a/b, http://x/y"
