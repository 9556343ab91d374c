"""Pruning while an agent works: what a step does where all is well, and that an agent loses nothing where it is not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from secateur.kinds.conversation import folds
from secateur.model import Reason, State
from secateur.settings import Settings, with_values
from secateur_agents import Live, Store

NOTE = "File unchanged since last read. Refer to the earlier result."


TASK = "Mend the rounding." + " Rules" * 5_333  # 8,000 tokens, which make a cut of the rest cheap


def settings(zone: int) -> Settings:
    """`zone`: tokens beside the task."""
    values = {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 8_000 + zone}
    return with_values(Settings(profile="recommended"), values)


def history(steps: int, task: str = TASK) -> list[dict[str, Any]]:
    """A task, and steps of a read each of 250 tokens."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": task}]
    for number in range(steps):
        messages += read(f"c{number}", f"{number}.py", f"value = {number}\n" * 100)
    return messages


def read(call: str, path: str, result: str) -> list[dict[str, Any]]:
    block = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}}
    told = {"type": "tool_result", "tool_use_id": call, "content": result}
    return [{"role": "assistant", "content": [block]}, {"role": "user", "content": [told]}]


def test_what_fits_leaves_as_it_is() -> None:
    messages = history(4)
    step = Live(settings(9_000)).step(messages)
    assert step.messages == messages and step.messages[1] is messages[1]
    assert step.changed == () and step.cache.first_changed is None


def test_a_cut_is_made_once_said_with_its_reasons_and_lasts() -> None:
    live, messages = Live(settings(2_000)), history(8)
    step = live.step(messages)
    assert [entry.id for entry in step.changed] == [f"messages[{number}]" for number in (2, 4, 6, 8, 10)]
    assert {(entry.state, entry.reason) for entry in step.changed} == {(State.SHORTENED, Reason.OLDEST_RESULT)}
    assert step.cache.first_changed == 2 and step.cache.tokens_saved > 800 and step.cache.pays_after
    later = live.step([*messages, *read("next", "next.py", "value = 1\n" * 20)])
    assert later.messages[: len(step.messages)] == step.messages
    assert later.changed == step.changed and later.cache.first_changed is None


def test_the_rest_of_the_request_needs_room_too() -> None:
    live, messages = Live(settings(2_500)), history(8)
    assert live.step(messages).changed == ()
    assert live.step(messages, overhead=1_000).changed != ()
    assert live.step(messages, overhead=999) == live.step(messages, overhead=1_000)


def test_the_zone_holds_in_the_tokens_of_the_model_that_is_asked() -> None:
    zone = {"conversation_prune.safe_zone_tokens": 11_000}
    messages, plain = history(8), with_values(Settings(profile="recommended"), zone)
    assert Live(plain).step(messages).changed == Live(plain, model="gpt-5").step(messages).changed == ()
    assert Live(plain, model="claude-opus-4-7").step(messages).changed != ()


def test_a_shape_that_is_not_read_leaves_as_it_is_and_is_counted() -> None:
    live, messages = Live(settings(-8_000)), [{"turn": "x" * 100}, {"turn": "y"}]
    step = live.step(messages)
    assert step.messages == messages and live.failures == 1
    assert [notice.code for notice in step.warnings] == ["not_pruned"]
    assert Live(settings(-8_000)).step([]).messages == []


def test_over_its_bound_of_work_a_history_goes_on_from_the_last_cut_whoever_folds_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    messages, more = history(8), history(40)
    cut = Live(settings(2_000)).step(messages)
    *_, fold = folds.Fold().extend_to(messages, settings(2_000))
    monkeypatch.setattr(folds, "MOST_WORK", fold.work + 1)
    live = Live(settings(2_000))
    assert live.step(messages) == cut and live.failures == 0
    late = live.step(more)
    assert late.messages == [*cut.messages, *more[len(messages) :]] and late.changed == cut.changed
    assert live.failures == 1 and f"needs more than {fold.work + 1:,} tokens of work" in late.warnings[0].message
    assert Live(settings(2_000)).step(more).messages == late.messages
    monkeypatch.setattr(folds, "MOST_WORK", 10)
    assert Live(settings(2_000)).step(more).messages == more


def test_nothing_is_promised_that_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    live, messages = Live(settings(2_000), Store.at(tmp_path / "taken")), history(8)
    step = live.step(messages)
    assert step.messages == messages and live.failures == 1
    assert "cannot write" in step.warnings[0].message
    assert live.recall("0123456789ab").startswith("nothing is kept under 0123456789ab")


def test_what_was_taken_out_is_had_back_by_the_digest_that_stands_in_its_place(tmp_path: Path) -> None:
    live, messages = Live(settings(2_000), Store.at(tmp_path)), history(8)
    step = live.step(messages)
    digests = re.findall(r"recall ([0-9a-f]{12}) gives it back", json.dumps(step.messages))
    assert len(digests) == 5
    assert live.recall(digests[0]) == "value = 0\n" * 100
    assert live.recall(digests[0], lines="2-3") == "value = 0\n" * 2
    assert live.recall(digests[0], lines="900").startswith("lines 900 are outside its 100 lines")
    assert "sha256" not in json.dumps(step.messages) and "call it again" not in json.dumps(step.messages)


def test_without_a_store_recall_is_a_sentence() -> None:
    assert Live(settings(10)).recall("0123456789ab") == "Nothing is kept here: make the call again, or read the file."


def test_a_summary_names_the_messages_it_stands_for(tmp_path: Path) -> None:
    talk = [
        {"role": role, "content": f"{role} {number}: we decided to keep the rounding. " * 20}
        for number in range(8)
        for role in ("user", "assistant")
    ]
    live = Live(settings(2_000), Store.at(tmp_path))
    talk = [{"role": "user", "content": TASK}, {"role": "assistant", "content": "Yes."}, *talk]
    step = live.step([*talk, {"role": "user", "content": "Go on."}])
    digests = re.findall(r"recall ([0-9a-f]{12}) gives them whole", json.dumps(step.messages))
    gone = [message for message in talk if message not in step.messages]
    assert gone and all(any(message["content"] in live.recall(digest) for digest in digests) for message in gone)


def test_notes_that_a_file_is_unchanged_use_up_little_of_the_bound_of_work() -> None:
    messages = history(30)
    for number in range(30):
        messages += read(f"n{number}", f"{number}.py", NOTE)
    *_, last = folds.Fold().extend_to(messages, settings(1_000_000))
    assert last.whole <= last.work < 2 * last.whole


def test_a_note_that_a_file_is_unchanged_holds_the_text_where_the_read_was_cleared() -> None:
    live, messages = Live(settings(2_000)), history(8)
    assert "value = 0" not in json.dumps(live.step(messages).messages)
    again = [*messages, *read("again", "0.py", NOTE)]
    step = live.step(again)
    assert step.messages[-1]["content"][0]["content"] == "value = 0\n" * 100
    assert step.changed[-1].reason is Reason.RENEWED and step.messages[:-2] == live.step(messages).messages
    twice = live.step([*again, *read("twice", "0.py", NOTE)])
    assert twice.messages[-1]["content"][0]["content"] == NOTE, "it points to what stands there"
    standing = live.step([*messages, *read("last", "7.py", NOTE)])
    assert standing.messages[-1]["content"][0]["content"] == NOTE


def test_one_serves_several_conversations() -> None:
    live, one, other = Live(settings(2_000)), history(8), history(9, "Rename it." + TASK)
    steps = [live.step(messages) for messages in (one, other, one, other)]
    assert steps[0] == steps[2] and steps[1] == steps[3] and not live.failures
