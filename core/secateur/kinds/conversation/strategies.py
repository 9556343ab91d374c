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
from secateur.kinds.conversation.elements import Element, elements_of, removable
from secateur.kinds.conversation.messages import Message
from secateur.kinds.conversation.model_summaries import Retold, retelling
from secateur.kinds.conversation.pruner import TranscriptPruner
from secateur.kinds.conversation.session_formats.registry import parse_value
from secateur.kinds.conversation.summarized_groups import summarize, without
from secateur.kinds.conversation.tool_results import Clearing, clearing
from secateur.kinds.conversation.transcripts import Transcript, read_messages
from secateur.llm.interface import LanguageModel, Question, Reply, replies_of
from secateur.model import Reason, State
from secateur.progress import Progress
from secateur.settings import ConversationPrune, Settings
from secateur.suggestions import suggestion
from secateur.tokens import get_counter


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
    return MeasuredTranscript(transcript, tuple(parts), tuple(tokens), measured.heads)


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
        items = summarize(measured, items, elements, zone, counter, progress)
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
        without(item, measured, State.DROPPED, Reason.OLDEST_GROUP) if row in gone else item
        for row, item in enumerate(items)
    ]


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
