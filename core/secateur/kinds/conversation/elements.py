"""Groups messages that must go or stay together, so that the rest is still a conversation.

An element is a user's words, an assistant's words, or a step: an assistant's tool calls with all their results, and
with the calls that a program among them makes. A turn is a user's element, the steps that follow and the answer. If a
step is taken out, or a turn without steps, every result keeps its call and the roles still alternate.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from secateur.kinds.conversation.decisions import MeasuredTranscript, first_user, is_summary, last_user
from secateur.kinds.conversation.messages import ASIDE, SYSTEM_ROLES, Message, PartKind
from secateur.kinds.conversation.unreadable import DAMAGED
from secateur.model import Reason
from secateur.settings import ConversationPrune

USER, ASSISTANT = "user", "assistant"


@dataclass(slots=True, eq=False)
class Element:
    """Messages that go or stay together. System messages, asides and unreadable messages belong to no element."""

    starts: str  # USER or ASSISTANT: the side of its first message
    ends: str  # the side of its last message
    step: bool = False  # holds tool calls and their results
    numbers: list[int] = field(default_factory=list)  # of the messages, rising
    fixed: Reason | None = None  # why it always stays; None if it may go
    into: Element | None = field(default=None, repr=False)  # the element that it was merged into

    def root(self) -> Element:
        """The element that this one was merged into, else itself."""
        element = self
        while element.into is not None:
            if element.into.into is not None:
                element.into = element.into.into
            element = element.into
        return element


def elements_of(
    messages: Sequence[Message], *, summaries_stay: bool = True, keep_first: bool = False, pinned: Collection[int] = ()
) -> list[Element]:
    """Groups messages into elements, in order. With `summaries_stay` summaries of a pruner are fixed, so that they are
    not summarised again. `pinned`: indexes of messages whose elements are fixed."""
    elements: list[Element] = []
    owner: dict[str, Element] = {}
    homes: list[tuple[int, Element]] = []
    for index, message in enumerate(messages):
        if message.role in (*SYSTEM_ROLES, ASIDE, DAMAGED):
            continue
        own = {part.call for part in message.calls if part.call}
        results = [part for _, part in message.results if part.call not in own]
        side = ASSISTANT if message.role == ASSISTANT else USER
        whole = side == ASSISTANT and any(message.results)  # it holds calls with their results
        named = {*(part.call for part in results), *(part.caller for part in message.parts)} - own
        callers = {id(root): root for root in (owner[call].root() for call in named if call in owner)}
        _join(elements, callers)
        above = elements[-1] if elements else None
        if above is not None and (callers or (results and (above.ends == ASSISTANT or above.step))):
            above.ends, above.step = side, True
        elif above is None or above.ends != side or above.step or results or whole:
            elements.append(Element(side, side, step=whole))
        homes.append((index, elements[-1]))
        owner.update((call.call, elements[-1]) for call in message.calls if call.call)
    for index, element in homes:
        element.root().numbers.append(index)
    last, first = last_user(messages), first_user(messages) if keep_first else -1
    for element in elements:
        if any(index in pinned for index in element.numbers):
            element.fixed = Reason.BESIDE_PINNED
        if summaries_stay and any(is_summary(messages[index]) for index in element.numbers):
            element.fixed = Reason.SUMMARY
        if first in element.numbers:
            element.fixed = Reason.FIRST_USER
        if last in element.numbers:
            element.fixed = Reason.LAST_USER
    if elements and not elements[-1].fixed:
        elements[-1].fixed = Reason.LATEST
    if any(message.role == DAMAGED for message in messages):
        _fix_unpaired(elements, messages)
    return elements


def target_tokens(measured: MeasuredTranscript, zone: ConversationPrune, pinned: Collection[int] = ()) -> int:
    """Returns the tokens to aim for: the safe zone; if the conversation is larger, what always stays and the share
    `cut_to` of the room that this leaves."""
    total, safe_zone = measured.total, zone.safe_zone_tokens
    if total <= safe_zone or zone.cut_to == 1:
        return safe_zone
    elements = elements_of(measured.transcript.messages, keep_first=zone.keep_first, pinned=pinned)
    stays = total - sum(
        measured.tokens[index] for element in elements if not element.fixed for index in element.numbers
    )
    return min(safe_zone, stays + int(max(0, safe_zone - stays) * zone.cut_to))


def turns_of(elements: Sequence[Element]) -> list[list[Element]]:
    """Groups elements into turns; only the first turn may lack a user's element."""
    turns: list[list[Element]] = []
    for element in elements:
        if not turns or (element.starts == USER and not element.step):
            turns.append([])
        turns[-1].append(element)
    return turns


@dataclass(frozen=True, slots=True)
class Removable:
    """Elements that are taken out together: a step, or the question and the answer of a turn, once its steps are."""

    turn: int
    elements: Sequence[Element]
    whole_turn: bool = False  # nothing of the turn is left


def list_removable(elements: Sequence[Element]) -> list[Removable]:
    """Lists what can be taken out, in order: of the oldest turn its steps one by one, then its question and answer;
    then the next turn."""
    units: list[Removable] = []
    for number, turn in enumerate(turns_of(elements)):
        answer = turn[-1] if turn[-1].starts == ASSISTANT == turn[-1].ends else None  # the question goes with it
        steps = (element for element in turn if element.step and element is not answer and not element.fixed)
        units += [Removable(number, [element]) for element in steps]
        rest = [element for element in turn if not element.step or element is answer]
        if rest and not any(element.fixed for element in turn):
            units.append(Removable(number, rest, whole_turn=True))
    return units


def _join(elements: list[Element], callers: Mapping[int, Element]) -> None:
    """Merges the oldest caller's element with all after it: whatever was said between a call and its result stays with
    them."""
    waiting = len(callers)
    joined: list[Element] = []
    while waiting:
        joined.append(elements.pop())
        waiting -= id(joined[-1]) in callers
    if joined:
        oldest = joined.pop()
        for later in joined:
            later.into = oldest
        elements.append(oldest)


def _fix_unpaired(elements: Sequence[Element], messages: Sequence[Message]) -> None:
    """Keeps an element that lacks a call or a result: the counterpart may be in an unreadable message, which stays."""
    called = {part.call for message in messages for part in message.calls}
    got = {part.call for message in messages for _, part in message.results}
    for element in elements:
        parts = [part for index in element.numbers for part in messages[index].parts if part.call]
        if not element.fixed and any(
            part.call not in (got if part.kind is PartKind.CALL else called) or part.caller not in {"", *called}
            for part in parts
        ):
            element.fixed = Reason.UNPAIRED
