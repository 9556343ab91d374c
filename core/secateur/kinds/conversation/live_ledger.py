"""The ledger of a session that is pruned before every request, as `secateur_agents.Live` decides.

    ledger = live_ledger(measured, settings)      # of what is sent now, since the last compaction
    ledger.requests, ledger.not_sent, ledger.paid_share, ledger.recalls
    for cut in ledger.cuts: cut.request, cut.before, cut.after, cut.entries

A fold depends on the history alone, so this is what `Live` does, did or would do at each request of the session.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from operator import itemgetter

from msgspec.structs import replace

from secateur.kinds.conversation.decisions import MeasuredTranscript
from secateur.kinds.conversation.folds import Fold
from secateur.kinds.conversation.messages import ASIDE
from secateur.model import Entry
from secateur.progress import Progress, unreported
from secateur.render.page import count_noun
from secateur.settings import Settings, with_values

PROFILE = "recommended"
"""The profile under which `Live` prunes."""

_OF_SESSION = "safe_zone_tokens", "keep_tools"
"""Settings of `[conversation_prune]` that are of the session and not of the way to cut: those of any profile count."""

RECALL = "recall"
"""The name of the tool that gives back what was taken out; a server's name may stand before it."""


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
    not_sent: int  # tokens, over all requests
    paid_share: float | None  # price with a prompt cache, as a share of not pruning; None without a price
    recalls: int  # calls of the tool that gives texts back


def live_settings(settings: Settings) -> Settings:
    """Returns the settings that decide: those of the profile `recommended`, which may be changed; under another
    profile its cuts, with the safe zone and the tools of these settings."""
    if settings.profile == PROFILE:
        return settings
    rules = {f"conversation_prune.{key}": getattr(settings.conversation_prune, key) for key in _OF_SESSION}
    return with_values(Settings(profile=PROFILE), {**rules, "tokens.counter": settings.tokens.counter})


def live_ledger(measured: MeasuredTranscript, settings: Settings, progress: Progress = unreported) -> LiveLedger:
    """Folds the messages of a session that are sent now, with the overhead of its system prompt and tools. Raises
    SecateurError: a cut is due, and no message can be read."""
    settings = live_settings(settings)
    messages = measured.transcript.messages
    sent = [number for number, message in enumerate(messages) if message.role != ASIDE]
    before, cuts, requests, not_sent, paid, whole = Fold(), list[LiveCut](), 0, 0, 0.0, 0.0
    folds = before.extend_to([messages[number].raw for number in sent], settings, progress, overhead=measured.head)
    for fold in folds:
        requests += 1
        not_sent += fold.whole - fold.tokens
        paid += Fold.price(fold.tokens, fold.cached_tokens(before))
        whole += Fold.price(fold.whole, before.whole)
        if fold.cut is not None:
            changes = sorted(fold.changes.items(), key=itemgetter(0))
            entries = tuple(
                replace(entry, id=f"messages[{sent[number]}]")
                for number, entry in changes
                if before.changes.get(number) is not entry and entry.before != entry.after  # else only its parent line
            )
            whole_request = fold.tokens + fold.cut.tokens_saved
            cuts.append(
                LiveCut(requests, whole_request, fold.tokens, fold.cut.reread_tokens, fold.cut.pays_after, entries)
            )
        before = fold
    calls = (part for number in sent for part in messages[number].calls)
    recalls = sum(part.tool.rpartition("__")[2] == RECALL for part in calls)
    return LiveLedger(requests, tuple(cuts), not_sent, paid / whole if whole else None, recalls)


def describe_ledger(ledger: LiveLedger) -> str:
    """The ledger on one line."""
    paid = f", paid {ledger.paid_share:.0%}" if ledger.paid_share is not None else ""
    recalls = f", {count_noun(ledger.recalls, 'recall')}" if ledger.recalls else ""
    counts = f"{count_noun(len(ledger.cuts), 'cut')} in {count_noun(ledger.requests, 'request')}"
    return f"{counts}{paid}, {ledger.not_sent:,} tokens not sent{recalls}"


def describe_cut(cut: LiveCut) -> str:
    """A cut as a sentence: its figures, and how many messages it changed for which reason."""
    reasons = Counter(entry.reason.label for entry in cut.entries)
    pays = "never pays" if cut.pays_after is None else f"pays after {count_noun(cut.pays_after, 'request')}"
    figures = f"{cut.before:,} -> {cut.after:,} tokens, {cut.reread:,} read again, {pays}"
    changed = ", ".join(f"{count:,} {label}" for label, count in reasons.items())
    return f"before request {cut.request:,}: {figures}; changed: {changed}"


def find_cut(ledger: LiveLedger, number: int) -> tuple[LiveCut, Entry] | None:
    """Returns the last cut that changed the message with this number, and what it decided; None if there is none."""
    name = f"messages[{number}]"
    return next(((cut, entry) for cut in reversed(ledger.cuts) for entry in cut.entries if entry.id == name), None)
