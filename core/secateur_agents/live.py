"""Prunes a conversation while an agent works, for programs that send the whole history with every request.

    live = Live(settings, store=Store.at(folder))
    step = live.step(history, overhead=9_000)      # before each request
    step.messages, step.changed, step.cache
    live.recall("550ccfe33fea", lines="1-80")      # for a tool of the agent

What leaves is a function of the history (`secateur.Fold`); what is remembered here makes it fast. If a step
fails or needs too much work, cutting stops: what the last cut left goes out with the later messages, or the unchanged
history if there was no cut, and a warning says so.
"""

import copy
import json
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from typing import Any, TypeVar

import msgspec
from secateur import Entry, Fold, Notice, SecateurError, Settings

from secateur_agents.savings import SavingsRecord
from secateur_agents.store import OriginalStore, user_store

T = TypeVar("T")

MOST_FOLDS = 128  # most folds that are remembered: the requests of a conversation, and those it may go back to

# The overhead counts in steps of so many tokens, so that a word more in a tool's description rarely changes it.
OVERHEAD_STEP = 1_000


@dataclass(frozen=True, slots=True)
class CacheEffect:
    """The tokens that a provider's prompt cache reads again after a cut, and the requests after which the cut has
    paid."""

    first_changed: int | None  # message of the history; None: nothing is read again
    reread_tokens: int = 0
    tokens_saved: int = 0
    pays_after: int | None = 0  # None: never


@dataclass(frozen=True, slots=True)
class Step:
    """The messages that are to be sent in place of a history, and what became of the others."""

    messages: list[Any]  # in the shape they came in; those that did not change are the history's own objects
    changed: tuple[Entry, ...] = ()  # messages that were changed or left out, by `messages[NUMBER]`, with the reason
    cache: CacheEffect = CacheEffect(None)
    warnings: tuple[Notice, ...] = ()
    # Of the request with and without pruning, and what a cache holds of what was sent before; None: the step failed.
    sizes: SavingsRecord | None = field(default=None, compare=False)


@dataclass
class Live:
    """See the module docstring. One serves any number of conversations, and threads.

    Attributes:
        settings: None: the profile `recommended`.
        store: keeps what is taken out; placeholders name it. None: nothing is kept.
        failures: steps that failed or needed too much work.
        model: the model that is asked; the safe zone holds in its tokens, with `SAFETY_FACTORS` where its encoding is
            not built in.
        shorten_above: tokens above which a log, a table, a listing or JSON is shortened as it comes; 0: never.
        whole_of: returns the whole of a result of which the agent sends only the beginning; "" if there is none.
    """

    settings: Settings | None = None
    store: OriginalStore | None = None
    failures: int = 0
    model: str = ""
    shorten_above: int = 0
    whole_of: Callable[[str], str] = lambda _result: ""
    _folds: OrderedDict[tuple[bytes, int], Fold] = field(default_factory=OrderedDict, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def step(self, history: Sequence[Any], overhead: int = 0) -> Step:
        """Returns what is to be sent in place of a history; it raises nothing, and does not change the history.

        Args:
            history: messages in any format that `secateur conversation` reads, as `json.loads` gives them.
            overhead: tokens of the request beside the messages: system prompt and tools. Another one folds anew.
        """
        overhead = -(-overhead // OVERHEAD_STEP) * OVERHEAD_STEP
        fold, known = Fold(), list[bytes]()
        effect, warnings = CacheEffect(None), tuple[Notice, ...]()
        settings = self.settings or Settings(profile="recommended")
        sizes: SavingsRecord | None = None
        with self._lock:
            try:
                known = list(_digests(history))
                fold = before = self._remembered(history, known, overhead)
                for after in fold.extend_to(
                    history,
                    settings,
                    overhead=overhead,
                    recalls=self.store is not None,
                    model=self.model,
                    shorten_above=self.shorten_above,
                    whole_of=self.whole_of,
                ):
                    if self.store is not None and after.originals:
                        self.store.keep(after.originals)  # before anything promises them
                    before, fold = fold, replace(after, originals={})
                    self._folds[known[after.count], overhead] = fold
            except Exception as error:  # an agent goes on, whatever is wrong here
                self.failures += 1
                reason = error.message if isinstance(error, SecateurError) else f"{type(error).__name__}: {error}"
                warnings = (Notice("not_pruned", f"Pruning stopped at this step: {reason}"),)
            else:
                session, again = known[min(1, fold.count)].hex()[:12], fold is before
                cached = (fold.whole, fold.tokens) if again else (before.whole, fold.cached_tokens(before))
                is_cut = fold.cut is not None and not again
                sizes = SavingsRecord("live", session, fold.whole, fold.tokens, *cached, is_cut, fold.waiting)
                self.failures += fold.exhausted
                if self.store is not None:
                    self.store.savings.add(sizes)
                while len(self._folds) > MOST_FOLDS:
                    self._folds.popitem(last=False)
                warnings = fold.notices
                if (cut := fold.cut) is not None:
                    effect = CacheEffect(cut.first_changed, cut.reread_tokens, cut.tokens_saved, cut.pays_after)
            changed = tuple(entry for _, entry in sorted(fold.changes.items()))
            return Step(_messages(fold, history), changed, effect, warnings, sizes)

    def recall(self, digest: str, lines: str = "") -> str:
        """Returns what was taken out, or lines of it; a sentence where that is not possible."""
        if self.store is None:
            return "Nothing is kept here: make the call again, or read the file."
        try:
            return self.store.recall(digest, lines)
        except SecateurError as error:
            return f"{error.message}; {error.hint}." if error.hint else f"{error.message}."

    def _remembered(self, history: Sequence[Any], known: Sequence[bytes], overhead: int) -> Fold:
        """Returns the longest remembered fold of a prefix of the history that can be extended to the whole."""
        for digest in reversed(known):
            fold = self._folds.get((digest, overhead))
            if fold is not None and fold.goes_on(history):
                self._folds.move_to_end((digest, overhead))
                return replace(fold, messages=tuple(_messages(fold, history[: fold.count])))
        return Fold()


def _digests(history: Sequence[Any]) -> Iterator[bytes]:
    digest = sha256()
    yield digest.digest()
    for message in history:
        try:
            data = msgspec.json.encode(message)
        except (TypeError, ValueError, OverflowError, RecursionError):  # half a character, a very large number
            data = json.dumps(message, default=repr).encode()
        digest.update(len(data).to_bytes(8, "big") + data)
        yield digest.digest()


def _messages(fold: Fold, history: Sequence[Any]) -> list[Any]:
    """Returns what leaves of a history. What is remembered is copied: a caller may write into what it gets."""
    folded = zip(fold.numbers, fold.messages, strict=True)
    own = (history[number] if fold.is_own(number) else copy.deepcopy(message) for number, message in folded)
    return [*own, *history[fold.count :]]


@cache
def user_live() -> Live:
    """Returns what the adapters use where a program gives no `Live` of its own: the user's store, and one memory."""
    return Live(store=user_store(os.environ))


def prune_objects(
    live: Live,
    objects: Sequence[T],
    dump: Callable[[Sequence[T]], Sequence[Any]],
    load: Callable[[list[Any]], Sequence[T]],
    overhead: Callable[[], int] = lambda: 0,
) -> list[T]:
    """Returns what is to be sent in place of the message objects of a library.

    Args:
        dump, load: turn objects into messages as `json.loads` gives them, and back, one for one.
        overhead: counts the tokens of the request beside them.
    """
    try:
        dumped = list(dump(objects))
        own = {id(message): one for message, one in zip(dumped, objects, strict=True)}
        sent = live.step(dumped, overhead()).messages
        return [own[id(message)] if id(message) in own else load([message])[0] for message in sent]
    except Exception:  # an agent goes on, whatever is wrong here
        live.failures += 1
        return list(objects)
