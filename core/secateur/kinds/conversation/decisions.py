"""The input of every pruner of conversations, messages with tokens, and its output, decisions with a ledger.

The tokens of a message are the sum over its parts: texts, names and arguments of calls, results. Each part is counted
once. What a provider adds around a message is not counted. Pictures and other media are estimated
(kinds.conversation.media).

Counts a conversation in the tokens of the model that reads it.

A session of an agent tells what its first requests took. Two of them give a factor between these tokens and counted
ones, and the tokens of the system prompt and the tools. The factor depends on the beginning of the session alone, so it
stays as the session grows, and after a compaction.
"""

from __future__ import annotations

import math
import re
from collections import Counter as Tally
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from msgspec import field as renamed

from secateur.errors import SecateurError
from secateur.kinds.conversation.api_formats import SESSION_FORMATS
from secateur.kinds.conversation.messages import ASIDE, SYSTEM_ROLES, Message, MessagePart, PartKind, replace_texts
from secateur.kinds.conversation.session_formats.base import SessionFormat, text_at
from secateur.kinds.conversation.transcripts import Transcript
from secateur.kinds.conversation.unreadable import DAMAGED, SessionMessages, UnreadLine
from secateur.ledger import VERBS, WRAPPER, Figure
from secateur.llm.interface import Question
from secateur.model import Entry, Ledger, ModelCall, Notice, Reason, State, TrimAction, TrimReport
from secateur.progress import Progress
from secateur.redaction import Redactor
from secateur.render.page import count_noun
from secateur.shape import Count, Shape
from secateur.tokens import Counter, ScaledCounter, counter_for, encoding_of, tokenizer_warning

MOST_FIRST_REQUESTS = 60  # requests that are looked at for a factor
LEAST_BETWEEN = 3_000  # counted tokens between two requests that give a factor: a reminder is small beside them
FACTORS = (0.5, 3.0)  # a factor outside of this range is that of another change, as of a compaction
NEAR_ONE = 0.02  # a smaller difference from 1 is left alone


def count_for_model(transcript: Transcript, counter: Counter) -> tuple[Transcript, Counter, int]:
    """Returns the transcript, maybe with a warning; the counter for its model; and the tokens of a session's first
    request that the session does not hold."""
    values = [message.raw if isinstance(message.raw, dict) else {} for message in transcript.messages]
    form = SESSION_FORMATS.get(transcript.format)
    head = transcript.container
    model = form.heading(values, head).model if form is not None else text_at(head, "model")
    counter, overhead = counter_for(model, counter), 0
    first: tuple[int, int] | None = None  # tokens as reported and as counted
    known: dict[str, int] = {}
    for read, messages in _first_requests(form, values, head) if form is not None else ():
        parts = [part for message in messages for part in message.parts]
        new = dict.fromkeys(part.text for part in parts if part.text not in known)
        known.update(zip(new, counter.count_many(new), strict=True))
        counted = sum(known[part.text] + part.media_tokens for part in parts)
        if first is None:
            first, overhead = (read, counted), max(0, read - counted)
        elif counted - first[1] >= LEAST_BETWEEN:
            factor = round((read - first[0]) / (counted - first[1]), 2)
            if FACTORS[0] <= factor <= FACTORS[1]:
                scaled = ScaledCounter(counter, factor) if abs(factor - 1) > NEAR_ONE else counter
                return transcript, scaled, max(0, first[0] - round(first[1] * factor))
            first = read, counted
        if encoding_of(model):
            break
    if other := tokenizer_warning(model, counter.name):
        transcript = replace(transcript, notices=(*transcript.notices, Notice("other_tokenizer", other)))
    return transcript, counter, overhead


def _first_requests(
    form: SessionFormat, values: Sequence[Mapping[str, Any]], head: Mapping[str, Any] | None
) -> Iterator[tuple[int, Sequence[Message]]]:
    """Yields the first requests that report their tokens, each with what it sent."""
    requests = set[str]()
    for index, value in enumerate(values):
        usage = form.usage(value)
        if usage is None or usage.request in requests or len(requests) >= MOST_FIRST_REQUESTS:
            continue
        if not form.tells_usage_aside and index not in form.list_sent(values[: index + 1], head):
            continue
        requests.add(usage.request)
        sent = [
            one for one in values[:index] if one.get("id", index) != value.get("id")
        ]  # an answer may be written twice
        try:
            messages = list(SessionMessages(form).read(sent, [""] * len(sent), head)[0])
        except SecateurError:
            continue
        while form.tells_usage_aside and messages and messages[-1].role in ("assistant", "aside"):
            messages.pop()  # the answer, whose usage comes after it
        yield usage.read, messages


# Prices of a token that a provider reads from its prompt cache, or writes to it, relative to an ordinary token:
# Anthropic's for five minutes.
CACHE_READ_PRICE = 0.1
CACHE_WRITE_PRICE = 1.25

COUNTED_AT_ONCE = 500  # texts in one batch of a counting thread; the progress bar moves after each batch
ITEMS_A_STEP = 1_000  # items between two steps of the progress bar
LEAST_WORDS_KEPT = 0.5  # a cut that keeps a smaller share of what users said has a warning
FEW_WORDS_KEPT = "few_words_kept"  # code of this warning
LONGEST_NAME = 100  # longest name of a tool in an entry

# Starts a key of `MeasuredTranscript.known` whose value depends on one message; the message's index comes second.
OF_MESSAGE = "of one message"

COUNTING_THREADS = 2  # two threads take two thirds of the time of one; more wait for each other

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class MeasuredTranscript:
    """A transcript whose parts are counted.

    Attributes:
        known: a cache of values that depend on the transcript and not on settings, shared between decisions.
    """

    transcript: Transcript
    parts: tuple[tuple[int, ...], ...]  # tokens per part per message
    tokens: tuple[int, ...]  # per message
    counter: Counter
    heads: tuple[int, ...] = ()  # tokens of each part of the request's system prompt and tools
    overhead: int = 0  # tokens of a session's first request that the session does not hold
    redactor: Redactor | None = field(default=None, compare=False)  # the redactor that read the transcript
    known: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

    def once(self, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Returns the value that is cached under a key, which names all that the value depends on."""
        value: Result | None = self.known.get(key)
        if value is None:
            value = self.known[key] = compute()
        return value

    @property
    def head(self) -> int:
        """Tokens of the request's system prompt and tools."""
        return sum(self.heads)

    @property
    def total(self) -> int:
        """Tokens of the whole."""
        return self.head + sum(self.tokens)


@dataclass(frozen=True, slots=True)
class MessageDecision:
    """The decision on one message, in the order of the conversation: it goes out as it was, changed, or not at all."""

    number: int  # index of the message in the input; -1 for one that the pruner added
    before: int
    after: int
    state: State
    reason: Reason
    message: Any  # the object that goes out; None: dropped, or part of a summary
    section: str = ""  # its name in the ledger; "": made of its index
    cleaned: int = 0  # number of its tool results that changed or were dropped
    over: int = 0  # tokens that were still too many when its turn came
    later: int = -1  # index of the later message that makes it needless
    later_cut: bool = False  # whether that one does not go out whole either
    cut: tuple[int, int] | None = None  # the safe zone, and the fewer tokens that a cut goes down to
    pictures: int = 0  # number of a user's pictures in it that were cleared

    @property
    def name(self) -> str:
        """Its name for people: "messages[3]"."""
        return self.section or f"messages[{self.number}]"

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The figures of its reason."""
        later = {"later_cut" if self.later_cut else "later": self.later}
        over: dict[str, Figure] = {"over": self.over} if self.over else {}
        if self.reason is Reason.OLDEST_RESULT and not self.cleaned:
            over["picture" if self.pictures else "wrote"] = 1
        if self.cut is not None and self.over:
            over["zone"], over["target"] = self.cut
        return over | (later if self.later >= 0 else {})

    @property
    def leaves(self) -> bool:
        """Tells whether it goes out. A null in the list is not a message; it is passed through."""
        return self.message is not None or self.reason is Reason.DAMAGED


class Statistics(Shape, frozen=True):
    """The figures of a clean-up; `compression_ratio` is tokens after by tokens before."""

    original_tokens: Count
    pruned_tokens: Count
    tokens_saved: int
    compression_ratio: float
    tool_results_cleaned: Count
    total_messages: Count


class CacheShape(Shape, frozen=True):
    """The part that a server's prompt cache still holds after pruning."""

    # index of that message in the input, from which on everything is read again; None: nothing changed
    first_changed: int | None = renamed(name="first_changed_message")
    prefix_tokens: Count  # before it, still cached
    reread_tokens: Count  # of the output, from there on
    tokens_saved: int
    # requests after which pruning costs less than not pruning, with a warm cache; 0: nothing is read again; None: never
    pays_after: Count | None = renamed(name="pays_after_requests")

    @classmethod
    def of(cls, first_changed: int | None, prefix: int, reread: int, saved: int) -> CacheShape:
        """Works out when pruning pays."""
        pays: int | None = 0
        if first_changed is not None and reread:
            lost = reread * (CACHE_WRITE_PRICE - CACHE_READ_PRICE)
            pays = max(1, math.ceil(lost / (saved * CACHE_READ_PRICE))) if saved > 0 else None
        return cls(first_changed, prefix, reread, saved, pays)

    def holds(self, index: int) -> bool:
        """Tells whether the input message at `index` is still in the cached prefix."""
        return self.first_changed is None or 0 <= index < self.first_changed


@dataclass(frozen=True)
class Pruned:
    """A pruned conversation with its ledger, its warnings and the effect on the prompt cache."""

    transcript: Transcript
    items: tuple[MessageDecision, ...]
    ledger: Ledger
    cache: CacheShape
    results_cleaned: int
    warnings: tuple[Notice, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    questions: tuple[Question, ...] = ()  # to the model that writes the summaries
    measured: MeasuredTranscript | None = None  # the input of the decision
    originals: Mapping[str, str] = field(default_factory=dict)  # texts that placeholders name for `recall`, by digest
    target: int = 0  # tokens that a cut goes down to
    counter: str = ""  # the name of the counter

    @cached_property
    def report(self) -> TrimReport:
        """The ledger in the frozen shape of the context-budget spec."""
        return self.ledger.report(_action, calls=self.calls)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that go out; an unchanged message is the same object that came in. Lines that are not JSON
        objects are left out."""
        return [item.message for item in self.items if item.leaves and not isinstance(item.message, UnreadLine)]

    @property
    def statistics(self) -> Statistics:
        """The figures of the spec; `total_messages` counts the input."""
        return statistics(self.report.before, self.report.after, self.results_cleaned, len(self.transcript.messages))

    def write(self) -> str:
        """The file, in the shape it came in (`Transcript.write`)."""
        return self.transcript.write([item.message for item in self.items if item.leaves])


def statistics(before: int, after: int, cleaned: int, messages: int) -> Statistics:
    """Makes the figures of a clean-up; the ratio of an empty conversation is 1."""
    return Statistics(before, after, before - after, round(after / before, 6) if before else 1.0, cleaned, messages)


def measure(
    transcript: Transcript, counter: Counter, progress: Progress | None = None, before: MeasuredTranscript | None = None
) -> MeasuredTranscript:
    """Counts every part of every message; equal texts once. `before`: an earlier state measured with the same counter;
    its messages that are unchanged are not counted again."""
    messages = [*transcript.messages, *([transcript.head] if transcript.head else [])]
    by_part: list[tuple[int, ...] | None] = [None] * len(messages)
    worked_out: dict[Hashable, Any] = {}  # cached values of messages that are still the same
    if before is not None:
        for index, (then, now) in enumerate(zip(before.transcript.messages, transcript.messages, strict=False)):
            if then is now:
                by_part[index] = before.parts[index]
        worked_out = {
            key: value
            for key, value in before.known.items()
            if isinstance(key, tuple) and key[0] == OF_MESSAGE and by_part[key[1]] is not None
        }
    new = [index for index, parts in enumerate(by_part) if parts is None]
    texts = dict.fromkeys(part.text for index in new for part in messages[index].parts)
    known = count_texts(list(texts), counter, progress)
    for index in new:
        by_part[index] = tuple(known[part.text] + part.media_tokens for part in messages[index].parts)
    counted = [parts for parts in by_part if parts is not None]
    size = len(transcript.messages)
    tokens = tuple(map(sum, counted))
    heads = counted[size] if transcript.head else ()
    return MeasuredTranscript(transcript, tuple(counted[:size]), tokens[:size], counter, heads, known=worked_out)


def measure_for_model(
    transcript: Transcript, counter: Counter, progress: Progress | None = None, before: MeasuredTranscript | None = None
) -> MeasuredTranscript:
    """Measures in the tokens of the model that the transcript names (`model_tokens`)."""
    if before is not None and isinstance(before.counter, ScaledCounter):  # it stays
        return replace(measure(transcript, before.counter, progress, before), overhead=before.overhead)
    transcript, own, overhead = count_for_model(transcript, counter)
    before = before if before is not None and before.counter.name == own.name else None
    return replace(measure(transcript, own, progress, before), overhead=overhead)


def count_texts(texts: Sequence[str], counter: Counter, progress: Progress | None) -> dict[str, int]:
    """Counts the tokens of each text, on several threads, which tiktoken lets run at once. The result has the order of
    the texts."""
    batches = [texts[start : start + COUNTED_AT_ONCE] for start in range(0, len(texts), COUNTED_AT_ONCE)]
    counts: list[int] = []
    with ThreadPoolExecutor(COUNTING_THREADS) if len(batches) > 1 else nullcontext() as pool:
        for batch in pool.map(counter.count_many, batches) if pool else map(counter.count_many, batches):
            counts += batch
            if progress is not None:
                progress("counting", len(counts), len(texts))
    return dict(zip(texts, counts, strict=True))


_PIN = re.compile(r"messages\[(\d{1,9})\]")  # the id of a message in the ledger


def pinned_messages(pins: Iterable[str]) -> frozenset[int]:
    """Returns the indexes of the messages that pins name by their ids."""
    return frozenset(int(found[1]) for pin in pins if (found := _PIN.fullmatch(pin)))


_STANDING = {**dict.fromkeys(SYSTEM_ROLES, Reason.SYSTEM), ASIDE: Reason.ASIDE, DAMAGED: Reason.DAMAGED}


def fixed_reason(message: Message, last_user: int, index: int, pinned: Collection[int] = ()) -> Reason | None:
    """The reason why a message always stays unchanged; None if it may change."""
    own = Reason.PINNED if index in pinned else None
    return _STANDING.get(message.role) or (Reason.LAST_USER if index == last_user else own)


def last_user(messages: Sequence[Message]) -> int:
    """Index of the last message in which a user speaks; if users only bring results, of the last message with their
    role, or -1."""
    named = [index for index, message in enumerate(messages) if message.role == "user"]
    not_summaries = [index for index in named if not is_summary(messages[index])]
    spoken = [index for index in not_summaries if messages[index].from_user]
    return (spoken or not_summaries or named or [-1])[-1]


def first_user(messages: Sequence[Message]) -> int:
    """Index of the first message in which a user speaks, or -1."""
    spoken = (index for index, message in enumerate(messages) if message.role == "user" and message.from_user)
    return next((index for index in spoken if not is_summary(messages[index])), -1)


def first_unanswered(messages: Sequence[Message]) -> int:
    """Index of the first message whose results are not answered yet: the one after the assistant's last message, or
    that message if it holds results itself; without any assistant the last message."""
    last = next((index for index in reversed(range(len(messages))) if messages[index].role == "assistant"), -1)
    return len(messages) - 1 if last < 0 else last + (next(messages[last].results, None) is None)


# The end of an id if several entries have one name: a summary, and the message that joins it to the rest.
_NUMBERED = re.compile(r" #\d+\Z")

SUMMARY_MARK = "[Summary of "  # the start of every summary
NOTED = "[Noted.]"  # the assistant's message after a summary
BRIDGE = "[Earlier steps are summarised above. Continue.]"  # the user's message after a summary in the assistant's role

_HEADING = re.compile(
    re.escape(SUMMARY_MARK) + r"[\d,]+ earlier messages, in (?:excerpts|a model's words(?: and in excerpts)?)"
    r"(?:; recall [0-9a-f]{12} gives them whole)?\](?:\n|\Z)"
)
_JOINING = {"assistant": NOTED, "user": BRIDGE}


def is_summary(message: Message) -> bool:
    """Tells whether a pruner added a message: a summary, or the message that joins it to the rest. A text that only
    begins like one is not."""
    if len(message.parts) != 1 or message.parts[0].kind is not PartKind.TEXT:
        return False
    text = message.parts[0].text
    return text == _JOINING.get(message.role) or _HEADING.match(text) is not None


def edit_message(
    measured: MeasuredTranscript, index: int, changes: Mapping[MessagePart, tuple[str, int]]
) -> tuple[dict[str, Any], int]:
    """Copies the message at `index` with new texts in some parts, whose tokens `changes` gives; returns it with its
    tokens."""
    message = measured.transcript.messages[index]
    kept = sum(tokens for part, tokens in zip(message.parts, measured.parts[index], strict=True) if part not in changes)
    return replace_texts(message.raw, {part: text for part, (text, _) in changes.items()}), kept + sum(
        tokens for _, tokens in changes.values()
    )


def finish(
    measured: MeasuredTranscript,
    items: Sequence[MessageDecision],
    safe_zone: int,
    target: int,
    warnings: Sequence[Notice] = (),
    progress: Progress | None = None,
) -> Pruned:
    """Closes the ledger, with one entry per item, and adds the warnings and the effect on the cache."""
    if target < safe_zone:
        items = [replace(item, cut=(safe_zone, target)) if item.over else item for item in items]
    after = measured.head + sum(item.after for item in items)
    ledger = Ledger.closed("conversation", safe_zone, _entries(measured, items, progress), after)
    notes = [*measured.transcript.notices, *warnings, *_warn_of_lost_words(measured, items)]
    media = [part for message in measured.transcript.messages for part in message.parts if part.media]
    if media:
        pictures = count_noun(sum(part.media for part in media), "picture")
        tokens = sum(part.media_tokens for part in media)
        notes.append(Notice("media_estimated", f"{pictures} or similar: {tokens:,} of the tokens are estimated."))
    if after > safe_zone:
        over = f"{after:,} tokens are left, {after - safe_zone:,} more than the safe zone of {safe_zone:,}"
        held = sum(item.after for item in items if item.reason in (Reason.PINNED, Reason.BESIDE_PINNED))
        over += f": all else is cut; pinned messages take {held:,} of them." if held else ": all else is cut."
        notes.append(Notice("safe_zone_exceeded", over))
    cleaned, cache = sum(item.cleaned for item in items), _cache(measured, items)
    shared = measured.transcript, tuple(items), ledger, cache, cleaned, tuple(notes)
    return Pruned(*shared, measured=measured, target=target, counter=measured.counter.name)


def _warn_of_lost_words(measured: MeasuredTranscript, items: Sequence[MessageDecision]) -> Iterator[Notice]:
    said = kept = 0
    for item in items:
        message = measured.transcript.messages[item.number] if item.number >= 0 else None
        if message is not None and message.from_user and not is_summary(message):
            counted = zip(message.parts, measured.parts[item.number], strict=True)
            tokens = sum(count for part, count in counted if part.kind is PartKind.TEXT)
            said, kept = said + tokens, kept + (tokens if item.state in (State.KEPT, State.SHORTENED) else 0)
    if kept < said * LEAST_WORDS_KEPT:
        words = f"Of the user's words, {kept:,} of {said:,} tokens stay verbatim"
        yield Notice(FEW_WORDS_KEPT, f"{words}: a larger safe zone, a larger cut_to or pins keep more.")


def _entries(
    measured: MeasuredTranscript, items: Sequence[MessageDecision], progress: Progress | None
) -> Iterator[Entry]:
    position = 0
    names_seen: Tally[str] = Tally()
    head = measured.transcript.head
    for part, tokens in zip(head.parts if head is not None else (), measured.heads, strict=True):
        position += 1
        name = f"tool {part.tool[:LONGEST_NAME]}" if part.tool else "system prompt"
        names_seen[name] += 1
        name = f"{name} #{names_seen[name]}" if names_seen[name] > 1 else name
        yield Entry(name, State.KEPT, Reason.SYSTEM, tokens, tokens, position=position)
    for index, item in enumerate(items):
        if progress is not None and index % ITEMS_A_STEP == 0:
            progress("deciding", index, len(items))
        name = item.name
        names_seen[name] += 1
        if names_seen[name] > 1:
            name += f" #{names_seen[name]}"
        position += item.leaves
        output_position = position if item.leaves else None
        yield Entry(name, item.state, item.reason, item.before, item.after, item.figures, position=output_position)


def _action(entry: Entry) -> TrimAction | None:
    if entry.id == WRAPPER:
        return None
    return TrimAction(_NUMBERED.sub("", entry.id), VERBS[entry.state], entry.reason.label, entry.before, entry.after)


def keep_all(measured: MeasuredTranscript, reasons: Callable[[int], Reason]) -> list[MessageDecision]:
    """Makes one item per message that keeps it, with the reason from `reasons`."""
    rows = zip(measured.transcript.messages, measured.tokens, strict=True)
    return [
        MessageDecision(index, tokens, tokens, State.KEPT, reasons(index), message.raw)
        for index, (message, tokens) in enumerate(rows)
    ]


def _cache(measured: MeasuredTranscript, items: Sequence[MessageDecision]) -> CacheShape:
    saved = measured.total - measured.head - sum(item.after for item in items)
    row = next((row for row, item in enumerate(items) if item.state is not State.KEPT), None)
    if row is None:
        return CacheShape.of(None, measured.total, 0, saved)
    first = next(item.number for item in items[row:] if item.number >= 0)
    return CacheShape.of(
        first, measured.head + sum(item.after for item in items[:row]), sum(item.after for item in items[row:]), saved
    )
