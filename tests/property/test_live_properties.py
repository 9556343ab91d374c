"""A conversation that is pruned while it grows, in every format: what holds for each step, however the history came
about."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur import Fold
from secateur.settings import Settings, with_values
from secateur_agents import Live, Store
from support.api_conversations import API_FORMATS, api_conversation, refused


def recommended(zone: int, **values: Any) -> Settings:
    wanted = {f"conversation_prune.{key}": value for key, value in values.items()}
    wanted |= {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": zone}
    return with_values(Settings(profile="recommended"), wanted)


def requests(history: list[dict[str, Any]]) -> list[int]:
    """The lengths at which an agent sends the history: before each answer of the model, and at the end."""
    answers = [_answers(message) for message in history]
    ends = [end for end in range(1, len(history)) if answers[end] and not answers[end - 1]]
    return [*ends, len(history)]


def _answers(message: dict[str, Any]) -> bool:
    made = ("ai", "reasoning", "function_call", "web_search_call")
    role = message.get("role") in ("assistant", "model")
    return role or message.get("kind") == "response" or message.get("type") in made


HISTORIES = st.tuples(st.sampled_from(API_FORMATS), st.integers(0, 1 << 40))


@pytest.mark.parametrize("form", API_FORMATS)
@settings(max_examples=8, deadline=None)
@given(
    seed=st.integers(0, 1 << 40),
    zone=st.sampled_from((0, 100, 300, 600, 1200)),
    strategy=st.sampled_from(("staged", "tool-results", "hybrid")),
    pin=st.integers(0, 30),
)
def test_each_step_is_valid_and_begins_as_the_one_before_unless_a_cut_is_made(
    form: str, seed: int, zone: int, strategy: str, pin: int
) -> None:
    history = api_conversation(form, seed)
    pinned = with_values(recommended(zone, strategy=strategy), {"pins": (f"messages[{pin}]",)})
    given, live = copy.deepcopy(history), Live(pinned)
    before: list[Any] = []
    for end in requests(history):
        step = live.step(history[:end])
        assert {notice.code for notice in step.warnings} <= {"few_words_kept"}
        assert refused(step.messages) == [] or refused(history[:end])  # a program of the server still waits
        if step.cache.first_changed is None:
            assert step.messages[: len(before)] == before
        named = {int(entry.id[len("messages[") : -1]) for entry in step.changed}
        assert pin not in named
        assert all(message in step.messages for number, message in enumerate(history[:end]) if number not in named)
        before = step.messages
    assert history == given and not live.failures


@settings(max_examples=8, deadline=None)
@given(history=HISTORIES, zone=st.sampled_from((0, 200, 700)), ends=st.data())
def test_a_fresh_process_gives_the_same_bytes_after_rewinds_and_forks(
    history: tuple[str, int], zone: int, ends: st.DataObject
) -> None:
    messages = api_conversation(*history)
    other = api_conversation(history[0], history[1] + 1)
    live = Live(recommended(zone))
    for _ in range(ends.draw(st.integers(1, 8))):
        end = ends.draw(st.sampled_from(requests(messages)))
        fork = ends.draw(st.booleans())
        given = [*messages[:end], *(other if fork else [])]
        fresh = Live(recommended(zone))
        assert json.dumps(live.step(given).messages) == json.dumps(fresh.step(given).messages)


@settings(max_examples=5, deadline=None)
@given(history=HISTORIES, zone=st.sampled_from((0, 200)))
def test_what_a_caller_does_to_the_messages_changes_no_later_step(history: tuple[str, int], zone: int) -> None:
    messages = api_conversation(*history)
    live = Live(recommended(zone))
    for end in requests(messages):
        given = copy.deepcopy(messages[:end])
        step = live.step(given)
        assert step.messages == Live(recommended(zone)).step(messages[:end]).messages
        for message in (*step.messages, *given):
            message.clear()


@settings(max_examples=12, deadline=None)
@given(history=HISTORIES, zone=st.sampled_from((0, 200, 700)))
def test_what_a_placeholder_names_can_be_had_back(tmp_path_factory: Any, history: tuple[str, int], zone: int) -> None:
    import re

    messages = api_conversation(*history)
    live = Live(recommended(zone), Store.at(tmp_path_factory.mktemp("store")))
    for end in requests(messages):
        step = live.step(messages[:end])
        named = re.findall(r"recall ([0-9a-f]{12})", json.dumps(step.messages))
        assert all("nothing is kept" not in live.recall(digest) for digest in named)
    assert not live.failures


TOOLS = st.tuples(st.integers(1, 5), st.sampled_from((1, 20, 300, 2_000, 6_000)), st.floats(0.2, 1.0))
TURNS = st.lists(st.tuples(st.integers(0, 400), st.lists(TOOLS, max_size=9)), min_size=1, max_size=6)


def worked(turns: list[tuple[int, list[tuple[int, int, float]]]]) -> list[dict[str, Any]]:
    """Turns of a user, with steps of parallel calls whose results have so many words."""
    history: list[dict[str, Any]] = []
    for turn, (words, steps) in enumerate(turns):
        history.append({"role": "user", "content": f"Task {turn}. " + "now " * words})
        for step, (calls, size, share) in enumerate(steps):
            ids = [f"{turn}-{step}-{call}" for call in range(calls)]
            made = [{"id": id_, "type": "function", "function": {"name": "read", "arguments": "{}"}} for id_ in ids]
            history.append({"role": "assistant", "content": None, "tool_calls": made})
            results = [f"{id_} " + "abc " * int(size * share ** (at + 1)) for at, id_ in enumerate(ids)]
            history += [
                {"role": "tool", "tool_call_id": id_, "content": text} for id_, text in zip(ids, results, strict=True)
            ]
        history.append({"role": "assistant", "content": f"Done {turn}."})
    return history


@settings(max_examples=60, deadline=None)
@given(turns=TURNS, zone=st.sampled_from((0, 700, 3_000, 10_000, 30_000)), overhead=st.sampled_from((0, 2_000)))
def test_the_requests_so_far_never_cost_more_than_a_twentieth_above_not_pruning(
    turns: list[tuple[int, list[tuple[int, int, float]]]], zone: int, overhead: int
) -> None:
    for fold in Fold().extend_to(worked(turns), recommended(zone), overhead=overhead, model="gemini-2.5-pro"):
        assert fold.paid <= 1.05 * fold.unpruned + 1
