"""Old tool results give way to placeholders until a conversation fits its safe zone; everything a user or a model said
stays.

Order: results that a later one repeats or replaces (the file was read again whole, or written anew); then reads of
files that were changed since, because what they show is no more; then all others; each from the oldest. Results that
would save next to nothing (`least_saving`) come after all of these. Never touched: results the assistant has not
answered yet, the last `keep_last`, those of the tools named, and those a placeholder would not make shorter.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter as Multiset
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape, unescape
from itertools import chain
from typing import Any

from secateur.kinds.conversation.decisions import (
    OF_MESSAGE,
    MeasuredTranscript,
    MessageDecision,
    Pruned,
    aim,
    edited,
    finish,
    last_user,
    measure,
    standing,
    statistics,
    unchanged,
    unread,
)
from secateur.kinds.conversation.file_operations import FileAccess, FileOperation, file_accesses
from secateur.kinds.conversation.messages import Message, MessagePart, PartKind, opening_tag
from secateur.kinds.conversation.pruner import TranscriptPruner
from secateur.kinds.conversation.transcripts import Transcript, read_messages
from secateur.kinds.conversation.unreadable import DAMAGED
from secateur.kinds.log.failures import find_blocks
from secateur.kinds.log.levels import LIKELY
from secateur.model import Reason, State
from secateur.progress import Progress, unreported
from secateur.settings import ConversationPrune
from secateur.tokens import Counter, get_counter

MARK = "[tool result cleared: "
"""The start of every placeholder."""

ERRORS_MARK = "\n[errors in it:]\n"
"""The text between a placeholder and the lines that stay."""

LONGEST_ERROR, LONGEST_ERRORS = 300, 20 * 301
"""Characters of a line that stays, and of all of them."""

LONGEST_REPORT = 20_000
"""Lines of a result that are searched for errors."""

DIGEST_DIGITS = 12
"""Hexadecimal digits of the SHA-256 in a placeholder: enough to tell the results of a conversation apart."""

SHOWN_ARGUMENTS = 120
"""Characters of a call's arguments a placeholder repeats; longer ones stand in the call, which is still there."""

LONGEST_NAME = 100
"""Characters of a tool's name that a placeholder repeats."""

LONGEST_WAY = 400
"""Characters that say how to get a result back, at most: what is longer is no placeholder."""

RESULTS_A_STEP = 1_000
"""Results between two steps of the progress bar."""

NOTE_SHARE = 0.1
"""A later read of less than this share of the length is taken for a note that the file is unchanged, as some agents
give: it replaces nothing."""

_ORDER = (Reason.REPEATED, Reason.SUPERSEDED, Reason.OUTDATED, Reason.OLDEST_RESULT)
"""Reasons; results of the first two go first, then those of the third, then the others."""
_BACK = {
    Reason.REPEATED: "the same text came again later",
    Reason.SUPERSEDED: "the file was read again or written anew later",
}
_NAMED = re.compile(r"(?:E\s+)?[\w.:]*(?:Error|Exception|error|panic|Panic|fatal)\b[\w\[\]]*:")
_LOOKED = (FileOperation.READ, FileOperation.READ_PART)
_CLEARED = re.compile(
    re.escape(MARK)
    # 16: whether it succeeded
    + rf".{{0,{LONGEST_NAME + 16}}}[\d,]+ tokens, sha256 [0-9a-f]{{{DIGEST_DIGITS}}}; .{{0,{LONGEST_WAY}}}\]",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One result that may go: where it is, and what later result makes it needless."""

    message: int
    number: int  # of the part in its message
    part: MessagePart
    later: int = -1  # message that holds the same file, or the same text, or that changed the file, later
    why: Reason = Reason.OLDEST_RESULT  # one of _ORDER


class AgenticConversationPruner(TranscriptPruner):
    """Clears old tool results of a conversation.

        pruner = AgenticConversationPruner(Settings())
        shorter = pruner.prune_conversations(messages)      # list of dicts, in the shape they came in
        pruner.get_cleanup_statistics(messages, shorter)    # {"tokens_saved": 800, ...}
        pruner.report, pruner.result.cache, pruner.result.warnings

    `[conversation_prune]` sets the safe zone, `keep_last` and `keep_tools`. Code written against the pruner
    spec gives `args`, any object with the spec's fields (`secateur.kinds.autocoder`), and `llm`, which is not asked;
    with `verbose` the report is logged where it is seen.
    """

    def prune_conversations(self, conversations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The messages with old tool results cleared until they fit the safe zone; the input stays as it is.

        Raises:
            SecateurError: `TRANSCRIPT`, with the JSON path: no message can be read. Where some can, the others are
                carried along, and `result.warnings` names them.
        """
        return self._messages_of(self.prune(read_messages(conversations)))

    def prune(self, transcript: Transcript, progress: Progress | None = None) -> Pruned:
        """Clears the results of a transcript; the result holds the ledger, the cache and the warnings."""
        zone, counter = self.settings.conversation_prune, get_counter(self.settings.tokens.counter)
        return clear_results(measure(transcript, counter, progress), counter, zone, progress)

    def get_cleanup_statistics(
        self, original: Sequence[dict[str, Any]], pruned: Sequence[dict[str, Any]]
    ) -> dict[str, int | float]:
        """Figures of a clean-up from the messages before and after it, recounted."""
        counter = get_counter(self.settings.tokens.counter)
        before, after = (measure(read_messages(messages), counter) for messages in (original, pruned))
        lost = _result_texts(before) - _result_texts(after)
        return statistics(before.total, after.total, lost.total(), len(original)).to_dict()


@dataclass(frozen=True, slots=True)
class Clearing:
    """The results that go: by message the placeholder of each with its tokens, and the reason of the first."""

    placeholders: Mapping[int, Mapping[MessagePart, tuple[str, int]]]
    reasons: Mapping[int, Reason]

    def pruned(self, measured: MeasuredTranscript, zone: ConversationPrune, progress: Progress | None) -> Pruned:
        """The conversation without them."""
        messages = measured.transcript.messages
        last = last_user(messages)
        items = unchanged(measured, lambda number: standing(messages[number], last, number) or Reason.KEPT)
        for number, parts in self.placeholders.items():
            new, after = edited(measured, number, parts)
            before, why = measured.tokens[number], self.reasons[number]
            items[number] = MessageDecision(number, before, after, State.SHORTENED, why, new, cleaned=len(parts))
        return finish(measured, items, zone.safe_zone_tokens, progress=progress)


def clear_results(
    measured: MeasuredTranscript, counter: Counter, zone: ConversationPrune, progress: Progress | None = None
) -> Pruned:
    """Old tool results give way to placeholders (`clearing`)."""
    return clearing(measured, counter, zone, progress).pruned(measured, zone, progress)


def clearing(
    measured: MeasuredTranscript, counter: Counter, zone: ConversationPrune, progress: Progress | None = None
) -> Clearing:
    """Chooses placeholders for tool results, the needless first, then from the oldest, until the rest is as small as it
    is to be (`aim`). Results of which a placeholder saves less than `least_saving` tokens go once all others are gone:
    next to nothing is gained for what they say."""
    messages = measured.transcript.messages
    spared = _spared(messages, zone.keep_last, frozenset(zone.keep_tools))
    wanted = aim(zone, measured.total)
    changes: dict[int, dict[MessagePart, tuple[str, int]]] = {}
    reasons: dict[int, Reason] = {}
    total, order = measured.total, results_in_order(measured)
    little: list[ToolResult] = []
    for number, result in enumerate(chain(order, little)):  # what is put off is met again at the end
        if total <= wanted:
            break
        if progress is not None and number % RESULTS_A_STEP == 0:
            progress("clearing", min(number, len(order)), len(order))
        before = measured.parts[result.message][result.number]
        if (
            (result.message, result.number) in spared
            or result.part.put is None
            or is_cleared(result.part)
            or not before
        ):
            continue
        # What names no later result may be shorter; and it is what a second pruning would write, when that later result
        # is cleared itself.
        for text, after in _placeholders(measured, counter, result, before, zone.keep_errors):
            if after < before and (len(text) < len(result.part.text) or result.part.media):
                break
        else:
            continue
        if before - after < zone.least_saving and number < len(order):
            little.append(result)
            continue
        changes.setdefault(result.message, {})[result.part] = text, after
        reasons.setdefault(result.message, result.why)
        total += after - before
    return Clearing(changes, reasons)


def results_in_order(measured: MeasuredTranscript) -> Sequence[ToolResult]:
    """`_in_order`, worked out once: no setting changes it."""
    order: Sequence[ToolResult] | None = measured.known.get(_in_order)
    if order is None:
        order = measured.known[_in_order] = _in_order(measured.transcript.messages, measured.known)
    return order


def _placeholders(
    measured: MeasuredTranscript, counter: Counter, result: ToolResult, before: int, errors: int
) -> Iterator[tuple[str, int]]:
    """The texts that may stand in the place of a result, the best first, and their tokens; each worked out once."""
    ways = [(result.why, errors), (result.why, 0), (Reason.OLDEST_RESULT, 0)]
    for why, lines in dict.fromkeys(ways):
        key = OF_MESSAGE, result.message, placeholder, result.number, counter.name, why, lines
        told: tuple[str, int] | None = measured.known.get(key)
        if told is None:
            text = placeholder(replace(result, why=why), before, lines)
            told = measured.known[key] = text, counter.count(text)
        yield told


def is_cleared(part: MessagePart) -> bool:
    """Tells whether a result is a placeholder already; what only begins like one is a result."""
    text = part.text
    if part.span is not None:
        text = unescape(text[len(opening_tag(text)) :].removesuffix("</tool_result>"))
    text, _, errors = text.partition(ERRORS_MARK)
    return not part.media and _CLEARED.fullmatch(text) is not None and len(errors) <= LONGEST_ERRORS


def errors_in(part: MessagePart, most: int) -> list[str]:
    """The first lines of a result that report an error, as the pruner of logs tells them; none of a file that was
    read, whose text is no report."""
    if not most or part.media or any(access.operation in _LOOKED for access in file_accesses(part)):
        return []
    lines = part.text.splitlines()[:LONGEST_REPORT]
    blocks = (block for block in find_blocks(lines, unreported).blocks if block.grade >= LIKELY and not block.repeats)
    told = (_message([lines[number].strip() for number in block.telling])[:LONGEST_ERROR] for block in blocks)
    return list(dict.fromkeys(filter(None, told)))[:most]


def _message(lines: Sequence[str]) -> str:
    """The line of a block that names the error; where none does, its head."""
    return next(filter(_NAMED.match, lines), lines[0] if lines else "")


def placeholder(result: ToolResult, tokens: int, errors: int = 0) -> str:
    """The text in the place of a cleared result: tool, success, size, digest, and how to get it back; below it up to
    `errors` of its lines that report one, unless what comes later says the same."""
    part = result.part
    success = {True: "succeeded", False: "failed", None: ""}[part.success]
    digest = hashlib.sha256(part.text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS]
    facts = [part.tool[:LONGEST_NAME] or "unnamed tool", success, f"{tokens:,} tokens", f"sha256 {digest}"]
    if result.why in _BACK:
        back = _BACK[result.why]
    else:
        known = f"with {part.arguments} " if part.arguments and len(part.arguments) <= SHOWN_ARGUMENTS else ""
        since = "the file was changed since, " if result.why is Reason.OUTDATED else ""
        back = f"{since}call {'it' if known else 'the tool'} again {known}to get it back"
    text = MARK + ", ".join(fact for fact in facts if fact) + "; " + back + "]"
    if lines := errors_in(part, errors if result.why not in _BACK else 0):
        text += ERRORS_MARK + "\n".join(lines)
    return text if part.span is None else f"{opening_tag(part.text)}{escape(text, quote=False)}</tool_result>"


# --- which, and in what order -----------------------------------------------------------------------------------------


def _spared(messages: Sequence[Message], keep_last: int, keep_tools: frozenset[str]) -> set[tuple[int, int]]:
    """(message, part) of the results that stay."""
    fresh, last = unread(messages), last_user(messages)
    places = [(number, place, part) for number, message in enumerate(messages) for place, part in message.results]
    spared = {
        (number, place)
        for number, place, part in places
        if number >= fresh or number == last or part.tool in keep_tools
    }
    return spared | {(number, place) for number, place, _ in places[len(places) - min(keep_last, len(places)) :]}


def _in_order(messages: Sequence[Message], known: dict[Hashable, Any]) -> list[ToolResult]:
    """All results in the order in which they go. Looks from the end, so that each knows what comes later."""
    reads: dict[tuple[str, str], tuple[int, int]] = {}  # file and arguments, "" for the whole file -> message, length
    written: dict[str, int] = {}
    changed: dict[str, int] = {}
    same_text: dict[tuple[str, str], int] = {}
    found: list[ToolResult] = []
    for number in reversed(range(len(messages))):
        message = messages[number]
        results = list(message.results)
        said = ""
        if len(results) == 1 and results[0][1].span is not None:  # the call is text, in the message before
            asked = number - 1
            while asked >= 0 and messages[asked].role == DAMAGED:
                asked -= 1
            said = (
                next((before.text for before in messages[asked].parts if before.kind is PartKind.TEXT), "")
                if asked >= 0
                else ""
            )
        for place, part in reversed(results):
            key = OF_MESSAGE, number, file_accesses, place, said
            touched: list[FileAccess] | None = known.get(key)
            if touched is None:
                touched = known[key] = list(file_accesses(part, said))
            later, why = -1, Reason.OLDEST_RESULT
            if (part.tool, part.text) in same_text:
                later, why = same_text[part.tool, part.text], Reason.REPEATED
            elif len(touched) == 1 and touched[0].operation in (FileOperation.READ, FileOperation.READ_PART):
                path = touched[0].path
                again = [reads[key] for key in ((path, ""), (path, part.arguments)) if key in reads]
                better = [read for read, length in again if length >= NOTE_SHARE * len(part.text)]
                if better or path in written:
                    later, why = min([*better, *([written[path]] if path in written else [])]), Reason.SUPERSEDED
                elif path in changed:
                    later, why = changed[path], Reason.OUTDATED
            found.append(ToolResult(number, place, part, later, why))
            cleared = is_cleared(part)
            if not cleared:
                same_text.setdefault((part.tool, part.text), number)
            for touch in touched if part.success is not False else ():
                if touch.operation is FileOperation.WRITTEN:
                    written[touch.path] = number
                elif touch.operation is FileOperation.CHANGED:
                    changed[touch.path] = number
                elif not cleared:
                    reads[touch.path, part.arguments if touch.operation is FileOperation.READ_PART else ""] = (
                        number,
                        len(part.text),
                    )
    found.reverse()
    return sorted(found, key=lambda result: max(1, _ORDER.index(result.why)))


def _result_texts(measured: MeasuredTranscript) -> Multiset[str]:
    return Multiset(part.text for message in measured.transcript.messages for _, part in message.results)
