"""What leaves a search is within its budget whatever the format, what the JSON explains is proven, and numbers print as
they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from secateur import Engine, Settings
from secateur.model import State
from secateur.settings import with_values
from support.cli import secateur
from support.engine_answers import answered
from support.repos import QUERY, SHOP, write


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("limits") / "shop", SHOP)


@pytest.mark.parametrize("counter", ["o200k_base", "chars4", "estimate"])
@pytest.mark.parametrize("query", [QUERY, "", "zebra giraffe elephant"])
def test_what_leaves_is_within_the_budget_also_where_nothing_does(
    shop: Path, reference_tokens: Callable[[str], int], counter: str, query: str
) -> None:
    with Engine.open(shop) as engine:
        count = engine.counter(with_values(Settings(), {"tokens.counter": counter})).count
    for budget in (1, 5, 10, 20, 60):
        words = ("search", query, shop, "--budget", budget, "--counter", counter, "--format")
        report = secateur(*words, "json").json
        for form, warning in (("markdown", "> "), ("xml", '<warning code="')):
            ran = secateur(*words, form)
            assert count(ran.out) <= budget
            if counter == "o200k_base":
                assert reference_tokens(ran.out) <= budget
            if report["candidates"]:
                assert "message_tokens" not in report
            elif form == "markdown":
                assert (report["token_count"], report["message_tokens"]) == (0, count(ran.out))
            told = ran.err.count("warning: ") or ran.out.count(warning)
            if not told and budget >= 5:  # its sentence has no room, and its code has
                told = sum(one["code"] in ran.out.replace("\\", "") for one in report["warnings"])
            assert report["candidates"] or told == len(report["warnings"])


def test_json_explains_what_would_change_each_decision(shop: Path) -> None:
    settings = Settings(budget=120)
    with Engine.open(shop, settings) as engine:
        selection = engine.search(QUERY)
        pool = selection.pool
        report = json.loads(answered(engine, QUERY, "json", explain=True).text)
        items = report["candidates"] + report["dropped"]
        assert report["candidates"] and report["dropped"]
        for item in items:
            row, told = pool.row_of[item["symbol_id"]], item["what_if"]
            assert item["parts"]
            if told is None:
                continue
            was = selection.state[row] == State.KEPT
            if told["budget"] is not None:
                then = engine.select(pool, replace(settings, budget=told["budget"]))
                assert (then.state[row] == State.KEPT) != was
                lost = [symbol for symbol in told["loses"] if then.state[pool.row_of[symbol]] == State.DROPPED]
                assert lost == told["loses"]
            for signal, weight in told["weights"].items():
                then = engine.select(pool, with_values(settings, {f"smart_pruning.priority_weights.{signal}": weight}))
                assert (then.state[row] == State.KEPT) != was
        assert all(item["what_if"] for item in report["dropped"])  # a budget that holds everything keeps each
        for signal, (low, high) in report["ranges"].items():
            for weight in (low, high):
                then = engine.select(pool, with_values(settings, {f"smart_pruning.priority_weights.{signal}": weight}))
                assert (then.state == selection.state).all()


@pytest.mark.parametrize("counter", ["o200k_base", "chars4"])
def test_the_points_of_the_curve_say_what_leaves(shop: Path, counter: str) -> None:
    """What candidates cost is an upper bound; what leaves is counted."""
    settings = with_values(Settings(budget=120), {"tokens.counter": counter})
    with Engine.open(shop, settings) as engine:
        selection = engine.search(QUERY)
        report = json.loads(answered(engine, QUERY, "json", explain=True).text)
        for point in report["curve"]["points"]:
            decided = engine.select(selection.pool, replace(settings, budget=point["budget"]))
            assert point["tokens"] == engine.pack_tokens(decided), point


def test_terms_print_as_the_decimals_that_they_are(shop: Path) -> None:
    with Engine.open(shop) as engine:
        for decision in engine.search(QUERY).decisions:
            for value in (decision.priority, *decision.terms.values()):
                assert len(repr(value).partition(".")[2]) <= 6 or "e-" in repr(value)


def test_why_a_candidate_is_too_large_names_the_head_of_the_pack(shop: Path) -> None:
    with Engine.open(shop, Settings(budget=8000)) as engine:
        pool = engine.retrieve(QUERY)
    budget = int(pool.alone.max()) + pool.overhead - 1
    out = secateur("search", QUERY, shop, "--budget", budget).out
    assert (
        f"more than the {budget - pool.overhead} that the pack's first and last line leave of the budget of {budget}"
        in out
    )
