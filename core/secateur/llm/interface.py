"""Defines questions to a model, their replies, and the interface of a model. Makes the JSON schema of an answer and
reads an answer from the text of a model. This module sends nothing.

    replies = model.ask([Question("score src/a.py", "Rate the file …", text, Score)])
    replies[0].value          # a checked Score; None if there is no usable answer, and `problem` says why

Replies are in the order of the questions, even if the server answers in another order. Small models write a greeting
before their JSON or put it into a code fence, so the first valid object counts. Invalid JSON is not repaired.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec
from msgspec import structs

from secateur.ledger import ModelCall, Notice
from secateur.progress import Progress


@dataclass(frozen=True, slots=True)
class Question:
    """One question: the instructions, the text they are about, and the type of the answer."""

    what: str  # the name for people and the ledger: "score src/a.py"
    instructions: str  # our own text, never text from outside
    text: str  # text from outside; the model is told that it is data
    answer: type[msgspec.Struct]  # the type that the answer is decoded into and validated against
    most_tokens: int = 512  # the most tokens of the answer
    check: Callable[[Any], str] | None = None  # says what is wrong with a decoded answer; "" if it is valid


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of a question."""

    value: Any | None  # an instance of `Question.answer`
    call: ModelCall  # the cost
    problem: str = ""  # why there is no value, for people; it quotes nothing that a server sent
    reserved: int = 0  # tokens reserved for prompt and answer before anything was sent; 0 if unknown


class LanguageModel(Protocol):
    """Answers questions: the client of a server, or an object of a test."""

    @property
    def name(self) -> str:
        """The model's name, for people."""
        ...

    def ask(self, questions: Sequence[Question], progress: Progress | None = None) -> list[Reply]:
        """Returns one reply per question, in their order. If a question fails, its reply says so, and no error is
        raised."""
        ...


def replies_of(model: LanguageModel, questions: Sequence[Question], progress: Progress | None = None) -> list[Reply]:
    """Asks `model`, and returns one checked reply per question: its value has the type that was asked for, or
    is None."""
    replies = list(model.ask(questions, progress)) if questions else []
    replies += [
        Reply(None, ModelCall(question.what, "failed", 0, 0, 0), "there is no reply")
        for question in questions[len(replies) :]
    ]
    return [_checked(question, reply) for question, reply in zip(questions, replies, strict=False)]


def _checked(question: Question, reply: Reply) -> Reply:
    if reply.value is None:
        return reply
    with suppress(msgspec.ValidationError, TypeError, ValueError):
        if isinstance(reply.value, question.answer):
            value = msgspec.convert(msgspec.to_builtins(reply.value), question.answer)
            if not (question.check is not None and question.check(value)):
                return replace(reply, value=value)
    return Reply(
        None, structs.replace(reply.call, outcome="refused"), "the answer is not what was asked for", reply.reserved
    )


MOST_PROBLEMS = 3  # the most problems that get a notice of their own


def notices_of(replies: Sequence[Reply]) -> tuple[Notice, ...]:
    """Returns notices for the user: which questions have no usable answer and why, and whether a server counted more
    tokens than were reserved."""
    notices: list[Notice] = []
    without: dict[str, list[str]] = {}
    for reply in replies:
        if reply.value is None:
            without.setdefault(reply.problem, []).append(reply.call.what)
    for problem, unanswered in list(without.items())[:MOST_PROBLEMS]:
        which = f"{unanswered[0]} first" if len(unanswered) > 1 else unanswered[0]
        some = f"{len(unanswered):,} of {len(replies):,} questions ({which})"
        notices.append(Notice("llm_unanswered", f"The model has no usable answer to {some}: {problem}."))
    if others := list(without.values())[MOST_PROBLEMS:]:
        more = f"{sum(map(len, others)):,} more questions have no usable answer, for {len(others):,} other reasons."
        notices.append(Notice("llm_unanswered", more))
    return (*notices, *overspent(replies))


def overspent(replies: Sequence[Reply]) -> tuple[Notice, ...]:
    """Returns a notice if a server counted more tokens than were reserved."""
    spent = [(reply.call.prompt_tokens + reply.call.completion_tokens, reply.reserved) for reply in replies]
    if not (over := [(counted, reserved) for counted, reserved in spent if 0 < reserved < counted]):
        return ()
    counted, reserved = map(sum, zip(*over, strict=True))
    message = (
        f"The server counted {counted:,} tokens for {len(over):,} of {len(replies):,} questions, for which {reserved:,}"
        " were set aside: llm.spend_cap is enforced with estimates, so it can be exceeded."
    )
    return (Notice("llm_spend", message),)


MOST_CHARACTERS = 1 << 20  # longer answers are rejected
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[{}]', re.DOTALL)  # a brace, or a string to its end or the end of the text
_ANNOTATIONS = ("title", "description", "default")
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

CHARACTERS_A_TOKEN = 2  # characters of JSON in a token. A low estimate.
# Minimum characters reserved per list item, for a text and for an object. Small models spread objects over several
# lines, and write numbers of sixteen digits with a token for each digit.
CHARACTERS_A_TEXT = 64
CHARACTERS_AN_OBJECT = 128

LONGEST_STRING = 1000  # longest string accepted by servers that compile schemas into grammars
_DEFINITION_SHARE = 8  # an object of `$defs` gets an eighth of the answer, because an answer usually holds several


def schema_of(answer: type[msgspec.Struct]) -> dict[str, Any]:
    """Returns the JSON schema of `answer` in the form that strict servers ask for: an object at the top, all fields
    required, no further fields."""
    schema = msgspec.json.schema(answer)
    parts = schema.get("$defs", {})
    top: dict[str, Any] = _close_schema(parts.pop(schema["$ref"].removeprefix("#/$defs/")))
    return top | {"$defs": {name: _close_schema(part) for name, part in parts.items()}} if parts else top


def read_answer(answer: str, question: Question) -> tuple[Any | None, str]:
    """Returns (value, "") for a valid answer, else (None, the problem). Never raises, whatever the text."""
    if len(answer) > MOST_CHARACTERS:
        return None, f"the answer is longer than {MOST_CHARACTERS:,} characters"
    problem = ""
    for text in _find_objects(answer):
        try:
            value = msgspec.json.decode(text, type=question.answer)
        except (msgspec.DecodeError, RecursionError) as error:
            # Other messages of the decoder may quote the answer; this one names types and paths.
            has_shape = isinstance(error, msgspec.ValidationError)
            message = f"the answer has the wrong shape: {str(error)[:200]}" if has_shape else "the answer is not JSON"
            problem = problem or message
            continue
        invalid = question.check(value) if question.check is not None else ""
        if not invalid:
            return value, ""
        problem = f"the answer is invalid: {invalid}"
    return None, problem or "the answer holds no JSON object"


def _find_objects(answer: str) -> Iterator[str]:
    """Yields every outermost group of braces, in order. A group that is not closed is part of a broken answer and is
    skipped."""
    text = _THOUGHT.sub("", answer)
    depth = start = 0
    for token in _TOKEN.finditer(text, text.find("{") if "{" in text else len(text)):
        if token[0] == "{":
            start = start if depth else token.start()
            depth += 1
        elif token[0] == "}" and depth:
            depth -= 1
            if not depth:
                yield text[start : token.end()]


def limit_schema(schema: Mapping[str, Any], most_tokens: int) -> dict[str, Any]:
    """Limits the texts and lists of `schema` to the size of an answer of `most_tokens`.

    A small model that must follow a schema may write on inside a text until it is cut off, and then the answer is
    useless. The limits only prevent that: a longer answer that is complete is valid.
    """
    room = most_tokens * CHARACTERS_A_TOKEN
    limited: dict[str, Any] = _add_limits({key: value for key, value in schema.items() if key != "$defs"}, room)
    parts = {name: _add_limits(part, room // _DEFINITION_SHARE) for name, part in schema.get("$defs", {}).items()}
    return limited | ({"$defs": parts} if parts else {})


def remove_limits(schema: Any) -> Any:
    """Removes the limits of texts, lists and numbers from `schema`, for servers that do not know them."""
    if isinstance(schema, list):
        return [remove_limits(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    subschemas = {
        key: {name: remove_limits(part) for name, part in schema[key].items()}
        for key in ("properties", "$defs")
        if key in schema
    }
    return {key: remove_limits(value) for key, value in schema.items() if key not in _LIMITS} | subschemas


def _add_limits(schema: Any, room: int) -> Any:
    fields, items = schema.get("properties"), schema.get("items")
    if "anyOf" in schema:
        return schema | {"anyOf": [_add_limits(part, room) for part in schema["anyOf"]]}
    if fields:
        return schema | {"properties": {name: _add_limits(part, room // len(fields)) for name, part in fields.items()}}
    if isinstance(items, dict):
        item_characters = CHARACTERS_A_TEXT if items.get("type") == "string" else CHARACTERS_AN_OBJECT
        item_limit = min(schema.get("maxItems", room), max(1, room // item_characters))
        return schema | {"maxItems": item_limit, "items": _add_limits(items, room // item_limit)}
    if schema.get("type") == "string" and "enum" not in schema:
        return schema | {"maxLength": min(schema.get("maxLength", room), max(1, room), LONGEST_STRING)}
    return schema


def _close_schema(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_close_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    fields = schema.get("properties")
    closed = {
        key: _close_schema(value) for key, value in schema.items() if key not in _ANNOTATIONS and key != "properties"
    }
    if isinstance(fields, dict):
        closed |= {
            "properties": {name: _close_schema(value) for name, value in fields.items()},
            "required": list(fields),
            "additionalProperties": False,
        }
    return closed
