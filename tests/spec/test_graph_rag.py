"""The scenarios and tables of the spec `graph-rag`, each under its id."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from secateur import Engine, Settings
from secateur.model import Pool
from secateur.remembered.store import PreferenceStore
from secateur.settings import GraphRag, with_values
from support.cli import secateur
from support.engine_answers import answered
from support.memory_source import MemorySource
from support.repos import HANDLERS, QUERY, SHOP, chain, handlers, write

WORDS_ONLY = with_values(Settings(), {"embedding.model": "none"})
"""Only what holds the word is found by it: everything else in the pool came through calls."""


@pytest.fixture(scope="module")
def zebra() -> Iterator[Engine]:
    with Engine.of(MemorySource(chain()), WORDS_ONLY) as engine:
        yield engine


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_750_000_000.0

    def __call__(self) -> float:
        return self.now


# --- scenarios --------------------------------------------------------------------------------------------------------


def test_sc_grag_001_vector_search_returns_related_code(orders: Path) -> None:
    """订单处理逻辑 finds the code that processes orders."""
    report = secateur("search", "订单处理逻辑", orders, "--format", "json").json
    assert report["source"] == "graph-rag"
    anchors = [candidate for candidate in report["candidates"] if candidate["source"] == "embedding"]
    assert 0 < len(anchors) <= 10
    found = [candidate["symbol_id"] for candidate in report["candidates"]]
    assert found.index("orders/services/processing.py::OrderProcessor.process_order") < 3
    for candidate in report["candidates"] + report["dropped"]:
        assert (orders / candidate["file_path"]).is_file()
        assert candidate["line_range"] == f"{candidate['line_start']}-{candidate['line_end']}"
        assert 1 <= candidate["line_start"] <= candidate["line_end"]
        assert 0.0 <= candidate["relevance_score"] <= 1.0
    process = report["candidates"][found.index("orders/services/processing.py::OrderProcessor.process_order")]
    assert "semantic" in process["channels"]


def test_sc_grag_001_top_k_is_ten_and_configurable(orders: Path) -> None:
    for words, expected in (((), 10), (("--top-k", 5), 5), (("--set", "graph_rag.top_k=50"), 50)):
        report = secateur("search", "order", orders, "--format", "json", "--dropped", "all", *words).json
        assert sum(candidate["distance"] == 1 for candidate in report["candidates"] + report["dropped"]) == expected


def test_sc_grag_002_graph_traversal_expands_the_call_chain(orders: Path) -> None:
    report = secateur("search", "订单处理逻辑", orders, "--format", "json").json
    for side in ("callers", "callees"):
        assert report["graph"][side]
        for node in report["graph"][side]:
            assert set(node) == {"symbol_id", "file_path", "depth", "anchors"}
            assert node["symbol_id"].startswith(node["file_path"] + "::")
            assert node["depth"] in (1, 2)
    callees = {node["symbol_id"] for node in report["graph"]["callees"]}
    assert "orders/services/pricing.py::PricingService.quote" in callees


def test_sc_grag_002_callers_and_callees_of_a_known_chain(zebra: Engine) -> None:
    graph = zebra.report(zebra.search("zebra")).to_dict()["graph"]
    found = {
        side: {node["symbol_id"].partition("::")[2]: node["depth"] for node in nodes} for side, nodes in graph.items()
    }
    assert found == {"callers": {"up1": 1, "up2": 2}, "callees": {"down1": 1, "down2": 2}}


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_sc_grag_003_graph_traversal_stops_at_max_depth(zebra: Engine, depth: int) -> None:
    settings = with_values(WORDS_ONLY, {"graph_rag.max_depth": depth})
    pool = zebra.retrieve("zebra", settings)
    expected = {"middle": 1} | {f"{way}{hops}": hops + 1 for way in ("up", "down") for hops in range(1, depth + 1)}
    assert dict(zip(pool.qualname, pool.distance.tolist(), strict=True)) == expected
    report = zebra.report(zebra.select(pool, settings)).to_dict()
    assert {candidate["symbol_id"]: candidate["depth"] for candidate in report["candidates"]} == {
        f"chain.py::{name}": distance - 1 for name, distance in expected.items()
    }


def test_sc_grag_003_cycles_end() -> None:
    ring = (
        "def a():\n    # zebra\n    return b()\n\n\ndef b():\n    return c()\n\n\ndef c():\n    a()\n    return c()\n"
    )
    with Engine.of(MemorySource({"ring.py": ring}), with_values(WORDS_ONLY, {"graph_rag.max_depth": 4})) as engine:
        pool = engine.retrieve("zebra")
    assert dict(zip(pool.qualname, pool.distance.tolist(), strict=True)) == {"a": 1, "b": 2, "c": 2}


def test_sc_grag_003_switched_off_the_graph_is_not_followed(zebra: Engine) -> None:
    settings = with_values(WORDS_ONLY, {"graph_rag.enabled": False})
    assert zebra.retrieve("zebra", settings).qualname == ["middle"]


def test_sc_grag_004_low_relevance_is_cut_first(tmp_path: Path, reference_tokens: Callable[[str], int]) -> None:
    root = write(tmp_path / "tools", handlers())
    toml = "[graph_rag]\ntoken_budget = 4000\ntop_k = 20\n[smart_pruning]\nstrategy = 'relevance'\n"
    write(root, {"secateur.toml": toml})
    report = secateur("search", "handleToolCall", root, "--format", "json").json
    assert report["budget"] == 4000
    assert (
        reference_tokens(secateur("search", "handleToolCall", root, "--format", "markdown").out)
        == report["token_count"]
        <= 4000
    )
    kept, dropped = report["candidates"], report["dropped"]
    assert len(kept) + len(dropped) == HANDLERS
    assert dropped
    scores = [candidate["relevance_score"] for candidate in kept]
    assert scores == sorted(scores, reverse=True)
    smallest = min(candidate["token_count"] for candidate in kept)
    for loser in dropped:  # more relevant than something kept only where it did not fit
        assert loser["relevance_score"] <= scores[-1] or loser["token_count"] > smallest


SPEC_PLACE = ".devbooks/cache/graph-context"
IN_THE_REPOSITORY = with_values(Settings(), {"graph_rag.cache_dir": SPEC_PLACE})
"""The spec's place of the result cache, which a user asks for."""


def test_sc_grag_005_a_cached_answer_runs_no_search(tmp_path: Path) -> None:
    root, clock = write(tmp_path / "shop", SHOP), Clock()
    with Engine.open(root, IN_THE_REPOSITORY, cache_dir=tmp_path / "cache", clock=clock) as engine:
        first = answered(engine, QUERY, "json")
        clock.now += 299
        second = answered(engine, QUERY, "json")
        assert (first.cached, second.cached, engine.retrievals) == (False, True, 1)
        assert second.text == first.text
    with Engine.open(root, IN_THE_REPOSITORY, cache_dir=tmp_path / "cache", clock=clock) as other:
        assert answered(other, QUERY, "json") == second
        assert other.retrievals == 0
    folder = root / SPEC_PLACE
    assert (folder / ".gitignore").read_text() == "*\n"
    assert len(list(folder.glob("*.json"))) == 1


def test_sc_grag_005_a_search_writes_nothing_into_the_repository_unasked(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    before = sorted(root.rglob("*"))
    with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
        assert [answered(engine, QUERY).cached for _ in range(2)] == [False, True]
    assert sorted(root.rglob("*")) == before
    assert len(list((tmp_path / "cache").rglob("graph-context/*/*.json"))) == 1


def test_sc_grag_005_on_the_command_line(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    words = ("search", QUERY, root, "--format", "json", "--verbose")
    first, second, third = secateur(*words), secateur(*words), secateur(*words, "--no-cache")
    assert ["cached answer: True" in ran.err for ran in (first, second, third)] == [False, True, False]
    assert first.out == second.out == third.out


def _edit(root: Path) -> None:
    (root / "shop/money.py").write_text("def round_total(amount):\n    return round(amount)\n")


def _delete(root: Path) -> None:
    (root / "shop/api.py").unlink()


@pytest.mark.parametrize("change", [_edit, _delete])
def test_sc_grag_005_an_edit_is_a_miss(tmp_path: Path, change: Callable[[Path], None]) -> None:
    root = write(tmp_path / "shop", SHOP)
    with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
        before = answered(engine, QUERY, "json")
        change(root)
        after = answered(engine, QUERY, "json")
        assert not after.cached
        assert after.text != before.text


def test_sc_grag_005_after_the_ttl_it_is_a_miss(tmp_path: Path) -> None:
    root, clock = write(tmp_path / "shop", SHOP), Clock()
    with Engine.open(root, cache_dir=tmp_path / "cache", clock=clock) as engine:
        answered(engine, QUERY)
        clock.now += 300
        assert not answered(engine, QUERY).cached
        clock.now -= 3600  # a clock that was set back: an answer from the future is not trusted
        assert not answered(engine, QUERY).cached


@pytest.mark.parametrize(
    "change",
    [
        {"graph_rag.top_k": 5},
        {"graph_rag.cache_ttl": 60},
        {"budget": 500},
        {"smart_pruning.priority_weights.hotspot": 0.0},
        {"tokens.counter": "chars4"},
        {"pins": ["shop/api.py::post_refund"]},
    ],
)
def test_sc_grag_005_another_setting_is_a_miss(tmp_path: Path, change: dict[str, Any]) -> None:
    root = write(tmp_path / "shop", SHOP)
    for settings in (Settings(), with_values(Settings(), change)):
        with Engine.open(root, settings, cache_dir=tmp_path / "cache") as engine:
            assert not answered(engine, QUERY).cached
            assert not answered(engine, QUERY + " ").cached
            assert not answered(engine, QUERY, "json").cached
            assert not answered(engine, QUERY, explain=True).cached
            assert answered(engine, QUERY).cached


def test_sc_grag_005_another_preference_is_a_miss(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    settings = with_values(Settings(), {"preference.enabled": True})
    with Engine.open(root, settings, cache_dir=tmp_path / "cache", config_dir=tmp_path) as engine:
        before = answered(engine, QUERY)
        PreferenceStore(tmp_path, root, time.time).add("shop/money.py::round_total", 1.0)
        after = answered(engine, QUERY)
        assert not after.cached
        assert after.text != before.text


def _forge_text(entry: dict[str, Any]) -> None:
    entry["text"] = "forged"


def _forge_time(entry: dict[str, Any]) -> None:
    entry["written"] += 1


def _unsigned(entry: dict[str, Any]) -> None:
    del entry["signature"]


def _wrong_types(entry: dict[str, Any]) -> None:
    entry |= {"signature": ["x"], "written": "now", "text": None}


@pytest.mark.parametrize("forge", [_forge_text, _forge_time, _unsigned, _wrong_types])
def test_sc_grag_005_a_forged_entry_is_a_miss(tmp_path: Path, forge: Callable[[dict[str, Any]], None]) -> None:
    root = write(tmp_path / "shop", SHOP)
    with Engine.open(root, IN_THE_REPOSITORY, cache_dir=tmp_path / "cache", clock=Clock()) as engine:
        true = answered(engine, QUERY)
        (path,) = (root / SPEC_PLACE).glob("*.json")
        entry = json.loads(path.read_text())
        forge(entry)
        path.write_text(json.dumps(entry))
        again = answered(engine, QUERY)
    assert (again.cached, again.text) == (False, true.text)


def test_sc_grag_005_entries_of_another_user_are_a_miss(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP)
    for user in ("mallory", "alice"):
        with Engine.open(root, IN_THE_REPOSITORY, cache_dir=tmp_path / user, clock=Clock()) as engine:
            assert not answered(engine, QUERY).cached


@pytest.mark.parametrize("link", [".devbooks", ".devbooks/cache", ".devbooks/cache/graph-context"])
def test_sc_grag_005_a_cache_folder_behind_a_link_is_not_used(tmp_path: Path, link: str) -> None:
    root, outside = write(tmp_path / "shop", SHOP), tmp_path / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(outside, target_is_directory=True)
    with Engine.open(root, IN_THE_REPOSITORY, cache_dir=tmp_path / "cache") as engine:
        assert not answered(engine, QUERY).cached
        assert answered(engine, QUERY).cached  # kept in the user's own folder
    assert list(outside.iterdir()) == []


def test_sc_grag_005_a_linked_entry_is_not_read(tmp_path: Path) -> None:
    root, clock = write(tmp_path / "shop", SHOP), Clock()
    with Engine.open(root, IN_THE_REPOSITORY, cache_dir=tmp_path / "cache", clock=clock) as engine:
        answered(engine, QUERY)
        (path,) = (root / SPEC_PLACE).glob("*.json")
        path.rename(tmp_path / "entry.json")
        path.symlink_to(tmp_path / "entry.json")
        assert not answered(engine, QUERY).cached


def test_sc_grag_005_a_repository_that_cannot_be_written_falls_back(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", SHOP | {".devbooks": "a file where the folder should be"})
    with Engine.open(root, IN_THE_REPOSITORY, cache_dir=tmp_path / "cache") as engine:
        assert [answered(engine, QUERY).cached for _ in range(2)] == [False, True]
    assert len(list((tmp_path / "cache" / "graph-context").rglob("*.json"))) == 1
    assert (root / ".devbooks").read_text().startswith("a file")


def test_sc_grag_005_without_any_folder_it_still_answers(tmp_path: Path) -> None:
    with Engine.of(MemorySource(SHOP), cache_dir=tmp_path / "cache") as engine:
        shutil.rmtree(tmp_path / "cache", ignore_errors=True)
        (tmp_path / "cache").write_text("not a folder")
        assert answered(engine, QUERY).text == answered(engine, QUERY).text


# --- the table of the output ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def reports(orders: Path) -> list[dict[str, Any]]:
    variants = (
        (),
        ("--set", "graph_rag.enabled=false"),
        ("--set", "embedding.model=none"),
        ("--profile", "recommended", "--budget", "3000"),
    )
    return [
        secateur("search", QUERY, orders, "--format", "json", "--dropped", "all", *words).json for words in variants
    ]


def test_output_head(reports: list[dict[str, Any]]) -> None:
    assert [report["source"] for report in reports] == ["graph-rag", "embedding", "keyword", "graph-rag"]
    assert reports[-1].pop("query_kind") == {"kind": "question", "subject": "", "because": "it is a question"}
    for report in reports:
        assert report["schema_version"] == "1.0"
        assert type(report["token_count"]) is int
        assert 0 < report["token_count"] <= report["budget"]
        assert isinstance(report["candidates"], list)
        assert report["candidates"]
        assert set(report) == {
            "schema_version", "source", "query", "token_count", "budget", "counter", "embedding", "anchored_by",
            "profile", "candidates", "dropped", "graph", "report", "ledger", "warnings",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("field", "kind", "holds"),
    [
        ("file_path", str, lambda value, _: bool(value)),
        ("line_start", int, lambda value, _: value >= 1),
        ("line_end", int, lambda value, row: value >= row["line_start"]),
        ("relevance_score", float, lambda value, _: 0 <= value <= 1),
        ("source", str, lambda value, _: value in ("embedding", "graph")),
        ("hotspot_score", float, lambda value, _: 0 <= value <= 1),
        ("symbol_id", str, lambda value, row: value.startswith(row["file_path"] + "::")),
        ("token_count", int, lambda value, _: value > 0),
        ("channels", list, lambda value, _: bool(value)),
        ("path", list, lambda value, row: len(value) == (row["depth"] or 0)),
        ("priority", float, lambda value, row: value == pytest.approx(sum(row["terms"].values()), abs=2e-6)),
        ("decision", dict, lambda value, _: {"state", "reason"} <= set(value)),
    ],
)
def test_output_candidates(
    reports: list[dict[str, Any]], field: str, kind: type, holds: Callable[[Any, dict[str, Any]], bool]
) -> None:
    for report in reports:
        for row in report["candidates"] + report["dropped"]:
            assert type(row[field]) is kind
            assert holds(row[field], row), (field, row)


def test_output_depth_is_distance_less_one_and_content_only_for_what_goes_out(reports: list[dict[str, Any]]) -> None:
    for report in reports:
        for row in report["candidates"] + report["dropped"]:
            assert (row["depth"] is None) == (row["distance"] is None)
            assert row["distance"] is None or row["depth"] == row["distance"] - 1 >= 0
            assert ("content" in row) == (row["decision"]["state"] in ("kept", "shortened"))
        assert all("needed" in row["decision"] and "left" in row["decision"] for row in report["dropped"])


def test_output_every_candidate_is_accounted_for_once(reports: list[dict[str, Any]]) -> None:
    for report in reports:
        symbols = [row["symbol_id"] for row in report["candidates"] + report["dropped"]]
        assert len(symbols) == len(set(symbols))
        ledger = report["report"]
        assert sorted(action["section"] for action in ledger["actions"] if action["section"] != "pack") == sorted(
            symbols
        )
        assert sum(action["beforeTokens"] for action in ledger["actions"]) == ledger["estimateBefore"]
        assert (
            sum(action["afterTokens"] for action in ledger["actions"])
            == ledger["estimateAfter"]
            == report["token_count"]
        )


# --- the table of the configuration -----------------------------------------------------------------------------------

RANGES = [
    ("max_depth", 2, 1, 4),
    ("token_budget", 8000, 4000, 16000),
    ("cache_ttl", 300, 60, 3600),
    ("top_k", 10, 5, 50),
]


def test_configuration_defaults() -> None:
    rag = GraphRag()
    assert rag.enabled is True
    assert rag.cache_dir == ""  # the user's cache folder; the spec's place is set
    for name, default, _, _ in RANGES:
        assert getattr(rag, name) == default


@pytest.mark.parametrize(("name", "default", "low", "high"), RANGES)
def test_configuration_ranges(tmp_path: Path, name: str, default: int, low: int, high: int) -> None:
    config = tmp_path / "own.toml"  # `cache_ttl` is the user's: a repository does not set it
    for value in (low, default, high):
        config.write_text(f"[graph_rag]\n{name} = {value}\n")
        told = secateur("config", tmp_path, "--config", config, "--format", "json").json
        assert told[f"graph_rag.{name}"] == {"value": value, "origin": str(config)}
    for value in (low - 1, high + 1, f'"{default}"', f"{default}.5", "true"):
        config.write_text(f"[graph_rag]\n{name} = {value}\n")
        ran = secateur("search", "x", tmp_path, "--config", config)
        assert ran.code == 2
        assert "own.toml" in ran.err
        assert f"graph_rag.{name}" in ran.err
        assert f"from {low} to {high}" in ran.err
        assert ran.out == ""


def test_configuration_enabled_is_true_or_false(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text("[graph_rag]\nenabled = 1\n")
    ran = secateur("search", "x", tmp_path, "--config", tmp_path / "own.toml")
    assert ran.code == 2
    assert "graph_rag.enabled" in ran.err
    assert "true or false" in ran.err


def test_relevance_is_in_its_range_for_any_weights(orders: Path) -> None:
    heavy = with_values(
        Settings(), {f"relevance.{part}": 2.0 for part in ("lexical", "name", "path", "semantic", "mention")}
    )
    with Engine.open(orders, heavy) as engine:
        pool: Pool = engine.retrieve("OrderProcessor.process_order in orders/services/processing.py")
    assert pool.relevance.max() <= 1.0
    assert pool.relevance.min() >= 0.0


def test_calls_between_anchors_are_in_the_graph_with_their_anchors(tmp_path: Path) -> None:
    files = {
        "a.py": "from b import round_refund\n\n\ndef settle_refund(x):\n    return round_refund(x)\n",
        "b.py": "def round_refund(x):\n    return int(x)\n",
        "c.py": "from a import settle_refund\n\n\ndef post(x):\n    return settle_refund(x)\n",
    }
    ran = secateur("search", "refund", write(tmp_path / "shop", files), "--format", "json").json
    anchors = {row["symbol_id"] for row in ran["candidates"] if row["source"] == "embedding"}
    assert {"a.py::settle_refund", "b.py::round_refund"} <= anchors
    callers = {one["symbol_id"]: (one["depth"], one["anchors"]) for one in ran["graph"]["callers"]}
    callees = {one["symbol_id"]: (one["depth"], one["anchors"]) for one in ran["graph"]["callees"]}
    assert callers["a.py::settle_refund"] == (1, ["b.py::round_refund"])
    assert callees["b.py::round_refund"][1][0] == "a.py::settle_refund"
    if "c.py::post" not in anchors:
        assert callers["c.py::post"] == (1, ["a.py::settle_refund", "b.py::round_refund"])


@pytest.mark.parametrize("budget", [1, 5, 10, 21, 40])
@pytest.mark.parametrize("form", ["xml", "markdown"])
def test_a_budget_that_is_too_small_warns_in_every_pack(form: str, budget: int, tmp_path: Path) -> None:
    root = write(tmp_path / "shop", {"a.py": "def settle(x):\n" + "    x = settle(x) + settle(x)\n" * 40})
    ran = secateur("search", "settle", root, "--format", form, "--budget", budget)
    assert "too small" in ran.err or "budget" in ran.out


def test_a_cache_folder_of_the_home_is_refused(tmp_path: Path) -> None:
    ran = secateur("search", "settle", tmp_path, "--set", "graph_rag.cache_dir=~/x", "--format", "json")
    assert "graph_rag.cache_dir = ~/x names a folder outside the repository" in ran.json["error"]["message"]
