"""What a lever takes from a summary is a part of its cost, however the summaries are called then."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.kinds.conversation.decisions import Pruned
from secateur.kinds.run import answer_of, trials_of
from secateur.ledger import Reason
from secateur.settings import Settings, with_values
from secateur.what_if.explanation import explain
from secateur.what_if.trials import TrialRuns
from support.conversations import conversation
from support.facts import SEEN, facts, planted

CONVERSATION = registry.get_kind("conversation")


@pytest.fixture
def path(tmp_path: Path) -> str:
    random = Random(5)
    messages = conversation("anthropic", list(planted(facts(SEEN, random), random, steps=3, lines=40)), asks="And now?")
    (tmp_path / "talk.json").write_text(json.dumps(messages))
    return str(tmp_path / "talk.json")


def summary_tokens(pruned: Pruned, numbers: set[int]) -> float:
    """The tokens of summaries, without those of them that stand for other messages than these, by their sizes."""
    total, size, told = 0.0, 0, []
    for item in [*pruned.items, None]:
        if item is None or item.number < 0:
            if told:
                mine = sum(each.before for each in told if each.number in numbers)
                total, size, told = total + size * mine / (sum(each.before for each in told) or 1), 0, []
            size += item.after if item is not None else 0
        elif item.state.label == "summarised":
            told.append(item)
    return total


@pytest.mark.parametrize("strategy", ["hybrid", "summarize"])
def test_a_lever_shortens_the_summary_exactly_where_it_says_less_of_the_same_messages(path: str, strategy: str) -> None:
    inputs: dict[str, Any] = {**CONVERSATION.blank_inputs(), "path": path}
    settings = with_values(
        Settings(), {"conversation_prune.strategy": strategy, "conversation_prune.safe_zone_tokens": 2500}
    )
    material = CONVERSATION.read(inputs, settings, Environment())
    now = answer_of(CONVERSATION, material, inputs, settings)
    trials = trials_of(CONVERSATION, material, inputs, settings, now)
    summaries = [index for index, entry in enumerate(now.ledger.entries) if entry.reason is Reason.SUMMARY]
    told = {item.number for item in now.payload.items if item.state.label == "summarised"}
    assert len(summaries) == 1 and len(told) > 10
    explanation, runs, shortened = explain(trials), TrialRuns(trials), 0
    for lever in (lever for levers in explanation.levers.values() for lever in levers):
        assert runs.at(lever.name, lever.value) is not None
        then = CONVERSATION.decide(
            material, inputs, with_values(settings, trials.changes(lever.name, lever.value))
        ).payload
        still = {item.number for item in then.items if item.state.label == "summarised"} & told
        less = round(summary_tokens(now.payload, still) - summary_tokens(then, still))
        sides = {*lever.others.shortens, *lever.others.loses}
        assert sides.isdisjoint(summaries) == (less <= 0), lever.typed
        shortened += less > 0
    assert shortened
    assert not any(explanation.levers.get(summary) for summary in summaries)
    assert all(point.whole + point.partly <= len(material.transcript.messages) for point in explanation.curve.points)
