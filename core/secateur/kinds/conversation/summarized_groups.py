"""Replaces the oldest groups of messages by summaries.

    items = summarize(measured, items, elements, zone, None, target=9_000)

Groups are replaced from the oldest until the rest fits beside a summary in half of the room. Lines with a sign of worth
may make the summary longer, up to the safe zone. If the summary leaves room, the newest of the groups are restored.

Groups messages that must go or stay together, so that the rest is still a conversation.

An element is a user's words, an assistant's words, or a step: an assistant's tool calls with all their results, and
with the calls that a program among them makes. A turn is a user's element, the steps that follow and the answer. If a
step is taken out, or a turn without steps, every result keeps its call and the roles still alternate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, takewhile
from typing import TYPE_CHECKING, Any

from secateur.kinds.conversation.api_formats import MESSAGE_FORMATS
from secateur.kinds.conversation.decisions import (
    BRIDGE,
    NOTED,
    SUMMARY_MARK,
    MeasuredTranscript,
    MessageDecision,
    Pruned,
)
from secateur.kinds.conversation.extractive_summaries import ExtractiveSummary, SpokenLines, length_of
from secateur.kinds.conversation.placeholders import digest_of
from secateur.kinds.protocols import Outcome
from secateur.model import Reason, State
from secateur.progress import Progress
from secateur.settings import ConversationPrune

if TYPE_CHECKING:
    from secateur.kinds.kind_trials import Left
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from secateur.kinds.conversation.decisions import first_user, is_summary, last_user
from secateur.kinds.conversation.messages import ASIDE, SYSTEM_ROLES, Message, PartKind
from secateur.kinds.conversation.unreadable import DAMAGED

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


_LEAD = re.compile(r"- [^:]{1,80}: |  ")  # the speaker before a line of a summary

# Largest summary, as a share of the text that it replaces: a longer one saves too little for what it leaves out.
SUMMARY_SHARE = 0.4

# Share of the free room that summaries may take; the rest is for the latest messages, unchanged.
SUMMARIES_OF_ROOM = 0.5

GROUPS_A_STEP = 50  # groups between two steps of the progress bar
SUMMARY_TRIES = 4  # attempts at a summary that fits; the last is a heading alone
SUMMARY_STEP = 0.95  # each attempt is shorter by this factor than the tokens of the last attempt require


def summarize(
    measured: MeasuredTranscript,
    items: list[MessageDecision],
    elements: Sequence[Element],
    zone: ConversationPrune,
    progress: Progress | None,
    *,
    target: int,
    recalls: bool = False,
) -> tuple[list[MessageDecision], dict[str, str]]:
    """Replaces the oldest groups by summaries until the rest fits `target`. Fixed elements separate the groups into
    stretches, each with one summary. With `recalls` a summary names the text of its stretch, which is returned by
    digest."""
    tokens = {id(element): sum(measured.tokens[index] for index in element.numbers) for element in elements}
    total, removable = measured.total, sum(tokens[id(element)] for element in elements if not element.fixed)
    allowed = max(0, int((target - total + removable) * SUMMARIES_OF_ROOM))
    changed: dict[int, list[MessageDecision]] = {}
    originals: dict[str, str] = {}
    spoken: SpokenLines = measured.known.setdefault(SpokenLines, SpokenLines())

    def fit_summary(
        first: int, stretch: Sequence[Element], summary: ExtractiveSummary, size: int, gone: int, needed: int
    ) -> list[MessageDecision]:
        """Makes the messages that replace a stretch of `size` characters and `gone` tokens starting at element `first`,
        within the safe zone; the last attempt at a summary is a heading alone. `needed`: characters of the lines that
        it should hold, for which it may exceed the target."""
        end, left = first + len(stretch), max(0, zone.safe_zone_tokens - (total - gone))
        sides = (elements[first - 1].ends if first else "", elements[end].starts if end < len(elements) else "")
        digest = digest_of(_stretch_text(measured, stretch)) if recalls else ""
        messages = (measured.transcript.messages[index] for element in stretch for index in element.numbers)
        media = sum(part.media_tokens for message in messages for part in message.parts)
        length = size / (gone - media or 1)  # characters of a token
        aimed = max(needed, (target - (total - gone)) * length)
        most = min(size, (size + media * length) * SUMMARY_SHARE)
        characters = max(0, int(min(most, left * length, aimed)))
        for attempt in reversed(range(SUMMARY_TRIES)):
            lines = summary.lines(characters)
            new = _replace_stretch(measured, stretch, lines, *sides, digest)
            takes = sum(item.after for item in new)
            if takes <= left or not characters:
                break
            used = min(characters, sum(map(len, lines)))
            characters = int(used * left / takes * SUMMARY_STEP) if attempt > 1 else 0
        return new

    for may_go, run in groupby(range(len(elements)), key=lambda index: not elements[index].fixed):
        positions = list(run)
        if total <= target or not may_go:
            continue
        first, groups = positions[0], _groups([elements[index] for index in positions], zone.group_size)
        summary, new = ExtractiveSummary(spoken), list[MessageDecision]()
        size, wanted, needed, gone, taken, more, takes = 0, 0.0, 0, 0, 0, 1, 0
        while taken < len(groups) and total - gone + min(takes, allowed) > target:
            least, more = taken + more, more * 2  # few steps correct a low estimate
            while taken < len(groups) and (taken < least or total - gone + min(wanted, allowed) > target):
                numbers = [index for element in groups[taken] for index in element.numbers]
                messages = [measured.transcript.messages[index] for index in numbers]
                characters = length_of(messages)
                held = sum(measured.tokens[index] for index in numbers)
                further = summary.add(messages)
                wanted, needed = wanted + held * min(SUMMARY_SHARE, further / (characters or 1)), needed + further
                size, gone, taken = size + characters, gone + held, taken + 1
                if progress is not None and taken % GROUPS_A_STEP == 0:
                    progress("summarising", taken, len(groups))
            stretch = [element for group in groups[:taken] for element in group]
            new = fit_summary(first, stretch, summary, size, gone, needed)
            takes = sum(item.after for item in new)
        back = _count_kept([tokens[id(element)] for element in stretch], target - (total - gone + takes))
        if back:  # the summary leaves room for some of the last group
            stretch = stretch[:-back]
            gone = sum(tokens[id(element)] for element in stretch)
            summary = ExtractiveSummary(spoken)
            messages = [measured.transcript.messages[index] for element in stretch for index in element.numbers]
            needed = summary.add(messages)
            size = length_of(messages)
            new = fit_summary(first, stretch, summary, size, gone, needed)
            takes = sum(item.after for item in new)
        if gone > takes:
            over = total - target
            target += max(0, takes - allowed)  # what follows need not make up for a summary that was worth more
            total, allowed = total - gone + takes, max(0, allowed - takes)
            changed[stretch[0].numbers[0]] = new
            if recalls:
                text = _stretch_text(measured, stretch)
                originals[digest_of(text)] = text
            for index in (index for element in stretch for index in element.numbers):
                items[index] = drop_message(items[index], measured, State.SUMMARISED, over)
    return [row for item in items for row in (*changed.get(item.number, ()), item)], originals


def _count_kept(tokens: Sequence[int], free: int) -> int:
    """Counts the last elements of a stretch that fit the free room unchanged; the first always goes into the
    summary."""
    back = 0
    for size in reversed(tokens[1:]):
        free -= size
        if free < 0:
            break
        back += 1
    return back


def _groups(elements: Sequence[Element], size: int) -> list[list[Element]]:
    groups: list[list[Element]] = []
    held = size
    for element in elements:
        if held >= size:
            groups.append([])
            held = 0
        groups[-1].append(element)
        held += len(element.numbers)
    return groups


def _replace_stretch(
    measured: MeasuredTranscript,
    stretch: Sequence[Element],
    lines: Sequence[str],
    before: str,
    after: str,
    digest: str,
) -> list[MessageDecision]:
    """Makes the messages that replace a stretch: a summary in the role that comes next, and a short message in the
    other role if the message after the stretch has the same role.

    Args:
        before, after: the sides that speak before and after the stretch, or "".
        digest: names the text of the stretch for `recall`; "" if it is not kept.
    """
    numbers = [index for element in stretch for index in element.numbers]
    side = ASSISTANT if before == USER else USER
    recall = f"; recall {digest} gives them whole" if digest else ""
    texts = [(side, "\n".join([f"{SUMMARY_MARK}{len(numbers):,} earlier messages, in excerpts{recall}]", *lines]))]
    if after == side:
        texts.append((USER, BRIDGE) if side == ASSISTANT else (ASSISTANT, NOTED))
    section = f"summary of messages[{numbers[0]}-{numbers[-1]}]"
    # in the format of the others; in a session, with the envelope of the line that it replaces and an id made of its id
    known, replaced = MESSAGE_FORMATS.get(measured.transcript.format), measured.transcript.messages[numbers[0]].raw
    decisions = []
    for position, (role, text) in enumerate(texts):
        message = {"role": role, "content": text} if known is None else known.make(replaced, role, text, position)
        decisions.append(
            MessageDecision(-1, 0, measured.counter.count(text), State.SUMMARISED, Reason.SUMMARY, message, section)
        )
    return decisions


def _stretch_text(measured: MeasuredTranscript, stretch: Sequence[Element]) -> str:
    messages = [measured.transcript.messages[index] for element in stretch for index in element.numbers]
    return "\n\n".join("\n".join([f"[{message.role}]", *(part.text for part in message.parts)]) for message in messages)


class SummaryCosts:
    """Finds messages in other outcomes by their ids. A summary goes out less the lines about messages that another
    outcome tells neither in a summary nor by whole messages, whatever the summaries there are called."""

    def __init__(self, asked: Pruned) -> None:
        self._origins = {row: _find_origins(asked, row) for row, item in enumerate(asked.items) if item.number < 0}

    def find_entries(self, asked: Outcome[Pruned], outcome: Outcome[Pruned]) -> Sequence[Left]:
        """See `KindTrials`."""
        from secateur.kinds.kind_trials import find_by_id  # it needs numpy, which a conversation does not

        found, items = list(find_by_id(asked, outcome)), asked.payload.items
        heads = len(asked.ledger.entries) - len(items) - 1
        added = [item for item in outcome.payload.items if item.number < 0]
        told = {line for item in added for line in _summary_lines(item)}
        told_by = {item.number for item in outcome.payload.items if item.state is State.KEPT}
        for row, origins in self._origins.items():
            lost = [line for line, number in origins.items() if line not in told and number not in told_by]
            share = sum(map(len, lost)) / (sum(map(len, origins)) or 1)
            gone = bool(lost) and told.isdisjoint(origins)
            left = items[row].after - max(round(items[row].after * share), bool(lost))
            found[heads + row] = (State.DROPPED, 0) if gone else (State.SUMMARISED, max(0, left))
        return found


def _find_origins(asked: Pruned, row: int) -> dict[str, int]:
    """Returns the lines of a summary that a message below it says, each with the number of the first that does."""
    below = islice(asked.items, row + 1, None)
    told = [item.number for item in takewhile(lambda item: item.number >= 0, below) if item.state is State.SUMMARISED]
    texts = {number: _one_line(*(part.text for part in asked.transcript.messages[number].parts)) for number in told}
    origins = {
        line: next((number for number in told if line in texts[number]), -1)
        for line in _summary_lines(asked.items[row])
    }
    return {line: number for line, number in origins.items() if number >= 0}


def _summary_lines(item: MessageDecision) -> Iterator[str]:
    for text in _strings(item.message):
        for line in text.splitlines()[1:] if text.startswith(SUMMARY_MARK) else ():
            if words := _one_line(max(_LEAD.sub("", line).split("…"), key=len)):
                yield words


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for held in value.values() if isinstance(value, dict) else value:
            yield from _strings(held)


def _one_line(*texts: str) -> str:
    return " ".join(" ".join(texts).split())


def drop_message(item: MessageDecision, measured: MeasuredTranscript, state: State, over: int) -> MessageDecision:
    """Makes the decision that a message, one of the oldest, does not go out. `over`: tokens that were too many."""
    cleaned = sum(1 for _ in measured.transcript.messages[item.number].results) if item.number >= 0 else 0
    return MessageDecision(item.number, item.before, 0, state, Reason.OLDEST_GROUP, None, item.section, cleaned, over)
