"""Messages with their tokens, which every pruner of conversations starts from, and messages with a ledger, which it
returns.

A message's tokens are those of its parts: texts, names and arguments of calls, results. Each part is counted once; what
a provider adds around a message is its own and not in the figures. Pictures and the like are estimated
(kinds.conversation.media).
"""

from __future__ import annotations

import math
import re
from collections import Counter as Tally
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from secateur.kinds.conversation.messages import ASIDE, SYSTEM_ROLES, Message, MessagePart, PartKind, replaced
from secateur.kinds.conversation.transcripts import Transcript
from secateur.kinds.conversation.unreadable import DAMAGED, UnreadLine
from secateur.ledger import VERBS, WRAPPER
from secateur.llm.interface import Question
from secateur.model import Entry, Ledger, ModelCall, Notice, Reason, State, TrimAction, TrimReport
from secateur.progress import Progress
from secateur.redaction import Redactor
from secateur.settings import ConversationPrune
from secateur.shape import Count, Shape
from secateur.tokens import Counter

COUNTED_AT_ONCE = 500
"""Texts that a thread counts at once; the progress bar moves after each such batch."""

ITEMS_A_STEP = 1_000
"""Items between two steps of the progress bar."""

LONGEST_NAME = 100
"""Characters of a tool's name that are repeated."""

OF_MESSAGE = "of one message"
"""The first part of a key of `MeasuredTranscript.known` whose value depends on one message alone: its number comes
second."""

COUNTING_THREADS = 2
"""Two threads take two thirds of the time of one; more wait for each other."""


@dataclass(frozen=True, slots=True)
class MeasuredTranscript:
    """A transcript whose parts are counted.

    Attributes:
        known: what decisions work out of it that depends on no setting; each saves the next one the work.
    """

    transcript: Transcript
    parts: tuple[tuple[int, ...], ...]  # tokens per part per message
    tokens: tuple[int, ...]  # per message
    heads: tuple[int, ...] = ()  # of each part of the request's system prompt and tools
    redactor: Redactor | None = field(default=None, compare=False)  # what the transcript was read through
    known: dict[Hashable, Any] = field(default_factory=dict, repr=False, compare=False)

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

    number: int  # of the message in the input; -1 for one that was not in it
    before: int
    after: int
    state: State
    reason: Reason
    message: Any  # the object that goes out, or what stands in its place; None: dropped, or told in a summary
    section: str = ""  # its name in the ledger; "" for that of the message
    cleaned: int = 0  # tool results in it that do not go out as they came in

    @property
    def name(self) -> str:
        """Its name for people: "messages[3]"."""
        return self.section or f"messages[{self.number}]"

    @property
    def leaves(self) -> bool:
        """Tells whether it goes out. A null in a list of messages, which is none, does."""
        return self.message is not None or self.reason is Reason.DAMAGED


class Statistics(Shape, frozen=True):
    """The figures of a clean-up; `compression_ratio` is what is left of what was."""

    original_tokens: Count
    pruned_tokens: Count
    tokens_saved: int
    compression_ratio: float
    tool_results_cleaned: Count
    total_messages: Count


class CacheShape(Shape, frozen=True):
    """The part that a server's prompt cache still holds after the prune."""

    first_changed_message: int | None
    prefix_tokens: Count
    reread_tokens: Count
    tokens_saved: int
    pays_after_requests: Count | None


@dataclass(frozen=True, slots=True)
class Cache:
    """The effect on a provider's prompt cache: everything from the first changed message on is read again."""

    first_changed: int | None  # number of that message in the input; None: nothing changed
    prefix_tokens: int  # before it, still cached
    reread_tokens: int  # of the output, from there on
    tokens_saved: int

    def holds(self, number: int) -> bool:
        """Tells whether the message of this number in the input is still in the cached prefix."""
        return self.first_changed is None or 0 <= number < self.first_changed

    def pays_after(self, read_price: float, write_price: float) -> int | None:
        """Requests after which the prune has cost less than none would have, if the cache was warm; 0: nothing is read
        again; None: never.

        Args:
            read_price, write_price: of a token read from the cache and written to it, as shares of an ordinary one's.
        """
        if self.first_changed is None or not self.reread_tokens:
            return 0
        if self.tokens_saved <= 0 or read_price <= 0:
            return None
        return max(1, math.ceil(self.reread_tokens * (write_price - read_price) / (self.tokens_saved * read_price)))

    def shape(self, rules: ConversationPrune) -> CacheShape:
        """The effect in JSON, at the prices of these rules."""
        pays = self.pays_after(rules.cache_read_price, rules.cache_write_price)
        return CacheShape(self.first_changed, self.prefix_tokens, self.reread_tokens, self.tokens_saved, pays)


@dataclass(frozen=True)
class Pruned:
    """A pruned conversation with its ledger, its warnings and the effect on the prompt cache."""

    transcript: Transcript
    items: tuple[MessageDecision, ...]
    ledger: Ledger
    cache: Cache
    results_cleaned: int
    warnings: tuple[Notice, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    questions: tuple[Question, ...] = ()  # for a model that is to tell the summaries
    measured: MeasuredTranscript | None = None  # what was decided on

    @cached_property
    def report(self) -> TrimReport:
        """The ledger in the frozen shape of the context-budget spec."""
        return self.ledger.report(_action, calls=self.calls)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages that go out; those that did not change are the very objects that came in. A line that is no JSON
        object is not among them."""
        return [item.message for item in self.items if item.leaves and not isinstance(item.message, UnreadLine)]

    @property
    def statistics(self) -> Statistics:
        """The figures of the spec; `total_messages` counts those that came in."""
        return statistics(self.report.before, self.report.after, self.results_cleaned, len(self.transcript.messages))

    def write(self) -> str:
        """The file, in the shape it came in (`Transcript.write`)."""
        return self.transcript.write([item.message for item in self.items if item.leaves])


def statistics(before: int, after: int, cleaned: int, messages: int) -> Statistics:
    """Figures of a clean-up; the ratio is 1 of an empty conversation."""
    ratio = round(after / before, 6) if before else 1.0
    return Statistics(before, after, before - after, ratio, cleaned, messages)


def measure(
    transcript: Transcript,
    counter: Counter,
    progress: Progress | None = None,
    before: MeasuredTranscript | None = None,
) -> MeasuredTranscript:
    """Count every part of every message, equal ones once.

    Args:
        before: measured with the same counter; what its transcript has at the same place is not counted again.
    """
    messages = [*transcript.messages, *([transcript.head] if transcript.head else [])]
    by_part: list[tuple[int, ...] | None] = [None] * len(messages)
    if before is not None:
        for number, (then, now) in enumerate(zip(before.transcript.messages, transcript.messages, strict=False)):
            if then is now:
                by_part[number] = before.parts[number]
    worked_out = _still_known(before, by_part) if before is not None else {}
    new = [number for number, parts in enumerate(by_part) if parts is None]
    texts = dict.fromkeys(part.text for number in new for part in messages[number].parts)
    known = _counted(list(texts), counter, progress)
    for number in new:
        by_part[number] = tuple(known[part.text] + part.media_tokens for part in messages[number].parts)
    counted = [parts for parts in by_part if parts is not None]
    size = len(transcript.messages)
    tokens = tuple(map(sum, counted))
    heads = counted[size] if transcript.head else ()
    return MeasuredTranscript(transcript, tuple(counted[:size]), tokens[:size], heads, known=worked_out)


def _still_known(before: MeasuredTranscript, by_part: Sequence[tuple[int, ...] | None]) -> dict[Hashable, Any]:
    """The values that were worked out of single messages which are still the same."""
    return {
        key: value
        for key, value in before.known.items()
        if isinstance(key, tuple) and key[0] == OF_MESSAGE and by_part[key[1]] is not None
    }


def _counted(texts: Sequence[str], counter: Counter, progress: Progress | None) -> dict[str, int]:
    """Tokens of each text. Several threads, which tiktoken lets run at once: the order is that of the texts whoever is
    done first."""
    batches = [texts[start : start + COUNTED_AT_ONCE] for start in range(0, len(texts), COUNTED_AT_ONCE)]
    counts: list[int] = []
    with ThreadPoolExecutor(COUNTING_THREADS) if len(batches) > 1 else nullcontext() as pool:
        for batch in pool.map(counter.count_many, batches) if pool else map(counter.count_many, batches):
            counts += batch
            if progress is not None:
                progress("counting", len(counts), len(texts))
    return dict(zip(texts, counts, strict=True))


_STANDING = {**dict.fromkeys(SYSTEM_ROLES, Reason.SYSTEM), ASIDE: Reason.ASIDE, DAMAGED: Reason.DAMAGED}


def standing(message: Message, last_user: int, number: int) -> Reason | None:
    """The reason why a message stays untouched whatever happens; None where there is none."""
    return _STANDING.get(message.role) or (Reason.LAST_USER if number == last_user else None)


def last_user(messages: Sequence[Message]) -> int:
    """Number of the last message in which a user speaks; where users only bring results, of the last under the user's
    name; -1: none."""
    named = [number for number, message in enumerate(messages) if message.role == "user"]
    said = [number for number in named if not is_summary(messages[number])]
    spoken = [number for number in said if messages[number].from_user]
    return (spoken or said or named or [-1])[-1]


def first_user(messages: Sequence[Message]) -> int:
    """Number of the first message in which a user speaks; -1: none."""
    said = (number for number, message in enumerate(messages) if message.role == "user" and message.from_user)
    return next((number for number in said if not is_summary(messages[number])), -1)


def unread(messages: Sequence[Message]) -> int:
    """Number of the first message after the assistant's last: results from there on were not answered yet. Where that
    one holds results itself, it is the first. With no assistant at all, the last message."""
    last = next((number for number in reversed(range(len(messages))) if messages[number].role == "assistant"), -1)
    return len(messages) - 1 if last < 0 else last + (next(messages[last].results, None) is None)


def aim(zone: ConversationPrune, total: int) -> int:
    """Tokens that are to be left of a conversation of `total`: the safe zone, or `cut_to` of it where that is cut."""
    return int(zone.safe_zone_tokens * zone.cut_to) if total > zone.safe_zone_tokens else zone.safe_zone_tokens


_NUMBERED = re.compile(r" #\d+\Z")
"""The end of an id where several entries have one name: a summary, and what joins it to the rest."""

SUMMARY_MARK = "[Summary of "
"""The start of every summary."""

NOTED = "[Noted.]"
"""The assistant's message after a summary."""

BRIDGE = "[Earlier steps are summarised above. Continue.]"
"""The user's message after a summary that the assistant tells."""

_HEADING = re.compile(
    re.escape(SUMMARY_MARK)
    + r"[\d,]+ earlier messages, in (?:excerpts|a model's words(?: and in excerpts)?)\](?:\n|\Z)"
)
_JOINING = {"assistant": NOTED, "user": BRIDGE}


def is_summary(message: Message) -> bool:
    """Tells whether a message was put there by a pruner: a summary, or what joins one to the rest. What only begins
    like one was said by somebody."""
    if len(message.parts) != 1 or message.parts[0].kind is not PartKind.TEXT:
        return False
    text = message.parts[0].text
    return text == _JOINING.get(message.role) or _HEADING.match(text) is not None


def edited(
    measured: MeasuredTranscript, number: int, changes: Mapping[MessagePart, tuple[str, int]]
) -> tuple[dict[str, Any], int]:
    """A copy of message `number` with other texts, of so many tokens, in some parts, and its tokens."""
    message = measured.transcript.messages[number]
    kept = sum(
        tokens for part, tokens in zip(message.parts, measured.parts[number], strict=True) if part not in changes
    )
    texts = {part: text for part, (text, _) in changes.items()}
    return replaced(message.raw, texts), kept + sum(tokens for _, tokens in changes.values())


def finish(
    measured: MeasuredTranscript,
    items: Sequence[MessageDecision],
    safe_zone: int,
    warnings: Sequence[Notice] = (),
    progress: Progress | None = None,
) -> Pruned:
    """Closes the ledger: one entry per message in order, then what was added; sums are those of the report."""
    after = measured.head + sum(item.after for item in items)
    ledger = Ledger.closed("conversation", safe_zone, _entries(measured, items, progress), after)
    notes = [*measured.transcript.notices, *warnings, *_estimated(measured)]
    if after > safe_zone:
        over = (
            f"{after:,} tokens are left, {after - safe_zone:,} more than the safe zone of {safe_zone:,}: what may go is"
            " gone."
        )
        notes.append(Notice("safe_zone_exceeded", over))
    cleaned = sum(item.cleaned for item in items)
    cache = _cache(measured, items)
    return Pruned(measured.transcript, tuple(items), ledger, cache, cleaned, tuple(notes), measured=measured)


def _entries(
    measured: MeasuredTranscript, items: Sequence[MessageDecision], progress: Progress | None
) -> Iterator[Entry]:
    """The request's system prompt and each of its tools, where there are any; then one entry per item."""
    position = 0
    told: Tally[str] = Tally()
    head = measured.transcript.head
    for part, tokens in zip(head.parts if head is not None else (), measured.heads, strict=True):
        position += 1
        name = f"tool {part.tool[:LONGEST_NAME]}" if part.tool else "system prompt"
        told[name] += 1
        name = f"{name} #{told[name]}" if told[name] > 1 else name
        yield Entry(name, State.KEPT, Reason.SYSTEM, tokens, tokens, position=position)
    for number, item in enumerate(items):
        if progress is not None and number % ITEMS_A_STEP == 0:
            progress("deciding", number, len(items))
        name = item.name
        told[name] += 1
        if told[name] > 1:
            name += f" #{told[name]}"
        position += item.leaves
        place = position if item.leaves else None
        yield Entry(name, item.state, item.reason, item.before, item.after, position=place)


def _action(entry: Entry) -> TrimAction | None:
    if entry.id == WRAPPER:
        return None
    section = _NUMBERED.sub("", entry.id)
    return TrimAction(section, VERBS[entry.state], entry.reason.label, entry.before, entry.after)


def _estimated(measured: MeasuredTranscript) -> list[Notice]:
    """Says that pictures and the like are charged by estimate, where there are any."""
    parts = [part for message in measured.transcript.messages for part in message.parts if part.media]
    if not parts:
        return []
    number, tokens = sum(part.media for part in parts), sum(part.media_tokens for part in parts)
    return [
        Notice(
            "media_estimated",
            f"{number:,} picture{'s' if number > 1 else ''} or the like: {tokens:,} of the tokens are estimated.",
        )
    ]


def unchanged(measured: MeasuredTranscript, reasons: Callable[[int], Reason]) -> list[MessageDecision]:
    """One item per message that keeps it, with the reason `reasons` gives."""
    rows = zip(measured.transcript.messages, measured.tokens, strict=True)
    return [
        MessageDecision(number, tokens, tokens, State.KEPT, reasons(number), message.raw)
        for number, (message, tokens) in enumerate(rows)
    ]


def _cache(measured: MeasuredTranscript, items: Sequence[MessageDecision]) -> Cache:
    saved = measured.total - measured.head - sum(item.after for item in items)
    place = next((place for place, item in enumerate(items) if item.state is not State.KEPT), None)
    if place is None:
        return Cache(None, measured.total, 0, saved)
    first = next(item.number for item in items[place:] if item.number >= 0)
    return Cache(
        first,
        measured.head + sum(item.after for item in items[:place]),
        sum(item.after for item in items[place:]),
        saved,
    )
