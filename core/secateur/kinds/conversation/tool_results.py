"""Replaces old tool results, and contents that calls wrote into files, by placeholders until a conversation fits its
safe zone. Everything else that a user or a model said stays.

The order: results that a later one repeats or replaces (the file was read again or rewritten), and contents that were
overwritten or read again; then outdated reads and contents of files that changed since; then all other results; then
the last versions of written contents; each from the oldest. Results whose placeholder saves little (LEAST_SAVING)
come after all of these. Never replaced are results that the assistant has not answered yet, the last `keep_last`
results, results of the tools in `keep_tools`, the calls of all these, pinned messages, and texts that a placeholder
would not shorten.
"""

from collections import Counter as Multiset
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from secateur.kinds.autocoder import merge_args, model_of
from secateur.kinds.conversation.decisions import (
    OF_MESSAGE,
    MeasuredTranscript,
    MessageDecision,
    Pruned,
    edit_message,
    finish,
    first_unanswered,
    first_user,
    fixed_reason,
    keep_all,
    last_user,
    measure,
    measure_for_model,
    pinned_messages,
    statistics,
)
from secateur.kinds.conversation.media import without_encoded
from secateur.kinds.conversation.messages import Message, MessagePart, PartKind
from secateur.kinds.conversation.placeholders import (
    LOOKED,
    SHOWN_ARGUMENTS,
    FileAccess,
    FileOperation,
    clear_contents,
    content_placeholder,
    digest_of,
    file_accesses,
    is_cleared,
    is_unchanged_note,
    replaced_texts,
    result_placeholder,
)
from secateur.kinds.conversation.summarized_groups import target_tokens
from secateur.kinds.conversation.transcripts import Transcript, read_messages
from secateur.kinds.conversation.unreadable import DAMAGED
from secateur.kinds.report_logs import log_report
from secateur.llm.interface import LanguageModel
from secateur.model import Reason, State, TrimReport
from secateur.progress import Progress
from secateur.settings import ConversationPrune, Settings
from secateur.tokens import get_counter


class TranscriptPruner:
    """Holds the settings and the model of a pruner, and its last result."""

    def __init__(
        self,
        settings: Settings | None = None,
        llm: LanguageModel | None = None,
        *,
        args: object = None,
        verbose: bool = False,
    ) -> None:
        """Raises UsageError, ConfigError: `settings`, `args` or `llm` has the wrong type; a field of `args` is out of
        range."""
        self.settings = merge_args(args, settings)
        self.llm: LanguageModel | None = model_of(llm)
        self.verbose = verbose
        self.result: Pruned | None = None

    @property
    def report(self) -> TrimReport | None:
        """The ledger of the last call."""
        return self.result.report if self.result is not None else None

    def _messages_of(self, result: Pruned) -> list[dict[str, Any]]:
        self.result = result
        log_report("conversation", result.report, self.verbose)
        return result.messages


COMPARED_EDITS = 20  # most later edits of a file that are compared to find out whether they replace an earlier edit
RESULTS_A_STEP = 1_000  # results between two steps of the progress bar
LEAST_SAVING = 20  # least tokens that clearing a result must save; other results are cleared last

# A later read shorter than this share of the earlier one is taken for a note that the file is unchanged, which some
# agents give; it replaces nothing.
NOTE_SHARE = 0.1

# Reasons in order: results with the first two go first, then those with the third, then the others.
_ORDER = (Reason.REPEATED, Reason.SUPERSEDED, Reason.OUTDATED, Reason.OLDEST_RESULT)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A result, or a call that wrote a content, that may be cleared; with the later message that makes it needless."""

    message: int
    number: int  # index of the part in its message
    part: MessagePart
    later: int = -1  # index of a later message with the same file or text, or that changed the file
    why: Reason = Reason.OLDEST_RESULT  # one of _ORDER
    answer: tuple[int, int] | None = None  # of a call: message and part of its result, which must be clearable too
    note: tuple[int, int] | None = None  # of a read: the later note that its file is unchanged, which needs it

    @property
    def group(self) -> int:
        """The rank in the order of clearing."""
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
    with `verbose` the report is logged visibly.
    """

    def prune_conversations(self, conversations: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Clears old tool results until the messages fit the safe zone; the input is not changed. Raises SecateurError:
        `TRANSCRIPT`, with the JSON path: no message can be read. If only some cannot, they are kept unchanged, and
        `result.warnings` names them."""
        return self._messages_of(self.prune(read_messages(conversations)))

    def prune(self, transcript: Transcript, progress: Progress | None = None) -> Pruned:
        """Clears the results of a transcript; the result holds the ledger, the cache and the warnings."""
        zone, counter = self.settings.conversation_prune, get_counter(self.settings.tokens.counter)
        measured, pinned = measure_for_model(transcript, counter, progress), pinned_messages(self.settings.pins)
        return plan_clearing(measured, zone, progress, pinned=pinned).apply(measured, zone, progress)

    def get_cleanup_statistics(
        self, original: Sequence[dict[str, Any]], pruned: Sequence[dict[str, Any]]
    ) -> dict[str, int | float]:
        """Makes the figures of a clean-up by counting the messages before and after it."""
        counter = get_counter(self.settings.tokens.counter)
        before, after = (measure(read_messages(messages), counter) for messages in (original, pruned))
        lost = _result_texts(before) - _result_texts(after)
        return statistics(before.total, after.total, lost.total(), len(original)).to_dict()


@dataclass(frozen=True, slots=True)
class Clearing:
    """The cleared results and contents: by message the placeholder of each with its tokens; and the reason of the
    first, the tokens that were still too many, and the later message that makes it needless. The placeholder of a
    content is the shortened arguments of its call."""

    placeholders: Mapping[int, Mapping[MessagePart, tuple[str, int]]]
    reasons: Mapping[int, tuple[Reason, int, int]]
    originals: Mapping[str, str]  # what a placeholder names for `recall`, by digest
    pinned: Collection[int] = ()  # indexes of the messages that a user holds
    target: int = 0  # tokens that were aimed for

    def apply(self, measured: MeasuredTranscript, zone: ConversationPrune, progress: Progress | None) -> Pruned:
        """Makes the conversation with the placeholders."""
        messages = measured.transcript.messages
        last = last_user(messages)
        items = keep_all(measured, lambda index: fixed_reason(messages[index], last, index, self.pinned) or Reason.KEPT)
        for index, parts in self.placeholders.items():
            new, after = edit_message(measured, index, parts)
            before, (why, over, later) = measured.tokens[index], self.reasons[index]
            kinds, cut = [part.kind for part in parts], later in self.placeholders
            cleaned = kinds.count(PartKind.RESULT)
            pictures = len(kinds) - cleaned - kinds.count(PartKind.CALL)
            item = MessageDecision(index, before, after, State.SHORTENED, why, new, later=later, later_cut=cut)
            items[index] = replace(item, cleaned=cleaned, pictures=pictures, over=over)
        return replace(
            finish(measured, items, zone.safe_zone_tokens, self.target, progress=progress), originals=self.originals
        )


def plan_clearing(
    measured: MeasuredTranscript,
    zone: ConversationPrune,
    progress: Progress | None = None,
    *,
    recalls: bool = False,
    pinned: Collection[int] = (),
) -> Clearing:
    """Chooses placeholders for tool results, needless ones first, then from the oldest, until the rest is small enough
    (`target_tokens`). Results whose placeholder saves less than LEAST_SAVING tokens come last: clearing them loses
    text and gains little. A cut that lasts (`cut_to` below 1) also takes all old contents of files: what they say lies
    on disk. `recalls`: the caller keeps the originals, and placeholders name them. `pinned`: indexes of messages that
    stay."""
    messages = measured.transcript.messages
    fresh, last = first_unanswered(messages), last_user(messages)
    results = [(index, number, part) for index, message in enumerate(messages) for number, part in message.results]
    latest = len(results) - zone.keep_last
    spared = {
        (index, number)
        for at, (index, number, part) in enumerate(results)
        if at >= latest or index >= fresh or index in (last, *pinned) or part.tool in zone.keep_tools
    }
    spared |= {
        (index, number)
        for index, message in enumerate(messages)
        if index >= fresh or index in (last, first_user(messages) if zone.keep_first else -1, *pinned)
        for number, _ in _user_pictures(message)
    }
    wanted = target_tokens(measured, zone, pinned)
    lasts = zone.cut_to < 1 and measured.total > wanted
    changes: dict[int, dict[MessagePart, tuple[str, int]]] = {}
    reasons: dict[int, tuple[Reason, int, int]] = {}
    originals: dict[str, str] = {}
    total, order = measured.total, results_in_order(measured)
    little: list[ToolResult] = []
    for index, result in enumerate(chain(order, little)):  # postponed results come at the end
        if total <= wanted and not (lasts and result.answer is not None and index < len(order)):
            continue
        if progress is not None and index % RESULTS_A_STEP == 0:
            progress("clearing", min(index, len(order)), len(order))
        before = measured.parts[result.message][result.number]
        result_position = result.answer or (result.message, result.number)
        if result_position in spared or result.note in spared or result.part.put is None or not before:
            continue
        if is_cleared(result.part) or result.message in pinned:
            continue
        # A placeholder that names no later result may be shorter. A second pruning would write it, too, once that
        # later result is cleared.
        for text, after in _placeholders(measured, result, before, zone.keep_errors, recalls):
            if after < before and (len(text) < len(result.part.text) or result.part.media):
                break
        else:
            continue
        if before - after < LEAST_SAVING and index < len(order):
            little.append(result)
            continue
        changes.setdefault(result.message, {})[result.part] = text, after
        over = max(0, total - wanted) if result.why is Reason.OLDEST_RESULT else 0  # a lasting cut takes more
        reasons.setdefault(result.message, (result.why, over, result.later))
        originals |= {digest_of(result.part.text): result.part.text} if recalls else {}
        total += after - before
    return Clearing(changes, reasons, originals, pinned, wanted)


def results_in_order(measured: MeasuredTranscript) -> Sequence[ToolResult]:
    """Returns the cached result of `_order_results`, which depends on no setting."""
    return measured.once(_order_results, lambda: _order_results(measured))


def _placeholders(
    measured: MeasuredTranscript, result: ToolResult, before: int, errors: int, recalls: bool
) -> Iterator[tuple[str, int]]:
    """Yields the possible placeholders of a result or content with their tokens, the best first; each is computed
    once."""
    part, counter = result.part, measured.counter

    def write(why: Reason, lines: int) -> tuple[str, int]:
        if result.answer is None:
            text = result_placeholder(part, why, before, lines, recalls=recalls)
            return text, counter.count(text)
        text = clear_contents(part, content_placeholder(part, why, before, recalls=recalls), SHOWN_ARGUMENTS)
        return text, counter.count(part.with_text(text).text)

    ways = [(result.why, errors), (result.why, 0), (Reason.OLDEST_RESULT, 0)]
    for why, lines in dict.fromkeys(ways if result.answer is None else ways[1:2]):
        key = OF_MESSAGE, result.message, _placeholders, result.number, counter.name, why, lines, recalls
        yield measured.once(key, partial(write, why, lines))


# --- which, and in what order -----------------------------------------------------------------------------------------


def _order_results(measured: MeasuredTranscript) -> Sequence[ToolResult]:
    """Returns all results, and the calls that wrote contents, in the order of clearing. It walks from the end, so that
    the later uses of a file are known."""
    messages = measured.transcript.messages
    calls = _calls_of_results(messages)
    edits: dict[str, list[str]] = {}  # file -> texts that later edits replace
    reads: dict[tuple[str, str], tuple[int, int]] = {}  # file and arguments, "" for the whole file -> message, length
    written: dict[str, int] = {}
    changed: dict[str, int] = {}
    same_text: dict[tuple[str, str], int] = {}
    notes: dict[tuple[str, str], tuple[int, int]] = {}  # file and arguments -> note that the file is unchanged
    ordered: list[ToolResult] = []
    for index in reversed(range(len(messages))):
        message = messages[index]
        ordered += [ToolResult(index, number, part) for number, part in _user_pictures(message)]
        results = list(message.results)
        preceding_text = ""
        if len(results) == 1 and results[0][1].span is not None:  # the call is written as text in the message before
            asked = index - 1
            while asked >= 0 and messages[asked].role == DAMAGED:
                asked -= 1
            asking = messages[asked].parts if asked >= 0 else ()
            preceding_text = next((before.text for before in asking if before.kind is PartKind.TEXT), "")
        for part_index, part in reversed(results):
            key = OF_MESSAGE, index, file_accesses, part_index, preceding_text
            touched: list[FileAccess] | None = measured.known.get(key)
            if touched is None:
                touched = measured.known[key] = list(file_accesses(part, preceding_text))
            later, why, note = -1, Reason.OLDEST_RESULT, None
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
                if is_unchanged_note(part):
                    notes.setdefault((path, part.arguments), (index, part_index))
                else:
                    note = notes.pop((path, part.arguments), None)
            ordered.append(ToolResult(index, part_index, part, later, why, note=note))
            if (call := calls.get((index, part_index))) is not None:
                stale = _find_replacement(part, touched, reads, written, changed, edits)
                ordered += [ToolResult(*call, *stale, answer=(index, part_index))] if stale is not None else []
            if not (cleared := is_cleared(part)):
                same_text.setdefault((part.tool, part.text), index)
            for touch in touched if part.success is not False else ():
                if touch.operation is FileOperation.WRITTEN:
                    written[touch.path] = index
                elif touch.operation is FileOperation.CHANGED:
                    changed[touch.path] = index
                elif not cleared:
                    of_part = part.arguments if touch.operation is FileOperation.READ_PART else ""
                    reads[touch.path, of_part] = index, len(part.text)
    return sorted(ordered, key=lambda result: (result.group, *(result.note or (result.message, result.number))))


def _user_pictures(message: Message) -> Iterator[tuple[int, MessagePart]]:
    """Yields the pictures of a user, and the texts with a picture in base64."""
    for number, part in enumerate(message.parts if message.role == "user" else ()):
        pasted = part.kind is PartKind.TEXT and without_encoded(part.text) != part.text
        if pasted or (part.kind is PartKind.OTHER and part.media):
            yield number, part


def _calls_of_results(messages: Sequence[Message]) -> dict[tuple[int, int], tuple[int, int, MessagePart]]:
    calls: dict[str, tuple[int, int, MessagePart]] = {}
    calls_by_result: dict[tuple[int, int], tuple[int, int, MessagePart]] = {}
    for index, message in enumerate(messages):
        for part_index, part in enumerate(message.parts):
            if part.kind is PartKind.CALL and part.call:
                calls[part.call] = index, part_index, part
            elif part.kind is PartKind.RESULT and part.call in calls:
                call = calls[part.call]
                if call[2].put is not None and len(call[2].arguments) > SHOWN_ARGUMENTS:
                    calls_by_result[index, part_index] = call
    return calls_by_result


def _find_replacement(
    part: MessagePart,
    touched: Sequence[FileAccess],
    reads: Mapping[tuple[str, str], tuple[int, int]],
    written: Mapping[str, int],
    changed: Mapping[str, int],
    edits: dict[str, list[str]],
) -> tuple[int, Reason] | None:
    """Finds the message that makes a written content needless for all its files, and why; None if nothing was written.
    Adds the texts that the call of `part`, its result, replaced to `edits`."""
    if not (paths := [touch.path for touch in touched if touch.operation not in LOOKED]):
        return None
    old, new = replaced_texts(part)
    reasons: list[tuple[int, Reason]] = []
    for path in paths:
        later, replaced = (-1, Reason.OLDEST_RESULT), edits.get(path, [])
        seen, length = reads.get((path, ""), (-1, 0))
        if path in written:
            later = written[path], Reason.SUPERSEDED
        elif part.success is False:
            pass  # a failed write is not in the file
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
