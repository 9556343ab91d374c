"""Keeps messages that cannot be read unchanged; one warning names them, and they cost no other message.

A line of a file that is not a JSON object costs nothing and is not among the messages that a pruner returns, but it is
written back byte for byte. An object that is not a message, or another value in a list of messages, may be sent, so it
is charged as its JSON text. A session of an agent that is not read is refused, so that none is read as
something else.

Calls without a result, results without a call, and calls of a missing program, which providers refuse, get a warning. A
call at the end of a conversation may wait for its result. Results written as text have no ids and are not checked.

Reads the values of a session as messages: those sent to a model now, and the others, which are kept unchanged.

A growing session is continued: as long as no turn is taken back, only new values are read.
"""

import json
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.conversation.media import MEDIA_KINDS, media_tokens
from secateur.kinds.conversation.messages import ASIDE, Message, MessagePart, PartKind, Where, json_type, malformed
from secateur.kinds.conversation.session_formats.base import LONGEST_FACT, SessionFormat
from secateur.model import Notice
from secateur.render.page import count_noun

UNKNOWN_KINDS = "unknown_records"  # code of the warning that a session holds records of unknown kinds
NAMED_KINDS = 5  # most unknown kinds that the warning names


@dataclass(frozen=True, slots=True)
class UnreadValue:
    """A line that is not a JSON object, and the fault."""

    line: str
    fault: SecateurError


def message_in(
    value: Any, location: str, parse: Callable[[Any, str], Message], faults: list[SecateurError], under: Where = ()
) -> Message:
    """Reads the message in `value`; an unreadable one becomes a damaged message, and its error is added to `faults`.

    Args:
        parse: parses a value, given its location.
        under: the path to the message in the value.
    """
    if isinstance(value, UnreadValue):
        faults.append(value.fault)
        return Message(location, DAMAGED, UnreadLine(value.line))
    under = under if isinstance(value, dict) else ()
    try:
        return parse(value, location)
    except SecateurError as error:
        try:
            message = damaged_message(value, location, under)
        except (TypeError, ValueError, RecursionError):  # values that no file can hold cannot be counted
            raise error from None
        faults.append(error)
        return message


@dataclass(frozen=True, slots=True)
class _ReadMessage:
    message: Message
    named: tuple[MessagePart | None, ...]
    fault: SecateurError | None


class SessionMessages:
    """The messages of one session; `read` is called again when it has grown."""

    def __init__(self, form: SessionFormat) -> None:
        self._form = form
        self._messages: list[Message] = []
        self._sent: set[int] = set()
        self._calls: dict[str, MessagePart] = {}
        self._faults: list[SecateurError] = []
        self._known: dict[int, _ReadMessage] = {}  # every value that was ever sent, by index
        self._unknown: Tally[str] = Tally()
        self._looked_at = 0  # values that were checked for unknown kinds

    def read(
        self, values: Sequence[Any], locations: Sequence[str], head: Mapping[str, Any] | None = None
    ) -> tuple[tuple[Message, ...], tuple[Notice, ...]]:
        """Reads one message per value, and returns them with warnings.

        Args:
            values: all values of the session; those of the last call come first, unchanged.
            head: the object that holds them.

        Raises:
            SecateurError: `TRANSCRIPT`: no message can be read; the error of the first one.
        """
        sent = set(self._form.list_sent([value if isinstance(value, dict) else {} for value in values], head))
        start = len(self._messages)
        if {index for index in sent if index < start} != self._sent:
            start, self._messages, self._calls, self._faults = 0, [], {}, []
        for index in range(start, len(values)):
            value, location, known = values[index], locations[index], self._known.get(index)
            if index not in sent and isinstance(value, dict):
                self._messages.append(Message(location, ASIDE, value))
                continue
            if known is None or not self._is_current(known):
                faults: list[SecateurError] = []
                message = message_in(value, location, self._parse, faults, self._form.under)
                named = tuple(self._calls.get(part.call) for _, part in message.results if part.call)
                known = self._known[index] = _ReadMessage(message, named, faults[0] if faults else None)
            self._faults += [known.fault] if known.fault is not None else []
            self._messages.append(known.message)
        self._sent = sent
        messages = tuple(self._messages)
        return messages, (
            *damage_notices(messages, self._faults),
            *warn_of_unpaired(messages),
            *self._unknown_notices(values),
        )

    def _parse(self, value: Any, location: str) -> Message:
        if not isinstance(value, dict):
            raise malformed(location, f"a record is an object, not {json_type(value)}")
        return self._form.parse(value, location, self._calls)

    def _is_current(self, known: _ReadMessage) -> bool:
        """Tells whether a message would be read the same again; adds its calls to the known ones."""
        self._calls.update((part.call, part) for part in known.message.calls if part.call)
        named = (self._calls.get(part.call) for _, part in known.message.results if part.call)
        return all(now is then for now, then in zip(named, known.named, strict=True))

    def _unknown_notices(self, values: Sequence[Any]) -> tuple[Notice, ...]:
        for value in values[self._looked_at :]:
            if isinstance(value, dict) and (kind := self._form.unknown_kind(value)):
                self._unknown[kind[:LONGEST_FACT]] += 1
        self._looked_at = len(values)
        if not self._unknown:
            return ()
        kinds = sorted(self._unknown)
        named = ", ".join(kinds[:NAMED_KINDS]) + (" and others" if len(kinds) > NAMED_KINDS else "")
        count = self._unknown.total()
        records = "1 record is" if count == 1 else f"{count:,} records are"
        message = f"{records} of unknown kinds ({named}), and not counted: {self._form.agent} may send them."
        return (Notice(UNKNOWN_KINDS, message),)


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
    further = ", and those that are not JSON objects are not counted" if uncounted else ""
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
        count = f"{len(unread):,} of {len(records):,} records are not messages"
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
    message = f"{subject} no counterpart in the input: {', '.join(faults[:NAMED])}{more}."
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
