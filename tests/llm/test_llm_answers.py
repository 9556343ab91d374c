"""What counts as an answer, and the schema a server is given for it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.llm.interface import (
    CHARACTERS_A_TOKEN,
    MOST_CHARACTERS,
    Question,
    limit_schema,
    read_answer,
    remove_limits,
    schema_of,
)


class Span(msgspec.Struct):
    start: int
    end: int


class Score(msgspec.Struct):
    score: Annotated[int, msgspec.Meta(ge=0, le=10)]
    reason: str = ""


class Spans(msgspec.Struct):
    spans: list[Span] = []


def question(answer: type[msgspec.Struct] = Score) -> Question:
    return Question(
        "score a.py",
        "Rate.",
        "text",
        answer,
        check=lambda value: "there is an odd score" if getattr(value, "score", 0) % 2 else "",
    )


@pytest.mark.parametrize(
    "said",
    [
        '{"score": 8, "reason": "r"}',
        ' \n{"score": 8, "reason": "r"}\n',
        '```json\n{"score": 8, "reason": "r"}\n```',
        'Sure! Here is {the} answer:\n{"score": 8, "reason": "r"} Hope that helps {:',
        '<think>{"score": 2} or so</think>{"score": 8, "reason": "r"}',
        '{"score": 99} no: {"score": 8, "reason": "r", "more": 1}',
        'of {"a": "}{"} kinds: {"score": 8, "reason": "r"}',
    ],
)
def test_json_is_found_behind_a_greeting_and_in_a_fence(said: str) -> None:
    assert read_answer(said, question()) == (Score(8, "r"), "")


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("", "no JSON object"),
        ("8", "no JSON object"),
        ("I cannot do that.", "no JSON object"),
        ('{"score": 8', "no JSON object"),
        ('{"score": 11}', "wrong shape"),
        ('{"score": "8"}', "wrong shape"),
        ('{"score": 8.5}', "wrong shape"),
        ('{"score": true}', "wrong shape"),
        ('{"score": null}', "wrong shape"),
        ('{"score": NaN}', "not JSON"),
        ('{"score": 1e999}', "wrong shape"),
        ("{'score': 8}", "not JSON"),
        ('[{"score": "high"}]', "wrong shape"),
        ('{"score": 7}', "odd score"),
        ('{"score": 8, "reason": "\\ud800"}', "not JSON"),
        ("{" * 100_000 + "}" * 100_000, "not JSON"),
        ('"' + '\\"' * 400_000 + "{", "no JSON object"),
        ("x" * (MOST_CHARACTERS + 1), "longer than"),
    ],
)
def test_what_is_not_valid_is_no_answer(said: str, wrong: str) -> None:
    value, problem = read_answer(said, question())
    assert value is None
    assert wrong in problem


def test_a_part_of_a_broken_answer_is_none() -> None:
    """Every field of `Spans` has a default, so that any object would do: the first span is not the answer."""
    assert read_answer('{"spans": [{"start": 1, "end": 2}, {"start": 4', question(Spans))[0] is None
    assert read_answer('{"spans": [{"start": 1, "end": 2}]}', question(Spans))[0] == Spans([Span(1, 2)])


@given(st.text(alphabet='{}"\\ab:,[]1 <think>/\n', max_size=60))
def test_nothing_a_model_says_raises(said: str) -> None:
    for kind in (Score, Spans):
        value, problem = read_answer(said, question(kind))
        assert (value is None) == bool(problem)


@given(
    st.integers(0, 5),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(alphabet="ab .:\n", max_size=20),
    st.text(max_size=20),
)
def test_a_valid_answer_is_found_whatever_stands_around_it(half: int, reason: str, before: str, after: str) -> None:
    written = json.dumps({"score": half * 2, "reason": reason})
    assert read_answer(before + written + after, question())[0] == Score(half * 2, reason)


def test_the_schema_is_one_that_strict_servers_take() -> None:
    assert schema_of(Score) == {
        "type": "object",
        "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 10}, "reason": {"type": "string"}},
        "required": ["score", "reason"],
        "additionalProperties": False,
    }
    nested = schema_of(Spans)
    assert nested["properties"] == {"spans": {"type": "array", "items": {"$ref": "#/$defs/Span"}}}
    assert nested["$defs"]["Span"]["required"] == ["start", "end"]
    assert nested["$defs"]["Span"]["additionalProperties"] is False


class Named(msgspec.Struct):
    title: str
    default: int = 0


def test_fields_may_be_called_as_the_words_of_a_schema() -> None:
    assert schema_of(Named)["properties"] == {"title": {"type": "string"}, "default": {"type": "integer"}}


class Deep(msgspec.Struct):
    notes: list[str]
    spans: Annotated[list[Span], msgspec.Meta(max_length=3)]
    maximum: str | None
    level: Annotated[int, msgspec.Meta(ge=0, le=10)]


def longest(schema: dict[str, Any], most: str) -> Any:
    """The longest answer a schema allows, where integers have one digit."""
    if "anyOf" in schema:
        return longest(schema["anyOf"][0], most)
    if schema.get("type") == "object":
        return {name: longest(part, most) for name, part in schema["properties"].items()}
    if schema.get("type") == "array":
        return [longest(schema["items"], most)] * schema["maxItems"]
    return most * schema["maxLength"] if schema.get("type") == "string" else 1


@given(st.integers(8, 20_000))
def test_the_longest_answer_that_a_schema_allows_is_within_its_tokens(most_tokens: int) -> None:
    for kind in (Score, Named):
        written = json.dumps(longest(limit_schema(schema_of(kind), most_tokens), "x"))
        assert len(written) <= most_tokens * CHARACTERS_A_TOKEN + 60  # braces and names of fields
    deep = limit_schema(schema_of(Deep), most_tokens)
    assert deep["properties"]["spans"]["maxItems"] <= 3
    assert (
        deep["properties"]["notes"]["maxItems"] * deep["properties"]["notes"]["items"]["maxLength"]
        <= most_tokens * CHARACTERS_A_TOKEN
    )
    assert deep["properties"]["level"]["maximum"] == 10


def test_limits_can_be_taken_off_and_fields_of_their_names_stay() -> None:
    assert remove_limits(limit_schema(schema_of(Deep), 100)) == {
        "type": "object",
        "properties": {
            "notes": {"type": "array", "items": {"type": "string"}},
            "spans": {"type": "array", "items": {"$ref": "#/$defs/Span"}},
            "maximum": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "level": {"type": "integer"},
        },
        "required": ["notes", "spans", "maximum", "level"],
        "additionalProperties": False,
        "$defs": {
            "Span": {
                "type": "object",
                "properties": {"start": {"type": "integer"}, "end": {"type": "integer"}},
                "required": ["start", "end"],
                "additionalProperties": False,
            }
        },
    }
