"""What was found and what was not: anchors have a floor, the source says what ran, a caller is what calls lead from."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur import Engine, Settings
from secateur.errors import UsageError
from secateur.index.facts.embedding import open_embedder
from secateur.model import Pool
from secateur.settings import load, with_values
from support.cli import secateur
from support.memory_source import MemorySource
from support.repos import QUERY, SHOP, handlers, write

NOTHING_HERE = ("zebra giraffe elephant", "订单处理逻辑", "photosynthesis in desert plants", "ワイヤレス充電の安全性")
"""Questions of which no word occurs in the shop."""

WORDS_ONLY = {"embedding.model": "none"}


def pool_for(files: dict[str, str], query: str, **values: object) -> Pool:
    """What a query finds in files in memory."""
    settings = with_values(Settings(), {name.replace("__", "."): value for name, value in values.items()})
    with Engine.of(MemorySource(files), settings) as engine:
        return engine.retrieve(query)


def codes(pool: Pool) -> set[str]:
    return {notice.code for notice in pool.warnings}


# --- the floor --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["spec", "recommended"])
@pytest.mark.parametrize("query", NOTHING_HERE)
def test_a_question_about_something_else_finds_nothing(query: str, profile: str) -> None:
    with Engine.of(MemorySource(SHOP), load(None, profile=profile).settings) as engine:
        pool = engine.retrieve(query)
    assert (len(pool), "no_match" in codes(pool)) == (0, True)
    (said,) = [notice.message for notice in pool.warnings if notice.code == "no_match"]
    assert "Ask in other words" in said


def test_what_a_word_of_the_query_leads_to_is_found_however_common_the_word_is() -> None:
    """Every file has the word, so it makes none of them relevant; still they are what was asked for."""
    pool = pool_for({path: text for path, text in handlers().items() if isinstance(text, str)}, "handleToolCall")
    assert pool.anchor.sum() == 10
    assert pool.relevance.max() < 0.35


def test_below_the_floor_only_pins_are_candidates() -> None:
    pin = "shop/money.py::round_total"
    pool = pool_for(
        SHOP, "refund of pterodactyl brontosaurus stegosaurus", relevance__no_match_threshold=0.9, pins=[pin]
    )
    assert pool.symbol_id == [pin]
    assert not pool.anchor.any()
    (said,) = [notice.message for notice in pool.warnings if notice.code == "no_match"]
    assert "below relevance.no_match_threshold = 0.9" in said
    assert "shop/" in said


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("refund pterodactyl brontosaurus stegosaurus", "Only 1 of the 4 words of the query occurs here"),
        ("erase", "No word"),
    ],
)
def test_one_word_that_occurs_or_a_mere_resemblance_is_not_passed_off_as_an_answer(query: str, said: str) -> None:
    """A word that no repository has counts for nothing in a score, so what is left of the query can score high."""
    pool = pool_for(
        SHOP | {"shop/items.py": "def delete(item):\n    item.delete()\n"},
        query,
        relevance__no_match_threshold=0.0,
        relevance__low_threshold=0.0,
    )
    assert len(pool)
    (doubt,) = [notice.message for notice in pool.warnings if notice.code == "low_relevance"]
    assert said in doubt


@pytest.mark.parametrize("query", [QUERY, "refund", "round_total", "where is a refund rounded", "refnd"])
def test_a_query_whose_words_occur_or_stand_for_near_names_is_not_doubted(query: str) -> None:
    assert "low_relevance" not in codes(pool_for(SHOP, query, relevance__low_threshold=0.0))


@pytest.mark.parametrize("form", ["text", "json", "markdown", "xml"])
def test_scripts_can_fail_on_a_query_that_nothing_answers(tmp_path: Path, form: str) -> None:
    root = write(tmp_path / "shop", SHOP)
    for _ in range(2):  # from the cache as well
        assert secateur("search", NOTHING_HERE[0], root, "--format", form, "--fail-on-low").code == 4
        assert secateur("search", NOTHING_HERE[0], root, "--format", form).code == 0
        assert secateur("search", QUERY, root, "--format", form, "--fail-on-low").code == 0
    assert secateur("search", QUERY, root, "--set", "relevance.low_threshold=1", "--fail-on-low").code == 4
    assert secateur("search", "", root, "--fail-on-low").code == 4


# --- what ran ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "values", "source", "anchored_by"),
    [
        (QUERY, {}, "graph-rag", "mixed"),
        (QUERY, {"graph_rag__enabled": False}, "embedding", "mixed"),
        (QUERY, {"graph_rag__anchors": "embedding"}, "graph-rag", "embedding"),
        (QUERY, {"embedding__model": "none"}, "keyword", "keyword"),
        ("", {}, "keyword", "keyword"),
        ("!!! ???", {}, "keyword", "keyword"),
        (NOTHING_HERE[0], {}, "embedding", "mixed"),  # vectors were compared, no call was followed
        (NOTHING_HERE[0], {"embedding__model": "none"}, "keyword", "keyword"),
    ],
)
def test_the_source_is_what_really_ran(query: str, values: dict[str, object], source: str, anchored_by: str) -> None:
    pool = pool_for(SHOP, query, **values)
    assert (pool.source, pool.anchored_by) == (source, anchored_by)


def test_anchors_by_vectors_are_ordered_by_similarity_alone() -> None:
    settings = with_values(
        Settings(), {"graph_rag.anchors": "embedding", "relevance.lexical": 4.0, "relevance.semantic": 0.0}
    )
    with Engine.of(MemorySource(SHOP), settings) as engine:
        pool = engine.retrieve(QUERY)
        snapshot, _ = engine.code()
        embedder = open_embedder(settings.embedding, {})
        assert embedder is not None
        likeness = snapshot.space.similarity(embedder.embed([QUERY], "query")[0])
    found = {snapshot.symbol_id(row): likeness[row] for row in range(len(snapshot)) if likeness[row] > 0.25}
    best = sorted(found.values(), reverse=True)[:10]
    assert pool.relevance[pool.anchor].tolist() == pytest.approx(best)
    assert list(pool.parts["relevance"]) == ["semantic"]
    assert all(
        pool.relevance[row] == pytest.approx(found[pool.symbol_id[row]]) for row in range(len(pool)) if pool.anchor[row]
    )


def test_anchors_by_vectors_need_vectors() -> None:
    with pytest.raises(UsageError, match=r"embedding\.model is none"):
        pool_for(SHOP, QUERY, graph_rag__anchors="embedding", embedding__model="none")


# --- callers and callees ----------------------------------------------------------------------------------------------

FAMILY = """
class Shape:
    def area(self):
        return 0


class Circle(Shape):
    def area(self):
        # zebra
        return pi()


def total(shape: Shape):
    return shape.area()


def report():
    total(Shape())
    return footer()


def footer():
    return 1


def pi():
    return 3
"""


def relations(depth: int) -> dict[str, dict[str, int]]:
    settings = with_values(Settings(), WORDS_ONLY | {"graph_rag.max_depth": depth})
    with Engine.of(MemorySource({"shapes.py": FAMILY}), settings) as engine:
        report = engine.report(engine.search("zebra")).to_dict()
    found = {
        side: {node["symbol_id"].partition("::")[2]: node["depth"] for node in nodes}
        for side, nodes in report["graph"].items()
    }
    found["related"] = {
        row["symbol_id"].partition("::")[2]: row["depth"]
        for row in report["candidates"]
        if row["relation"] == "related"
    }
    return found


def test_a_call_on_the_base_is_a_call_of_the_override() -> None:
    assert relations(1) == {"callers": {"total": 1}, "callees": {"pi": 1}, "related": {}}


def test_what_another_callee_of_a_caller_is() -> None:
    found = relations(3)
    assert found["callers"] == {"total": 1, "report": 2}
    assert found["callees"] == {"pi": 1}
    assert found["related"]["footer"] == 3  # called by a caller: neither


def test_on_a_cycle_a_function_is_both() -> None:
    ring = "def a():\n    # zebra\n    return b()\n\n\ndef b():\n    return a()\n"
    with Engine.of(MemorySource({"ring.py": ring}), with_values(Settings(), WORDS_ONLY)) as engine:
        report = engine.report(engine.search("zebra")).to_dict()
    assert [node["symbol_id"] for side in ("callers", "callees") for node in report["graph"][side]] == [
        "ring.py::b"
    ] * 2
    assert [row["relation"] for row in report["candidates"]] == ["anchor", "both"]
