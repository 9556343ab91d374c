"""query -> Pool: anchors, what calls lead to, a total order, costs that bound the pack, and warnings that say which
kind of empty it is."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from secateur import Engine, Settings
from secateur.model import UNREACHABLE, Pool
from secateur.remembered.store import PreferenceStore
from secateur.settings import with_values
from support.found import by_name, channels, pool_for
from support.memory_source import MemorySource
from support.repos import QUERY, SHOP, chain, handlers, write

WIDE = chain() | {f"zebra_{number}.py": f"def zebra_{number}():\n    return {number}\n" for number in range(12)}


def codes(pool: Pool) -> list[str]:
    return [warning.code for warning in pool.warnings]


def test_anchors_are_the_most_relevant() -> None:
    pool = pool_for(WIDE, "zebra", graph_rag__top_k=5)
    anchors = np.flatnonzero(pool.anchor)
    assert len(anchors) == 5
    assert set(pool.distance[anchors]) == {1}
    everything = pool_for(WIDE, "zebra", relevance__pool="all")
    assert sorted(pool.relevance[anchors], reverse=True) == sorted(everything.relevance, reverse=True)[:5]


def test_the_graph_adds_callers_and_callees_with_the_way_that_led_there() -> None:
    pool = pool_for(chain(), "zebra", embedding__model="none")
    assert by_name(pool, pool.predecessor_edge) == {
        "middle": "",
        "up1": "called_by",
        "up2": "called_by",
        "down1": "calls",
        "down2": "calls",
    }
    row = pool.row_of["chain.py::down2"]
    assert [pool.qualname[step] for step in pool.call_path(row)] == ["middle", "down1", "down2"]
    assert channels(pool, "chain.py::down2") == {"GRAPH"}
    assert "GRAPH" not in channels(pool, "chain.py::middle")


def test_pool_all_lets_everything_relevant_compete(monkeypatch: pytest.MonkeyPatch) -> None:
    anchors = pool_for(WIDE, "zebra", graph_rag__top_k=5)
    everything = pool_for(WIDE, "zebra", graph_rag__top_k=5, relevance__pool="all")
    assert set(anchors.symbol_id) < set(everything.symbol_id)
    unreached = everything.distance == UNREACHABLE
    assert unreached.any()
    assert (everything.relevance[unreached] > 0).all()
    monkeypatch.setattr("secateur.retrieval.search.POOL_CAP", 50)
    capped = pool_for(handlers(80, 1), "handleToolCall", relevance__pool="all")
    assert len(capped) <= 50 + capped.anchor.sum()


def test_rows_are_in_tie_break_order() -> None:
    for profile in ("spec", "recommended"):
        pool = pool_for(WIDE | SHOP | handlers(6, 3), "zebra tool refund", profile=profile)
        keys = list(
            zip((-pool.relevance).tolist(), pool.tokens.tolist(), pool.path, pool.line_start.tolist(), strict=True)
        )
        assert keys == sorted(keys)
        assert len(set(pool.symbol_id)) == len(pool)


@pytest.mark.parametrize("form", ["markdown", "xml"])
def test_costs_bound_the_pack(form: str) -> None:
    files = SHOP | {
        "odd`name.py": 'def refund_odd():\n    """```\n]]> ]]>\n"""\n',
        "empty_lines.py": "\n\n\ndef refund():\n\n\n    pass\n\n\n",
    }
    with Engine.of(MemorySource(files), with_values(Settings(), {"relevance.pool": "all"})) as engine:
        pool = engine.retrieve(QUERY, format=form)
        selection = engine.select(pool)
        assert len(selection.kept_rows) == len(pool)
        assert engine.counter().count(engine.render(selection)) <= selection.used == pool.overhead + pool.full_cost
    assert (pool.cost > pool.tokens).all()
    assert ((pool.sig_cost == 0) | (pool.sig_cost > pool.sig_tokens)).all()


def test_several_definitions_of_one_name_stay_apart() -> None:
    pool = pool_for({"a.py": "def refund():\n    return 1\n\n\ndef refund():\n    return 2\n"}, "refund")
    assert set(pool.symbol_id) == {"a.py::refund", "a.py::refund#2"}


@pytest.mark.parametrize(
    ("files", "query", "expected"),
    [
        ({}, "refund", "nothing_indexed"),
        ({"a.py": ""}, "refund", "nothing_indexed"),
        (SHOP, " \n\t", "empty_query"),
        (SHOP, "https://example.com/refund", "empty_query"),
        (SHOP, "xylophone", "no_match"),
    ],
)
def test_an_empty_pool_says_why(files: dict[str, str], query: str, expected: str) -> None:
    pool = pool_for(files, query)
    assert len(pool) == 0
    assert expected in codes(pool)


def test_what_runs_is_what_the_source_says() -> None:
    assert pool_for(SHOP, QUERY).source == "graph-rag"
    assert pool_for(SHOP, QUERY, graph_rag__enabled=False).source == "embedding"
    without = pool_for(SHOP, QUERY, embedding__model="none")
    assert without.source == "keyword"
    assert "no_vectors" in codes(without)
    assert "SEMANTIC" not in channels(without, "shop/refund.py::refund_total")


def test_what_is_pinned_is_a_candidate_of_any_query() -> None:
    pins = ("shop/money.py::round_total", "shop/api.py::nothing", "shop/refund.py::refund_total")
    pool = pool_for(SHOP | {"zebra.py": "def zebra():\n    return 1\n"}, "zebra", pins=pins)
    assert {"zebra.py::zebra", pins[0], pins[2]} == set(pool.symbol_id)
    assert pool.distance[pool.row_of[pins[0]]] == UNREACHABLE
    (notice,) = [warning for warning in pool.warnings if warning.code == "unknown_symbol"]
    assert "shop/api.py::nothing" in notice.message
    assert pins[0] not in notice.message


def test_an_id_that_means_nothing_is_said() -> None:
    assert "unknown_symbol" in codes(pool_for(SHOP, QUERY, excludes=("nope::x",)))
    assert "unknown_symbol" in codes(pool_for(SHOP, QUERY, boosts={"shop/money.py": 2.0}))
    assert "unknown_symbol" not in codes(pool_for(SHOP, QUERY, excludes=("shop/money.py::round_total",)))


def test_preferences_count_only_when_they_are_on(tmp_path: Path) -> None:
    shop, folder = write(tmp_path / "shop", SHOP), tmp_path / "config"
    PreferenceStore(folder, shop, time.time).add("shop/money.py::round_total", 0.5)
    for enabled, expected in ((False, 0.0), (True, 0.5)):
        settings = with_values(Settings(), {"preference.enabled": enabled})
        with Engine.open(shop, settings, cache_dir=tmp_path / "cache", config_dir=folder) as engine:
            pool = engine.retrieve(QUERY)
        assert pool.preference[pool.row_of["shop/money.py::round_total"]] == expected


def test_figures_for_the_screen() -> None:
    facts = pool_for(SHOP, "refund xylophone").facts
    assert (facts["files"], facts["relevant"] <= facts["fragments"]) == (4, True)
    assert facts["terms"]["xylophon"] == 0
    assert facts["terms"]["refund"] > 0
    assert facts["embedding"].startswith("wordllama")
