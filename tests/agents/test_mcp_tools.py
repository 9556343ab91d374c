"""The five tools as a client of the official kit calls them, in this process, in both eras of the protocol."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import mcp
import mcp_types
import pytest
from secateur import Engine, Settings, count_tokens
from secateur.progress import unreported
from secateur.settings import load
from secateur.settings.layers import with_profile
from secateur_agents.mcp.pages import ANSWER_TOKENS
from secateur_agents.mcp.roots import Roots, make_roots
from secateur_agents.mcp.server import FACTS, INSTRUCTIONS
from secateur_agents.mcp.shapes import SearchCall
from secateur_agents.mcp.tools import Toolbox
from support.agent_servers import NOON, facts, server, text
from support.repos import QUERY, SHOP, committed, git, handlers, write

ERAS = ("auto", "legacy")
PARTS = {
    f"shop/part_{n:02}.py": f'def refund_part_{n}(order, reason):\n    """Refunds a part."""\n    return order[{n}]\n'
    for n in range(60)
}
SOURCE = {"query": QUERY, "detail": "source"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return committed(tmp_path / "shop", SHOP)


def whole(answer: Any) -> int:
    """Tokens of an answer as it is sent."""
    return count_tokens(answer.model_dump_json(by_alias=True, exclude_none=True))


async def test_there_are_few_small_tools_that_only_read(shop: Path) -> None:
    async with mcp.Client(server(shop)) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == ["search", "expand", "prune", "explain", "review", "recall"]
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed)
    assert all(len(tool.description or "") <= 200 for tool in listed)
    sent = dict.fromkeys(("Claude Code", "opencode", "Codex", "Gemini CLI"), 0)
    for agent in sent:
        declared = [_declared(agent, tool.name, tool.description, tool.input_schema) for tool in listed]
        whole = [{"type": "namespace", "name": "mcp__secateur", "description": INSTRUCTIONS, "tools": declared}]
        sent[agent] = count_tokens(json.dumps(whole if agent == "Codex" else declared, separators=(",", ":")))
    assert max(sent.values()) <= 850
    told = ", ".join(f"{tokens} in {agent}" for agent, tokens in sent.items())
    assert told in " ".join((Path(__file__).parents[2] / "docs/lab/measured.md").read_text("utf-8").split())


def _declared(agent: str, name: str, about: str, schema: Any) -> dict[str, Any]:
    """A tool as an agent's requests hold it, seen in them."""
    if agent == "Claude Code":
        return {"name": f"mcp__secateur__{name}", "description": about, "input_schema": schema}
    if agent == "opencode":
        own = {"input_schema": schema | {"additionalProperties": False}, "eager_input_streaming": True}
        return {"name": f"secateur_{name}", "description": about, **own}
    if agent == "Codex":
        properties = {key: dict(value) for key, value in sorted(schema["properties"].items())}
        if "messages" in properties:
            properties["messages"]["items"] = {"type": "string"}
        for key, value in properties.items():
            value.setdefault("type", "string")
            properties[key] = {part: value[part] for part in ("type", "description", "enum", "items") if part in value}
        schema = schema | {"properties": properties}
        return {"type": "function", "name": name, "description": about, "strict": False, "parameters": schema}
    waits = (
        "Set to true to wait for all previously requested tools in this turn to complete before starting. Set to false "
        "(or omit) to run in parallel. Use true when this tool depends on the output of previous tools."
    )
    properties = schema["properties"] | {"wait_for_previous": {"type": "boolean", "description": waits}}
    return {
        "name": f"mcp_secateur_{name}",
        "description": about,
        "parametersJsonSchema": schema | {"properties": properties},
    }


@pytest.mark.parametrize("era", ERAS)
async def test_search_is_the_pack_of_the_engine_with_reasons(shop: Path, era: str) -> None:
    async with mcp.Client(server(shop), mode=era) as client:
        answer = await client.call_tool("search", SOURCE | {"budget": 120})
    found = facts(answer)
    with Engine.open(shop, with_profile(Settings(budget=120), "recommended")) as engine:
        selection = engine.search(QUERY, use_cache=False)
        assert found["text"] == engine.render(selection)
        assert found["tokens"] == engine.pack_tokens(selection) <= 120
        assert [item["id"] for item in found["items"]] == [selection.pool.symbol_id[row] for row in selection.kept_rows]
    first = found["items"][0]
    assert (first["file"], first["lines"], first["state"]) == ("shop/refund.py", "4-6", "kept")
    assert all(item["reason"] for item in found["items"] + found["left_out"])
    assert found["left_out"][0]["state"] == "dropped"
    assert found["freshness"] == {"commit": git(shop, "rev-parse", "HEAD"), "indexed": "2025-06-15T15:06:40+00:00"}
    assert text(answer).startswith(found["text"])
    assert f"left out: {found['left_out'][0]['id']}" in text(answer)


async def test_search_names_places_first_and_expand_takes_them(tmp_path: Path) -> None:
    root = write(tmp_path / "many", PARTS)
    async with mcp.Client(server(root)) as client:
        for budget, least in ((600, 15), (1_200, 30)):
            answer = await client.call_tool("search", {"query": "refund of a part", "budget": budget})
            names = facts(answer)["text"].splitlines()
            assert len(names) >= least
            assert count_tokens(text(answer)) <= 1.1 * budget
            assert all(re.fullmatch(r"shop/part_\d\d\.py:\d-\d .* \[.+\]", line) for line in names), names
        place = names[0].split("-")[0]
        assert not (await client.call_tool("expand", {"symbol": place})).is_error
        call = {"query": "refund of a part", "budget": 600}
        first = facts(await client.call_tool("search", call))
        second = facts(await client.call_tool("search", call | {"cursor": first["next"]}))
        assert second["page"] == 2
        assert not {*first["text"].splitlines()} & {*second["text"].splitlines()}


async def test_a_method_is_listed_with_its_class(tmp_path: Path) -> None:
    python = [f"class {name}:\n    def matches(self, order):\n        return order\n" for name in ("Cart", "Voucher")]
    script = "export class Basket {\n  matches(order: string) { return order }\n}\n"
    root = write(
        tmp_path / "many", {"rules.py": "\n".join(python), "basket.ts": script, "top.py": "def matches(): ...\n"}
    )
    async with mcp.Client(server(root)) as client:
        names = facts(await client.call_tool("search", {"query": "what matches an order"}))["text"]
        for declaration in ("def Cart.matches(self, order) [", "def Voucher.matches(self, order) ["):
            assert f" {declaration}" in names
        assert " Basket.matches(order: string)" in names and " def matches()" in names
        assert not (await client.call_tool("expand", {"symbol": "Voucher.matches"})).is_error


async def test_the_recommended_profile_answers_where_nobody_chose_one(tmp_path: Path) -> None:
    root = write(tmp_path / "many", PARTS)

    async def source(**flags: Any) -> str:
        async with mcp.Client(server(root, flags=flags)) as client:
            return str(facts(await client.call_tool("search", {"query": "refund of a part"}))["text"])

    recommended, spec = await source(profile="recommended"), await source(profile="spec")
    assert await source() == recommended != spec
    chosen = {"smart_pruning.strategy": "relevance"}
    assert await source(**chosen) == await source(profile="spec", **chosen)


async def test_the_same_call_has_the_same_answer_on_another_server(shop: Path) -> None:
    answers = []
    for _ in range(2):
        async with mcp.Client(server(shop)) as client:
            answers.append(await client.call_tool("search", {"query": QUERY, "budget": 200}))
    assert facts(answers[0]) == facts(answers[1])
    assert text(answers[0]) == text(answers[1])


async def test_pins_profiles_and_folders_count(shop: Path) -> None:
    async with mcp.Client(server(shop)) as client:
        pinned = await client.call_tool(
            "search", SOURCE | {"budget": 60, "pins": ["shop/api.py::post_refund"], "path": "shop"}
        )
        assert facts(pinned)["left_out"]  # a folder of a root has ids of its own
        pinned = await client.call_tool("search", SOURCE | {"budget": 60, "pins": ["shop/api.py::post_refund"]})
        assert facts(pinned)["items"][0]["id"] == "shop/api.py::post_refund"
        assert "pinned" in facts(pinned)["items"][0]["reason"]
        other = await client.call_tool("search", {"query": QUERY, "profile": "recommended"})
        assert not other.is_error
        wrong = await client.call_tool("search", {"query": QUERY, "profile": "recomended"})
        assert wrong.is_error
        assert "recommended" in text(wrong)


@pytest.mark.parametrize("era", ERAS)
async def test_codex_gets_pages_that_it_does_not_cut(tmp_path: Path, era: str) -> None:
    callers = [f"def caller_{'of_a_long_name_' * 5}{n}(order):\n    return target(order)\n" for n in range(160)]
    body = "".join(f"    total_{n} = order[{n}] * {n}  # §§§ gebühr\n" for n in range(900))
    target = f"def target(order):\n{body}    return order\n"
    root = write(tmp_path / "big", handlers(40, 120) | {"calls.py": target + "\n".join(callers)})
    source = {"query": "handleToolCall", "detail": "source", "budget": 8_000}
    log = {"text": "".join(f"step {n}: {'ä' * 40} of the build went well\n" for n in range(300)), "budget": 9_000}
    named = {"query": "caller of a long name", "budget": 12_000}
    expanded = {"symbol": "calls.py::target", "steps": 3}
    codex = mcp_types.Implementation(name="codex-mcp-client", version="0.169.0")
    for tool, call in (("search", source), ("prune", log), ("search", named), ("expand", expanded)):
        pages: list[str] = []
        async with (
            mcp.Client(server(root), mode=era) as other,
            mcp.Client(server(root), mode=era, client_info=codex) as client,
        ):
            whole = await other.call_tool(tool, call)
            answer = await client.call_tool(tool, call)
            while True:
                assert not answer.is_error and len(text(answer).encode()) <= 11_940
                pages.append(facts(answer)["text"])
                if not (following := answer.meta[FACTS].get("next")):
                    break
                answer = await client.call_tool(tool, call | {"cursor": following})
        assert len(text(whole).encode()) > 12_000 and len(pages) > 1
        wanted = target if tool == "expand" else facts(whole)["text"]
        assert {*wanted.splitlines()} <= {*"".join(pages).splitlines()}, tool


async def test_a_long_answer_is_paged_and_the_pages_make_it_whole(tmp_path: Path) -> None:
    root = write(tmp_path / "big", handlers(40, 120))
    call = {"query": "handleToolCall", "detail": "source", "budget": 60_000}
    async with mcp.Client(server(root)) as client:
        answers = [await client.call_tool("search", call)]
        while following := facts(answers[-1]).get("next"):
            answers.append(await client.call_tool("search", call | {"cursor": following}))
        again = await client.call_tool("search", call | {"cursor": facts(answers[0])["next"]})
        assert facts(again) == facts(answers[1])
    assert len(answers) == facts(answers[0])["pages"] > 1
    assert [facts(one).get("page", 1) for one in answers] == [*range(1, len(answers) + 1)]
    assert all(whole(answer) < ANSWER_TOKENS for answer in answers)
    with Engine.open(root, with_profile(Settings(budget=60_000), "recommended")) as engine:
        pack = engine.render(engine.search("handleToolCall", use_cache=False))
    assert "".join(facts(one)["text"] for one in answers) == pack
    async with mcp.Client(server(root)) as client:  # another server, which holds nothing
        fresh = await client.call_tool("search", call | {"cursor": facts(answers[0])["next"]})
    assert facts(fresh)["text"] == facts(answers[1])["text"]


async def test_a_cursor_of_other_files_or_of_nothing_is_refused(tmp_path: Path) -> None:
    root = write(tmp_path / "big", handlers(20, 120))
    call = {"query": "handleToolCall", "detail": "source", "budget": 30_000}
    async with mcp.Client(server(root)) as client:
        first = await client.call_tool("search", call)
    write(root, {"tools/m00.py": "def handle_tool_call_00(registry):\n    return 0\n"})
    async with mcp.Client(server(root)) as client:
        stale = await client.call_tool("search", call | {"cursor": facts(first)["next"]})
        assert stale.is_error
        assert "call again without a cursor" in text(stale)
        for cursor in ("x", "..", "abc.-1", "abc.999999", "\u0664.\u0664"):
            assert (await client.call_tool("search", call | {"cursor": cursor})).is_error


async def test_a_page_says_which_files_changed_since(tmp_path: Path) -> None:
    root = write(tmp_path / "big", handlers(20, 120))
    call = {"query": "handleToolCall", "detail": "source", "budget": 30_000}
    async with mcp.Client(server(root)) as client:
        first = await client.call_tool("search", call)
        write(root, {"tools/m00.py": "def handle_tool_call_00(registry):\n    return 0\n"})
        second = await client.call_tool("search", call | {"cursor": facts(first)["next"]})
        assert facts(second)["freshness"]["changed"] == ["tools/m00.py"]
        assert "1 files changed since: tools/m00.py" in text(second)
        anew = await client.call_tool("search", call)
        third = await client.call_tool("search", call | {"cursor": facts(first)["next"]})
        assert facts(third)["freshness"] == facts(second)["freshness"]  # read anew meanwhile
    assert "changed" not in facts(anew)["freshness"]
    assert "return 0\n" in "".join(facts(anew)["text"])


async def test_expand_shows_source_callers_and_callees_with_their_certainty(shop: Path) -> None:
    async with mcp.Client(server(shop)) as client:
        answer = await client.call_tool("expand", {"symbol": "shop/refund.py::refund_total"})
        found = facts(answer)
        assert found["at"] == "shop/refund.py:4-6"
        assert SHOP["shop/refund.py"].split("\n\n\n")[1].rstrip("\n") in found["text"]
        assert [one["id"] for one in found["callers"]] == ["shop/api.py::post_refund"]
        (callee,) = found["callees"]
        assert callee == {
            "id": "shop/money.py::round_total",
            "at": "shop/money.py:1-2",
            "how": "import",
            "certainty": callee["certainty"],
            "sites": 1,
        }
        assert 0.9 <= callee["certainty"] <= 1
        assert "shop/api.py:4-5 post_refund (import, certainty" in text(answer)
        for name in ("refund_total", "shop/refund.py:5", "refund.py::refund_total"):
            assert facts(await client.call_tool("expand", {"symbol": name}))["id"] == found["id"]
        further = facts(await client.call_tool("expand", {"symbol": "post_refund", "steps": 2}))
    assert [(one["id"], one.get("step", 1), one.get("via")) for one in further["callees"]] == [
        ("shop/refund.py::refund_total", 1, None),
        ("shop/money.py::round_total", 2, "shop/refund.py::refund_total"),
    ]


async def test_expand_says_what_is_meant_where_a_name_is_none_or_many(tmp_path: Path) -> None:
    root = write(tmp_path / "two", {"a.py": "def total():\n    return 1\n", "b.py": "def total():\n    return 2\n"})
    async with mcp.Client(server(root)) as client:
        many = await client.call_tool("expand", {"symbol": "total"})
        assert many.is_error
        assert text(many).endswith("a.py::total, b.py::total")
        none = await client.call_tool("expand", {"symbol": "totl"})
        assert none.is_error
        assert "did you mean total?" in text(none)
        blank = await client.call_tool("expand", {"symbol": "a.py:9"})
        assert blank.is_error


async def test_explain_proves_what_would_keep_an_item(shop: Path) -> None:
    call = {"query": QUERY, "budget": 60}
    async with mcp.Client(server(shop)) as client:
        found = facts(await client.call_tool("search", SOURCE | call))
        missing = found["left_out"][0]["id"]
        answer = await client.call_tool("explain", {"result": found["result"], "item": missing})
        explained = facts(answer)
        assert explained["item"]["state"] == "dropped"
        assert explained["item"]["reason"] == found["left_out"][0]["reason"]
        assert explained["decided_again"] > 0
        again = await client.call_tool("explain", {"item": missing, **call})
        assert facts(again) == explained
        assert (await client.call_tool("explain", {"item": missing})).is_error
        budget = next(one["change"] for one in explained["turns"] if one["change"].startswith("--budget "))
        needed = int(budget.removeprefix("--budget "))
        kept = facts(await client.call_tool("search", SOURCE | call | {"budget": needed}))
        assert missing in [item["id"] for item in kept["items"]]
        less = facts(await client.call_tool("search", SOURCE | call | {"budget": needed - 1}))
        assert missing not in [item["id"] for item in less["items"] if item["state"] == "kept"]
        unknown = await client.call_tool("explain", {"result": found["result"], "item": "nothing.py::here"})
        assert unknown.is_error
        gone = await client.call_tool("explain", {"result": "000000000000", "item": missing})
        assert gone.is_error
        assert "again" in text(gone)


LOG = "".join(f"2026-01-01 00:00:{n % 60:02} INFO step {n} is done\n" for n in range(400))


@pytest.mark.parametrize(
    ("call", "kind", "held"),
    [
        ({"text": LOG + "2026-01-01 00:09:00 ERROR the disk is full\n", "budget": 200}, "log", "the disk is full"),
        ({"text": "boring\n" * 500 + "Traceback: no\n", "request": "Traceback", "budget": 100}, "log", "Traceback"),
        (
            {
                "messages": [
                    {"role": "user", "content": "why?"},
                    *({"role": "assistant", "content": f"because {n} " * 40} for n in range(30)),
                    {"role": "user", "content": "and the refund?"},
                ],
                "strategy": "truncate",
                "budget": 400,
            },
            "conversation",
            "and the refund?",
        ),
        ({"files": ["shop"], "request": "round the total", "budget": 150}, "files", "round_total"),
        ({"files": ["shop/*.py"], "request": "round the total", "budget": 150}, "files", "round_total"),
        ({"text": "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"}, "diff", "+new"),
    ],
)
async def test_prune_takes_each_kind_of_context(shop: Path, call: dict[str, Any], kind: str, held: str) -> None:
    async with mcp.Client(server(shop)) as client:
        answer = await client.call_tool("prune", call)
        assert not answer.is_error, text(answer)
        found = facts(answer)
        assert found["kind"] == kind
        assert held in found["text"]
        assert found["tokens"] <= found["budget"]
        if found.get("left_out"):
            explained = await client.call_tool(
                "explain", {"result": found["result"], "item": found["left_out"][0]["id"]}
            )
            assert not explained.is_error, text(explained)
            assert facts(explained)["turns"] or facts(explained)["nothing"]


async def test_pruned_messages_come_back_as_messages_one_a_line(shop: Path) -> None:
    messages = [{"role": "user", "content": "why?"}, {"role": "assistant", "content": "so"}]
    async with mcp.Client(server(shop)) as client:
        found = facts(await client.call_tool("prune", {"messages": messages}))
    assert [json.loads(line) for line in found["text"].splitlines()] == messages


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ({}, "text, messages or files"),
        ({"text": "a", "files": ["shop"]}, "give one"),
        ({"files": ["shop"]}, "request: files needs one"),
        ({"text": '{"TARGET_SNAPSHOT": 1}', "kind": "envelope"}, "model: envelope needs one"),
        ({"text": "x", "kind": "search"}, "call search"),
        ({"text": "x", "kind": "poem"}, "kinds: "),
        ({"text": "x", "kind": "log", "strategy": "extract"}, "log has no strategies"),
        ({"files": ["nothing.txt"], "request": "x"}, "there is no nothing.txt"),
    ],
)
async def test_prune_says_what_to_do_where_a_call_is_wrong(shop: Path, call: dict[str, Any], said: str) -> None:
    async with mcp.Client(server(shop)) as client:
        answer = await client.call_tool("prune", call)
    assert answer.is_error
    assert said in text(answer)


async def test_review_pages_through_the_chunks_of_a_change(shop: Path) -> None:
    git(shop, "branch", "main-before")
    write(shop, {f"shop/new{n}.py": f"def new_{n}():\n    return {n}\n" * 20 for n in range(6)})
    git(shop, "add", "-A")
    git(shop, "commit", "-qm", "New functions")
    call = {"base": "main-before", "budget": 600}
    async with mcp.Client(server(shop)) as client:
        answers = [await client.call_tool("review", call)]
        while following := facts(answers[-1]).get("next"):
            answers.append(await client.call_tool("review", call | {"cursor": following}))
        assert not answers[0].is_error, text(answers[0])
        assert len(answers) > 1
        texts = [facts(one)["text"] for one in answers]
        assert all(f"# Context Chunk {n}/{len(answers)}" in one for n, one in enumerate(texts, 1))
        assert all(any(f"shop/new{n}.py" in one for one in texts) for n in range(6))
        write(shop, {"shop/money.py": "def round_total(amount):\n    return round(amount)\n"})
        loose = await client.call_tool("review", {"head": "worktree", "base": "HEAD"})
        assert "return round(amount)" in facts(loose)["text"]
        wrong = await client.call_tool("review", {"base": "--output=/tmp/x"})
        assert wrong.is_error


async def test_agents_pay_for_an_answer_once_and_little_more_than_the_budget(tmp_path: Path) -> None:
    # where an answer has structured content, agents give the model its JSON, or both
    root = write(tmp_path / "big", handlers(40, 60))
    async with mcp.Client(server(root)) as client:
        assert all(tool.output_schema is None for tool in (await client.list_tools()).tools)
        for tool, call in (
            ("search", {"query": "handleToolCall"}),
            ("search", {"query": "handleToolCall", "detail": "source"}),
            ("prune", {"text": LOG}),
            ("prune", {"files": ["tools"], "request": "handleToolCall"}),
        ):
            for budget in (400, 1_000, 4_000):
                answer = await client.call_tool(tool, call | {"budget": budget})
                assert answer.structured_content is None
                assert count_tokens(text(answer)) <= 1.1 * budget, (tool, budget)


async def test_the_first_answer_of_a_large_repository_does_not_wait_for_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("secateur.engine.PARTIAL_BYTES", 8 * 1024)
    root = write(tmp_path / "big", handlers(40, 60))
    async with mcp.Client(server(root)) as client:
        first = await client.call_tool("search", {"query": "handleToolCall", "budget": 500})
        assert any("A partial answer" in warning for warning in facts(first)["warnings"])
        part = facts(first)["before"]
        item = {"result": facts(first)["result"], "item": "tools/m39.py::nothing"}
        assert (await client.call_tool("explain", item)).is_error
        second = await client.call_tool("search", {"query": "handleToolCall", "budget": 500})
        assert not any("A partial answer" in warning for warning in facts(second).get("warnings", []))
        assert facts(second)["before"] > part


async def test_an_index_is_finished_while_nobody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secateur.engine.PARTIAL_BYTES", 8 * 1024)
    root = write(tmp_path / "big", handlers(40, 60))

    def answered(finish: bool) -> list[str]:
        def loaded(root: Path | None, given: Any, committed: Any, *, lenient: bool) -> Any:
            return load(root, flags=given, committed=committed, lenient=lenient)

        toolbox = Toolbox(loaded, os.environ, lambda: NOON)
        roots = Roots(make_roots([("big", root)]), toolbox.cache)
        answer = toolbox.search(SearchCall("handleToolCall"), roots, unreported)
        if finish:
            toolbox.finish_indexes(unreported)
        toolbox.close()
        return [warning for warning in answer.warnings if "A partial answer" in warning]

    assert answered(finish=False)
    assert answered(finish=True)
    assert not answered(finish=False)  # another session


def hostile() -> dict[str, str]:
    """Long paths and names, and text that is longer escaped."""
    folder = "/".join(["d" * 200] * 4)
    odd = {f"{folder}/{'n' * 100}{n}.py": f"def zebra_{'x' * 300}_{n}():\n    return {n}\n" for n in range(30)}
    signs = "".join(f'"\\\\\t{chr(1 + n % 8)}\u202e\U0001f9ff斑马 zebra' for n in range(60))
    return odd | {f"odd{n}.md": f"# zebra {n}\n\n{signs}\n" * 40 for n in range(8)}


async def test_no_answer_is_longer_than_clients_take(tmp_path: Path) -> None:
    root = committed(tmp_path / "odd", SHOP)
    write(root, hostile())
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Zebras")
    many = "".join(f"def zebra_{n}():\n    return hub()\n\n\n" for n in range(400))
    write(root, {"hub.py": "def hub():\n" + '    x = "\\\\\\t"\n' * 4000 + "    return 1\n\n\n" + many})
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "zebra", "budget": 200_000}),
        ("search", {"query": "zebra", "budget": 500}),
        ("search", {"query": "zebra", "detail": "source", "budget": 200_000}),
        ("expand", {"symbol": "hub.py::hub", "steps": 3}),
        ("review", {"base": "HEAD~1", "budget": 200_000}),
        ("prune", {"files": ["."], "request": "zebra", "budget": 100_000}),
        ("prune", {"text": '\x01\x02\\"' * 100_000, "budget": 100_000}),
    ]
    async with mcp.Client(server(root)) as client:
        for name, call in calls:
            following, pages = "", 0
            while following is not None and pages < 4:
                answer = await client.call_tool(name, call | ({"cursor": following} if following else {}))
                assert not answer.is_error, text(answer)
                assert whole(answer) < ANSWER_TOKENS, (name, call.keys())
                following, pages = facts(answer).get("next"), pages + 1


async def test_nothing_is_written_into_what_is_read(shop: Path) -> None:
    def state() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(shop.rglob("*")) if path.is_file()}

    before = state()
    async with mcp.Client(server(shop)) as client:
        found = facts(await client.call_tool("search", SOURCE | {"budget": 60}))
        await client.call_tool("expand", {"symbol": "refund_total"})
        await client.call_tool("explain", {"result": found["result"], "item": found["left_out"][0]["id"]})
        await client.call_tool("review", {"head": "worktree", "base": "HEAD"})
    assert state() == before
