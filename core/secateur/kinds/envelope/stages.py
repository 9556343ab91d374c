"""The stages by which an envelope gets smaller, each no further than is needed: the recipe, top-down.

1. the spec's own, in its order: lists are summarised, long texts truncated, objects and other fields reduced to
   `path + summary + hash`;
2. what is left of the dependencies then: summaries are shortened evenly, dropped from the last entry on, then hashes,
   then the entries;
3. fields of the digest, and the digest, become one reference each.

Every stage is a row of steps. Its last step is tried first: where that is not enough, the next stage goes on from
there. Where it is, the first step that fits is looked for (`first_that_fits`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from itertools import accumulate
from typing import Any

from secateur.kinds.envelope.cuts import Cut, container_steps, item_cuts, list_cuts, reference_cuts, text_cuts
from secateur.kinds.envelope.degrading import Path, text_of
from secateur.kinds.envelope.places import (
    NAMING,
    EnvelopeValue,
    containers_of,
    entries_of,
    extensions_of,
    fields_of,
    fields_without_entries,
    value_at,
)
from secateur.kinds.envelope.sections import DIGEST
from secateur.model import Reason, State
from secateur.settings import ContextBudget
from secateur.tokens import Counter

BISECT_EVERY = 3
"""Every third probe halves what is left: whatever the sizes of the steps, the number of probes is logarithmic."""


def first_that_fits(
    size: int,
    apply: Callable[[int], int],
    budget: int,
    before: int,
    after: int,
    guess: int = 0,
) -> tuple[int, int]:
    """(step, its tokens), with that step applied: it fits, and the step before it does not.

    Tokens fall from step to step but for the odd one where they rise: of several such steps, one is found.

    Args:
        size: number of the last step, which fits; step 0 does not.
        apply: brings the value to a step and returns the tokens of the whole there.
        before, after: tokens of the whole at step 0 and at the last step.
        guess: the step that is tried first; 0: where a straight line between both ends would meet the budget.
    """
    low, high, at_low, at_high, probes = 0, size, before, after, 0
    applied = -1
    while high - low > 1:
        probes += 1
        if probes == 1 and guess:
            step = guess
        elif probes % BISECT_EVERY == 0:
            step = (low + high) // 2
        else:  # rounded up: the budget holds
            step = low - (budget - at_low) * (high - low) // max(1, at_low - at_high)
        step = min(max(step, low + 1), high - 1)
        tokens, applied = apply(step), step
        if tokens <= budget:
            high, at_high = step, tokens
        else:
            low, at_low = step, tokens
    if applied != high:
        apply(high)
    return high, at_high


LEAST_USED = 0.85
"""Share of the budget in use below which a beginning of what was cut last is kept."""

SHORTEST_SUMMARY = 24
"""Characters below which a summary says nothing: it goes."""


class Stage(IntEnum):
    """The stages of the spec, by the name of their action, mildest first: an entry bears the strongest that it met."""

    SUMMARIZE = 1
    TRUNCATE = 2
    DROP = 3

    @property
    def state(self) -> State:
        """The state in the ledger. What the spec drops is summarised there: a reference to it goes out, and of a
        dropped entry nothing does."""
        return State.SHORTENED if self is Stage.TRUNCATE else State.SUMMARISED


class Acted:
    """The cuts so far: values, and ends of lists, each with its strongest stage and its last reason."""

    def __init__(self) -> None:
        self._values: dict[Path, tuple[Stage, Reason]] = {}
        self._ends: dict[Path, tuple[int, Stage, Reason]] = {}  # list -> first position of its end, stage, reason

    def __bool__(self) -> bool:
        return bool(self._values or self._ends)

    def add(self, path: Path, stage: Stage, reason: Reason, start: int | None = None) -> None:
        """Note that a value was cut, or the end of a list from `start` on."""
        if start is None:
            self._values[path] = max(stage, self._values.get(path, (stage, reason))[0]), reason
        else:
            self._ends[path] = start, stage, reason

    def undo(self, path: Path) -> None:
        """Forget the cuts of a value, of its end and of what is in it."""
        for cuts in (self._values, self._ends):
            for other in [other for other in cuts if other[: len(path)] == path]:
                del cuts[other]

    def sections(self) -> list[tuple[Path, int | None, State, Reason]]:
        """Path, first position if it is the end of a list, state, reason; by stage and path, none inside another.

        The end of a list stands for the list as long as nothing else in it was touched.
        """
        values = [(path, *told) for path, told in self._values.items() if not self._covered(path)]
        uncut = ((path, told) for path, told in self._ends.items() if path not in self._values)
        ends = [(path, *told) for path, told in uncut if not self._covered(path)]
        paths = [*(path for path, *_ in values), *(path for path, *_ in ends)]
        inner = {path[:length] for path in paths for length in range(1, len(path))}
        found: list[tuple[Stage, Path, int | None, Reason]] = [
            (stage, path, None, reason) for path, stage, reason in values
        ]
        found += [(stage, path, start if path in inner else None, reason) for path, start, stage, reason in ends]
        found.sort(key=lambda row: row[:2])
        return [(path, start, stage.state, reason) for stage, path, start, reason in found]

    def _covered(self, path: Path) -> bool:
        """Tells whether it lies inside a value or an end that was cut."""
        for length in range(1, len(path)):
            above, step = path[:length], path[length]
            if above in self._values:
                return True
            if above in self._ends and isinstance(step, int) and step >= self._ends[above][0]:
                return True
        return False


class Shrinking:
    """An envelope on its way under a budget; trimmed in place.

    `tokens` and `acted` say how far it has come.
    """

    def __init__(
        self,
        original: dict[str, Any],
        trimmed: dict[str, Any],
        tokens: int,
        budget: int,
        rules: ContextBudget,
        counter: Counter,
    ) -> None:
        self._original, self._trimmed = original, trimmed
        self._budget, self._rules, self._counter = budget, rules, counter
        self.tokens = tokens
        self.acted = Acted()

    @property
    def fits(self) -> bool:
        """Tells whether there is nothing more to do."""
        return self.tokens <= self._budget

    def run(self) -> None:
        """All stages, as far as is needed."""
        rules, counter = self._rules, self._counter
        digest = EnvelopeValue(self._trimmed, DIGEST, (DIGEST,))
        extensions = list(extensions_of(self._trimmed, rules.extensions))

        def references(places: Iterable[EnvelopeValue]) -> Iterable[Cut]:
            return reference_cuts(places, self._original, rules, counter)

        stages: tuple[Callable[[], None], ...] = (
            lambda: self._cut(item_cuts(digest, rules, counter), Stage.SUMMARIZE, Reason.LONG_LIST),
            lambda: self._cut(list_cuts(digest, rules, counter), Stage.SUMMARIZE, Reason.LONG_LIST),
            lambda: self._cut(text_cuts([digest, *extensions], rules, counter), Stage.TRUNCATE, Reason.LONG_TEXT),
            lambda: self._cut(
                references(entries_of(digest)), Stage.DROP, Reason.REFERENCE_ONLY, rules.uniform_entries_share
            ),
            lambda: self._cut(
                references([*fields_without_entries(digest), *extensions]), Stage.DROP, Reason.REFERENCE_ONLY
            ),
            lambda: self._shorten_summaries(digest),
            lambda: self._drop_last_first(digest, "summary", Reason.SUMMARY_DROPPED),
            lambda: self._drop_last_first(digest, "hash", Reason.HASH_DROPPED),
            lambda: self._drop_entries(digest),
            lambda: self._cut(references(fields_of(digest)), Stage.DROP, Reason.REFERENCE_ONLY),
            lambda: self._cut(references([digest]), Stage.DROP, Reason.REFERENCE_ONLY),
        )
        for stage in stages:
            if self.fits:
                break
            stage()
        if self.fits and self.tokens < LEAST_USED * self._budget:
            self._undo_what_fits()

    # --- the spec's own ---

    def _cut(self, found: Iterable[Cut], stage: Stage, reason: Reason, enough: float = 1.0) -> None:
        """As many of the cuts as are needed, those that save most first; of the last one no more than is needed.

        Args:
            enough: share of the budget in use from which the last cut is made whole all the same.
        """
        cuts = sorted(found, key=lambda cut: (-cut.gain, cut.path))
        made = 0

        def make(number: int) -> int:
            nonlocal made
            for cut in cuts[made:number]:
                cut.holder[cut.key] = cut.new
            for cut in cuts[number:made]:
                cut.holder[cut.key] = cut.old
            made = number
            return self._count()

        saved = list(accumulate(cut.gain for cut in cuts))
        number = self._settle(len(cuts), make, 1 + bisect_left(saved, self.tokens - self._budget))
        steps = [cut.between + 1 for cut in cuts[:number]]
        if self.fits and number and self.tokens < enough * self._budget:
            steps[-1] = self._soften(cuts[number - 1])
        starts = [cut.start(step) for cut, step in zip(cuts, steps, strict=False)]
        if self.fits and number and self.tokens < LEAST_USED * self._budget:
            starts[-1] = self._keep_beginning(cuts[number - 1], starts[-1])
        for cut, start in zip(cuts, starts, strict=False):
            self.acted.add(cut.path, stage, reason, start)

    def _soften(self, cut: Cut) -> int:
        """Of a cut that is needed, the least step that is enough."""
        longest = len(text_of(cut.old))

        def make(step: int) -> int:
            value = cut.value(step)
            cut.holder[cut.key] = value
            return self._count() if len(text_of(value)) < longest else self._budget + 1

        return self._settle(cut.between + 1, make, before=self.tokens + cut.gain)

    def _keep_beginning(self, cut: Cut, start: int | None) -> int | None:
        """Of a cut whose least step leaves much room unused, the longest beginning that fits; returns the position from
        which the end of a list changed."""
        coarse, longest, units = cut.holder[cut.key], len(text_of(cut.old)), cut.units
        best = self.tokens, coarse, start

        def make(step: int) -> int:
            nonlocal best
            part = cut.beginning(units - step, self._rules.keep_chars) if step < units else None
            value, first = part or (coarse, start)
            cut.holder[cut.key] = value
            tokens = self._count() if value is coarse or len(text_of(value)) < longest else self._budget + 1
            if best[0] < tokens <= self._budget:
                best = tokens, value, first
            return tokens

        self._settle(units, make, before=self.tokens + cut.gain)
        self.tokens, cut.holder[cut.key], start = best
        return start

    # --- what is left of the dependencies ---

    def _shorten_summaries(self, digest: EnvelopeValue) -> None:
        """All to one length, from the longest down: a step takes one character of one entry, the last entry first."""
        places = [place for place in entries_of(digest) if isinstance(place.value.get("summary"), str)]
        whole = [place.value for place in places]
        longest = max((len(entry["summary"]) for entry in whole), default=0)

        def make(step: int) -> int:
            most, further = longest - step // len(places), len(places) - step % len(places)
            for number, (place, entry) in enumerate(zip(places, whole, strict=True)):
                summary, room = entry["summary"], most - (number >= further)
                short = len(summary) > room
                place.holder[place.key] = entry | {"summary": summary[: room - 1] + "…"} if short else entry
            return self._count()

        self._settle(max(0, longest - SHORTEST_SUMMARY) * len(places), make)
        self._note(places, whole, Stage.TRUNCATE, Reason.SUMMARY_SHORTENED)

    def _drop_last_first(self, digest: EnvelopeValue, field: str, reason: Reason) -> None:
        """The field of all entries that something else names, from the last entry on."""

        def can_go(entry: dict[str, Any]) -> bool:
            return field in entry and any(isinstance(entry.get(name), str) for name in others)

        others = set(NAMING) - {"summary", "hash"}
        places = [place for place in entries_of(digest) if can_go(place.value)]
        whole = [place.value for place in places]
        dropped = 0

        def make(step: int) -> int:
            nonlocal dropped
            for number in range(len(places) - max(step, dropped), len(places) - min(step, dropped)):
                place, entry = places[number], whole[number]
                without = {name: held for name, held in entry.items() if name != field}
                place.holder[place.key] = without if number >= len(places) - step else entry
            dropped = step
            return self._count()

        self._settle(len(places), make)
        self._note(places, whole, Stage.DROP, reason)

    def _drop_entries(self, digest: EnvelopeValue) -> None:
        """Entries, from the last one on; what is left of a list or an object says what is gone."""
        places, steps, limits = [], [], [0]
        for place in containers_of(entries_of(digest), digest):
            size, step = container_steps(place, self._original, self._rules)
            then, now = text_of(place.value), text_of(step(0))
            if len(now) < len(then) and self._counter.count(now) < self._counter.count(then):
                places.append(place)
                steps.append(step)
                limits.append(limits[-1] + size)
        whole = [place.value for place in places]

        def make(step: int) -> int:
            left = limits[-1] - step
            for place, entry, first, last, shorter in zip(places, whole, limits, limits[1:], steps, strict=False):
                place.holder[place.key] = entry if left >= last else shorter(max(0, left - first))
            return self._count()

        self._settle(limits[-1], make)
        for place, before in zip(places, whole, strict=True):
            now = place.value
            if now is not before:
                start = len(now) - 1 if isinstance(now, list) else None
                self.acted.add(place.path, Stage.DROP, Reason.ENTRIES_DROPPED, start)

    def _note(self, places: Sequence[EnvelopeValue], whole: Sequence[Any], stage: Stage, reason: Reason) -> None:
        for place, before in zip(places, whole, strict=True):
            if place.value is not before:
                self.acted.add(place.path, stage, reason)

    def _undo_what_fits(self) -> None:
        """Undoes cuts that later ones made needless, those that saved least first."""
        cuts = []
        for path, start, *_ in self.acted.sections():
            key = path[-1] if start is None else slice(start, None)
            now, then = (
                value_at(value, path[:-1] if start is None else path) for value in (self._trimmed, self._original)
            )
            gain = self._counter.count(text_of(then[key])) - self._counter.count(text_of(now[key]))
            cuts.append(Cut(now, key, path, then[key], now[key], gain=gain))
        cuts.sort(key=lambda cut: (cut.gain, cut.path))

        def make(number: int) -> int:
            for place, cut in enumerate(cuts):
                cut.holder[cut.key] = cut.old if place < len(cuts) - number else cut.new
            return self._count()

        before = self.tokens + sum(cut.gain for cut in cuts)
        number = self._settle(len(cuts), make, before=before)
        for cut in cuts[: len(cuts) - number]:
            self.acted.undo(cut.path)

    # --- counting ---

    def _settle(self, size: int, make: Callable[[int], int], guess: int = 0, before: int | None = None) -> int:
        """Make the first of `size` steps that fits, or all where none does; returns its number and keeps its tokens."""
        if not size:
            return 0
        before, after = self.tokens if before is None else before, make(size)
        if after > self._budget:
            self.tokens = after
            return size
        step, self.tokens = first_that_fits(size, make, self._budget, before, after, guess)
        return step

    def _count(self) -> int:
        return self._counter.count(text_of(self._trimmed))
