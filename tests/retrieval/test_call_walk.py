"""The walk along calls: parts that hang together, the next step, the deeper search, bounds, names that attack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from secateur import Engine, Settings
from secateur.index.graph.code_graph import Direction
from secateur.model import Selection
from secateur.render.walk_text import RULES, Walk
from secateur.retrieval.walk import MOST_ENDS, MOST_NEXT
from secateur.settings import with_values
from support.cli import secateur
from support.engine_answers import answered
from support.memory_source import MemorySource
from support.repos import QUERY, SHOP, chain

WORDS = {"embedding.model": "none"}


def walked(files: Mapping[str, str], query: str, *, opened: int = 0, **changes: Any) -> tuple[Walk, Selection]:
    settings = with_values(Settings(), WORDS | {name.replace("__", "."): value for name, value in changes.items()})
    with Engine.of(MemorySource(files), settings) as engine:
        selection = engine.search(query)
        return engine.walk(selection, opened=opened), selection


def leaving(selection: Selection) -> list[str]:
    return [selection.pool.symbol_id[row] for row in selection.kept_rows]


def hub(callers: int) -> dict[str, str]:
    """A function that says zebra, and so many functions, one a file, that call it and do not."""
    return {"hub.py": "def hub():\n    # zebra\n    return 0\n"} | {
        f"caller_{n:05}.py": f"from hub import hub\n\n\ndef caller_{n}():\n    return hub()\n" for n in range(callers)
    }


def test_what_calls_connect_hangs_together_and_the_rest_stands_alone() -> None:
    walk, selection = walked(SHOP, QUERY)
    assert [part.symbol_ids for part in walk.together] == [
        [symbol for symbol in leaving(selection) if symbol.endswith(("refund_total", "round_total", "post_refund"))]
    ]
    assert set(walk.alone) == set(leaving(selection)) - set(walk.together[0].symbol_ids)
    tokens = dict(zip(selection.pool.symbol_id, selection.pool.tokens.tolist(), strict=True))
    assert walk.together[0].token_count == sum(tokens[symbol] for symbol in walk.together[0].symbol_ids)


def test_every_call_says_its_rule_and_the_decision_at_its_end() -> None:
    walk, _ = walked(SHOP, QUERY)
    refund = next(item for item in walk.nodes if item.name == "refund_total")
    assert [(end.symbol_id, end.how, end.certainty, end.state) for end in refund.callers] == [
        ("shop/api.py::post_refund", "import", 0.96, "kept")
    ]
    assert [end.symbol_id for end in refund.callees] == ["shop/money.py::round_total"]


def test_the_next_step_is_what_touches_what_leaves() -> None:
    walk, selection = walked(chain(), "zebra", graph_rag__max_depth=1, smart_pruning__strategy="priority")
    assert [name.partition("::")[2] for name in leaving(selection)] == ["middle", "up1", "down1"]
    step = walk.next_step
    assert {item.symbol_id: (item.calls, item.called_by) for item in step.items} == {
        "chain.py::up2": (["chain.py::up1"], []),
        "chain.py::down2": ([], ["chain.py::down1"]),
    }
    assert (step.count, step.candidates) == (2, 0)
    assert step.token_count == sum(item.token_count for item in step.items)


def test_what_joins_two_parts_comes_first() -> None:
    files = {
        "a.py": "def zebra_one():\n    return 1\n",
        "b.py": "def zebra_two():\n    return 2\n",
        "c.py": "from a import zebra_one\n\n\ndef first():\n    return zebra_one()\n",
        "d.py": (
            "from a import zebra_one\nfrom b import zebra_two\n\n\ndef both():\n    return zebra_one() + zebra_two()\n"
        ),
    }
    walk, selection = walked(files, "zebra one two", excludes=("c.py::first", "d.py::both"))
    assert {"a.py::zebra_one", "b.py::zebra_two"} <= set(leaving(selection))
    assert [(item.symbol_id, item.joins, item.state) for item in walk.next_step.items[:2]] == [
        ("d.py::both", 2, "dropped"),
        ("c.py::first", 1, "dropped"),
    ]


def test_a_deeper_search_is_run_and_its_answer_told() -> None:
    walk, selection = walked(chain(), "zebra", graph_rag__max_depth=1)
    deeper = walk.deeper
    assert deeper is not None
    again, then = walked(chain(), "zebra", graph_rag__max_depth=2)
    assert set(deeper.kept) == set(leaving(then)) - set(leaving(selection))
    assert (deeper.depth, deeper.candidates) == (2, len(then.pool) - len(selection.pool))
    assert again.deeper is not None


@pytest.mark.parametrize("changes", [{"graph_rag__max_depth": 4}, {"graph_rag__enabled": False}])
def test_no_deeper_search_where_there_is_none(changes: dict[str, Any]) -> None:
    assert walked(chain(), "zebra", **changes)[0].deeper is None


def test_a_hub_lists_the_best_and_counts_the_rest() -> None:
    callers = 60
    walk, selection = walked(hub(callers), "zebra", graph_rag__max_depth=1, budget=100)
    [item] = [item for item in walk.nodes if item.name == "hub"]
    assert (len(item.callers), item.callers_more) == (MOST_ENDS, callers - MOST_ENDS)
    assert len(walk.next_step.items) == MOST_NEXT
    assert walk.next_step.count == callers + 1 - len(selection.kept_rows)


def test_a_cycle_ends() -> None:
    ring = {
        "ring.py": "".join(
            f"def r{n}():\n    {'# zebra' if not n else '# none'}\n    return r{(n + 1) % 5}()\n\n\n" for n in range(5)
        )
    }
    walk, _ = walked(ring, "zebra", opened=3, graph_rag__max_depth=1)
    assert sorted(item.name for item in walk.nodes) == [f"r{n}" for n in range(5)]


def test_opened_items_are_those_that_others_name() -> None:
    walk, _ = walked(chain(), "zebra", graph_rag__max_depth=1)
    wider, _ = walked(chain(), "zebra", graph_rag__max_depth=1, opened=1)
    named = {end.symbol_id for item in walk.nodes for end in (*item.callers, *item.callees)}
    assert {item.symbol_id for item in wider.nodes} == {item.symbol_id for item in walk.nodes} | named
    assert wider.nodes[: len(walk.nodes)] == walk.nodes


def test_chains_lead_through_what_does_not_leave() -> None:
    files = {
        "a.py": "from b import middle\n\n\ndef zebra_one():\n    return middle()\n",
        "b.py": "from c import zebra_two\n\n\ndef middle():\n    return zebra_two()\n",
        "c.py": "def zebra_two():\n    return 2\n",
    }
    walk, _ = walked(files, "zebra one two", excludes=("b.py::middle",))
    assert [found.symbol_ids for found in walk.chains] == [["a.py::zebra_one", "b.py::middle", "c.py::zebra_two"]]
    assert walked(files, "zebra one two")[0].chains == []


def test_a_walk_is_of_the_files_that_were_searched() -> None:
    with Engine.of(MemorySource(SHOP), with_values(Settings(), WORDS)) as engine:
        selection = engine.search(QUERY)
        calls = engine.calls(selection)
        for row, symbol in enumerate(selection.pool.symbol_id):
            node = calls.snapshot.row_of(symbol)
            assert (calls.symbol(node), calls.row(node)) == (symbol, row)
        assert calls.steps(calls.snapshot.row_of("shop/refund.py::refund_total"), Direction.CALLS)[1] == 0


def test_the_same_files_give_the_same_walk_in_plain_values() -> None:
    one, other = (walked(SHOP, QUERY, opened=2)[0] for _ in range(2))
    assert msgspec.json.encode(one) == msgspec.json.encode(other)
    assert msgspec.convert(one.to_dict(), Walk) == one


def test_an_empty_answer_has_an_empty_walk() -> None:
    walk, _ = walked(SHOP, "")
    assert (walk.nodes, walk.together, walk.alone, walk.next_step.count) == ([], [], [], 0)


def test_names_that_attack_are_shown_harmless() -> None:
    files = {
        "a\x1b[31m.py": "def zebra():\n    return helper()\n\n\ndef helper():\n    return 1\n",
        "[b]$x\u202e.py": "def zebra():\n    return 2\n",
    }
    with Engine.of(MemorySource(files), with_values(Settings(), WORDS)) as engine:
        text = answered(engine, "zebra", explain=True).text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "a␛[31m.py::zebra" in text


def test_every_rule_has_its_words() -> None:
    from secateur.index.graph.resolve.edges import How

    assert {rule.label for rule in How} == set(RULES)


def test_explain_tells_the_walk_as_text_and_as_json() -> None:
    words = ("search", "where is the refund total rounded", "sample:orders", "--budget", "800", "--explain")
    text = secateur(*words).out
    report = secateur(*words, "--format", "json").json
    walk = msgspec.convert(report["walk"], Walk)
    assert [item.symbol_id for item in walk.nodes[: len(report["candidates"])]] == [
        item["symbol_id"] for item in report["candidates"]
    ]
    assert f"{len(walk.together[0].symbol_ids)} together, {walk.together[0].token_count} tokens" in text
    assert walk.deeper is not None
    assert f"searched again with --depth 3: {walk.deeper.candidates} further candidates" in text
    assert "walk" not in secateur(*words[:-1], "--format", "json").json
