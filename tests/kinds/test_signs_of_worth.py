"""What makes a line worth telling: names in it, who says it, and whether a tool only looked."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from secateur.kinds.conversation.decisions import BRIDGE, NOTED, is_summary
from secateur.kinds.conversation.extractive_summaries import (
    LOOKED,
    SIGNED,
    ExtractiveSummary,
    SpokenLine,
    SpokenLines,
    _Line,
    read_line,
)
from secateur.kinds.conversation.messages import Message, MessagePart, PartKind

NAMES = {
    "`x = 1`": "code",
    "src/cart.py": "a path",
    "cart.py": "a file",
    "cart_total": "snake case",
    "cartTotal": "camel case",
    "x-request-id": "kebab case",
    "SHOP-1": "a ticket",
    "1.25": "a number",
    "ADR": "an acronym",
    "Ada Byron": "a proper name",
}
LOOKING = ("read", "view", "open", "cat", "show", "grep", "glob", "search", "find", "list", "ls", "fetch")


class Told(SpokenLines):
    """What is said is given as it is, not read out of messages."""

    def of(self, message: Any) -> Iterator[SpokenLine]:
        yield read_line(message.speaker, message.text)


def scored(text: str, side: str = "assistant", tool: str = "", *before: str) -> _Line:
    """The last of some lines, as a summary weighs it."""
    summary = ExtractiveSummary(Told())
    speaker = f"{side} {tool}".strip()
    summary.add([SimpleNamespace(speaker=speaker, text=one, parts=()) for one in (*before, text)])
    return summary._lines[-1]


@pytest.mark.parametrize("name", NAMES)
def test_a_line_with_a_name_is_worth_more(name: str) -> None:
    assert scored(f"see {name} again").worth > scored("see that thing again").worth


def test_an_ordinary_word_is_no_name() -> None:
    first = scored("we are here")
    assert first.rank != SIGNED
    assert first.worth == scored("they went there", "assistant", "", "we are here").worth


@pytest.mark.parametrize("word", LOOKING)
@pytest.mark.parametrize("tool", ["{}", "{}_file", "{}File", "my-{}"])
def test_a_tool_that_looks_is_told_by_a_word_of_its_name(word: str, tool: str) -> None:
    text = "Error: cart_total failed"
    assert scored(text, "result", tool.format(word)).rank == LOOKED
    assert scored(text, "result", tool.format(word.title())).rank == LOOKED
    assert scored(text, "call", tool.format(word)).rank == SIGNED


@pytest.mark.parametrize("tool", ["edit", "run", "bash", "write", "reader", "review", "listen"])
def test_a_tool_that_acts_does_not_look(tool: str) -> None:
    assert scored("Error: cart_total failed", "result", tool).rank == SIGNED


def test_a_user_counts_most_and_what_a_tool_printed_least() -> None:
    worth = {
        side: scored("the cart_total is wrong", side).worth
        for side in ("user", "assistant", "system", "call", "result")
    }
    assert worth["user"] > worth["assistant"] == worth["system"] > worth["call"] > worth["result"] > 0


@pytest.mark.parametrize(
    ("role", "text", "joins"),
    [("assistant", NOTED, True), ("user", BRIDGE, True), ("user", NOTED, False), ("assistant", BRIDGE, False)],
)
def test_what_joins_a_summary_to_the_rest_is_told_by_its_role(role: str, text: str, joins: bool) -> None:
    assert is_summary(Message("line 1", role, {}, (MessagePart(PartKind.TEXT, text, ("content",)),))) is joins
