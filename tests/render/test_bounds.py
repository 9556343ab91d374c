"""The JSON of a search holds all of what is kept, and stays small beside it, whatever was found."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from secateur import Engine
from secateur.cli.schemas import schemas
from secateur.model import State
from secateur.render.search_json import DROPPED_LISTED, JSON_LIMIT, fit_extent, json_report
from secateur.selection import select
from secateur.settings import Settings
from secateur.shape import dumps_report
from support.engine_answers import printed
from support.json_shapes import violations
from support.pools import Row, pool_of

TEXT = 'def f():\n    return "é\x1b"\n'


def written(
    kept: int, dropped: int, most: int | None = DROPPED_LISTED, explain: bool = False
) -> tuple[str, dict[str, Any]]:
    """The printed report of a selection with so many candidates, and what a reader makes of it."""
    rows = [Row(f"handler_{i}", 10, 0.9, path=f"src/some/folder/of/the/project/module_{i}.py") for i in range(kept)]
    rows += [Row(f"other_{i}", 10**6, 0.5, path=f"src/some/folder/module_{i}.py") for i in range(dropped)]
    selection = select(pool_of(rows), Settings(budget=10 * kept))
    assert selection.counts(State.KEPT)[0] == kept
    text = dumps_report(json_report(selection, lambda _: TEXT, str, 10 * kept, dropped=most, explain=explain))
    return text, json.loads(text)


def bounded(report: dict[str, Any]) -> int:
    """Characters of the lists that are bounded."""
    return sum(len(dumps_report(part)) for part in (report["dropped"], report["graph"], report["report"]["actions"]))


def check_kept(report: dict[str, Any], kept: Iterable[str]) -> None:
    """Every kept candidate has each field of the contract, and its entry in the ledger."""
    required = set(schemas()["search"]["$defs"]["Candidate"]["required"])
    assert {"priority", "terms", "decision", "token_count", "content"} <= required
    assert [candidate["symbol_id"] for candidate in report["candidates"]] == list(kept)
    assert all(required <= candidate.keys() for candidate in report["candidates"])
    entries = {entry["id"]: entry for entry in report["ledger"]["entries"]}
    for candidate in report["candidates"]:
        entry = entries[candidate["symbol_id"]]
        assert (entry["state"], entry["reason"]) == (candidate["decision"]["state"], candidate["decision"]["reason"])
        assert entry["after"] == candidate["token_count"]


@pytest.mark.parametrize(("kept", "dropped"), [(1, 0), (5, 5000), (22, 3000), (80, 3000), (120, 200), (400, 3000)])
def test_what_stands_beside_the_kept_is_bounded(kept: int, dropped: int) -> None:
    _, report = written(kept, dropped)
    assert bounded(report) <= JSON_LIMIT
    assert len(report["candidates"]) == kept
    check_kept(report, (candidate["symbol_id"] for candidate in report["candidates"]))
    assert {candidate["content"] for candidate in report["candidates"]} == {TEXT}
    for entries, before, after in (
        (report["ledger"]["entries"], "before", "after"),
        (report["report"]["actions"], "beforeTokens", "afterTokens"),
    ):
        assert sum(entry[before] for entry in entries) == report["ledger"]["before"] == 10 * kept + 10**6 * dropped
        assert sum(entry[after] for entry in entries) == report["token_count"]


@pytest.fixture(scope="module")
def engine(orders: Path) -> Iterator[Engine]:
    with Engine.open(orders) as opened:
        yield opened


@budgeted(max_examples=8)
@given(share=st.floats(0, 1), profile=st.sampled_from(["spec", "recommended"]))
@example(share=1, profile="spec")
@example(share=1, profile="recommended")
def test_a_kept_candidate_has_every_field_at_any_budget(engine: Engine, share: float, profile: str) -> None:
    """Up to the budget at which everything is kept."""
    pool = engine.retrieve("how is a refund paid out", Settings(profile=profile))
    enough = 2 * int(pool.tokens.sum())
    selection = engine.select(pool, Settings(profile=profile, budget=int(share * enough)))
    assert share < 1 or not selection.dropped_rows
    report = json.loads(printed(engine, selection, "json"))
    check_kept(report, (pool.symbol_id[row] for row in selection.kept_rows))
    assert bounded(report) <= JSON_LIMIT
    assert violations("search", report) == []


def test_what_is_left_out_is_said_and_can_be_had() -> None:
    _, report = written(300, 3000)
    (notice,) = [warning for warning in report["warnings"] if warning["code"] == "json_shortened"]
    assert "of 300 actions of kept candidates" in notice["message"]
    assert "--dropped all" in notice["message"]
    whole = written(300, 3000, None)[1]
    assert len(whole["dropped"]) == 3000 and len(whole["report"]["actions"]) == 3300
    assert "json_shortened" not in [warning["code"] for warning in whole["warnings"]]
    assert bounded(written(300, 3000, 0)[1]) <= JSON_LIMIT


def test_those_not_listed_are_one_entry_a_state_each_of_its_own_id() -> None:
    _, report = written(400, 3000)
    actions = {action["section"]: action for action in report["report"]["actions"]}
    entries = {entry["id"]: entry for entry in report["ledger"]["entries"]}
    assert len(actions) == len(report["report"]["actions"]) and len(entries) == len(report["ledger"]["entries"])
    dropped = entries["not-listed"]
    assert (dropped["state"], dropped["reason"], dropped["after"]) == ("dropped", "not_listed", 0)
    assert len(entries) - 2 + dropped["figures"]["items"] == 3400  # without that one and the wrapper
    assert actions["not-listed"]["beforeTokens"] == dropped["before"]
    kept = [action for action in actions.values() if action["action"] == "keep"]
    assert actions["not-listed-kept"] in kept and sum(action["afterTokens"] for action in kept) == 4000


def test_a_small_answer_lists_everything() -> None:
    _, report = written(8, 20)
    assert len(report["dropped"]) == 20
    assert report["warnings"] == []
    assert [entry["id"] for entry in report["ledger"]["entries"]][-1] == "wrapper"
    assert "not-listed" not in [entry["id"] for entry in report["ledger"]["entries"]]


def test_what_is_asked_for_is_not_bounded() -> None:
    _, report = written(300, 200, explain=True)
    assert bounded(report) > JSON_LIMIT


ROOM = JSON_LIMIT - 800
"""What `fit_extent` lets through."""


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        (0, (3, 3, 20)),
        (1, (2, 3, 20)),
        (301, (0, 2, 20)),
        (601, (0, 0, 19)),
        (2501, (0, 0, 0)),
    ],
)
def test_actions_go_before_the_graph_and_the_graph_before_the_dropped(over: int, expected: tuple[int, ...]) -> None:
    assert fit_extent([100] * 3, [100] * 3, [ROOM - 2500 + over] + [100] * 19) == expected
