"""Reads the values of a session as messages: those that a model is sent now, and the others that are carried along.

A session that grows is read on: while nothing takes back what was said, only its new values are looked at.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.conversation.messages import ASIDE, Message, MessagePart, Where, json_type, malformed
from secateur.kinds.conversation.pairs import warn_of_unpaired
from secateur.kinds.conversation.session_formats.base import LONGEST_FACT, SessionFormat
from secateur.kinds.conversation.unreadable import damaged, settled, unreadable
from secateur.model import Notice

UNKNOWN_KINDS = "unknown_records"
"""Code of the warning that a session holds records of kinds that are not known."""

NAMED_KINDS = 5
"""Unknown kinds that the warning names."""


@dataclass(frozen=True, slots=True)
class UnreadValue:
    """A line that is no JSON object, and why it is none."""

    line: str
    fault: SecateurError


def message_in(
    value: Any,
    place: str,
    parse: Callable[[Any, str], Message],
    faults: list[SecateurError],
    under: Where = (),
) -> Message:
    """The message in `value`, or what stands for it where it is none; then the error is added to `faults`.

    Args:
        parse: reads the message at a place.
        under: where in the value the message stands.
    """
    if isinstance(value, UnreadValue):
        faults.append(value.fault)
        return unreadable(place, value.line)
    under = under if isinstance(value, dict) else ()
    try:
        return parse(value, place)
    except SecateurError as error:
        try:
            message = damaged(value, place, under)
        except (TypeError, ValueError, RecursionError):  # what no file can hold cannot be counted
            raise error from None
        faults.append(error)
        return message


@dataclass(frozen=True, slots=True)
class _ReadMessage:
    """A message that was read, and the calls by which its results were named."""

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
        self._known: dict[int, _ReadMessage] = {}  # of every value that was ever sent
        self._unknown: Tally[str] = Tally()
        self._looked_at = 0  # values among which unknown ones were looked for

    def read(
        self, values: Sequence[Any], places: Sequence[str], head: Mapping[str, Any] | None = None
    ) -> tuple[tuple[Message, ...], tuple[Notice, ...]]:
        """A message per value, and what has to be said of them.

        Args:
            values: of the session; those of the last call come first, as they were.
            head: the object they stand in.

        Raises:
            SecateurError: `TRANSCRIPT`: no message can be read; the error is that of the first.
        """
        sent = set(self._form.sent([value if isinstance(value, dict) else {} for value in values], head))
        start = len(self._messages)
        if {number for number in sent if number < start} != self._sent:
            start, self._messages, self._calls, self._faults = 0, [], {}, []
        for number in range(start, len(values)):
            self._messages.append(self._message(number, values[number], places[number], number in sent))
        self._sent = sent
        messages = tuple(self._messages)
        return messages, (
            *settled(messages, self._faults),
            *warn_of_unpaired(messages),
            *self._of_unknown(values),
        )

    def _message(self, number: int, value: Any, place: str, is_sent: bool) -> Message:
        if not is_sent and isinstance(value, dict):
            return Message(place, ASIDE, value)
        known = self._known.get(number)
        if known is None or not self._still(known):
            faults: list[SecateurError] = []
            message = message_in(value, place, self._parse, faults, self._form.under)
            named = tuple(self._calls.get(part.call) for _, part in message.results if part.call)
            known = self._known[number] = _ReadMessage(message, named, faults[0] if faults else None)
        if known.fault is not None:
            self._faults.append(known.fault)
        return known.message

    def _parse(self, value: Any, place: str) -> Message:
        if not isinstance(value, dict):
            raise malformed(place, f"a record is an object, not {json_type(value)}")
        return self._form.parse(value, place, self._calls)

    def _still(self, known: _ReadMessage) -> bool:
        """Tells whether a message would be read as it was; its calls are known from now on."""
        self._calls.update((part.call, part) for part in known.message.calls if part.call)
        named = (self._calls.get(part.call) for _, part in known.message.results if part.call)
        return all(now is then for now, then in zip(named, known.named, strict=True))

    def _of_unknown(self, values: Sequence[Any]) -> tuple[Notice, ...]:
        """The warning about records of unknown kinds; () where there are none."""
        for value in values[self._looked_at :]:
            if isinstance(value, dict) and (kind := self._form.unknown(value)):
                self._unknown[kind[:LONGEST_FACT]] += 1
        self._looked_at = len(values)
        if not self._unknown:
            return ()
        kinds = sorted(self._unknown)
        named = ", ".join(kinds[:NAMED_KINDS]) + (" and others" if len(kinds) > NAMED_KINDS else "")
        number = self._unknown.total()
        records = "1 record is" if number == 1 else f"{number:,} records are"
        said = f"{records} of kinds that are not known ({named}), and not counted: {self._form.agent} may send them."
        return (Notice(UNKNOWN_KINDS, said),)
