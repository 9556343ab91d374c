"""Makes the JSON schema of an answer from its type, and a checked value of that type from what a model said.

Small models put their JSON behind a greeting or into a code fence: the first object that is valid as a whole counts.
Nothing is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from secateur.llm.interface import Question

MOST_CHARACTERS = 1 << 20
"""Longer answers are rejected."""

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}]', re.DOTALL)
"""A string, to its end or to that of the text, or a brace."""

_LEFT_OUT = ("title", "description", "default")
_LIMITS = (
    "maxLength",
    "minLength",
    "maxItems",
    "minItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "pattern",
)

CHARACTERS_A_TOKEN = 2
"""Characters of JSON in a token, rather too few than too many."""

CHARACTERS_A_TEXT = 64
CHARACTERS_AN_OBJECT = 128
"""Room that an item of a list has at least: small models set objects over several lines and write numbers of sixteen
digits, a token each."""

LONGEST_STRING = 1000
"""Servers that turn a schema into a grammar repeat a character so many times at most."""


def schema_of(answer: type[msgspec.Struct]) -> dict[str, Any]:
    """Returns the JSON schema of `answer` in the form that strict servers ask for: an object on top, every field
    required, no others."""
    schema = msgspec.json.schema(answer)
    parts = schema.get("$defs", {})
    top: dict[str, Any] = _closed(parts.pop(schema["$ref"].removeprefix("#/$defs/")))
    return top | {"$defs": {name: _closed(part) for name, part in parts.items()}} if parts else top


def read_answer(said: str, question: Question) -> tuple[Any | None, str]:
    """Returns (value, "") for a valid answer, else (None, what is wrong with it). It never raises for anything a model
    says."""
    if len(said) > MOST_CHARACTERS:
        return None, f"the answer is longer than {MOST_CHARACTERS:,} characters"
    wrong = ""
    for text in _candidates(said):
        try:
            value = msgspec.json.decode(text, type=question.answer)
        except (msgspec.DecodeError, RecursionError) as error:
            wrong = wrong or _wrong(error)
            continue
        unfit = question.check(value) if question.check is not None else ""
        if not unfit:
            return value, ""
        wrong = f"the answer does not do: {unfit}"
    return None, wrong or "the answer holds no JSON object"


def _candidates(said: str) -> Iterator[str]:
    """Yields every outermost group of braces, in order. A group that is not closed is part of a broken answer and is
    skipped."""
    text = _THOUGHT.sub("", said)
    depth = start = 0
    for found in _TOKEN.finditer(text, text.find("{") if "{" in text else len(text)):
        if found[0] == "{":
            start = start if depth else found.start()
            depth += 1
        elif found[0] == "}" and depth:
            depth -= 1
            if not depth:
                yield text[start : found.end()]


def _wrong(error: Exception) -> str:
    """Returns the decoder's message where it names types and paths. Its other messages may quote the answer, so they
    are replaced."""
    if isinstance(error, msgspec.ValidationError):
        return f"the answer has the wrong shape: {str(error)[:200]}"
    return "the answer is no JSON"


def bounded(schema: Mapping[str, Any], most_tokens: int) -> dict[str, Any]:
    """Limits texts and lists of `schema` to what an answer of `most_tokens` can hold.

    A small model that a server holds to a schema goes on in a text until it is cut off, and a broken answer is none.
    The limits are for that alone: an answer that is longer and whole counts.
    """
    room = most_tokens * CHARACTERS_A_TOKEN
    limited: dict[str, Any] = _bounded({key: value for key, value in schema.items() if key != "$defs"}, room)
    parts = {name: _bounded(part, room // 8) for name, part in schema.get("$defs", {}).items()}
    return limited | ({"$defs": parts} if parts else {})


def unbounded(schema: Any) -> Any:
    """Removes limits of texts, lists and numbers from `schema`, for servers that know none."""
    if isinstance(schema, list):
        return [unbounded(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    named = {
        key: {name: unbounded(part) for name, part in schema[key].items()}
        for key in ("properties", "$defs")
        if key in schema
    }
    return {key: unbounded(value) for key, value in schema.items() if key not in _LIMITS} | named


def _bounded(schema: Any, room: int) -> Any:
    fields, items = schema.get("properties"), schema.get("items")
    if "anyOf" in schema:
        return schema | {"anyOf": [_bounded(part, room) for part in schema["anyOf"]]}
    if fields:
        return schema | {"properties": {name: _bounded(part, room // len(fields)) for name, part in fields.items()}}
    if isinstance(items, dict):
        least = CHARACTERS_A_TEXT if items.get("type") == "string" else CHARACTERS_AN_OBJECT
        most = min(schema.get("maxItems", room), max(1, room // least))
        return schema | {"maxItems": most, "items": _bounded(items, room // most)}
    if schema.get("type") == "string" and "enum" not in schema:
        return schema | {"maxLength": min(schema.get("maxLength", room), max(1, room), LONGEST_STRING)}
    return schema


def _closed(schema: Any) -> Any:
    """Removes what only people read from `schema`; closes each object and requires all its fields."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    fields = schema.get("properties")
    closed = {key: _closed(value) for key, value in schema.items() if key not in _LEFT_OUT and key != "properties"}
    if isinstance(fields, dict):
        closed |= {
            "properties": {name: _closed(value) for name, value in fields.items()},
            "required": list(fields),
            "additionalProperties": False,
        }
    return closed
