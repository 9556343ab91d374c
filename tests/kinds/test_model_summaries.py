"""Summaries in a model's words: what is asked, and that nothing a model says breaks a conversation."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur import ConversationPruner
from secateur.kinds.conversation.decisions import FEW_WORDS_KEPT, SUMMARY_MARK, Pruned, measure
from secateur.kinds.conversation.messages import PartKind
from secateur.kinds.conversation.model_summaries import ANSWER_TOKENS, LEAST_ROOM, Notes, _fit_notes
from secateur.kinds.conversation.strategies import prune
from secateur.kinds.conversation.transcripts import read_messages
from secateur.llm.interface import Question, Reply
from secateur.model import ModelCall
from secateur.progress import Progress
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.conversation_strategies import TEXT, TURNS
from support.conversations import FORMATS, Said, conversation, roles

COUNTER = get_counter("o200k_base")


class Model:
    """Says of each question what `answer` makes of it, checked as a client checks it; None: it has no answer."""

    name = "stand-in"

    def __init__(self, answer: Callable[[int, Question], list[str] | None]) -> None:
        self.answer = answer
        self.asked: list[Question] = []
        self.rounds = 0

    def ask(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Reply]:
        self.rounds += 1
        replies = []
        for question in questions:
            number = len(self.asked)
            self.asked.append(question)
            if progress is not None:
                progress("asking", number + 1, len(questions))
            said = self.answer(number, question)
            value = None if said is None else Notes(said)
            problem = "there was no answer" if value is None else question.check(value) if question.check else ""
            outcome = "answered" if not problem else "failed" if value is None else "refused"
            replies.append(
                Reply(None if problem else value, ModelCall(question.what, outcome, 1, 100, 10), problem, 500)
            )
        return replies


def script(turns: int, form: str = "openai") -> list[dict[str, Any]]:
    """A conversation that chatters, and decides something in each turn."""
    chatter = "I looked at the code around it and it seems that this is how it has been for a long time. " * 12
    told = [
        Said(
            f"Please look at part {number}.",
            (("read_file", f"src/part{number}.py", "x = 1\n" * 120, True),),
            f"{chatter}We decided on option {number}.",
        )
        for number in range(turns)
    ]
    return conversation(form, told, system="You are careful.", asks="And now?")


def settings_of(zone: int, **more: Any) -> Settings:
    return with_values(
        Settings(),
        {"conversation_prune.safe_zone_tokens": zone, **{key.replace("__", "."): value for key, value in more.items()}},
    )


def texts(messages: Sequence[dict[str, Any]]) -> str:
    return json.dumps(messages, ensure_ascii=False)


@pytest.mark.parametrize("form", FORMATS)
def test_a_summary_is_in_the_models_words(form: str) -> None:
    messages, model = script(8, form), Model(lambda *_: ["The user wants parts looked at.", "- Option 3 was chosen."])
    pruner = ConversationPruner(settings_of(3000), llm=model)
    after = pruner.prune_conversations(messages, "summarize")
    assert pruner.result is not None
    (summary,) = [item for item in pruner.result.items if item.reason.label == "summary_by_model"]
    body = summary.message.get("message", summary.message)
    text = body["content"] if isinstance(body["content"], str) else body["content"][0]["text"]
    assert text.splitlines()[0].startswith(SUMMARY_MARK)
    assert text.splitlines()[0].endswith("earlier messages, in a model's words]")
    assert text.splitlines()[1:] == ["- The user wants parts looked at.", "- Option 3 was chosen."]
    assert pruner.report.after == measure(read_messages(after), COUNTER).total <= 3000
    assert [call.outcome for call in pruner.report.calls] == ["answered"] * len(model.asked)
    assert pruner.report.to_dict()["modelCalls"][0]["promptTokens"] == 100
    assert pruner.result is not None and codes_of(pruner.result) == []


def test_all_questions_are_asked_at_once_in_order_and_say_whose_words_they_are_about() -> None:
    steps: list[tuple[str, int, int]] = []
    model = Model(lambda number, _: [f"notes {number}"])
    result = prune(
        read_messages(script(30)),
        settings_of(9000, llm__text_tokens=3000),
        "summarize",
        lambda *step: steps.append(step),
        model,
    )
    assert model.rounds == 1
    assert len(model.asked) > 2
    assert [question.what for question in model.asked] == [call.what for call in result.report.calls]
    assert model.asked[0].what.startswith("summarize messages[1-")
    asked = [step for step in steps if step[0] == "asking"]
    assert asked[-1] == ("asking", len(model.asked), len(model.asked))
    joined = "\n".join(question.text for question in model.asked)
    assert (
        joined.count("user: Please look at part 0.") == joined.count('call of read_file: {"path": "src/part0.py"}') == 1
    )
    assert "You are careful." not in joined
    assert "And now?" not in joined
    assert all("Please look" not in question.instructions for question in model.asked)
    assert all(COUNTER.count(question.text) <= 3000 for question in model.asked)
    notes = [line for line in texts(result.messages).split("\\n") if "notes" in line]
    assert [f"notes {number}" in line for number, line in enumerate(notes)] == [True] * len(model.asked)


def test_a_message_longer_than_a_question_is_sent_in_excerpts() -> None:
    messages = script(6)
    messages[3]["content"] = "\n".join(f"row {number}" for number in range(60_000)) + "\nValueError: no rate for XAU\n"
    model = Model(lambda *_: ["notes"])
    prune(read_messages(messages), settings_of(2000, llm__text_tokens=2000), "summarize", llm=model)
    assert all(COUNTER.count(question.text) <= 2000 for question in model.asked)
    assert "ValueError: no rate for XAU" in "".join(question.text for question in model.asked)


def codes_of(result: Pruned) -> list[str]:
    return [notice.code for notice in result.warnings if notice.code != FEW_WORDS_KEPT]


def without_model(messages: Sequence[dict[str, Any]], zone: int, strategy: str = "summarize") -> list[dict[str, Any]]:
    return prune(read_messages(messages), settings_of(zone), strategy).messages


@pytest.mark.parametrize(
    "answer",
    [None, [], [""], [" \n ", "\u200b\x07"], ["word " * 5000]],
    ids=["none", "no notes", "an empty note", "nothing printable", "longer than the room"],
)
def test_without_usable_words_the_excerpts_stay_and_a_warning_says_so(answer: list[str] | None) -> None:
    messages = script(8)
    result = prune(read_messages(messages), settings_of(3000), "summarize", llm=Model(lambda *_: answer))
    assert result.messages == without_model(messages, 3000)
    assert codes_of(result) == ["llm_unanswered", "summary_in_excerpts"]
    assert {call.outcome for call in result.report.calls} <= {"failed", "refused"}


def test_notes_that_do_not_fit_go_from_the_last() -> None:
    messages = script(8)
    result = prune(
        read_messages(messages),
        settings_of(3000),
        "summarize",
        llm=Model(lambda *_: ["first note", *(["filling words " * 30] * 200)]),
    )
    assert "- first note" in texts(result.messages)
    assert result.report.after <= 3000
    assert codes_of(result) == []


def test_where_some_questions_fail_the_summary_is_of_both_kinds() -> None:
    model = Model(lambda number, _: None if number == 1 else [f"notes {number}"])
    result = prune(read_messages(script(30)), settings_of(9000, llm__text_tokens=3000), "summarize", llm=model)
    said = texts(result.messages)
    assert "in a model's words and in excerpts]" in said
    assert "notes 0" in said
    assert "notes 1" not in said
    assert "notes 2" in said
    assert codes_of(result) == ["llm_unanswered", "summary_in_excerpts"]


def test_what_a_model_says_is_one_plain_line_a_note() -> None:
    note = "a\n\n[Noted.]\n\x1b[31m</tool_result>\u202e b"
    result = prune(read_messages(script(8)), settings_of(3000), "summarize", llm=Model(lambda *_: [note, note]))
    (summary,) = [item for item in result.items if item.reason.label == "summary_by_model"]
    assert summary.message["content"].splitlines()[1:] == ["- a [Noted.] [31m</tool_result> b"]


@pytest.mark.parametrize("strategy", ["truncate", "tool-results"])
def test_where_nothing_is_summarised_nothing_is_asked(strategy: str) -> None:
    model = Model(lambda *_: ["notes"])
    result = prune(read_messages(script(8)), settings_of(2000), strategy, llm=model)
    assert model.asked == []
    assert "modelCalls" not in result.report.to_dict()


def test_what_fits_already_and_what_is_truncated_anyway_is_not_asked_about() -> None:
    model = Model(lambda *_: ["notes"])
    prune(read_messages(script(3)), settings_of(100_000), "summarize", llm=model)
    prune(read_messages(script(8)), settings_of(20), "hybrid", llm=model)
    assert model.asked == []


def test_a_summary_of_before_is_not_told_again() -> None:
    model = Model(lambda *_: ["notes of the first time"])
    first = prune(read_messages(script(8)), settings_of(3000), "summarize", llm=model)
    again = prune(read_messages(first.messages), settings_of(3000), "summarize", llm=model)
    assert again.messages == first.messages
    assert model.rounds == 1


NOTE = st.one_of(
    TEXT,
    st.text(max_size=40),
    st.just("[Noted.]"),
    st.just(SUMMARY_MARK),
    st.just("<tool_result tool_name='x'>"),
    st.just("long " * 3000),
)
ANSWER = st.one_of(st.none(), st.lists(NOTE, max_size=4))


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("strategy", ["summarize", "hybrid"])
@settings(max_examples=10)
@given(
    turns=TURNS,
    asks=st.one_of(st.just(""), TEXT),
    zone=st.integers(0, 1500),
    group=st.integers(1, 6),
    answers=st.lists(ANSWER, min_size=1, max_size=4),
)
def test_whatever_a_model_says_it_is_a_conversation_and_its_books_are_right(
    form: str, strategy: str, turns: list[Said], asks: str, zone: int, group: int, answers: list[list[str] | None]
) -> None:
    messages = conversation(form, turns, system="You are careful.", asks=asks)
    before = copy.deepcopy(messages)
    chosen = settings_of(zone, conversation_prune__group_size=group, llm__text_tokens=150)
    plain = prune(read_messages(messages), chosen, strategy)

    def told() -> Any:
        return prune(
            read_messages(messages), chosen, strategy, llm=Model(lambda number, _: answers[number % len(answers)])
        )

    result = told()
    assert messages == before
    assert roles(result.messages) == roles(plain.messages), "another shape than without a model"
    assert result.report.after == measure(read_messages(result.messages), COUNTER).total
    assert result.report.after <= max(zone, plain.report.after)
    assert result.report.after <= result.report.before
    assert sum(action.before for action in result.report.actions) == result.report.before
    assert sum(action.after for action in result.report.actions) == result.report.after
    parts = [part for message in read_messages(result.messages).messages for part in message.parts]
    assert [p.call for p in parts if p.kind is PartKind.CALL] == [
        p.call for p in parts if p.kind is PartKind.RESULT and p.call
    ]
    if form == "anthropic":
        assert all(one != other for one, other in pairwise(role for role in roles(result.messages) if role != "system"))
    again = told()
    assert (again.messages, again.report, again.warnings) == (result.messages, result.report, result.warnings)


def test_a_question_has_room_for_an_answer() -> None:
    model = Model(lambda *_: ["notes"])
    for zone in range(200, 4000, 400):
        prune(read_messages(script(8)), settings_of(zone), "summarize", llm=model)
    assert model.asked
    assert all(question.most_tokens > LEAST_ROOM for question in model.asked)
    assert max(question.most_tokens for question in model.asked) <= ANSWER_TOKENS
    assert all(msgspec.structs.fields(question.answer)[0].name == "notes" for question in model.asked)


def test_where_the_summaries_have_no_room_for_words_it_is_said() -> None:
    model = Model(lambda *_: ["notes"])
    result = prune(read_messages(script(60)), settings_of(400, llm__text_tokens=300), "summarize", llm=model)
    assert model.asked == []
    assert codes_of(result) == ["summary_in_excerpts"]
    assert result.messages == without_model(script(60), 400)


def test_a_note_without_words_costs_itself() -> None:
    notes = Notes(["- one", " \n\t", "\x1b", "two  words", "-", "three"])
    assert _fit_notes(notes, 1000, COUNTER) == ["- one", "- two words", "- three"]
    assert _fit_notes(notes, COUNTER.count("- one\n"), COUNTER) == ["- one"]
