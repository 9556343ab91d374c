"""Proofs end when their time is up: what was proven until then holds, and of the rest is said that it is not known."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from secateur.render.proofs import sections_of
from secateur.selection.pool_trials import PoolTrials
from secateur.settings import Settings
from secateur.what_if.explanation import Explanation, explain
from secateur.what_if.lever_search import unchanged_range
from secateur.what_if.trials import BUDGET, TimeLimit, TrialRuns
from support.pools import Row, pool_of

FOUND = Settings(budget=500)


@dataclass
class Clock:
    """A clock on which every look takes a second."""

    now: float = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def trials() -> PoolTrials:
    rows = [Row(f"f{n}", tokens=20 + 7 * n, relevance=round(1 - n / 40, 2), distance=n % 4) for n in range(30)]
    return PoolTrials(pool_of(rows), FOUND)


def explained(seconds: float) -> Explanation:
    return explain(trials(), range(30), limit=TimeLimit(seconds, Clock()))


def test_without_time_nothing_is_tried_and_nothing_is_claimed() -> None:
    runs = TrialRuns(trials(), limit=TimeLimit(0, Clock()))
    assert runs.at(BUDGET, 400) is None and not runs.knows(BUDGET, 400)
    assert runs.at(BUDGET, 500) is runs.trials.now, "the present decision is known without a trial"
    assert runs.reached == "0 s"
    assert all(unchanged_range(runs, knob) is None for knob in runs.trials.knobs if len(knob.values) > 1)


def test_more_time_goes_on_from_what_is_known() -> None:
    runs = TrialRuns(trials(), limit=TimeLimit(0, Clock()))
    assert runs.at(BUDGET, 400) is None
    runs.allow(TimeLimit(10, Clock()))
    assert runs.at(BUDGET, 400) is not None and not runs.reached


@pytest.mark.parametrize("seconds", [0, 3, 40, 200])
def test_what_is_proven_in_less_time_is_what_is_proven_in_more(seconds: float) -> None:
    short, whole = explained(seconds), explained(1e9)
    assert not whole.reached and not whole.unknown
    assert short.reached == f"{seconds} s"
    for name, ends in short.ranges.items():
        assert ends is None or ends == whole.ranges[name]
    for item, levers in short.levers.items():
        assert set(levers) <= set(whole.levers[item])
        assert item in short.unknown or bool(levers) is bool(whole.levers[item])


def test_what_is_not_known_is_said() -> None:
    short = explained(3)
    told = short.shape().to_dict()
    assert told["not_known"]["within"] == "3 s"
    assert set(told["not_known"]["ranges"]) == {name for name, ends in short.ranges.items() if ends is None} != set()
    assert told["not_known"]["what_if"] == [short.trials.ids[item] for item in sorted(short.unknown)]
    rows = [str(row) for section in sections_of(short) for row in section.rows]
    assert any("not known: the search ended after 3 s" in row for row in rows)
    assert any("the search ended after 3 s: " in row for row in rows)
    assert "not_known" not in explained(1e9).shape().to_dict()
