"""The format in which a coding agent writes its sessions: what of it reaches a model, and what it says of itself.

A session is a list of values, one a line of a file or one an element of a list. A format tells which values a model is
sent now, reads one as a message of the kind, and finds the figures that the agent noted: tokens as the provider
reported them, times, model, window.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from secateur.kinds.conversation.messages import Message, MessagePart, Where

LONGEST_FACT = 300
"""Characters of a title, a folder or a name that are kept."""

MOST_TOKENS = 1 << 40
"""Larger counts are no tokens of a request."""

LATEST_SECOND = 253402300799
"""The last second of the year 9999: larger times are no times."""


@dataclass(frozen=True, slots=True)
class ReportedUsage:
    """Tokens of one request, as its provider reported them."""

    request: str  # equal in all values that tell of the same request
    read: int  # all that the model read, from a cache or not
    cached: int  # of these, read from a cache
    written: int  # of these, written to a cache
    output: int
    window: int = 0  # of the model, where the session says; 0: it does not

    @property
    def filled(self) -> int:
        """Tokens that the next request begins with."""
        return self.read + self.output


@dataclass(frozen=True, slots=True)
class SessionHeading:
    """The facts of a session as a whole; "" for what it does not say. Text from outside."""

    id: str = ""
    folder: str = ""  # that the agent works in
    model: str = ""  # of the last answer
    version: str = ""  # of the agent
    title: str = ""
    parent: str = ""  # id of the session that started it, of a subagent


class MessageFormat(ABC):
    """The shape of messages: which values are some, how one is read, how one is made."""

    name: ClassVar[str]  # as the kind calls the format: "codex"

    @abstractmethod
    def owns(self, value: Any) -> bool:
        """Tells whether a value is one of this format, by its fields. Cheap, and sure."""

    @abstractmethod
    def parse(self, raw: Any, place: str, calls: dict[str, MessagePart]) -> Message:
        """The message in one of the values that are sent; see `messages.parse_message`, also for what it raises."""

    @abstractmethod
    def made(self, like: Mapping[str, Any], role: str, text: str, number: int) -> dict[str, Any]:
        """A value of this format that says `text`, in the place of `like`; role: "user" or "assistant"."""


class SessionFormat(MessageFormat):
    """See the module docstring."""

    agent: ClassVar[str]  # "Codex CLI"
    under: ClassVar[Where] = ()  # where in a value the message stands
    tells_usage_aside: ClassVar[bool] = False  # usage is told by values that are no messages

    def proves(self, value: Any) -> bool:
        """Tells whether a value shows that the others are a session, and not what another program may hold too."""
        return self.owns(value)

    @abstractmethod
    def sent(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> Collection[int]:
        """Numbers of the values that a model is sent in the next request.

        Args:
            head: the object that the values stand in; None for lines of a file.
        """

    @abstractmethod
    def heading(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> SessionHeading:
        """The facts of the session."""

    def usage(self, value: Mapping[str, Any]) -> ReportedUsage | None:  # noqa: ARG002
        """The usage that a value reports; None where it reports none."""
        return None

    def seconds(self, value: Mapping[str, Any]) -> float | None:
        """The time of a value, in seconds since 1970; None where it has none."""
        return seconds_of(value.get("timestamp"))

    def compacts(self, value: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Tells whether a value stands for all before it from now on."""
        return False

    def unknown(self, value: Mapping[str, Any]) -> str:  # noqa: ARG002
        """The kind of a value that may well be sent, but is of none known here; "" for others."""
        return ""


# --- small things -----------------------------------------------------------------------------------------------------


def field_of(value: Any, *keys: str | int) -> Any:
    """The value at the end of a path of keys and positions; None where there is no such path."""
    for key in keys:
        if isinstance(key, str):
            value = value.get(key) if isinstance(value, dict) else None
        else:
            value = value[key] if isinstance(value, list) and -len(value) <= key < len(value) else None
    return value


def text_at(value: Any, *keys: str | int) -> str:
    """The text there, in short; "" where there is none."""
    found = field_of(value, *keys)
    return found[:LONGEST_FACT] if isinstance(found, str) else ""


def count_at(value: Any, *keys: str | int) -> int:
    """The number of tokens there; 0 where there is none, or it is no sensible one."""
    found = field_of(value, *keys)
    if isinstance(found, bool) or not isinstance(found, int | float):
        return 0
    return int(min(max(0, found), MOST_TOKENS)) if found >= 0 else 0


def seconds_of(written: Any) -> float | None:
    """A time as ISO 8601 text, or in milliseconds since 1970; None for anything else. Without a zone it is UTC."""
    if isinstance(written, str) and len(written) < 50:
        try:
            time = datetime.fromisoformat(written)
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(written, int | float) and not isinstance(written, bool) and 0 < written <= LATEST_SECOND * 1000:
        return written / 1000
    return None
