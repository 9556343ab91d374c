"""Keeps messages that cannot be read unchanged; one warning names them, and they cost no other message.

A line of a file that is not a JSON object costs nothing and is not among the messages that a pruner returns, but it is
written back byte for byte. An object that is not a message, or another value in a list of messages, may be sent, so it
is charged as its JSON text. A session of an agent that is not read is refused, so that none is read as
something else.

Calls without a result, results without a call, and calls of a missing program, which providers refuse, get a warning. A
call at the end of a conversation may wait for its result. Results written as text have no ids and are not checked.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.conversation.media import MEDIA_KINDS, media_tokens
from secateur.kinds.conversation.messages import Message, MessagePart, PartKind, Where, malformed
from secateur.model import Notice
from secateur.render.page import count_noun

DAMAGED = "damaged"  # role of an unreadable message
UNREADABLE = "unreadable_messages"  # code of the warning that names unreadable messages
NAMED = 3  # most unreadable messages that the warning names
INVALID_UTF8 = "invalid_utf8"  # code of the warning that bytes of a file are not UTF-8
LEAST_UNDERSTOOD = 0.8  # share of the records of a file that must be messages, and not be of another agent
LEAST_RECORDS = 10  # least records of a file that tell damage from another format


class UnreadLine(str):
    """A line of a file that is not a JSON object; bytes that are not UTF-8 are lone surrogates."""

    __slots__ = ()


def damaged_message(raw: Any, location: str, under: Where = ()) -> Message:
    """Makes the message for `raw`, which is not a message. It is charged as the JSON text of its value at `under`, with
    pictures estimated.

    Raises:
        TypeError, ValueError, RecursionError: it holds values that JSON does not have.
    """
    body = raw
    for key in under:
        body = body[key]
    media: list[int] = []
    text = json.dumps(_without_media(body, media), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    part = MessagePart(PartKind.OTHER, text, under, media=len(media), media_tokens=sum(media))
    return Message(location, DAMAGED, raw, (part,))


def damage_notices(messages: Sequence[Message], faults: Sequence[SecateurError]) -> tuple[Notice, ...]:
    """Warns of unreadable messages, or (). Raises SecateurError: `TRANSCRIPT`: no message can be read; the error of the
    first one."""
    if not faults:
        return ()
    if all(message.role == DAMAGED for message in messages):
        raise faults[0]
    more = len(faults) - NAMED
    named = "; ".join(fault.message for fault in faults[:NAMED]) + (f"; and {more:,} more" if more > 0 else "")
    uncounted = any(isinstance(message.raw, UnreadLine) for message in messages)
    further = ", and those that are no JSON object are not counted" if uncounted else ""
    subject = count_noun(len(faults), "message cannot be read and is", "messages cannot be read and are")
    return (Notice(UNREADABLE, f"{subject} carried along unchanged{further}: {named}."),)


def _has_message(value: Mapping[str, Any], *keys: str) -> bool:
    message = value.get("message")
    return isinstance(message, dict) and all(key in message for key in keys)


# Description of a session -> the test of a record.
FOREIGN: Mapping[str, Callable[[Mapping[str, Any]], bool]] = MappingProxyType(
    {
        "a session of Qwen Code": lambda value: "uuid" in value and _has_message(value, "parts"),
        "a session of pi, OpenClaw or Droid": lambda value: (
            value.get("type") == "message" and "parentId" in value and _has_message(value, "role")
        ),
        "a transcript of Cursor": lambda value: (
            "role" in value and "content" not in value and _has_message(value, "content")
        ),
        "a context of Kimi": lambda value: value.get("role") in ("_system_prompt", "_checkpoint", "_usage"),
        "a session of Kimi": lambda value: _has_message(value, "type", "payload"),
        "a session of Grok": lambda value: value.get("method") == "session/update",
        "a session of Grok CLI": lambda value: (
            value.get("type") in ("user", "assistant", "tool_result")
            and isinstance(value.get("content"), str)
            and not value.keys() & {"role", "message", "uuid"}
        ),
    }
)


def refuse_foreign(values: Sequence[Any], location: str) -> None:
    """Refuses records if more of them than `LEAST_UNDERSTOOD` leaves are of an agent that is not read. Raises
    SecateurError: `TRANSCRIPT`, with the agent's name."""
    records = [value for value in values if isinstance(value, dict)]
    for looks, is_foreign in FOREIGN.items():
        count = sum(map(is_foreign, records))
        if count > (1 - LEAST_UNDERSTOOD) * len(records):
            raise malformed(location, f"looks like {looks}, which is not read ({count:,} of {len(records):,} records)")


def refuse_misread(messages: Sequence[Message], location: str) -> None:
    """Refuses a file if fewer of its records than `LEAST_UNDERSTOOD` are messages: it only looks like one that is read.
    Lines that are no JSON object are damage and not counted. Raises SecateurError: `TRANSCRIPT`, with the keys of the
    first record that is no message."""
    records = [message for message in messages if isinstance(message.raw, dict)]
    unread = [message for message in records if message.role == DAMAGED]
    if len(records) >= LEAST_RECORDS and len(unread) > (1 - LEAST_UNDERSTOOD) * len(records):
        keys = ", ".join(json.dumps(key)[:40] for key in list(unread[0].raw)[:NAMED])
        count = f"{len(unread):,} of {len(records):,} records are no messages"
        raise malformed(location, f"{count}, the first of them at {unread[0].location} with the keys {keys}")


def _without_media(value: Any, media: list[int]) -> Any:
    """Removes pictures and other media from `value`, and adds their tokens to `media`."""
    if isinstance(value, dict):
        if value.get("type") in MEDIA_KINDS:
            media.append(media_tokens(value))
            return {"type": value["type"]}
        return {key: _without_media(part, media) for key, part in value.items()}
    return [_without_media(part, media) for part in value] if isinstance(value, list) else value


UNPAIRED = "unpaired_calls"  # code of the warning
LONGEST_ID = 60  # characters of an id that the warning shows


def warn_of_unpaired(messages: Sequence[Message]) -> tuple[Notice, ...]:
    """Returns the warning about calls and results that lack their counterpart, or (). Nothing is checked
    if some messages cannot be read: the counterpart may be in one of them."""
    if any(message.role == DAMAGED for message in messages):
        return ()
    faults = [f"{messages[index].location} ({fault})" for index, fault in sorted(_faults(messages))]
    if not faults:
        return ()
    more = f", and {len(faults) - NAMED:,} more" if len(faults) > NAMED else ""
    subject = count_noun(len(faults), "call or result has", "calls and results have")
    message = f"{subject} no counterpart, as the input has it: {', '.join(faults[:NAMED])}{more}."
    return (Notice(UNPAIRED, message),)


def _faults(messages: Sequence[Message]) -> Iterator[tuple[int, str]]:
    called = set[str]()
    open_calls: dict[str, int] = {}
    ended: dict[str, int] = {}  # calls after which the conversation went on
    for index, message in enumerate(messages):
        speaks = message.role == "assistant" and any(part.kind is PartKind.TEXT for part in message.parts)
        if open_calls and (message.from_user or speaks):
            program = {part.caller for part in message.parts}
            ended.update((call, open_calls.pop(call)) for call in list(open_calls) if call not in program)
        for part in message.parts:
            if part.caller and part.caller not in called:
                yield index, f"its program {part.caller[:LONGEST_ID]} is not there"
            if part.kind is PartKind.CALL and part.call:
                called.add(part.call)
                open_calls[part.call] = index
            elif part.kind is PartKind.RESULT and part.call:
                if part.call not in called:
                    yield index, f"result {part.call[:LONGEST_ID]} has no call"
                open_calls.pop(part.call, None)
                ended.pop(part.call, None)
    yield from ((index, f"call {call[:LONGEST_ID]} has no result") for call, index in ended.items())
