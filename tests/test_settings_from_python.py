"""Settings that a program makes: a profile decides as its name says, and values are checked as those of files are."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from secateur import Engine, Settings, prune
from secateur.errors import ConfigError, UsageError
from secateur.kind_places import BUILT_IN
from secateur.kinds.registry import get_kind
from secateur.settings import (
    ContextPrune,
    GraphRag,
    PriorityWeights,
    SmartPruning,
    load,
    with_profile,
    with_values,
)
from support.engine_answers import printed
from support.memory_source import MemorySource
from support.repos import SHOP


def test_a_profile_is_what_it_is_from_a_file() -> None:
    for name in ("spec", "recommended"):
        assert Settings(profile=name) == load(None, profile=name).settings
    own = {"deep": {"graph_rag": {"max_depth": 4}}}
    assert Settings(profile="deep", profiles=own).graph_rag == GraphRag(max_depth=4)


def test_a_wrong_key_says_in_a_traceback_what_was_meant() -> None:
    with pytest.raises(ConfigError) as error:
        prune("search", query="x", path="sample:orders", settings={"budgett": 400})
    assert "did you mean budget" in "".join(traceback.format_exception(error.value))


def test_an_engine_decides_by_it() -> None:
    with Engine.of(MemorySource(SHOP), Settings(profile="recommended", budget=400)) as engine:
        decided = engine.search("how is a refund rounded?")
        loaded = load(None, profile="recommended", flags={"budget": 400}).settings
        assert decided.strategy == "density"
        assert printed(engine, decided, "json") == printed(
            engine, engine.search("how is a refund rounded?", loaded), "json"
        )


def test_a_table_that_is_given_wins_and_later_changes_stay() -> None:
    settings = Settings(profile="recommended", smart_pruning=SmartPruning(strategy="relevance"))
    assert settings.smart_pruning == SmartPruning(strategy="relevance")
    assert settings.relevance == Settings(profile="recommended").relevance
    turned = replace(Settings(profile="recommended"), context_prune=ContextPrune())
    assert replace(turned, budget=9).context_prune == ContextPrune()


def test_another_profile_is_taken_as_a_whole() -> None:
    for settings in (Settings(), with_values(Settings(), {"smart_pruning.strategy": "relevance"})):
        assert with_values(settings, {"profile": "recommended"}) == with_profile(settings, "recommended")
        changed = with_values(settings, {"profile": "recommended", "graph_rag.top_k": 7})
        assert changed == with_values(Settings(profile="recommended"), {"graph_rag.top_k": 7})


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Settings(profile="nope"), "unknown profile 'nope'"),
        (lambda: Settings(budget=-5), "budget = -5 is not allowed"),
        (lambda: Settings(budget=math.nan), "budget = nan is not allowed"),
        (lambda: Settings(budget=True), "budget = True is not allowed"),
        (lambda: Settings(boosts={"a": math.nan}), "boosts are factors"),
        (lambda: Settings(graph_rag=5), "graph_rag is a table"),
        (lambda: GraphRag(top_k=0), "top_k = 0 is not allowed"),
        (lambda: PriorityWeights(relevance=11), "relevance = 11 is not allowed"),
        (lambda: PriorityWeights(relevance=math.nan), "relevance = nan is not allowed"),
        (lambda: with_values(Settings(), {"preference.weight": math.nan}), "preference.weight = nan is not allowed"),
        (lambda: replace(Settings(), budget=-5), "budget = -5 is not allowed"),
    ],
)
def test_a_value_out_of_its_range_is_an_error(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()
    assert said in caught.value.message and caught.value.hint


def test_prune_takes_settings_by_key(tmp_path: Path) -> None:
    (tmp_path / "build.log").write_text("step 1\nERROR: it failed\n" * 400)
    by_key = prune("log", {"log.max_tokens": 100, "profile": "recommended"}, path=str(tmp_path / "build.log"))
    settings = with_values(Settings(profile="recommended"), {"log.max_tokens": 100})
    assert (by_key.ledger.budget, by_key.settings) == (100, settings)
    of_the_kind = prune("log", {"budget": 100, "profile": "recommended"}, path=str(tmp_path / "build.log"))
    assert of_the_kind.settings == settings
    with pytest.raises(ConfigError, match="unknown key budgte"):
        prune("log", {"budgte": 100}, path="build.log")
    with pytest.raises(UsageError, match="settings has the wrong type: int") as caught:
        prune("log", 100, path="build.log")  # type: ignore[arg-type]
    assert caught.value.hint == 'pass Settings(...), or {"budget": 1500}'


@pytest.mark.parametrize("name", [place.name for place in BUILT_IN])
def test_budget_is_the_budget_of_every_kind(name: str) -> None:
    kind = get_kind(name)
    with pytest.raises(ConfigError) as caught:
        prune(name, {"budget": "many"}, **{given.name: "." for given in kind.inputs if given.required})
    assert kind.budget.key in str(caught.value)
