"""The ledger of pruning request by request over a session."""

from collections.abc import Sequence
from typing import Any

import pytest
from secateur.kinds.conversation.decisions import MeasuredTranscript, measure
from secateur.kinds.conversation.folds import Fold, describe_cut, describe_ledger, find_cut, live_ledger
from secateur.kinds.conversation.transcripts import read_messages, read_transcript
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from secateur_agents import Live
from support import agent_sessions as agents

SETTINGS = with_values(
    Settings(profile="recommended"), {"conversation_prune.safe_zone_tokens": 1_200, "tokens.counter": "chars4"}
)
STEPS = [agents.tool("read", f"shop/{number}.py", f"TAX = {number}\n" * 60) for number in range(40)]
SESSION = (*agents.SCRIPT, *STEPS, agents.said("Seven."))


def session(script: Sequence[agents.Step], tool: str = "Read") -> MeasuredTranscript:
    lines = agents.as_lines(agents.claude_code(script)).replace('"Read"', f'"{tool}"')
    transcript = read_transcript(lines.encode())
    return measure(transcript, get_counter("chars4"))


def test_the_ledger_is_what_live_did_at_each_request() -> None:
    measured, live = session(SESSION), Live(SETTINGS)
    messages = [message.raw for message in measured.transcript.messages if message.role != "aside"]
    ends = [
        number
        for number in range(1, len(messages))
        if messages[number]["type"] == "assistant" != messages[number - 1]["type"]
    ]
    steps = [live.step(messages[:end]) for end in (*ends, len(messages))]
    ledger = live_ledger(measured, SETTINGS)
    assert ledger.requests == len(steps)
    cuts = [number for number, step in enumerate(steps, 1) if step.cache.first_changed is not None]
    assert [cut.request for cut in ledger.cuts] == cuts and len(cuts) > 1
    last = {entry.id: entry for entry in steps[-1].changed if entry.before != entry.after}
    assert {entry.id: entry for cut in ledger.cuts for entry in cut.entries} == last
    sent = sum(measure(read_messages(step.messages), get_counter("chars4")).total for step in steps)
    whole = sum(measure(read_messages(messages[:end]), get_counter("chars4")).total for end in (*ends, len(messages)))
    assert ledger.not_sent == whole - sent
    assert ledger.paid_share is not None and ledger.paid_share > 0


def test_a_ledger_and_its_cuts_are_told_with_their_reasons() -> None:
    ledger = live_ledger(session(SESSION), SETTINGS)
    assert describe_ledger(ledger).endswith(f"paid {ledger.paid_share:.0%}, {ledger.not_sent:,} tokens not sent")
    assert describe_cut(ledger.cuts[0]).startswith(f"before request {ledger.cuts[0].request}: ")
    assert "oldest_group" in describe_cut(ledger.cuts[0])
    number = int(ledger.cuts[0].entries[0].id[len("messages[") : -1])
    assert find_cut(ledger, number) is not None and find_cut(ledger, 10_000) is None
    assert ledger.recalls == 0
    recalled = live_ledger(session(SESSION, tool="mcp__secateur__recall"), SETTINGS)
    assert recalled.recalls == 43 and describe_ledger(recalled).endswith("43 recalls")


def test_under_another_profile_live_cuts_as_recommended_with_the_safe_zone_of_the_session() -> None:
    settings = with_values(Settings(), {"conversation_prune.safe_zone_tokens": 1_200, "tokens.counter": "chars4"})
    assert live_ledger(session(SESSION), settings) == live_ledger(session(SESSION), SETTINGS)


def growing(results: int, words: int) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(results):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "read", "arguments": f'{{"n": {number}}}'}}
        history.append({"role": "assistant", "content": None, "tool_calls": [call]})
        history.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"w{number} " * words})
    return history


@pytest.mark.parametrize(("model", "window"), [("", 200_000), ("gpt-4", 8_192)])
def test_results_near_the_zone_wait_until_a_cut_pays_or_the_window_is_full(model: str, window: int) -> None:
    zone = 3_000
    settings = with_values(Settings(profile="recommended"), {"conversation_prune.safe_zone_tokens": zone})
    folds = list(Fold().extend_to(growing(30, 1_000), settings, model=model, counter=get_counter("chars4")))
    assert folds[-1].paid < 0.8 * folds[-1].unpruned
    assert sum(fold.cut is not None for fold in folds) < 12
    above = [fold.tokens for fold in folds if fold.cut is None and fold.tokens > zone]
    assert len(above) > 12 and max(above) <= window
