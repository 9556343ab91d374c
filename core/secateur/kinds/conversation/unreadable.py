"""Carries along the messages that cannot be read: they stay as they are, one warning names them, and they cost no other
message.

A line of a file that is no JSON object is a message of nobody's: it costs nothing and is not among the messages that a
pruner returns, but it is written back byte for byte. An object that is no message, or what stands in its place in a
list, may well be sent: it is charged as its JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from secateur.errors import SecateurError
from secateur.kinds.conversation.media import MEDIA_KINDS, media_tokens
from secateur.kinds.conversation.messages import Message, MessagePart, PartKind, Where
from secateur.model import Notice

DAMAGED = "damaged"
"""Role of what cannot be read as a message."""

UNREADABLE = "unreadable_messages"
"""Code of the warning that names what cannot be read."""

NAMED = 3
"""Unreadable messages that the warning names before it only counts them."""

INVALID_UTF8 = "invalid_utf8"
"""Code of the warning that bytes of a file are not UTF-8."""


class UnreadLine(str):
    """A line that is no JSON object, as it stands in the file; bytes that are not UTF-8 are lone surrogates."""

    __slots__ = ()


def unreadable(place: str, line: str) -> Message:
    """The message that stands for a line that is no JSON object."""
    return Message(place, DAMAGED, UnreadLine(line))


def damaged(raw: Any, place: str, under: Where = ()) -> Message:
    """The message that stands for `raw`, which is none. It is charged as the JSON text of what is at `under`, pictures
    by their estimate.

    Raises:
        TypeError, ValueError, RecursionError: it holds what JSON does not have.
    """
    body = raw
    for key in under:
        body = body[key]
    media: list[int] = []
    text = json.dumps(_without_media(body, media), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return Message(
        place, DAMAGED, raw, (MessagePart(PartKind.OTHER, text, under, media=len(media), media_tokens=sum(media)),)
    )


def settled(messages: Sequence[Message], faults: Sequence[SecateurError]) -> tuple[Notice, ...]:
    """The warning about what cannot be read; () where everything can.

    Raises:
        SecateurError: `TRANSCRIPT`: no message can be read; the error is that of the first.
    """
    if not faults:
        return ()
    if all(message.role == DAMAGED for message in messages):
        raise faults[0]
    more = len(faults) - NAMED
    named = "; ".join(fault.message for fault in faults[:NAMED]) + (f"; and {more:,} more" if more > 0 else "")
    uncounted = (
        ", and those that are no JSON object are not counted"
        if any(isinstance(message.raw, UnreadLine) for message in messages)
        else ""
    )
    subject = (
        "1 message cannot be read and is" if len(faults) == 1 else f"{len(faults):,} messages cannot be read and are"
    )
    return (Notice(UNREADABLE, f"{subject} carried along unchanged{uncounted}: {named}."),)


def _without_media(value: Any, media: list[int]) -> Any:
    """`value` with pictures and the like taken out; their tokens are added to `media`."""
    if isinstance(value, dict):
        if value.get("type") in MEDIA_KINDS:
            media.append(media_tokens(value))
            return {"type": value["type"]}
        return {key: _without_media(part, media) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_media(part, media) for part in value]
    return value
