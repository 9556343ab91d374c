"""Reads the values of a session as messages: those sent to a model now, and the others, which are kept unchanged.

A growing session is continued: as long as no turn is taken back, only new values are read.
"""

from collections import Counter as Tally
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.conversation.messages import ASIDE, Message, MessagePart, Where, json_type, malformed
from secateur.kinds.conversation.session_formats.base import LONGEST_FACT, SessionFormat
from secateur.kinds.conversation.unreadable import (
    DAMAGED,
    UnreadLine,
    damage_notices,
    damaged_message,
    warn_of_unpaired,
)
from secateur.model import Notice

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
        message = f"{records} of kinds that are not known ({named}), and not counted: {self._form.agent} may send them."
        return (Notice(UNKNOWN_KINDS, message),)
