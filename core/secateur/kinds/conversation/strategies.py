"""Conversations that fit a safe zone: early groups of messages are summarised, or go.

    prune(transcript, settings) -> Pruned         # by `conversation_prune.strategy`
    prune_measured(measured, settings) -> Pruned       # the same where the parts are counted already: one knob step
    ConversationPruner(settings).prune_conversations(messages, "summarize")

`truncate` takes out the oldest groups, `summarize` lets a summary stand for them, `hybrid` summarises and truncates
what is then too much; `staged` clears tool results, and where that does not do, goes on as `hybrid`. System messages,
the last thing a user said and the last step stay; calls stay with their results; the roles alternate as they did
before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from secateur.errors import UsageError
from secateur.kinds.conversation.branches import speaks
from secateur.kinds.conversation.decisions import (
    BRIDGE,
    NOTED,
    SUMMARY_MARK,
    MeasuredTranscript,
    MessageDecision,
    Pruned,
    aim,
    edited,
    finish,
    last_user,
    measure,
    standing,
    unchanged,
)
from secateur.kinds.conversation.elements import ASSISTANT, USER, Element, elements_of, removable
from secateur.kinds.conversation.extractive_summaries import ExtractiveSummary
from secateur.kinds.conversation.messages import Message
from secateur.kinds.conversation.model_summaries import Retold, retelling
from secateur.kinds.conversation.pruner import TranscriptPruner
from secateur.kinds.conversation.session_formats.registry import SESSION_FORMATS, parse_value
from secateur.kinds.conversation.tool_results import Clearing, clearing
from secateur.kinds.conversation.transcripts import Transcript, read_messages
from secateur.llm.interface import LanguageModel, Question, Reply, replies_of
from secateur.model import Reason, State
from secateur.progress import Progress
from secateur.settings import ConversationPrune, Settings
from secateur.suggestions import suggestion
from secateur.tokens import Counter, get_counter


def after_clearing(measured: MeasuredTranscript, clearing: Clearing) -> MeasuredTranscript:
    """The conversation with placeholders where results were. Messages keep their numbers."""
    messages, parts, tokens = list(measured.transcript.messages), list(measured.parts), list(measured.tokens)
    for number, told in clearing.placeholders.items():
        message = messages[number]
        raw, tokens[number] = edited(measured, number, told)
        parts[number] = tuple(
            told[part][1] if part in told else count
            for part, count in zip(message.parts, measured.parts[number], strict=True)
        )
        shorter = tuple(part.cleared(told[part][0]) if part in told else part for part in message.parts)
        messages[number] = replace(message, raw=raw, parts=shorter)
    transcript = replace(measured.transcript, messages=tuple(messages))
    return MeasuredTranscript(transcript, tuple(parts), tuple(tokens), measured.head)


def joined(measured: MeasuredTranscript, first: Pruned, second: Pruned, zone: ConversationPrune) -> Pruned:
    """The second decision on what the first left, told of the messages as they came in."""
    cleared = {item.number: item for item in first.items}
    items = [_joined(item, cleared[item.number]) if item.number >= 0 else item for item in second.items]
    known = {notice.code for notice in measured.transcript.notices}
    notices = [notice for notice in second.warnings if notice.code not in {*known, *_TOLD_AGAIN}]
    pruned = finish(measured, items, zone.safe_zone_tokens, notices)
    return replace(pruned, calls=second.calls, questions=second.questions)


_TOLD_AGAIN = ("safe_zone_exceeded", "media_estimated")
"""Warnings that closing the ledger gives anew."""


def _joined(item: MessageDecision, before: MessageDecision) -> MessageDecision:
    if item.state is State.KEPT:  # its message may name another line that it follows
        why = item.reason if before.state is State.KEPT else before.reason
        return replace(before, message=item.message, reason=why)
    return replace(item, before=before.before, cleaned=max(item.cleaned, before.cleaned))


STRATEGIES = ("summarize", "truncate", "hybrid", "staged", "tool-results")
SUMMARIES_OF_ROOM = 0.5
"""Share of the room beside what must stay that summaries may take: the latest messages have the other, as they are."""

GROUPS_A_STEP = 50
"""Groups between two steps of the progress bar."""

SUMMARY_TRIES = 4
"""Attempts at a summary that fits; the last is a heading alone."""
SUMMARY_STEP = 0.95
"""A summary that is too long is made that much shorter than the tokens of the last attempt ask for."""


class ConversationPruner(TranscriptPruner):
    """Prunes the early part of a conversation.

        pruner = ConversationPruner(Settings())
        shorter = pruner.prune_conversations(messages, "hybrid")   # list of dicts, in the shape they came in
        pruner.report, pruner.result.cache, pruner.result.warnings

    `[conversation_prune]` sets the safe zone, the size of a group and the share of a summary. Summaries are excerpts;
    with `llm`, for example `open_model(settings.llm, os.environ)`, they are in the words of a model. Code written
    against the pruner spec gives `args`, any object with the spec's fields (`secateur.kinds.autocoder`); with
    `verbose` the report is logged where it is seen (`secateur.logs`).
    """

    def prune_conversations(
        self, conversations: Sequence[dict[str, Any]], strategy_name: str = "summarize"
    ) -> list[dict[str, Any]]:
        """The messages pruned by a strategy until they fit the safe zone; the input stays as it is.

        Raises:
            UsageError: no such strategy.
            SecateurError: `TRANSCRIPT`, with the JSON path: no message can be read. Where some can, the others are
                carried along, and `result.warnings` names them.
        """
        return self._messages_of(prune(read_messages(conversations), self.settings, strategy_name, llm=self.llm))


def prune(
    transcript: Transcript,
    settings: Settings,
    strategy: str | None = None,
    progress: Progress | None = None,
    llm: LanguageModel | None = None,
) -> Pruned:
    """Prune by `strategy`, by default that of the settings; with a model, summaries are in its words
    (`kinds.conversation.model_summaries`).

    Raises:
        UsageError: no such strategy.
    """
    strategy = _known(strategy or settings.conversation_prune.strategy)
    return prune_measured(
        measure(transcript, get_counter(settings.tokens.counter), progress), settings, strategy, progress, llm
    )


def prune_measured(
    measured: MeasuredTranscript,
    settings: Settings,
    strategy: str | None = None,
    progress: Progress | None = None,
    llm: LanguageModel | None = None,
) -> Pruned:
    """Prunes a transcript that was measured with the counter of these settings.

    Raises:
        UsageError: no such strategy.
    """
    pruned = decide(measured, settings, strategy, progress, asks=llm is not None)
    if llm is None or not pruned.questions:
        return pruned
    replies = replies_of(llm, pruned.questions, progress)
    return decide(measured, settings, strategy, progress, asks=True, replies=replies)


def decide(
    measured: MeasuredTranscript,
    settings: Settings,
    strategy: str | None = None,
    progress: Progress | None = None,
    *,
    asks: bool = False,
    replies: Sequence[Reply] = (),
) -> Pruned:
    """Decides on a measured transcript without asking a model. Pure.

    Args:
        asks: whether a model is to tell the summaries; then `questions` of the answer are what it is to be asked.
        replies: to these questions; with them the summaries are in the model's words.

    Raises:
        UsageError: no such strategy.
    """
    given, counter = settings.conversation_prune, get_counter(settings.tokens.counter)
    strategy, transcript = _known(strategy or given.strategy), measured.transcript
    if strategy in ("tool-results", "staged"):
        going = clearing(measured, counter, given, progress)
        cleared = going.pruned(measured, given, progress)
        if strategy == "tool-results" or cleared.ledger.after <= given.safe_zone_tokens:
            return cleared
        left = after_clearing(measured, going)
        rest = decide(left, settings, "hybrid", progress, asks=asks, replies=replies)
        return joined(measured, cleared, rest, given)
    zone = replace(given, safe_zone_tokens=aim(given, measured.total))
    elements = elements_of(transcript.messages, keep_first=zone.keep_first)
    items = _standing(measured, elements)
    if strategy != "truncate" and measured.total > zone.safe_zone_tokens:
        items = _summarized(measured, items, elements, zone, counter, progress)
    if strategy != "summarize" and _total(measured, items) > zone.safe_zone_tokens:
        items = _truncated(measured, items, zone)
    told, questions = Retold(tuple(items)), tuple[Question, ...]()
    if asks:
        asked = retelling(measured, items, replace(settings, conversation_prune=zone), counter)
        if replies:
            told = asked.told(replies)
        elif asked.questions:
            questions = asked.questions
        else:
            told = Retold(told.items, notices=asked.unasked())
    linked = _linked(measured, told.items) if transcript.format == "claude-code" else told.items
    pruned = finish(measured, linked, given.safe_zone_tokens, told.notices, progress)
    return replace(pruned, calls=told.calls, questions=questions)


def _known(strategy: str) -> str:
    if strategy in STRATEGIES:
        return strategy
    near = suggestion(strategy, STRATEGIES)
    hint = (f"did you mean {near}? " if near else "") + "strategies: " + ", ".join(STRATEGIES)
    raise UsageError(f"there is no strategy {strategy!r}", hint=hint)


# --- truncate ---------------------------------------------------------------------------------------------------------


def _truncated(
    measured: MeasuredTranscript, items: Sequence[MessageDecision], zone: ConversationPrune
) -> list[MessageDecision]:
    """Take out the oldest groups until the rest fits."""
    rows, messages = _outgoing(measured, items)
    total, group = _total(measured, items), 0
    gone: set[int] = set()
    for unit in removable(elements_of(messages, summaries_stay=False, keep_first=zone.keep_first)):
        if group == 0 and total <= zone.safe_zone_tokens:
            break
        numbers = [rows[number] for element in unit for number in element.numbers]
        gone.update(numbers)
        total -= sum(items[row].after for row in numbers)
        group += len(numbers)
        group = 0 if group >= zone.group_size else group
    return [
        _without(item, measured, State.DROPPED, Reason.OLDEST_GROUP) if row in gone else item
        for row, item in enumerate(items)
    ]


# --- summarize --------------------------------------------------------------------------------------------------------


def _summarized(
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
                items[number] = _without(items[number], measured, State.SUMMARISED, Reason.OLDEST_GROUP)
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
    session = SESSION_FORMATS.get(form)
    return {"role": role, "content": text} if session is None else session.made(model.raw, role, text, place)


# --- between strategies -----------------------------------------------------------------------------------------------


def _standing(measured: MeasuredTranscript, elements: Sequence[Element]) -> list[MessageDecision]:
    messages = measured.transcript.messages
    last = last_user(messages)
    fixed = {number: element.fixed for element in elements for number in element.numbers}
    return unchanged(
        measured, lambda number: standing(messages[number], last, number) or fixed.get(number) or Reason.FITS
    )


def _total(measured: MeasuredTranscript, items: Sequence[MessageDecision]) -> int:
    return measured.head + sum(item.after for item in items)


def _without(item: MessageDecision, measured: MeasuredTranscript, state: State, reason: Reason) -> MessageDecision:
    cleaned = sum(1 for _ in measured.transcript.messages[item.number].results) if item.number >= 0 else 0
    return MessageDecision(item.number, item.before, 0, state, reason, None, item.section, cleaned)


def _outgoing(measured: MeasuredTranscript, items: Sequence[MessageDecision]) -> tuple[list[int], list[Message]]:
    """Rows of the items that go out, and their messages."""
    rows = [row for row, item in enumerate(items) if item.message is not None]
    messages = [
        measured.transcript.messages[items[row].number]
        if items[row].number >= 0
        else parse_value(items[row].message, items[row].section, {}, measured.transcript.format)
        for row in rows
    ]
    return rows, messages


def _linked(measured: MeasuredTranscript, items: Sequence[MessageDecision]) -> list[MessageDecision]:
    """Lines of a session name the line they follow: where that one is gone, what stands for it, or the nearest before
    it on its branch that is there."""
    raws = [message.raw if isinstance(message.raw, dict) else {} for message in measured.transcript.messages]
    names = {name for raw in raws if isinstance(name := raw.get("uuid"), str)}
    heirs: dict[str, Any] = {}  # name of a line that is gone -> of the one that is followed instead
    linked: list[MessageDecision] = []
    told: Any = None  # name of the last summary that goes out
    before = ""  # name of the last line that speaks, which a line follows that names none (kinds.conversation.branches)

    def parent_of(raw: Mapping[str, Any], *, gone: bool) -> Any:
        named = raw.get("parentUuid", "")
        if named is None:
            return None
        if isinstance(named, str) and named in names:
            return heirs.get(named, named)
        return heirs.get(before, (before or None) if gone else raw.get("parentUuid"))

    for row, item in enumerate(items):
        message = item.message
        raw = raws[item.number] if item.number >= 0 else {}
        if item.number < 0:
            told = message.get("uuid") if message is not None else None
        if message is None:
            linked.append(item)
            if isinstance(name := raw.get("uuid"), str):
                heirs[name] = told if item.state is State.SUMMARISED and told is not None else parent_of(raw, gone=True)
        elif item.number >= 0 and not raw:
            linked.append(item)
        else:
            if item.number >= 0:
                parent = parent_of(raw, gone=False)
            elif row and items[row - 1].number < 0 and (last := linked[-1].message) is not None:
                parent = last["uuid"]
            else:  # a summary follows what the first line it stands for followed
                first = next(later.number for later in items[row:] if later.number >= 0)
                parent = parent_of(raws[first], gone=True)
            linked.append(
                item
                if parent == message.get("parentUuid")
                else replace(item, message={**message, "parentUuid": parent})
            )
            if told is not None and item.reason is Reason.DAMAGED and isinstance(name := raw.get("uuid"), str):
                told = name  # it stays among what is summarised: what follows there follows it
        if speaks(raw):
            before = name if isinstance(name := raw.get("uuid"), str) else ""
    return linked
