"""Summaries in place of the oldest groups of messages.

    items = summarize(measured, items, elements, zone, counter, None)

Groups go from the oldest until the rest fits together with their summary; room that the summary leaves goes back to the
newest of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from secateur.kinds.conversation.decisions import BRIDGE, NOTED, SUMMARY_MARK, MeasuredTranscript, MessageDecision
from secateur.kinds.conversation.elements import ASSISTANT, USER, Element
from secateur.kinds.conversation.extractive_summaries import ExtractiveSummary
from secateur.kinds.conversation.messages import Message
from secateur.kinds.conversation.session_formats.registry import MESSAGE_FORMATS
from secateur.model import Reason, State
from secateur.progress import Progress
from secateur.settings import ConversationPrune
from secateur.tokens import Counter

SUMMARIES_OF_ROOM = 0.5
"""Share of the room beside what must stay that summaries may take: the latest messages have the other, as they are."""

GROUPS_A_STEP = 50
"""Groups between two steps of the progress bar."""

SUMMARY_TRIES = 4
"""Attempts at a summary that fits; the last is a heading alone."""
SUMMARY_STEP = 0.95
"""A summary that is too long is made that much shorter than the tokens of the last attempt ask for."""


def summarize(
    measured: MeasuredTranscript,
    items: list[MessageDecision],
    elements: Sequence[Element],
    zone: ConversationPrune,
    counter: Counter,
    progress: Progress | None,
) -> list[MessageDecision]:
    """Let summaries stand for the oldest groups until the rest fits. What stays fixed parts the groups into stretches,
    each with one summary."""
    tokens = {id(element): sum(measured.tokens[number] for number in element.numbers) for element in elements}
    total, room = (
        measured.total,
        zone.safe_zone_tokens
        - (measured.total - sum(tokens[id(element)] for element in elements if not element.fixed)),
    )
    allowed = max(0, int(room * SUMMARIES_OF_ROOM))
    changed: dict[int, list[MessageDecision]] = {}
    for first, stop in _loose_runs(elements):
        if total <= zone.safe_zone_tokens:
            break
        groups = _groups(elements, first, stop, zone.group_size)
        summary, new = ExtractiveSummary(), list[MessageDecision]()
        size, wanted, gone, saved, taken, more = 0, 0.0, 0, 0, 0, 1
        while taken < len(groups) and total - saved > zone.safe_zone_tokens:
            least, more = taken + more, more * 2  # an estimate that falls short is corrected in few steps
            while taken < len(groups) and (
                taken < least or total - gone + min(wanted, allowed) > zone.safe_zone_tokens
            ):
                numbers = [number for element in groups[taken] for number in element.numbers]
                messages = [measured.transcript.messages[number] for number in numbers]
                characters = sum(len(part.text) for message in messages for part in message.parts)
                held = sum(measured.tokens[number] for number in numbers)
                wanted += held * min(zone.summary_share, summary.add(messages) / (characters or 1))
                size, gone, taken = size + characters, gone + held, taken + 1
                if progress is not None and taken % GROUPS_A_STEP == 0:
                    progress("summarising", taken, len(groups))
            stretch = [element for group in groups[:taken] for element in group]
            left = max(0, zone.safe_zone_tokens - (total - gone))  # what the summary may take
            characters = int(min(size * zone.summary_share, left * size / (gone or 1)))
            new = _fitted(measured, elements, first, stretch, summary, characters, left, counter)
            saved = gone - sum(item.after for item in new)
        back = _given_back([tokens[id(element)] for element in stretch], zone.safe_zone_tokens - (total - saved))
        if back:  # the last group is as large as a group is, and the summary is smaller than it may be
            stretch = stretch[:-back]
            gone = sum(tokens[id(element)] for element in stretch)
            summary = ExtractiveSummary()
            messages = [measured.transcript.messages[number] for element in stretch for number in element.numbers]
            summary.add(messages)
            size = sum(len(part.text) for message in messages for part in message.parts)
            left = max(0, zone.safe_zone_tokens - (total - gone))
            characters = int(min(size * zone.summary_share, left * size / (gone or 1)))
            new = _fitted(measured, elements, first, stretch, summary, characters, left, counter)
            saved = gone - sum(item.after for item in new)
        if saved > 0:
            total, allowed = total - saved, max(0, allowed - (gone - saved))
            changed[stretch[0].numbers[0]] = new
            for number in (number for element in stretch for number in element.numbers):
                items[number] = without(items[number], measured, State.SUMMARISED, Reason.OLDEST_GROUP)
    return [row for item in items for row in (*changed.get(item.number, ()), item)]


def _given_back(tokens: Sequence[int], free: int) -> int:
    """Returns how many of the last elements of a stretch, with so many tokens each, stay as they are in the free room:
    not the first, which a summary stands for."""
    back = 0
    for size in reversed(tokens[1:]):
        free -= size
        if free < 0:
            break
        back += 1
    return back


def _fitted(
    measured: MeasuredTranscript,
    elements: Sequence[Element],
    first: int,
    stretch: Sequence[Element],
    summary: ExtractiveSummary,
    characters: int,
    left: int,
    counter: Counter,
) -> list[MessageDecision]:
    """Returns the messages in place of a stretch, which begins at element `first`, with a summary that takes at most
    `left` tokens; the last attempt is a heading alone."""
    end = first + len(stretch)
    sides = (elements[first - 1].ends if first else "", elements[end].starts if end < len(elements) else "")
    for attempt in reversed(range(SUMMARY_TRIES)):
        new = _stretch(measured, stretch, summary.lines(characters), *sides, counter)
        takes = sum(item.after for item in new)
        if takes <= left or not characters:
            break
        characters = int(characters * left / takes * SUMMARY_STEP) if attempt > 1 else 0
    return new


def _loose_runs(elements: Sequence[Element]) -> list[tuple[int, int]]:
    """The stretches of elements that may go, as (first, stop)."""
    starts = [
        place
        for place, element in enumerate(elements)
        if not element.fixed and (place == 0 or elements[place - 1].fixed)
    ]
    stops = [
        place + 1
        for place, element in enumerate(elements)
        if not element.fixed and (place + 1 == len(elements) or elements[place + 1].fixed)
    ]
    return list(zip(starts, stops, strict=True))


def _groups(elements: Sequence[Element], first: int, stop: int, size: int) -> list[list[Element]]:
    """Elements `first` to `stop` in groups of at least `size` messages; the last may be smaller."""
    groups: list[list[Element]] = []
    held = size
    for element in elements[first:stop]:
        if held >= size:
            groups.append([])
            held = 0
        groups[-1].append(element)
        held += len(element.numbers)
    return groups


def _stretch(
    measured: MeasuredTranscript,
    stretch: Sequence[Element],
    lines: Sequence[str],
    before: str,
    after: str,
    counter: Counter,
) -> list[MessageDecision]:
    """The messages in place of a stretch: a summary by the role that comes next, and, where the message after the
    stretch has the same role, a word of the other role.

    Args:
        before, after: the sides that speak before and after the stretch; "" for none.
    """
    numbers = [number for element in stretch for number in element.numbers]
    side = ASSISTANT if before == USER else USER
    told = [(side, "\n".join([_heading(len(numbers)), *lines]))]
    if after == side:
        told.append((USER, BRIDGE) if side == ASSISTANT else (ASSISTANT, NOTED))
    section = f"summary of messages[{numbers[0]}-{numbers[-1]}]"
    model = measured.transcript.messages[numbers[0]]
    return [
        MessageDecision(
            -1,
            0,
            counter.count(text),
            State.SUMMARISED,
            Reason.SUMMARY,
            _message(model, role, text, measured.transcript.format, place),
            section,
        )
        for place, (role, text) in enumerate(told)
    ]


def _heading(messages: int) -> str:
    return f"{SUMMARY_MARK}{messages:,} earlier messages, in excerpts]"


def _message(model: Message, role: str, text: str, form: str, place: int) -> dict[str, Any]:
    """A message of ours in the shape of the others; in a session, with the envelope of the line it stands for and an id
    made of that line's."""
    known = MESSAGE_FORMATS.get(form)
    return {"role": role, "content": text} if known is None else known.made(model.raw, role, text, place)


def without(item: MessageDecision, measured: MeasuredTranscript, state: State, reason: Reason) -> MessageDecision:
    """Returns the decision that a message does not go out."""
    cleaned = sum(1 for _ in measured.transcript.messages[item.number].results) if item.number >= 0 else 0
    return MessageDecision(item.number, item.before, 0, state, reason, None, item.section, cleaned)
