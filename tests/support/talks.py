"""Conversations as agents have them, in every format: calls made at once, thinking, pictures, users who interrupt,
branches that were given up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from support.conversation_strategies import RESULT, TEXT


@dataclass(frozen=True)
class Call:
    """A call and its result."""

    tool: str
    path: str
    result: str
    success: bool


@dataclass(frozen=True)
class Round:
    """Calls made at once; `thinks` and `shows` add a block of thinking and a picture, `cuts_in` is what the user says
    with the results."""

    calls: tuple[Call, ...]
    thinks: bool = False
    shows: bool = False
    cuts_in: str = ""


@dataclass(frozen=True)
class Turn:
    """What the user says, the rounds of calls, the answer; `given_up`: the answers that came first, on branches of
    their own."""

    user: str
    rounds: tuple[Round, ...]
    answer: str
    given_up: tuple[str, ...] = ()


PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def talk(form: str, turns: Sequence[Turn], asks: str) -> list[dict[str, Any]]:
    """The messages of a script in a format, and a last question without an answer."""
    return _SHAPES[form](turns, asks)


def _anthropic(turns: Sequence[Turn], asks: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        messages.append({"role": "user", "content": turn.user})
        for place, step in enumerate(turn.rounds):
            messages += [
                {"role": "assistant", "content": [*_thinking(step), *_used(step, number, place)]},
                {"role": "user", "content": [*_got(step, number, place), *_cut_in(step)]},
            ]
        messages.append({"role": "assistant", "content": [{"type": "text", "text": turn.answer}]})
    return [*messages, {"role": "user", "content": asks}]


def _openai(turns: Sequence[Turn], asks: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be careful."}]
    for number, turn in enumerate(turns):
        messages.append({"role": "user", "content": turn.user})
        for place, step in enumerate(turn.rounds):
            calls = [
                {
                    "id": f"c{number}.{place}.{at}",
                    "type": "function",
                    "function": {"name": call.tool, "arguments": json.dumps({"path": call.path})},
                }
                for at, call in enumerate(step.calls)
            ]
            messages.append(
                {"role": "assistant", "content": "Let me see." if step.thinks else None, "tool_calls": calls}
            )
            messages += [
                {"role": "tool", "tool_call_id": f"c{number}.{place}.{at}", "content": call.result}
                for at, call in enumerate(step.calls)
            ]
            if step.cuts_in:
                messages.append({"role": "user", "content": step.cuts_in})
        messages.append({"role": "assistant", "content": turn.answer})
    return [*messages, {"role": "user", "content": asks}]


def _text(turns: Sequence[Turn], asks: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for turn in turns:
        messages.append({"role": "user", "content": turn.user})
        for step in turn.rounds:
            messages.append(
                {
                    "role": "assistant",
                    "content": "".join(f"<{call.tool}><path>{call.path}</path></{call.tool}>" for call in step.calls),
                }
            )
            results = "\n".join(
                f"<tool_result tool_name='{call.tool}'"
                f" success='{str(call.success).lower()}'>{call.result}</tool_result>"
                for call in step.calls
            )
            messages.append({"role": "user", "content": f"{results}\n{step.cuts_in}" if step.cuts_in else results})
        messages.append({"role": "assistant", "content": turn.answer})
    return [*messages, {"role": "user", "content": asks}]


def _session(turns: Sequence[Turn], asks: str) -> list[dict[str, Any]]:
    """Each block of an answer is a line; results follow the lines of their calls; answers that were given up are leaves
    of their own."""
    lines: list[dict[str, Any]] = [{"type": "summary", "summary": "before", "leafUuid": "x"}]
    last: list[str | None] = [None]

    def add(role: str, content: Any, parent: str | None, answer: str = "") -> str:
        name = f"id-{len(lines)}"
        message = {"role": role, "content": content} | ({"id": answer} if answer else {})
        lines.append(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "type": role,
                "message": message,
                "uuid": name,
                "sessionId": "s",
            }
        )
        return name

    for number, turn in enumerate(turns):
        for answer in turn.given_up:
            add("assistant", answer, add("user", turn.user, last[0]))
        last[0] = add("user", turn.user, last[0])
        for place, step in enumerate(turn.rounds):
            answer, names = f"msg-{number}.{place}", []
            for block in _thinking(step):
                last[0] = add("assistant", [block], last[0], answer)
            for block in _used(step, number, place):
                last[0] = add("assistant", [block], last[0], answer)
                names.append(last[0])
            for block, name in zip(_got(step, number, place), names, strict=True):
                last[0] = add("user", [block], name)
            if step.cuts_in:
                last[0] = add("user", step.cuts_in, last[0])
        last[0] = add("assistant", [{"type": "text", "text": turn.answer}], last[0], f"msg-{number}")
    add("user", asks, last[0])
    return lines


_SHAPES = {"anthropic": _anthropic, "openai": _openai, "text": _text, "claude-code": _session}


def _thinking(step: Round) -> list[dict[str, Any]]:
    return (
        [{"type": "thinking", "thinking": "What do I know?", "signature": "x"}, {"type": "text", "text": "Let me see."}]
        if step.thinks
        else []
    )


def _used(step: Round, number: int, place: int) -> list[dict[str, Any]]:
    return [
        {"type": "tool_use", "id": f"c{number}.{place}.{at}", "name": call.tool, "input": {"path": call.path}}
        for at, call in enumerate(step.calls)
    ]


def _got(step: Round, number: int, place: int) -> list[dict[str, Any]]:
    picture = [PICTURE] if step.shows else []
    return [
        {
            "type": "tool_result",
            "tool_use_id": f"c{number}.{place}.{at}",
            "content": [{"type": "text", "text": call.result}, *picture],
            "is_error": not call.success,
        }
        for at, call in enumerate(step.calls)
    ]


def _cut_in(step: Round) -> list[dict[str, Any]]:
    return [{"type": "text", "text": step.cuts_in}] if step.cuts_in else []


_CALLS = st.lists(
    st.builds(
        Call,
        st.sampled_from(["read_file", "edit_file", "run_tests"]),
        st.sampled_from(["a.py", "b.py"]),
        RESULT,
        st.booleans(),
    ),
    min_size=1,
    max_size=3,
)
_ROUNDS = st.lists(st.builds(Round, _CALLS.map(tuple), st.booleans(), st.booleans(), st.just("") | TEXT), max_size=3)
TALKS = st.lists(
    st.builds(Turn, TEXT, _ROUNDS.map(tuple), TEXT, st.lists(TEXT, max_size=2).map(tuple)), min_size=1, max_size=4
)
