"""Results first, then messages: a conversation whose cleared tool results do not save enough is summarised too.

after_clearing(measured, clearing) -> MeasuredTranscript       # what a second strategy starts from
joined(measured, first, second, zone) -> Pruned                # both as one decision on the messages that came in
"""

from __future__ import annotations

from dataclasses import replace

from secateur.kinds.conversation.decisions import MeasuredTranscript, MessageDecision, Pruned, edited, finish
from secateur.kinds.conversation.tool_results import Clearing
from secateur.model import State
from secateur.settings import ConversationPrune


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
        shorter = tuple(
            replace(part, text=told[part][0], media=0, media_tokens=0) if part in told else part
            for part in message.parts
        )
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
