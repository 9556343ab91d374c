"""The interface of the formats in which coding agents write their sessions.

A session is a list of values: lines of a file, or elements of a list. A format tells which values are sent to a model
now, reads a value as a message of the kind, and finds the figures that the agent noted: tokens as the provider reported
them, times, model, window.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

from secateur.kinds.conversation.messages import Message, MessagePart, Where

LONGEST_FACT = 300  # characters kept of a title, a folder or a name
MOST_TOKENS = 1 << 40  # larger counts are not tokens of a request
LATEST_SECOND = 253402300799  # the last second of the year 9999; larger numbers are not times


@dataclass(frozen=True, slots=True)
class ReportedUsage:
    """Tokens of one request, as its provider reported them."""

    request: str  # equal in all values about the same request
    read: int  # tokens that the model read, cached or not
    cached: int  # of these, read from a cache
    written: int  # of these, written to a cache
    output: int
    window: int = 0  # of the model; 0 if the session does not say

    @property
    def filled(self) -> int:
        """Tokens that the next request begins with."""
        return self.read + self.output


@dataclass(frozen=True, slots=True)
class SessionHeading:
    """The facts of a session as a whole; "" if unknown. Text from outside."""

    id: str = ""
    folder: str = ""  # that the agent works in
    model: str = ""  # of the last answer
    version: str = ""  # of the agent
    title: str = ""
    parent: str = ""  # id of the session that started it, of a subagent


class SessionFormat(ABC):
    """See the module docstring."""

    name: ClassVar[str]  # the format's name in the kind: "codex"
    agent: ClassVar[str]  # "Codex CLI"
    under: ClassVar[Where] = ()  # path to the message in a value
    tells_usage_aside: ClassVar[bool] = False  # usage is in values that are not messages

    @abstractmethod
    def owns(self, value: Any) -> bool:
        """Tells by its fields whether a value has this format. Cheap and certain."""

    @abstractmethod
    def parse(self, raw: Any, location: str, calls: dict[str, MessagePart]) -> Message:
        """Parses the message in a sent value; see `messages.parse_message`, also for errors."""

    @abstractmethod
    def make(self, like: Mapping[str, Any], role: str, text: str, index: int) -> dict[str, Any]:
        """Makes a value of this format with `text` that replaces `like`; role: "user" or "assistant"."""

    def proves(self, value: Any) -> bool:
        """Tells whether a value proves that the others are a session, and not messages of another program."""
        return self.owns(value)

    @abstractmethod
    def list_sent(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> Collection[int]:
        """Indices of the values that are sent to a model in the next request. `head`: the object that holds the values;
        None for lines of a file."""

    @abstractmethod
    def heading(self, values: Sequence[Any], head: Mapping[str, Any] | None) -> SessionHeading:
        """The facts of the session."""

    def usage(self, value: Mapping[str, Any]) -> ReportedUsage | None:  # noqa: ARG002
        """The usage that a value reports, or None."""
        return None

    def seconds(self, value: Mapping[str, Any]) -> float | None:
        """The time of a value in seconds since 1970, or None."""
        return seconds_of(value.get("timestamp"))

    def compacts(self, value: Mapping[str, Any]) -> bool:  # noqa: ARG002
        """Tells whether a value replaces all values before it."""
        return False

    def unknown_kind(self, value: Mapping[str, Any]) -> str:  # noqa: ARG002
        """The kind of a value that may be sent but is unknown here; "" for other values."""
        return ""


# --- small things -----------------------------------------------------------------------------------------------------


def field_of(value: Any, *keys: str | int) -> Any:
    """The value at a path of keys and positions; None if there is no such path."""
    for key in keys:
        if isinstance(key, str):
            value = value.get(key) if isinstance(value, dict) else None
        else:
            value = value[key] if isinstance(value, list) and -len(value) <= key < len(value) else None
    return value


def text_at(value: Any, *keys: str | int) -> str:
    """The text at a path, cut to `LONGEST_FACT`; "" if it is missing."""
    text = field_of(value, *keys)
    return text[:LONGEST_FACT] if isinstance(text, str) else ""


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; empty if the value is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def numbered(value: Any, where: Where) -> list[tuple[Any, Where]]:
    """The items of a list with their paths; empty if the value is not a list."""
    return [(item, (*where, index)) for index, item in enumerate(value)] if isinstance(value, list) else []


def count_at(value: Any, *keys: str | int) -> int:
    """The number of tokens at a path; 0 if missing or implausible."""
    count = field_of(value, *keys)
    if isinstance(count, bool) or not isinstance(count, int | float):
        return 0
    return int(min(max(0, count), MOST_TOKENS)) if count >= 0 else 0


def seconds_of(written: Any) -> float | None:
    """Converts ISO 8601 text or milliseconds since 1970 to seconds; None for anything else. Without a zone it is
    UTC."""
    if isinstance(written, str) and len(written) < 50:
        try:
            time = datetime.fromisoformat(written)
            return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if isinstance(written, int | float) and not isinstance(written, bool) and 0 < written <= LATEST_SECOND * 1000:
        return written / 1000
    return None
