"""What a lever takes from a summary is a part of its cost, however the summaries are called then."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from secateur.kinds import registry
from secateur.kinds.base import Environment
from secateur.kinds.conversation.decisions import Pruned
from secateur.kinds.run import answer_of, trials_of
from secateur.ledger import Reason
from secateur.model import State
from secateur.settings import Settings, with_values
from secateur.what_if.explanation import explain_one
from secateur.what_if.trials import TrialRuns
from support.conversations import conversation
from support.facts import SEEN, facts, planted

CONVERSATION = registry.get_kind("conversation")


@pytest.fixture
def path(tmp_path: Path) -> str:
    random = Random(5)
    messages = conversation(
        "anthropic", list(planted(facts(SEEN, random)[:6], random, steps=2, lines=10)), asks="And now?"
    )
    (tmp_path / "talk.json").write_text(json.dumps(messages))
    return str(tmp_path / "talk.json")


def told_lines(pruned: Pruned) -> set[str]:
    """The lines of all summaries that go out, without speakers."""
    texts = [json.loads(json.dumps(item.message))["content"] for item in pruned.items if item.number < 0]
    lines = [line for text in texts if text.startswith("[Summary of ") for line in text.splitlines()[1:]]
    return {re.sub(r"^(- [^:]+: |  )", "", line).strip() for line in lines}


@pytest.mark.parametrize("strategy", ["hybrid", "summarize"])
def test_a_lever_shortens_the_summary_exactly_where_it_says_less_of_the_same_messages(path: str, strategy: str) -> None:
    inputs: dict[str, Any] = {**CONVERSATION.blank_inputs(), "path": path}
    settings = with_values(
        Settings(), {"conversation_prune.strategy": strategy, "conversation_prune.safe_zone_tokens": 500}
    )
    material = CONVERSATION.read(inputs, settings, Environment())
    now = answer_of(CONVERSATION, material, inputs, settings)
    trials = trials_of(CONVERSATION, material, inputs, settings, now)
    summaries = [index for index, entry in enumerate(now.ledger.entries) if entry.reason is Reason.SUMMARY]
    told = {item.number for item in now.payload.items if item.state.label == "summarised"}
    assert len(summaries) == 1 and len(told) > 10
    runs, shortened = TrialRuns(trials), 0
    dropped = [index for index, state in enumerate(trials.now.state) if state != State.KEPT and index not in summaries]
    for lever in (lever for item in dropped[:2] for lever in explain_one(trials, item)[0]):
        assert runs.at(lever.name, lever.value) is not None
        then = CONVERSATION.decide(
            material, inputs, with_values(settings, trials.changes(lever.name, lever.value))
        ).payload
        messages = json.loads(Path(path).read_text())
        whole = {item.number for item in then.items if item.state.label == "kept"}
        own = " ".join(json.dumps(messages[number], ensure_ascii=False) for number in whole)
        missing = {line for line in told_lines(now.payload) - told_lines(then) if json.dumps(line)[1:-1] not in own}
        said = json.dumps([messages[number] for number in told - whole], ensure_ascii=False)
        less = [line for line in missing if json.dumps(line.strip("…"), ensure_ascii=False)[1:-1] in said]
        sides = {*lever.others.shortens, *lever.others.loses}
        assert sides.isdisjoint(summaries) == (not less), (lever.typed, less)
        shortened += bool(less)
    assert shortened
