"""Sessions of Claude Code as trees: which branch a model is sent, and that the others come back as they were."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.kinds.conversation.decisions import measure
from secateur.kinds.conversation.messages import ASIDE
from secateur.kinds.conversation.session_formats.claude_code import sent_lines
from secateur.kinds.conversation.strategies import STRATEGIES, prune
from secateur.kinds.conversation.transcripts import Transcript, read_transcript
from secateur.kinds.conversation.window_contents import window_contents
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter

LONG = "value = 1\n" * 200


def line(name: str, parent: str | None, text: str, side: str = "user", **more: Any) -> dict[str, Any]:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": side,
        "message": {"role": side, "content": text},
        "uuid": name,
        "sessionId": "s",
    } | more


def said(
    name: str, parent: str | None, *blocks: dict[str, Any], side: str = "assistant", answer: str = ""
) -> dict[str, Any]:
    message = {"role": side, "content": list(blocks)} | ({"id": answer} if answer else {})
    return line(name, parent, "", side) | {"message": message}


def used(call: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": f"{call}.py"}}


def got(call: str, text: str = "x") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": text}


def session(lines: Sequence[dict[str, Any]]) -> Transcript:
    return read_transcript("".join(json.dumps(row) + "\n" for row in lines).encode())


def reached(lines: Sequence[dict[str, Any]]) -> list[str]:
    return [message.raw["uuid"] for message in session(lines).messages if message.role != ASIDE]


FORK = [
    line("u1", None, "Build it."),
    line("a1", "u1", "I build it.", "assistant"),
    line("u2", "a1", "No, like this. " + LONG),
    line("a2", "u2", "Like this then. " + LONG, "assistant"),
    line("u3", "a1", "No, like that. " + LONG),
    line("a3", "u3", "Like that then. " + LONG, "assistant"),
    line("u4", "a3", "And now?"),
]


def test_only_the_branch_of_the_last_line_is_the_conversation() -> None:
    assert reached(FORK) == ["u1", "a1", "u3", "a3", "u4"]
    assert reached(FORK[:4]) == ["u1", "a1", "u2", "a2"]
    assert reached([*FORK, line("u5", "a2", "Back to the first.")]) == ["u1", "a1", "u2", "a2", "u5"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_other_branches_cost_nothing_and_come_back(strategy: str) -> None:
    settings = with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 60})
    result = prune(session(FORK), settings, strategy)
    actions = {action.section: action for action in result.report.actions}
    for number in (2, 3):
        assert (actions[f"messages[{number}]"].before, actions[f"messages[{number}]"].reason) == (0, "aside")
    out = {message["uuid"]: message for message in result.messages}
    assert {name: out[name]["message"] for name in ("u2", "a2")} == {
        name: row["message"] for row in FORK if (name := row["uuid"]) in ("u2", "a2")
    }
    assert all(message["parentUuid"] is None or message["parentUuid"] in out for message in out.values()), (
        "a line follows one that is not there"
    )
    if strategy != "tool-results":
        assert result.report.after <= 60
        again = session(result.messages)
        assert [message.raw["uuid"] for message in again.messages if message.role != ASIDE] == [
            message["uuid"] for message in result.messages if message["uuid"] not in ("u2", "a2")
        ]


def test_a_summary_follows_what_the_first_line_it_stands_for_followed() -> None:
    rows = [
        line("u0", None, "Start."),
        line("a0", "u0", "Yes.", "assistant"),
        *[row | {"parentUuid": row["parentUuid"] or "a0"} for row in FORK],
    ]
    settings = with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 150})
    result = prune(session(rows), settings, "summarize")
    out = [message for message in result.messages if message["uuid"] not in ("u2", "a2")]
    assert [message["parentUuid"] for message in out] == [None, *(message["uuid"] for message in out[:-1])]
    assert out[-1]["uuid"] == "u4"


def test_calls_made_at_once_are_one_branch() -> None:
    rows = [
        line("u1", None, "Read both."),
        said("a1", "u1", used("c1"), answer="msg"),
        said("a2", "a1", used("c2"), answer="msg"),
        said("r1", "a1", got("c1"), side="user"),
        said("r2", "a2", got("c2"), side="user"),
        line("a3", "r2", "Read.", "assistant"),
    ]
    everything = [row["uuid"] for row in rows]
    assert reached(rows) == everything
    rows[-1]["parentUuid"] = "r1"  # whichever result came last
    assert reached(rows) == everything


def test_a_call_that_was_tried_again_has_one_result() -> None:
    rows = [
        line("u1", None, "Read it."),
        said("a1", "u1", used("c1")),
        said("r1", "a1", got("c1", "first"), side="user"),
        said("r2", "a1", got("c1", "second"), side="user"),
        line("a2", "r2", "Read.", "assistant"),
    ]
    assert reached(rows) == ["u1", "a1", "r2", "a2"]


def test_notices_are_walked_through_and_side_chains_are_not_reached() -> None:
    rows = [
        line("u1", None, "Go."),
        {"type": "attachment", "uuid": "n1", "parentUuid": "u1", "sessionId": "s"},
        line("s1", "u1", "Look around.", isSidechain=True),
        line("a1", "n1", "Gone.", "assistant"),
        line("s2", "s1", "Looked.", "assistant", isSidechain=True),
    ]
    assert reached(rows) == ["u1", "a1"]


def test_attachments_on_the_branch_count_as_reminders_and_stay() -> None:
    def attached(name: str, parent: str, told: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"type": "attachment", "uuid": name, "parentUuid": parent, "sessionId": "s", "attachment": told} | more

    file = {"type": "file", "filename": "a.py", "content": {"type": "text", "file": {"content": LONG}}}
    rows = [
        line("u1", None, "Look at @a.py."),
        attached("n1", "u1", file),
        attached("n2", "n1", {"type": "hook_success", "hookEvent": "PostToolUse", "content": LONG}),
        attached("n3", "n1", file, isSidechain=True),
        line("a0", "n2", "Wrong.", "assistant"),
        attached("n4", "a0", file),
        line("a1", "n2", "Seen. " + LONG, "assistant"),
        line("u2", "a1", "And now?"),
        attached("n5", "u2", {"type": "todo_reminder", "content": [{"content": "Mend it.", "status": "pending"}]}),
    ]
    assert reached(rows) == ["u1", "n1", "a1", "u2", "n5"]
    measured = measure(session(rows), get_counter("chars4"))
    shares = {share.what: share.tokens for share in window_contents(measured)}
    assert measured.tokens[1] > 500 and shares["attachments"] == measured.tokens[1] + measured.tokens[-1]
    settings = with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 0})
    for strategy in STRATEGIES:
        result = prune(measured.transcript, settings, strategy)
        assert [row for row in result.messages if row["uuid"] == "n1"][0]["attachment"] == file  # noqa: RUF015
        assert result.items[-1].message is not None


def test_nothing_before_the_last_compaction_is_reached() -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b",
        "parentUuid": None,
        "logicalParentUuid": "u4",
        "sessionId": "s",
    }
    rows = [
        *FORK,
        boundary,
        line("k1", "b", "What was said so far.", isCompactSummary=True),
        line("a9", "k1", "Yes.", "assistant"),
    ]
    assert reached(rows) == ["k1", "a9"]
    assert reached([*rows, line("u9", "a3", "A line that follows one from before.")]) == ["u9"]


def test_a_line_whose_parent_is_not_in_the_file_follows_the_one_before_it() -> None:
    rows = [
        line("u1", "lost", "Go."),
        line("a1", "u1", "Yes.", "assistant"),
        line("u2", "lost too", "On."),
        line("a2", "u2", "Yes.", "assistant"),
    ]
    assert reached(rows) == ["u1", "a1", "u2", "a2"]
    for row in rows:
        del row["parentUuid"]
    assert reached(rows) == ["u1", "a1", "u2", "a2"]


def test_where_the_names_make_no_tree_every_line_counts() -> None:
    circle = [
        line("u1", "a2", "Go."),
        line("a1", "u1", "Yes.", "assistant"),
        line("u2", "a1", "On."),
        line("a2", "u2", "Yes.", "assistant"),
    ]
    assert reached(circle) == ["u1", "a1", "u2", "a2"]
    twice = [line("u1", None, "Go."), line("a1", "u1", "Yes.", "assistant"), line("a1", "u1", "No.", "assistant")]
    assert reached(twice) == ["u1", "a1", "a1"]
    assert reached([line("u1", "u1", "Go.")]) == ["u1"]


@given(
    parents=st.lists(st.one_of(st.none(), st.integers(-2, 12), st.just("x"), st.just([1])), min_size=1, max_size=12),
    boundary=st.integers(-1, 11),
)
def test_any_graph_has_an_answer_that_holds_the_last_line(parents: list[Any], boundary: int) -> None:
    rows = [
        line(f"n{number}", f"n{parent}" if isinstance(parent, int) else parent, "Go.")
        for number, parent in enumerate(parents)
    ]
    if 0 <= boundary < len(rows) - 1:
        rows[boundary] = {"type": "system", "subtype": "compact_boundary", "uuid": f"n{boundary}"}
    found = sent_lines(rows)
    assert len(rows) - 1 in found
    assert all(number > boundary for number in found if boundary < len(rows) - 1)


def test_parents_may_stand_after_their_children() -> None:
    for order in permutations(FORK[:3]):
        assert set(reached([*order, FORK[-1] | {"parentUuid": "u2"}])) == {"u1", "a1", "u2", "u4"}


def test_lines_that_name_no_line_of_the_file_do_not_move_to_another_branch() -> None:
    """Such a line follows the one before it; where that one goes, it must not end up behind a line that was taken
    back."""
    rows = [
        line("u0", None, "Start. " * 20),
        line("a0", "u0", "Yes. " * 20, "assistant"),
        line("u1", "u0", "Taken back. " * 20),
        line("a1", "a0", "A word more. " * 20, "assistant"),
        line("u2", "of another file", "Go on. " * 20),
        line("a2", "u2", "On it. " * 20, "assistant"),
        line("u3", "a2", "And the rest?"),
        {key: value for key, value in line("a3", None, "All done.", "assistant").items() if key != "parentUuid"},
    ]
    settings = with_values(
        Settings(),
        {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 60, "conversation_prune.group_size": 1},
    )
    for strategy in STRATEGIES:
        result = prune(session(rows), settings, strategy)
        again = session(result.messages)
        assert (
            sum(len(part.text) for message in again.messages for part in message.parts) <= 60 * 4
            or strategy == "tool-results"
        )
        assert "u1" not in [message.raw["uuid"] for message in again.messages if message.role != ASIDE]


def test_a_line_without_a_name_is_nobodys_parent() -> None:
    nameless, follower = line("", "of another file", "Gone. " * 50), line("a0", "", "Gone too. " * 50, "assistant")
    del nameless["uuid"], follower["parentUuid"]
    aside = line("r", None, "A side chain has a start of its own.", isSidechain=True)
    rows = [
        line("u0", None, "Start. " * 50),
        nameless,
        aside,
        follower,
        line("u1", "a0", "And the rest?"),
        line("a1", "u1", "All done.", "assistant"),
    ]
    settings = with_values(
        Settings(),
        {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 20, "conversation_prune.group_size": 1},
    )
    assert prune(session(rows), settings, "truncate").messages[0] == aside


def test_what_follows_a_first_line_that_is_gone_is_a_first_line() -> None:
    """Also where that line named one of another file, as in a session that was resumed: a name nobody has would lead to
    whatever stands before."""
    first = [line("u0", "of another file", "Start. " * 50), line("a0", "u0", "Yes.", "assistant")]
    rows = [*first, line("u1", "a0", "Taken back."), line("u2", "a0", "Go on."), line("a2", "u2", "Done.", "assistant")]
    settings = with_values(
        Settings(),
        {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": 10, "conversation_prune.group_size": 1},
    )
    result = prune(session(rows), settings, "truncate")
    assert [message["uuid"] for message in result.messages] == ["u1", "u2", "a2"]
    assert [message.role == ASIDE for message in session(result.messages).messages] == [True, False, False]
