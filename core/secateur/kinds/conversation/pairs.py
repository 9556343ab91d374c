"""Warns of calls without a result, results without a call, and calls of a missing program, which providers refuse.

A call at the end of a conversation may wait for its result. Results written as text have no ids and are not checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from secateur.kinds.conversation.messages import Message, PartKind
from secateur.kinds.conversation.unreadable import DAMAGED, NAMED
from secateur.model import Notice

UNPAIRED = "unpaired_calls"
"""Code of the warning."""

LONGEST_ID = 60
"""Characters of an id that the warning shows."""


def warn_of_unpaired(messages: Sequence[Message]) -> tuple[Notice, ...]:
    """Returns the warning about calls and results that lack their counterpart, or (). Nothing is checked
    if some messages cannot be read: the counterpart may be in one of them."""
    if any(message.role == DAMAGED for message in messages):
        return ()
    faults = [f"{messages[index].location} ({fault})" for index, fault in sorted(_faults(messages))]
    if not faults:
        return ()
    more = f", and {len(faults) - NAMED:,} more" if len(faults) > NAMED else ""
    subject = "1 call or result has" if len(faults) == 1 else f"{len(faults):,} calls and results have"
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
