"""Old tool results, and the contents that calls wrote into files, give way to placeholders until a conversation fits
its safe zone; everything else that a user or a model said stays.

Order: results that a later one repeats or replaces (the file was read again whole, or written anew), and contents that
were overwritten or read again; then reads and contents of files that were changed since, because what they show is no
more; then all other results; then the last versions of what was written; each from the oldest. What would save next to
nothing (`least_saving`) comes after all of these. Never touched: results the assistant has not answered yet, the last
`keep_last`, those of the tools named, the calls of all these, and what a placeholder would not make shorter.
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
    LONGEST_NAME,
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
from secateur.kinds.conversation.file_operations import (
    FileAccess,
    FileOperation,
    file_accesses,
    replaced_texts,
    without_contents,
)
from secateur.kinds.conversation.messages import Message, MessagePart, PartKind
from secateur.kinds.conversation.pruner import TranscriptPruner
from secateur.kinds.conversation.text_results import opening_tag
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

CONTENT_MARK = "[content cleared: "
"""The start of what stands for a content that a call wrote into a file."""

COMPARED_EDITS = 20
"""Later edits of a file that are looked at to see whether they replace what an edit put there."""

ERRORS_MARK = "\n[errors in it:]\n"
"""The text between a placeholder and the lines that stay."""

LONGEST_ERROR, LONGEST_ERRORS = 300, 20 * 301
"""Characters of a line that stays, and of all of them."""

LONGEST_REPORT = 20_000
"""Lines of a result that are searched for errors."""

DIGEST_DIGITS = 12
"""Hexadecimal digits of the SHA-256 in a placeholder."""

SHOWN_ARGUMENTS = 120
"""Characters of a call's arguments a placeholder repeats; longer ones stand in the call, which is still there."""

LONGEST_WAY = 400
"""Characters that say how to get a result back, at most."""

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
_REREAD = {
    Reason.SUPERSEDED: _BACK[Reason.SUPERSEDED],
    Reason.OUTDATED: "the file was changed since, read it to see it",
    Reason.OLDEST_RESULT: "read the file to see it",
}
_CONTENT_CLEARED = re.compile(
    re.escape(CONTENT_MARK) + rf"[\d,]+ tokens, sha256 [0-9a-f]{{{DIGEST_DIGITS}}}; [a-z ,]{{,80}}\]"
)
_LOOKED = (FileOperation.READ, FileOperation.READ_PART)
_CLEARED = re.compile(
    re.escape(MARK)
    # 16: whether it succeeded
    + rf".{{0,{LONGEST_NAME + 16}}}[\d,]+ tokens, sha256 [0-9a-f]{{{DIGEST_DIGITS}}}; .{{0,{LONGEST_WAY}}}\]",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A result that may go, or a call with the content that it wrote: where it is, and what makes it needless later."""

    message: int
    number: int  # of the part in its message
    part: MessagePart
    later: int = -1  # message that holds the same file, or the same text, or that changed the file, later
    why: Reason = Reason.OLDEST_RESULT  # one of _ORDER
    answer: tuple[int, int] | None = None  # of a call: message and part of its result, which must be able to go too

    @property
    def group(self) -> int:
        """The order in which it goes."""
        last_version = self.answer is not None and self.why is Reason.OLDEST_RESULT
        return len(_ORDER) if last_version else max(1, _ORDER.index(self.why))


class AgenticConversationPruner(TranscriptPruner):
    """Clears old tool results of a conversation, and contents that its calls wrote.

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
    """The results and contents that go: by message the placeholder of each with its tokens, and the reason of the
    first; in place of a content stand the arguments of its call."""

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
            cleaned = sum(part.kind is PartKind.RESULT for part in parts)
            items[number] = MessageDecision(number, before, after, State.SHORTENED, why, new, cleaned=cleaned)
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
        place = result.answer or (result.message, result.number)
        if place in spared or result.part.put is None or not before or is_cleared(result.part):
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
    if result.answer is not None:
        yield _without_content(measured, counter, result, before)
        return
    ways = [(result.why, errors), (result.why, 0), (Reason.OLDEST_RESULT, 0)]
    for why, lines in dict.fromkeys(ways):
        key = OF_MESSAGE, result.message, placeholder, result.number, counter.name, why, lines
        told: tuple[str, int] | None = measured.known.get(key)
        if told is None:
            text = placeholder(replace(result, why=why), before, lines)
            told = measured.known[key] = text, counter.count(text)
        yield told


def _without_content(
    measured: MeasuredTranscript, counter: Counter, result: ToolResult, before: int
) -> tuple[str, int]:
    """Returns the arguments of a call without the content that it wrote, and the tokens of the call then."""
    part, why = result.part, result.why
    key = OF_MESSAGE, result.message, without_contents, result.number, counter.name, why
    known: tuple[str, int] | None = measured.known.get(key)
    if known is None:
        mark = f"{CONTENT_MARK}{before:,} tokens, sha256 {_digest(part.text)}; {_REREAD[why]}]"
        text = without_contents(part, mark, SHOWN_ARGUMENTS)
        known = measured.known[key] = text, counter.count(part.cleared(text).text)
    return known


def is_cleared(part: MessagePart) -> bool:
    """Tells whether a result is a placeholder already, or the content of a call; what only begins like one is a
    result."""
    if part.kind is PartKind.CALL:
        return _CONTENT_CLEARED.search(part.arguments) is not None
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
    facts = [part.tool[:LONGEST_NAME] or "unnamed tool", success, f"{tokens:,} tokens", f"sha256 {_digest(part.text)}"]
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


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGEST_DIGITS]


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
    """All results, and the calls that wrote contents, in the order in which they go. Looks from the end, so that each
    knows what comes later."""
    calls = _calls_of_results(messages)
    edits: dict[str, list[str]] = {}  # file -> texts that later edits replace
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
            if (call := calls.get((number, place))) is not None:
                stale = _stale_write(part, touched, reads, written, changed, edits)
                found += [ToolResult(*call, *stale, answer=(number, place))] if stale is not None else []
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
    return sorted(found, key=lambda result: (result.group, result.message, result.number))


def _calls_of_results(messages: Sequence[Message]) -> dict[tuple[int, int], tuple[int, int, MessagePart]]:
    """Returns, by message and part of a result, where its call is; of calls with arguments that may be cleared."""
    calls: dict[str, tuple[int, int, MessagePart]] = {}
    found: dict[tuple[int, int], tuple[int, int, MessagePart]] = {}
    for number, message in enumerate(messages):
        for place, part in enumerate(message.parts):
            if part.kind is PartKind.CALL and part.call:
                calls[part.call] = number, place, part
            elif part.kind is PartKind.RESULT and part.call in calls:
                call = calls[part.call]
                if call[2].put is not None and len(call[2].arguments) > SHOWN_ARGUMENTS:
                    found[number, place] = call
    return found


def _stale_write(
    part: MessagePart,
    touched: Sequence[FileAccess],
    reads: Mapping[tuple[str, str], tuple[int, int]],
    written: Mapping[str, int],
    changed: Mapping[str, int],
    edits: dict[str, list[str]],
) -> tuple[int, Reason] | None:
    """Returns the message that makes a written content needless, and why, for all its files; None: nothing was written.
    The texts that the call, whose result is `part`, replaced are added to `edits`."""
    paths = [touch.path for touch in touched if touch.operation not in _LOOKED]
    if not paths:
        return None
    old, new = replaced_texts(part)
    reasons: list[tuple[int, Reason]] = []
    for path in paths:
        later, replaced = (-1, Reason.OLDEST_RESULT), edits.get(path, [])
        seen, length = reads.get((path, ""), (-1, 0))
        if path in written:
            later = written[path], Reason.SUPERSEDED
        elif part.success is False:
            pass  # what was not written is neither in the file nor changed there
        elif seen >= 0 and length >= NOTE_SHARE * len(part.arguments):
            later = seen, Reason.SUPERSEDED
        elif new and all(any(text in gone for gone in replaced) for text in new):
            later = changed.get(path, -1), Reason.SUPERSEDED
        elif path in changed and (not new or any(gone in text for gone in replaced if gone for text in new)):
            later = changed[path], Reason.OUTDATED
        reasons.append(later)
        if part.success is not False:
            edits[path] = [*old, *replaced][:COMPARED_EDITS]
    return max(reasons, key=lambda reason: _ORDER.index(reason[1]))


def _result_texts(measured: MeasuredTranscript) -> Multiset[str]:
    return Multiset(part.text for message in measured.transcript.messages for _, part in message.results)
