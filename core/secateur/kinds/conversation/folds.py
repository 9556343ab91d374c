"""Prunes a history that grows, request by request: a decision is taken where a request was sent, and stays.

    for fold in Fold().extend_to(history, settings):      # one for each request that the history shows, then the whole
        fold.messages, fold.changes, fold.cut

A fold depends on the history and the settings alone. Whoever folds the same history gets the same bytes, from nothing
or from an earlier fold, so nothing has to be remembered but for speed. A request was sent wherever an
assistant answers, and at the end. While the messages fit the safe zone, those that leave are those that left before
and the new ones: a prompt cache holds. Where they do not, they are cut once, as `[conversation_prune]` says, as soon as
reading what came since the last cut has cost as much as that cut, and all requests cost at most `MOST_PAID` of not
pruning. Until then requests go whole, as far as the model's window has room.
Long results of tools are shortened at the request that sends them first (`shorten_above`), and stay so.

    ledger = live_ledger(measured, settings)      # of what is sent now, since the last compaction
    ledger.requests, ledger.not_sent, ledger.paid_share, ledger.recalls
    for cut in ledger.cuts: cut.request, cut.before, cut.after, cut.entries

The ledger of a session says what `secateur_agents.Live` does, did or would do at each of its requests.
"""

from __future__ import annotations

import copy
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from msgspec import ValidationError, convert, structs

from secateur.errors import SecateurError
from secateur.kinds.conversation.decisions import (
    CACHE_READ_PRICE,
    CACHE_WRITE_PRICE,
    FEW_WORDS_KEPT,
    CacheShape,
    MeasuredTranscript,
    count_texts,
    measure,
)
from secateur.kinds.conversation.long_results import shorten_result
from secateur.kinds.conversation.messages import ASIDE, Message, MessagePart, PartKind, canonical, replace_texts
from secateur.kinds.conversation.placeholders import digest_of, file_accesses, is_unchanged_note, say_shortened
from secateur.kinds.conversation.strategies import decide
from secateur.kinds.conversation.transcripts import read_messages
from secateur.kinds.conversation.unreadable import DAMAGED
from secateur.kinds.envelope.envelope import window_of
from secateur.model import Entry, Notice, Reason, State
from secateur.progress import Progress, unreported
from secateur.render.page import count_noun
from secateur.settings import Settings, with_values
from secateur.tokens import Counter, counter_for, get_counter
from secateur.version import __version__

ASSISTANT = "assistant"

# Most tokens that the folds of one history read: each new message once, what stood before each cut, and a fiftieth of
# the history before each note that a read is unchanged, as that is not counted. A history of 1.5 million tokens under a
# zone of 30,000 needs 7 million, and 10 s of the processor where nothing of it is remembered.
MOST_WORK = 20_000_000

# Tokens of the window of a model that is not known, and the share of a window that a history may fill: beside it stand
# the system prompt, the tools and the answer.
USUAL_WINDOW, FILLED = 200_000, 0.7
LEAST_ROOM = 0.1  # growth before the next cut, as a share of what the last one left, where the window is full
MOST_PAID = 1.05  # most that the requests up to a cut cost together, as a share of their price without pruning


@dataclass(frozen=True, slots=True)
class Fold:
    """The messages that leave in place of the first messages of a history."""

    count: int = 0  # messages of the history that it folds
    messages: tuple[Any, ...] = ()  # that leave
    numbers: tuple[int, ...] = ()  # of each of these in the history; -1: it is not there
    tokens: int = 0  # of what leaves
    whole: int = 0  # tokens of the history as it came
    work: int = 0  # tokens that were read so far, of MOST_WORK
    speaker: str = ""  # role of the last message that somebody said
    changes: Mapping[int, Entry] = field(default_factory=dict)  # by number: what does not leave as it came
    cut: CacheShape | None = None  # what a prompt cache reads again, where a cut was made at this request
    originals: Mapping[str, str] = field(default_factory=dict)  # what this cut took out, by digest
    notices: tuple[Notice, ...] = ()  # about this cut
    waiting: bool = False  # larger than the safe zone, and a cut does not pay yet
    paid: float = 0  # the price of all requests so far
    unpruned: float = 0  # their price without pruning
    last: tuple[int, int] = 0, 0  # of the last cut: tokens that it left, and those that were read again
    above: float = 0  # the price of the tokens above these that were read from the cache since

    @property
    def exhausted(self) -> bool:
        """Tells whether nothing further is cut, because the work so far reached `MOST_WORK`."""
        return self.work >= MOST_WORK

    def is_own(self, number: int) -> bool:
        """Tells whether a message that leaves is that of the history with this number, as it came."""
        return number >= 0 and number not in self.changes

    def cached_tokens(self, before: Fold) -> int:
        """Returns the tokens that a prompt cache still holds of the request before, whose fold is `before`."""
        cut = self.cut
        return before.tokens if cut is None or cut.first_changed is None else min(before.tokens, cut.prefix_tokens)

    @staticmethod
    def price(tokens: int, cached: int) -> float:
        """Returns the price of a request, of whose tokens so many are in the cache, in ordinary tokens."""
        return cached * CACHE_READ_PRICE + (tokens - cached) * CACHE_WRITE_PRICE

    def with_price(self, before: Fold) -> Fold:
        """Returns the fold with the price of its requests, the last of which comes after those of `before`."""
        paid = before.paid + Fold.price(self.tokens, self.cached_tokens(before))
        return replace(self, paid=paid, unpruned=before.unpruned + Fold.price(self.whole, before.whole))

    def goes_on(self, history: Sequence[Any]) -> bool:
        """Tells whether a fold of this history, which begins as this one does, has this one on its way."""
        if self.count == len(history):
            return True
        return self.speaker != ASSISTANT and _message_of(history[self.count]).role == ASSISTANT

    def extend_to(
        self,
        history: Sequence[Any],
        settings: Settings,
        progress: Progress = unreported,
        *,
        overhead: int = 0,
        recalls: bool = False,
        model: str = "",
        counter: Counter | None = None,
        shorten_above: int = 0,
        whole_of: Callable[[str], str] = lambda _result: "",
    ) -> Iterator[Fold]:
        """Folds a history that goes on from this fold (`goes_on`), with the settings that made it: yields a fold for
        each further request; the last is that of the whole.

        Args:
            overhead: tokens of the request beside its messages, which the safe zone has to hold too.
            recalls: the originals of cuts are kept, and placeholders name them.
            model: the model that is asked, in whose tokens the safe zone holds.
            counter: None: that of the model and the settings.
            shorten_above: tokens above which a log, a table, a listing or JSON is shortened as it comes; 0: never.
            whole_of: returns the whole of a result of which the agent sends only the beginning; "" if there is none.

        Raises:
            SecateurError: `TRANSCRIPT`: a cut is due, and no message can be read.
        """
        counter = counter or counter_for(model, get_counter(settings.tokens.counter), safe=True)
        zone = settings.conversation_prune
        zone = structs.replace(zone, safe_zone_tokens=max(0, zone.safe_zone_tokens - overhead))
        settings = structs.replace(settings, conversation_prune=zone)
        fold = self if self.count else Fold(last=(int(zone.safe_zone_tokens * zone.cut_to),) * 2)
        wall = FILLED * (window_of(model, settings.context_budget.windows) or USUAL_WINDOW) - overhead
        first = begin = fold.count
        new = [_message_of(raw) for raw in history[first:]]
        tokens = _tokens_of(new, counter, progress)
        for stop, speaker in _requests(new, fold.speaker):
            progress("folding", stop, len(new))
            before = fold
            added = sum(tokens[begin - first : stop])
            fold = replace(
                fold,
                count=first + stop,
                messages=(*fold.messages, *history[begin : first + stop]),
                numbers=(*fold.numbers, *range(begin, first + stop)),
                tokens=fold.tokens + added,
                whole=fold.whole + added,
                work=fold.work + added,
                speaker=speaker,
                cut=None,
                originals={},
                notices=(),
            )
            for number in range(begin, first + stop):
                if not fold.exhausted and any(is_unchanged_note(part) for _, part in new[number - first].results):
                    fold = replace(_with_renewed(fold, history, number, counter), work=fold.work + fold.whole // 50)
            if shorten_above and not fold.exhausted:
                fold = _with_shortened(fold, first + stop - begin, settings, counter, recalls, shorten_above, whole_of)
            above = fold.above + CACHE_READ_PRICE * max(0, fold.tokens - fold.last[0])
            fold = replace(fold, above=above, waiting=fold.tokens > zone.safe_zone_tokens).with_price(before)
            forced = fold.tokens > max(wall, (1 + LEAST_ROOM) * fold.last[0])
            if fold.exhausted:
                message = f"Pruning stopped: the conversation needs more than {MOST_WORK:,} tokens of work."
                fold = replace(fold, waiting=False, notices=(Notice("not_pruned", message),))
            elif fold.waiting and (forced or fold.above >= (CACHE_WRITE_PRICE - CACHE_READ_PRICE) * fold.last[1]):
                work = fold.work + fold.tokens
                cut = _cut(replace(fold, work=work), settings, counter, progress, recalls).with_price(before)
                pays = forced or cut.paid <= MOST_PAID * cut.unpruned
                fold = cut if pays else replace(fold, work=work, above=fold.above / 2)
            begin = first + stop
            yield fold


def _requests(messages: Sequence[Message], speaker: str) -> Iterator[tuple[int, str]]:
    """Yields, for each request, how many of the messages it sent, and who spoke last; `speaker`: who did before."""
    for number, message in enumerate(messages):
        if number and message.role == ASSISTANT != speaker:
            yield number, speaker
        speaker = message.role if message.role != ASIDE else speaker
    if messages:
        yield len(messages), speaker


def _message_of(raw: Any) -> Message:
    """Reads a message by itself: who speaks, and what it costs, depends on nothing that comes before or after it."""
    try:
        return read_messages([raw]).messages[0]
    except SecateurError:
        return Message("$", DAMAGED, raw, (MessagePart(PartKind.OTHER, canonical(raw), ()),))


def _tokens_of(messages: Sequence[Message], counter: Counter, progress: Progress) -> list[int]:
    counted = count_texts(list(dict.fromkeys(part.text for one in messages for part in one.parts)), counter, progress)
    return [sum(counted[part.text] + part.media_tokens for part in one.parts) for one in messages]


def _cut(fold: Fold, settings: Settings, counter: Counter, progress: Progress, recalls: bool) -> Fold:
    """Cuts what would leave; the messages that stay are the same objects."""
    measured = measure(read_messages(list(fold.messages)), counter, progress)
    pins = (f"messages[{at}]" for at, one in enumerate(fold.numbers) if f"messages[{one}]" in settings.pins)
    settings = structs.replace(settings, pins=tuple(pins))  # ids of the history, for the messages that leave
    pruned = decide(measured, settings, progress=progress, recalls=recalls)
    after = pruned.ledger.after
    if pruned.cache.first_changed is None:
        return replace(fold, tokens=after, last=(after, fold.last[1]), above=0)
    changes, messages, numbers = dict(fold.changes), list[Any](), list[int]()
    for item in pruned.items:
        stays = item.number >= 0 and item.message is fold.messages[item.number]
        number = fold.numbers[item.number] if item.number >= 0 else -1
        if number >= 0 and not stays:
            before = changes[number].before if number in changes else item.before
            changes[number] = Entry(f"messages[{number}]", item.state, item.reason, before, item.after)
        if item.leaves:
            messages.append(item.message if stays else copy.deepcopy(item.message))  # it shares parts with what it was
            numbers.append(number)
    first = next((one for one in fold.numbers[pruned.cache.first_changed :] if one >= 0), fold.count)
    return replace(
        fold,
        messages=tuple(messages),
        numbers=tuple(numbers),
        tokens=after,
        waiting=False,
        changes=changes,
        cut=structs.replace(pruned.cache, first_changed=first),
        last=(after, pruned.cache.reread_tokens),
        above=0,
        originals={**fold.originals, **pruned.originals},
        notices=tuple(notice for notice in pruned.warnings if notice.code == FEW_WORDS_KEPT),
    )


def _with_renewed(fold: Fold, history: Sequence[Any], number: int, counter: Counter) -> Fold:
    """Returns the fold with the text of a read in place of a note that it is unchanged, where that read was cleared:
    the note would point to nothing."""
    messages = read_messages(history[: number + 1]).messages
    standing = {part.text for message in read_messages(list(fold.messages)).messages for part in message.parts}
    changed: dict[MessagePart, str] = {}
    for _, note in messages[number].results:
        if not is_unchanged_note(note) or note.put is None or next(file_accesses(note), None) is None:
            continue
        reads = (
            part.text
            for message in reversed(messages[:number])
            for _, part in message.results
            if (part.tool, part.arguments) == (note.tool, note.arguments) and not is_unchanged_note(part)
        )
        if (text := next(reads, "")) and text not in standing:
            changed[note] = text
    return _with_texts(fold, number, messages[number], changed, Reason.RENEWED, counter) if changed else fold


def _with_shortened(
    fold: Fold, new: int, settings: Settings, counter: Counter, recalls: bool, above: int, whole: Callable[[str], str]
) -> Fold:
    """Returns the fold with the long results among its last `new` messages shortened, which are new. What a call to
    recall gave back stays, and so does what a user pinned, or the settings keep."""
    keep, tokens, originals = settings.conversation_prune.keep_tools, fold.tokens, dict[str, str]()
    for number, message in enumerate(read_messages(list(fold.messages[-new:])).messages, fold.count - new):
        changed: dict[MessagePart, str] = {}
        for _, part in message.results if f"messages[{number}]" not in settings.pins else ():
            if part.tool in keep or part.tool.rpartition("__")[2] == RECALL or not part.put or part.media or part.span:
                continue
            result, *reminder = part.text.partition("\n\n<system-reminder>")  # Claude Code puts it below results
            text = whole(result) or result
            if len(text) <= above or (size := counter.count(text)) <= above:
                continue  # a token is a character or more, but for rare ones
            fold = replace(fold, work=fold.work + size)
            short = shorten_result(part, text, settings, counter)
            if 0 < len(short) < len(text):
                changed[part] = "".join((say_shortened(result, text, short, size, recalls=recalls), *reminder))
                originals[digest_of(text)] = text
        fold = _with_texts(fold, number, message, changed, Reason.LONG_RESULT, counter) if changed else fold
    return replace(
        fold,
        cut=CacheShape(None, fold.tokens, 0, tokens - fold.tokens, 0) if originals else None,
        originals=originals if recalls else {},
    )


def _with_texts(
    fold: Fold, number: int, message: Message, changed: Mapping[MessagePart, str], reason: Reason, counter: Counter
) -> Fold:
    """Returns the fold with other texts in a message of the history that leaves as it came."""
    at, raw = fold.numbers.index(number), replace_texts(message.raw, changed)
    state = State.KEPT if reason is Reason.RENEWED else State.SHORTENED
    before, after = _tokens_of([message, _message_of(raw)], counter, unreported)
    return replace(
        fold,
        messages=(*fold.messages[:at], raw, *fold.messages[at + 1 :]),
        tokens=fold.tokens - before + after,
        changes={**fold.changes, number: Entry(f"messages[{number}]", state, reason, before, after)},
    )


PROFILE = "recommended"  # the profile under which `Live` prunes

# Settings of `[conversation_prune]` that are of the session and not of the way to cut: those of any profile count.
_OF_SESSION = "safe_zone_tokens", "keep_tools"

RECALL = "recall"  # the name of the tool that gives back what was taken out; a server's name may stand before it


@dataclass(frozen=True, slots=True)
class LiveCut:
    """A cut before one request."""

    request: int  # counted from 1
    before: int  # tokens that the request would have sent
    after: int
    reread: int  # tokens that a prompt cache reads again
    pays_after: int | None  # requests; None: never
    entries: tuple[Entry, ...]  # the messages that it changed, in their order, by `messages[NUMBER]`


@dataclass(frozen=True, slots=True)
class LiveLedger:
    """The requests of a session, and what their pruning cost and saved."""

    requests: int
    cuts: tuple[LiveCut, ...]
    waiting: int  # requests above the safe zone that went whole, because a cut did not pay yet
    not_sent: int  # tokens, over all requests
    paid_share: float | None  # price with a prompt cache, as a share of not pruning; None without a price
    recalls: int  # calls of the tool that gives texts back


def recorded_ledger(measured: MeasuredTranscript) -> LiveLedger | None:
    """Returns the ledger that stands in a record of `secateur with`; None if this is not one, or of another version,
    where other numbers stand for the reasons."""
    written = (measured.transcript.container or {}).get("secateur_with")
    if not isinstance(written, dict) or written.get("version") != __version__:
        return None
    try:
        return replace(convert(written.get("ledger"), LiveLedger), recalls=_recalls(measured.transcript.messages))
    except ValidationError:  # somebody else wrote it
        return None


def _recalls(messages: Sequence[Message]) -> int:
    return sum(part.tool.rpartition("__")[2] == RECALL for message in messages for part in message.calls)


def live_ledger(measured: MeasuredTranscript, settings: Settings, progress: Progress = unreported) -> LiveLedger:
    """Folds the messages of a session that are sent now, with the overhead of its system prompt and tools, under the
    settings of the profile `recommended`, which may be changed; under another profile with its cuts, and the safe zone
    and the tools of these settings. Of a record of `secateur with` it is what was decided then. Raises SecateurError: a
    cut is due, and no message can be read."""
    if (recorded := recorded_ledger(measured)) is not None:
        return recorded
    if settings.profile != PROFILE:
        rules = {f"conversation_prune.{key}": getattr(settings.conversation_prune, key) for key in _OF_SESSION}
        settings = with_values(Settings(profile=PROFILE), {**rules, "tokens.counter": settings.tokens.counter})
    messages = measured.transcript.messages
    sent = [number for number, message in enumerate(messages) if message.role != ASIDE]
    before, cuts, requests, waiting, not_sent = Fold(), list[LiveCut](), 0, 0, 0
    raws, head = [messages[number].raw for number in sent], measured.head
    folds = before.extend_to(raws, settings, progress, overhead=head, counter=measured.counter)
    for fold in folds:
        requests += 1
        not_sent += fold.whole - fold.tokens
        waiting += fold.waiting
        if fold.cut is not None:
            changes = sorted(fold.changes.items(), key=itemgetter(0))
            entries = tuple(
                structs.replace(entry, id=f"messages[{sent[number]}]")
                for number, entry in changes
                if before.changes.get(number) is not entry and entry.before != entry.after  # else only its parent line
            )
            whole_request = fold.tokens + fold.cut.tokens_saved
            cuts.append(
                LiveCut(requests, whole_request, fold.tokens, fold.cut.reread_tokens, fold.cut.pays_after, entries)
            )
        before = fold
    recalls = _recalls([messages[number] for number in sent])
    share = before.paid / before.unpruned if before.unpruned else None
    return LiveLedger(requests, tuple(cuts), waiting, not_sent, share, recalls)


def describe_ledger(ledger: LiveLedger) -> str:
    """The ledger on one line."""
    paid = f", paid {ledger.paid_share:.0%}" if ledger.paid_share is not None else ""
    recalls = f", {count_noun(ledger.recalls, 'recall')}" if ledger.recalls else ""
    counts = f"{count_noun(len(ledger.cuts), 'cut')} in {count_noun(ledger.requests, 'request')}"
    waiting = f", {ledger.waiting:,} above the zone" if ledger.waiting else ""
    return f"{counts}{waiting}{paid}, {ledger.not_sent:,} tokens not sent{recalls}"


def describe_cut(cut: LiveCut) -> str:
    """A cut as a sentence: its figures, and how many messages it changed for which reason."""
    reasons = Tally(entry.reason.label for entry in cut.entries)
    pays = "never pays" if cut.pays_after is None else f"pays after {count_noun(cut.pays_after, 'request')}"
    figures = f"{cut.before:,} -> {cut.after:,} tokens, {cut.reread:,} read again, {pays}"
    changed = ", ".join(f"{count:,} {label}" for label, count in reasons.items())
    return f"before request {cut.request:,}: {figures}; changed: {changed}"


def find_cut(ledger: LiveLedger, number: int) -> tuple[LiveCut, Entry] | None:
    """Returns the last cut that changed the message with this number, and what it decided; None if there is none."""
    name = f"messages[{number}]"
    return next(((cut, entry) for cut in reversed(ledger.cuts) for entry in cut.entries if entry.id == name), None)
