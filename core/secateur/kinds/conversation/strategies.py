"""Prunes conversations to a safe zone: summarises or drops early groups of messages.

    prune(transcript, settings) -> Pruned         # by `conversation_prune.strategy`
    decide(measured, settings) -> Pruned          # the same on counted parts, without a model: one knob step
    ConversationPruner(settings).prune_conversations(messages, "summarize")

`truncate` drops the oldest groups; `summarize` replaces them by a summary; `hybrid` summarises, and truncates if that
is not enough; `staged` clears tool results, and continues as `hybrid` if that is not enough. System messages, the
user's last words, the last step and pinned messages stay; calls stay with their results; the roles alternate as before.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from secateur.errors import UsageError
from secateur.kinds.conversation.api_formats import parse_value
from secateur.kinds.conversation.decisions import (
    FEW_WORDS_KEPT,
    MeasuredTranscript,
    MessageDecision,
    Pruned,
    edit_message,
    finish,
    fixed_reason,
    keep_all,
    last_user,
    measure_for_model,
    pinned_messages,
)
from secateur.kinds.conversation.extractive_summaries import SpokenLines
from secateur.kinds.conversation.model_summaries import ModelSummaries, plan_summaries
from secateur.kinds.conversation.session_formats.claude_code import speaks
from secateur.kinds.conversation.summarized_groups import (
    Removable,
    drop_message,
    elements_of,
    list_removable,
    summarize,
    target_tokens,
)
from secateur.kinds.conversation.tool_results import Clearing, TranscriptPruner, plan_clearing
from secateur.kinds.conversation.transcripts import Transcript, read_messages
from secateur.llm.interface import LanguageModel, Question, Reply, replies_of
from secateur.model import Reason, State
from secateur.progress import Progress
from secateur.settings import ConversationPrune, Settings
from secateur.suggestions import suggestion
from secateur.tokens import get_counter


def apply_clearing(measured: MeasuredTranscript, clearing: Clearing) -> MeasuredTranscript:
    """Replaces results by their placeholders. Messages keep their indices."""
    messages, parts, tokens = list(measured.transcript.messages), list(measured.parts), list(measured.tokens)
    for index, placeholders in clearing.placeholders.items():
        message = messages[index]
        raw, tokens[index] = edit_message(measured, index, placeholders)
        parts[index] = tuple(
            placeholders[part][1] if part in placeholders else count
            for part, count in zip(message.parts, measured.parts[index], strict=True)
        )
        shorter = tuple(
            part.with_text(placeholders[part][0]) if part in placeholders else part for part in message.parts
        )
        messages[index] = replace(message, raw=raw, parts=shorter)
    transcript = replace(measured.transcript, messages=tuple(messages))
    spoken = measured.known.setdefault(SpokenLines, SpokenLines())  # a message that stays says the same
    return replace(
        measured, transcript=transcript, parts=tuple(parts), tokens=tuple(tokens), known={SpokenLines: spoken}
    )


def merge_decisions(measured: MeasuredTranscript, first: Pruned, second: Pruned, safe_zone: int) -> Pruned:
    """Merges both decisions and reports them for the original messages."""
    cleared, items = {item.number: item for item in first.items}, list[MessageDecision]()
    for item in second.items:
        if (before := cleared.get(item.number, item)) is item:  # a summary
            items.append(item)
        elif item.state is State.KEPT:  # its message may have got another parent line
            why = item.reason if before.state is State.KEPT else before.reason
            items.append(replace(before, message=item.message, reason=why))
        else:
            items.append(replace(item, before=before.before, cleaned=max(item.cleaned, before.cleaned)))
    repeated = {
        "safe_zone_exceeded",
        "media_estimated",
        FEW_WORDS_KEPT,
        *(notice.code for notice in measured.transcript.notices),
    }
    warnings = [notice for notice in second.warnings if notice.code not in repeated]
    pruned = finish(measured, items, safe_zone, first.target, warnings)
    return replace(
        pruned, calls=second.calls, questions=second.questions, originals={**first.originals, **second.originals}
    )


STRATEGIES = ("summarize", "truncate", "hybrid", "staged", "tool-results")


class ConversationPruner(TranscriptPruner):
    """Prunes the early part of a conversation.

        pruner = ConversationPruner(Settings())
        shorter = pruner.prune_conversations(messages, "hybrid")   # list of dicts, in the shape they came in
        pruner.report, pruner.result.cache, pruner.result.warnings

    `[conversation_prune]` sets the safe zone, the size of a group and the share of a summary. Summaries are excerpts;
    with `llm`, for example `open_model(settings.llm, os.environ)`, a model writes them. Code written
    against the pruner spec gives `args`, any object with the spec's fields (`secateur.kinds.autocoder`); with
    `verbose` the report is logged where it is seen (`secateur.kinds.report_logs`).
    """

    def prune_conversations(
        self, conversations: Sequence[dict[str, Any]], strategy_name: str = "summarize"
    ) -> list[dict[str, Any]]:
        """Prunes messages by a strategy until they fit the safe zone; the input is not changed.

        Raises:
            UsageError: no such strategy.
            SecateurError: `TRANSCRIPT`, with the JSON path: no message can be read. If only some cannot, they are
                kept unchanged, and `result.warnings` names them.
        """
        return self._messages_of(prune(read_messages(conversations), self.settings, strategy_name, llm=self.llm))


def prune(
    transcript: Transcript,
    settings: Settings,
    strategy: str | None = None,
    progress: Progress | None = None,
    llm: LanguageModel | None = None,
) -> Pruned:
    """Prunes by `strategy`, by default the strategy of the settings. If a model is given, it writes the summaries
    (`kinds.conversation.model_summaries`). Raises UsageError: no such strategy."""
    measured = measure_for_model(transcript, get_counter(settings.tokens.counter), progress)
    pruned = decide(measured, settings, strategy, progress, asks=llm is not None)
    if llm is None or not pruned.questions:
        return pruned
    return decide(
        measured, settings, strategy, progress, asks=True, replies=replies_of(llm, pruned.questions, progress)
    )


def decide(
    measured: MeasuredTranscript,
    settings: Settings,
    strategy: str | None = None,
    progress: Progress | None = None,
    *,
    asks: bool = False,
    replies: Sequence[Reply] = (),
    recalls: bool = False,
) -> Pruned:
    """Decides on a measured transcript, without asking a model. Pure.

    Args:
        asks: whether a model writes the summaries; then `questions` of the result are the questions to ask it.
        replies: the model's replies to these questions.
        recalls: whether the caller keeps `originals` of the result; then placeholders and summaries name them.

    Raises:
        UsageError: no such strategy.
    """
    given = settings.conversation_prune
    strategy, transcript, pinned = strategy or given.strategy, measured.transcript, pinned_messages(settings.pins)
    if strategy not in STRATEGIES:
        near = suggestion(strategy, STRATEGIES)
        hint = (f"did you mean {near}? " if near else "") + "strategies: " + ", ".join(STRATEGIES)
        raise UsageError(f"there is no strategy {strategy!r}", hint=hint)
    if strategy in ("tool-results", "staged"):
        clearing_plan = plan_clearing(measured, given, progress, recalls=recalls, pinned=pinned)
        cleared = clearing_plan.apply(measured, given, progress)
        if strategy == "tool-results" or cleared.ledger.after <= given.safe_zone_tokens:
            return cleared
        left = apply_clearing(measured, clearing_plan)
        rest = decide(left, settings, "hybrid", progress, asks=asks, replies=replies, recalls=recalls)
        return merge_decisions(measured, cleared, rest, given.safe_zone_tokens)
    target = target_tokens(measured, given, pinned)
    zone = structs.replace(given, safe_zone_tokens=target)
    messages, last, originals = transcript.messages, last_user(transcript.messages), dict[str, str]()
    elements = elements_of(messages, keep_first=zone.keep_first, pinned=pinned)
    fixed = {index: element.fixed for element in elements for index in element.numbers}
    items = keep_all(
        measured, lambda index: fixed_reason(messages[index], last, index, pinned) or fixed.get(index) or Reason.FITS
    )
    if strategy != "truncate" and measured.total > target:
        items, originals = summarize(measured, items, elements, given, progress, target=target, recalls=recalls)
    most = target if strategy == "truncate" else given.safe_zone_tokens  # a summary may exceed the target
    if strategy != "summarize" and _total(measured, items) > most:
        items = _truncate(measured, items, zone, pinned)
    summarised, questions = ModelSummaries(tuple(items)), tuple[Question, ...]()
    if asks:
        job = plan_summaries(measured, items, structs.replace(settings, conversation_prune=zone))
        if replies:
            summarised = job.apply(replies)
        elif job.questions:
            questions = job.questions
        else:
            summarised = ModelSummaries(summarised.items, notices=job.unasked_notices())
    linked = _link_lines(measured, summarised.items) if transcript.format == "claude-code" else summarised.items
    pruned = finish(measured, linked, given.safe_zone_tokens, zone.safe_zone_tokens, summarised.notices, progress)
    return replace(pruned, calls=summarised.calls, questions=questions, originals=originals)


# --- truncate ---------------------------------------------------------------------------------------------------------


def _truncate(
    measured: MeasuredTranscript, items: Sequence[MessageDecision], zone: ConversationPrune, pinned: Collection[int]
) -> list[MessageDecision]:
    rows = [row for row, item in enumerate(items) if item.message is not None]
    messages = [
        measured.transcript.messages[items[row].number]
        if items[row].number >= 0
        else parse_value(items[row].message, items[row].section, {}, measured.transcript.format)
        for row in rows
    ]
    total, group = _total(measured, items), 0
    gone: dict[int, int] = {}  # position of an item -> tokens that were too many when its group's turn came
    held = [index for index, row in enumerate(rows) if items[row].number in pinned]
    removed: list[tuple[Removable, list[int]]] = []
    for unit in list_removable(elements_of(messages, summaries_stay=False, keep_first=zone.keep_first, pinned=held)):
        if group == 0:
            over = total - zone.safe_zone_tokens
            if over <= 0:
                break
        numbers = [rows[index] for element in unit.elements for index in element.numbers]
        removed.append((unit, numbers))
        gone.update(dict.fromkeys(numbers, over))
        total -= sum(items[row].after for row in numbers)
        group += len(numbers)
        group = 0 if group >= zone.group_size else group
    lost = set[int]()  # turns whose question is gone: their steps cannot stay
    for unit, numbers in reversed(removed):  # what fits into the room that the last groups left
        size = sum(items[row].after for row in numbers)
        if unit.turn in lost or total + size > zone.safe_zone_tokens:
            lost |= {unit.turn} if unit.whole_turn else set()
            continue
        total += size
        for row in numbers:
            del gone[row]
    return [
        drop_message(item, measured, State.DROPPED, gone[row]) if row in gone else item
        for row, item in enumerate(items)
    ]


# --- between strategies -----------------------------------------------------------------------------------------------


def _total(measured: MeasuredTranscript, items: Sequence[MessageDecision]) -> int:
    return measured.head + sum(item.after for item in items)


def _link_lines(measured: MeasuredTranscript, items: Sequence[MessageDecision]) -> list[MessageDecision]:
    """Corrects the parent that each line of a session names. A dropped parent is replaced by its summary, or by the
    nearest remaining line before it on the branch."""
    raws = [message.raw if isinstance(message.raw, dict) else {} for message in measured.transcript.messages]
    names = {name for raw in raws if isinstance(name := raw.get("uuid"), str)}
    heirs: dict[str, Any] = {}  # name of a dropped line -> name of the line to follow instead
    linked: list[MessageDecision] = []
    last_summary: Any = None  # name of the last summary
    before = ""  # name of the last speaking line: the parent of a line that names none (see `claude_code`)

    def parent_of(raw: Mapping[str, Any], *, gone: bool) -> Any:
        if (named := raw.get("parentUuid", "")) is None:
            return None
        if isinstance(named, str) and named in names:
            return heirs.get(named, named)
        return heirs.get(before, (before or None) if gone else raw.get("parentUuid"))

    for row, item in enumerate(items):
        message = item.message
        raw = raws[item.number] if item.number >= 0 else {}
        if item.number < 0:
            last_summary = message.get("uuid") if message is not None else None
        if message is None:
            linked.append(item)
            if isinstance(name := raw.get("uuid"), str):
                heirs[name] = (
                    last_summary
                    if item.state is State.SUMMARISED and last_summary is not None
                    else parent_of(raw, gone=True)
                )
        elif item.number >= 0 and not raw:
            linked.append(item)
        else:
            if item.number >= 0:
                parent = parent_of(raw, gone=False)
            elif row and items[row - 1].number < 0 and (last := linked[-1].message) is not None:
                parent = last["uuid"]
            else:  # a summary gets the parent of the first line that it replaces
                first = next(later.number for later in items[row:] if later.number >= 0)
                parent = parent_of(raws[first], gone=True)
            linked.append(
                item
                if parent == message.get("parentUuid")
                else replace(item, message={**message, "parentUuid": parent})
            )
            if last_summary is not None and item.reason is Reason.DAMAGED and isinstance(name := raw.get("uuid"), str):
                last_summary = name  # a damaged line stays amid the summarised lines: the next line follows it
        if speaks(raw):
            before = name if isinstance(name := raw.get("uuid"), str) else ""
    return linked
