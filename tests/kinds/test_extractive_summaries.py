"""What a summary keeps: facts planted in transcripts, counted; and what it does with lines that are meant to break
it."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.kinds.conversation.decisions import SUMMARY_MARK, Pruned, measure
from secateur.kinds.conversation.extractive_summaries import LONGEST_LINE, ExtractiveSummary, SpokenLines, summary_lines
from secateur.kinds.conversation.messages import Message
from secateur.kinds.conversation.strategies import prune
from secateur.kinds.conversation.transcripts import read_messages
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.conversations import FORMATS, conversation
from support.facts import HELD_OUT, KINDS, SEEN, Phrasings, facts, found, planted

COUNTER = get_counter("chars4")
SURVIVE = 0.9
"""Share of the planted facts that is still there at half the tokens."""


def halved(messages: list[dict[str, Any]]) -> Pruned:
    transcript = read_messages(messages)
    half = measure(transcript, COUNTER).total // 2
    return prune(
        transcript,
        with_values(Settings(), {"tokens.counter": "chars4", "conversation_prune.safe_zone_tokens": half}),
        "summarize",
    )


@pytest.mark.parametrize("phrasings", [SEEN, HELD_OUT], ids=["seen", "held out"])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("steps", "lines"), [(3, 40), (0, 6)], ids=["with tools", "talk"])
def test_nine_of_ten_planted_facts_survive_at_half_the_tokens(
    form: str, steps: int, lines: int, phrasings: Phrasings
) -> None:
    random = Random(5)
    there = facts(phrasings, random)
    result = halved(conversation(form, list(planted(there, random, steps=steps, lines=lines)), asks="And now?"))
    assert result.report.after <= result.report.before // 2
    assert SUMMARY_MARK in str(result.messages)
    kept = found(there, result.messages)
    lost = [fact for fact, survived in zip(there, kept, strict=True) if not survived]
    assert sum(kept) >= SURVIVE * len(there), lost
    tally = Counter(fact.kind for fact in there)
    for kind, number in Counter(fact.kind for fact in lost).items():
        assert number <= 0.25 * tally[kind], (kind, lost)
    assert set(tally) == set(KINDS)


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), form=st.sampled_from(FORMATS), steps=st.integers(0, 4), lines=st.integers(4, 60))
def test_nine_of_ten_planted_facts_survive_in_any_transcript(seed: int, form: str, steps: int, lines: int) -> None:
    random = Random(seed)
    there = facts(random.choice((SEEN, HELD_OUT)), random)
    result = halved(conversation(form, list(planted(there, random, steps=steps, lines=lines)), asks="And now?"))
    assert result.report.after <= result.report.before // 2
    assert sum(found(there, result.messages)) >= SURVIVE * len(there)


def parsed(*raw: dict[str, Any]) -> tuple[Message, ...]:
    return read_messages(list(raw)).messages


def test_a_summary_stays_within_its_characters_and_in_order() -> None:
    messages = parsed(
        *({"role": "user", "content": f"Use module_{number} for part {number}."} for number in range(300))
    )
    for characters in (0, 10, 100, 1000, 10_000):
        lines = summary_lines(messages, characters)
        assert sum(len(line) + 1 for line in lines) <= characters + len("- user: ")
        numbers = [int(line.split("module_")[1].split()[0]) for line in lines if "module_" in line]
        assert numbers == sorted(numbers)


def test_who_said_a_line_stands_once_before_several() -> None:
    messages = parsed(
        {"role": "user", "content": "Use a_b.\nKeep c_d."}, {"role": "assistant", "content": "It is in src/x.py."}
    )
    assert summary_lines(messages, 1000) == ["- user: Use a_b.", "  Keep c_d.", "- assistant: It is in src/x.py."]


def test_lines_that_differ_in_numbers_are_told_once() -> None:
    log = "\n".join(f"2026-01-01 10:{number} ERROR worker {number} failed" for number in range(500))
    messages = parsed({"role": "user", "content": f"<tool_result tool_name='sh'>\n{log}\n</tool_result>"})
    assert sum("failed" in line for line in summary_lines(messages, 10_000)) == 1


def test_a_line_without_end_is_cut_around_what_makes_it_worth_reading() -> None:
    messages = parsed(
        {"role": "assistant", "content": "x " * 500 + "the build failed in parse_total " + "y " * 100_000}
    )
    (line,) = summary_lines(messages, 10_000)
    assert "the build failed in parse_total" in line
    assert len(line) <= LONGEST_LINE + len("- assistant: ")


def test_long_arguments_of_a_call_are_told_by_their_size() -> None:
    call = {
        "type": "tool_use",
        "id": "1",
        "name": "Write",
        "input": {"file_path": "src/new.py", "content": "x = 1\n" * 500},
    }
    messages = parsed({"role": "assistant", "content": [call]})
    assert summary_lines(messages, 1000) == ["- call Write: file_path: src/new.py, content: (3,000 characters)"]


def test_arguments_of_a_call_are_told_as_they_were_written() -> None:
    """Lines are verbatim: their keys were sorted, and blanks taken out of what a model had written."""
    block = {"type": "tool_use", "id": "1", "name": "Grep", "input": {"pattern": "refund", "path": "src", "-n": True}}
    written = '{"pattern": "refund",  "path": "src"}'
    several = '{\n  "pattern": "total",\n  "glob": "*.py"\n}'
    calls = [
        {"id": name, "type": "function", "function": {"name": "Grep", "arguments": given}}
        for name, given in (("2", written), ("3", several))
    ]
    messages = parsed(
        {"role": "assistant", "content": [block]}, {"role": "assistant", "content": None, "tool_calls": calls}
    )
    assert summary_lines(messages, 1000) == [
        '- call Grep: {"pattern":"refund","path":"src","-n":true}',
        f"  {written}",
        '  { "pattern": "total", "glob": "*.py" }',
    ]


def test_groups_added_one_by_one_compete_for_the_same_room() -> None:
    summary = ExtractiveSummary()
    dull = parsed(
        *(
            {"role": "assistant", "content": f"That is fine, as it was before. {'Well. ' * number}"}
            for number in range(1, 40)
        )
    )
    summary.add(dull)
    summary.add(parsed({"role": "user", "content": "We decided on order_total."}))
    assert "- user: We decided on order_total." in summary.lines(60)


def test_lines_that_were_read_before_make_the_same_summary_and_are_not_read_again() -> None:
    messages = parsed(
        {"role": "user", "content": "We decided on order_total. The refund failed."},
        {"role": "assistant", "content": "Is src/cart.py still open? It is in src/cart.py."},
    )
    spoken = SpokenLines()
    known = [line for message in messages for line in spoken.of(message)]
    again = [line for message in messages for line in spoken.of(message)]
    assert len(known) == 4
    assert all(line is same for line, same in zip(again, known, strict=True))
    for some in (messages, messages[1:], messages[:1]):
        summary = ExtractiveSummary(spoken)
        summary.add(some)
        assert summary.lines(1000) == summary_lines(some, 1000)
