"""The JSON of a search stays small beside the text that leaves, whatever was found."""

from __future__ import annotations

import json
from typing import Any

import pytest
from secateur.model import State
from secateur.render import dumps_report, json_report
from secateur.render.bounds import DROPPED_LISTED, JSON_LIMIT, Extent, Sizes, fitted
from secateur.render.structured import LEAST_FIELDS
from secateur.selection import select
from secateur.settings import Settings
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


def beside(text: str, report: dict[str, Any]) -> int:
    """Characters of the report that are no text of a candidate."""
    return len(text) - sum(len(candidate["content"]) for candidate in report["candidates"])


@pytest.mark.parametrize(("kept", "dropped"), [(1, 0), (5, 5000), (22, 3000), (40, 3000), (80, 3000), (120, 200)])
def test_what_stands_beside_the_text_is_bounded(kept: int, dropped: int) -> None:
    text, report = written(kept, dropped)
    assert beside(text, report) <= JSON_LIMIT
    assert len(report["candidates"]) == kept
    assert all(
        set(LEAST_FIELDS) <= candidate.keys() and candidate["content"] == TEXT for candidate in report["candidates"]
    )
    for entries, before, after in (
        (report["ledger"]["entries"], "before", "after"),
        (report["report"]["actions"], "beforeTokens", "afterTokens"),
    ):
        assert sum(entry[before] for entry in entries) == report["ledger"]["before"] == 10 * kept + 10**6 * dropped
        assert sum(entry[after] for entry in entries) == report["token_count"]


def test_what_is_left_out_is_said_and_can_be_had() -> None:
    _, report = written(60, 3000)
    (notice,) = [warning for warning in report["warnings"] if warning["code"] == "json_shortened"]
    assert f"{len(report['dropped'])} of 20 dropped candidates" in notice["message"]
    assert "--dropped all" in notice["message"]
    detailed = ["priority" in candidate for candidate in report["candidates"]]
    assert detailed == sorted(detailed, reverse=True)  # the best keep their details
    whole = written(60, 3000, None)[1]
    assert len(whole["dropped"]) == 3000
    assert "json_shortened" not in [warning["code"] for warning in whole["warnings"]]
    assert all("priority" in candidate for candidate in whole["candidates"])
    assert beside(*written(60, 3000, 0)) <= JSON_LIMIT


def test_those_not_listed_are_one_entry_a_state_each_of_its_own_id() -> None:
    _, report = written(400, 3000)
    for ids in (
        [entry["id"] for entry in report["ledger"]["entries"]],
        [action["section"] for action in report["report"]["actions"]],
    ):
        assert len(ids) == len(set(ids)) and {"not-listed", "not-listed-kept"} <= set(ids)
    entries = {entry["id"]: entry for entry in report["ledger"]["entries"]}
    dropped, kept = entries["not-listed"], entries["not-listed-kept"]
    assert (dropped["state"], dropped["reason"], dropped["after"]) == ("dropped", "not_listed", 0)
    assert (kept["state"], kept["reason"], kept["after"]) == ("kept", "not_listed", 10 * kept["figures"]["items"])
    listed = len(entries) - 3  # without those two and the wrapper
    assert listed + dropped["figures"]["items"] + kept["figures"]["items"] == 3400


def test_a_small_answer_lists_everything() -> None:
    _, report = written(8, 20)
    assert len(report["dropped"]) == 20
    assert report["warnings"] == []
    assert [entry["id"] for entry in report["ledger"]["entries"]][-1] == "wrapper"
    assert "not-listed" not in [entry["id"] for entry in report["ledger"]["entries"]]


def test_what_is_asked_for_is_not_bounded() -> None:
    text, report = written(120, 200, explain=True)
    assert beside(text, report) > JSON_LIMIT
    assert all("priority" in candidate for candidate in report["candidates"])


ROOM = JSON_LIMIT - 1_200 - 20 * 100 - 9 * 100
"""What is free for everything else where all of `SIZES` is listed."""


@pytest.mark.parametrize(
    ("over", "expected"),
    [
        (0, Extent(20, 3, 3, 3)),
        (1, Extent(20, 3, 2, 3)),
        (301, Extent(19, 3, 0, 3)),
        (1800, Extent(5, 3, 0, 3)),
        (2000, Extent(5, 1, 0, 3)),
        (2200, Extent(4, 0, 0, 3)),
        (2700, Extent(0, 0, 0, 2)),
        (9999, Extent(0, 0, 0, 0)),
    ],
)
def test_details_go_in_the_order_of_their_worth(over: int, expected: Extent) -> None:
    assert fitted(Sizes(ROOM + over, [100] * 20, [100] * 3, [100] * 3, [100] * 3)) == expected
