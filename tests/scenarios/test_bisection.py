"""Bisection: the settings that move an item, for every kind; each statement is checked by deciding afresh."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from secateur.errors import SecateurError
from secateur.kinds import registry
from secateur.kinds.base import Environment, Kind
from secateur.settings import Settings, with_profile, with_values
from secateur_lab.scenarios.bisection import ItemOutcome, Moved, Side, bisect, open_bisected_input, reaches_second_side
from secateur_lab.scenarios.scenario import read_scenario
from support.cli import secateur
from support.repos import QUERY, SHOP, handlers, write

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

Values = dict[str, Any]


def _asked(kind: Kind[Any, Any], path: Path) -> dict[str, Any]:
    return kind.blank_inputs() | {"query": QUERY, "path": str(path)}


def sides(before: Values, after: Values) -> tuple[Side, Side]:
    return Side("A", with_values(Settings(), before)), Side("B", with_values(Settings(), after))


def observed(name: str, inputs: dict[str, Any], settings: Settings, item: str) -> ItemOutcome:
    kind = registry.get_kind(name)
    with open_bisected_input(kind, kind.blank_inputs() | inputs, Environment()) as subject:
        return subject.observed(settings, item)


CASES = {
    "search": ({"smart_pruning.strategy": "density", "budget": 1_500}, {"budget": 6_000, "graph_rag.top_k": 20}),
    "files": (
        {"context_prune.max_tokens": 300, "context_prune.strategy": "delete"},
        {"context_prune.max_tokens": 6_000, "context_prune.full_file_share": 0.2},
    ),
    "conversation": (
        {"conversation_prune.safe_zone_tokens": 20_000},
        {"conversation_prune.safe_zone_tokens": 1_000, "conversation_prune.group_size": 2},
    ),
    "log": ({"log.max_tokens": 100, "log.context_lines": 0}, {"log.max_tokens": 4_000, "log.context_lines": 4}),
}


def inputs_of(name: str, tmp_path: Path) -> dict[str, Any]:
    if name in ("search", "files"):
        write(tmp_path, handlers(8))
        path: Any = str(tmp_path) if name == "search" else [str(tmp_path)]
        return {"query": "handleToolCall", "path": path}
    return {"path": str(EXAMPLES / {"conversation": "session.jsonl", "log": "ci.log"}[name])}


@pytest.mark.parametrize("name", CASES)
def test_the_set_moves_the_item_and_without_any_of_it_the_item_stays(name: str, tmp_path: Path) -> None:
    kind, inputs = registry.get_kind(name), inputs_of(name, tmp_path)
    before, after = sides(*CASES[name])
    with open_bisected_input(kind, kind.blank_inputs() | inputs, Environment()) as subject:
        then = {one.id: one.entry for one in subject.decided(before.settings, (), dropped=99).listed}
        now = {one.id: one.entry for one in subject.decided(after.settings, (), dropped=99).listed}
        moving = [id_ for id_ in then if id_ in now and then[id_].state != now[id_].state]
        assert moving, "the sides decide alike"
        for item in moving[:3]:
            found = bisect(subject, before, after, item)
            assert found.moved is Moved.STATE
            assert found.sets
            for one in found.sets:
                values = {change.key: change.now for change in one.changes}
                seen = observed(name, inputs, with_values(before.settings, values), item)
                assert seen == one.applied
                assert reaches_second_side(seen, found.was, found.now, found.moved)
                for change, without in zip(one.changes, one.without, strict=True):
                    rest = {key: value for key, value in values.items() if key != change.key}
                    assert observed(name, inputs, with_values(before.settings, rest), item) == without
                    assert not reaches_second_side(without, found.was, found.now, found.moved)


def test_two_settings_of_which_each_alone_does_nothing(tmp_path: Path) -> None:
    write(tmp_path, handlers(8))
    item = "tools/m07.py::handle_tool_call_07"
    kind = registry.get_kind("search")
    before, after = sides({"budget": 700, "excludes": [item]}, {"budget": 20_000, "relevance.title": 0.1})
    inputs = kind.blank_inputs() | {"query": "handleToolCall", "path": str(tmp_path)}
    with open_bisected_input(kind, inputs, Environment()) as subject:
        found = bisect(subject, before, after, item)
    (one,) = found.sets
    assert sorted(change.key for change in one.changes) == ["budget", "excludes"]
    assert {seen.reason for seen in one.without} == {"excluded", "larger_than_budget"}
    assert one.applied.state == "kept"
    assert one.taken_back.state == "dropped"


def test_settings_that_move_it_alone_are_all_named_those_that_read_nothing_anew_first(tmp_path: Path) -> None:
    write(tmp_path, SHOP)
    kind, item = registry.get_kind("search"), "shop/refund.py::refund_total"
    before = Side("A", Settings())
    after = Side("B", with_values(Settings(), {"budget": 0, "excludes": [item], "relevance.lexical": 0.6}))
    with open_bisected_input(kind, _asked(kind, tmp_path), Environment()) as subject:
        found = bisect(subject, before, after, item)
    assert [[change.key for change in one.changes] for one in found.sets] == [["budget"], ["excludes"]]
    assert [change.key for change in found.differing] == ["relevance.lexical", "budget", "excludes"]


def test_a_rank_counts_where_it_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, SHOP)
    kind, item = registry.get_kind("search"), "README.md::Shop > Refunds"
    before, after = Side("A", Settings()), Side("B", with_profile(Settings(), "recommended"))
    with open_bisected_input(kind, _asked(kind, tmp_path), Environment()) as subject:
        assert bisect(subject, before, after, item).moved is Moved.NOTHING
        found = bisect(subject, before, after, item, rank=True)
    assert found.moved is Moved.RANK
    assert found.was.rank is not None
    assert found.now.rank is not None
    for one in found.sets:
        assert reaches_second_side(one.applied, found.was, found.now, Moved.RANK)


def test_an_id_that_neither_side_has_is_answered_with_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, SHOP)
    kind = registry.get_kind("search")
    side = Side("A", Settings())
    with (
        open_bisected_input(kind, _asked(kind, tmp_path), Environment()) as subject,
        pytest.raises(SecateurError) as raised,
    ):
        bisect(subject, side, side, "refund.py::refund_totl")
    assert raised.value.code == "NO_SUCH_ITEM"
    assert raised.value.hint == "did you mean shop/refund.py::refund_total?"
    assert os.sep + "tmp" not in raised.value.message


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("envelope", "context_budget.tokens", 1_000),
        ("diff", "chunking.ignore", ["*.py"]),
        ("log", "log.max_tokens", 60),
    ],
)
def test_a_saved_scenario_of_any_kind_is_bisected(saved: Callable[..., Path], name: str, key: str, value: Any) -> None:
    path = saved(name)
    recorded = read_scenario(path).recorded
    assert recorded is not None
    found = []
    for item in [one.id for one in recorded.items]:
        ran = secateur("bisect", path, "--to", f"{key}={json.dumps(value)}", "--item", item, "--format", "json")
        assert (ran.code, ran.err) == (0, ""), item
        answer = ran.json
        if answer["from"]["state"] != answer["to"]["state"]:
            assert [change["key"] for one in answer["sets"] for change in one["settings"]] == [key], answer
            assert answer["sets"][0]["with"]["state"] == answer["to"]["state"]
            found.append(item)
    assert found, "the settings move nothing"
