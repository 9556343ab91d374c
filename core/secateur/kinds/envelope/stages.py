"""The stages of trimming an envelope, each no further than needed: the recipe, top-down.

1. The stages of the spec, in its order: lists are summarised, long texts truncated, objects and other fields reduced to
   `path + summary + hash`.
2. The rest of the dependencies: summaries are shortened evenly, then dropped from the last entry on, then hashes are
   dropped, then entries.
3. The fields of the digest, and then the digest, become one reference each.

Every stage is a row of steps. Its last step is tried first. If that is not enough, the next stage continues from there;
else the first step that fits is searched (`first_that_fits`).
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import Any

from secateur.kinds.envelope import sections
from secateur.kinds.envelope.cuts import Cut, container_steps, item_cuts, list_cuts, reference_cuts, text_cuts
from secateur.kinds.envelope.ledger_entries import CutRecord, Ladder, Remembered, Stage
from secateur.model import Reason
from secateur.tokens import Counter

# Every third probe halves the range, so that the number of probes is logarithmic whatever the sizes of steps.
BISECT_EVERY = 3


def first_that_fits(
    size: int, apply: Callable[[int], int], budget: int, before: int, after: int, guess: int = 0
) -> tuple[int, int]:
    """Finds and applies a step that fits while the step before does not; returns it with its tokens.

    Tokens mostly fall from step to step; if they also rise, one of several such steps is found.

    Args:
        size: number of the last step, which fits; step 0 does not.
        apply: brings the value to a step and returns the tokens of the envelope.
        before, after: tokens of the envelope at step 0 and at the last step.
        guess: the step to try first; 0: the step where a straight line between both ends meets the budget.
    """
    low, high, at_low, at_high, probes = 0, size, before, after, 0
    applied = -1
    while high - low > 1:
        probes += 1
        if probes == 1 and guess:
            step = guess
        elif probes % BISECT_EVERY == 0:
            step = (low + high) // 2
        else:  # rounded up, so that the budget holds
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


LEAST_USED = 0.85  # share of the budget. If less is used, a beginning of the last cut value is kept.
SHORTEST_SUMMARY = 24  # shortest useful summary, in characters; a shorter one is dropped
_TOO_LONG = -1  # stands for the tokens of a step that does not shorten the value


class Shrinking:
    """Trims a copy of an envelope until it fits a budget.

    `trimmed`, `tokens` and `cut_record` hold the result so far. What is `pinned` is cut by no stage.
    """

    def __init__(
        self,
        original: dict[str, Any],
        tokens: int,
        budget: int,
        counter: Counter,
        pinned: Collection[sections.Path] = (),
        remembered: Remembered | None = None,
    ) -> None:
        self._original, self._pinned = original, pinned
        self._budget, self._counter = budget, counter
        self._remembered = remembered
        self._ladder = remembered.ladder((counter.name, frozenset(pinned))) if remembered is not None else Ladder()
        self._stage, self.tokens, self.trimmed, self.cut_record = 0, tokens, original, CutRecord()
        for state in self._ladder.states:
            if state[0] <= budget:
                break
            self.tokens, self.trimmed, self.cut_record = state
            self._stage += 1
        self.trimmed, self.cut_record = sections.copy_trimmable(self.trimmed), self.cut_record.copy()

    @property
    def fits(self) -> bool:
        """Tells whether the envelope fits the budget."""
        return self.tokens <= self._budget

    def run(self) -> None:
        """Runs the stages as far as needed."""
        digest = sections.EnvelopeValue(self.trimmed, sections.DIGEST, (sections.DIGEST,))
        extensions = list(sections.extensions_of(self.trimmed))
        original_digest = sections.EnvelopeValue(self._original, sections.DIGEST, (sections.DIGEST,))
        last_reason = Reason.ENTRIES_DROPPED if any(sections.entries_of(original_digest)) else Reason.REFERENCE_ONLY

        def references(nodes: Iterable[sections.EnvelopeValue]) -> Iterable[Cut]:
            return reference_cuts(nodes, self._original)

        stages: tuple[Callable[[], None], ...] = (
            lambda: self._cut(item_cuts(digest), Stage.SUMMARIZE, Reason.LONG_LIST),
            lambda: self._cut(list_cuts(digest), Stage.SUMMARIZE, Reason.LONG_LIST),
            lambda: self._cut(text_cuts([digest, *extensions]), Stage.TRUNCATE, Reason.LONG_TEXT),
            lambda: self._cut(references(sections.entries_of(digest)), Stage.DROP, Reason.REFERENCE_ONLY, LEAST_USED),
            lambda: self._cut(
                references([*sections.fields_without_entries(digest), *extensions]), Stage.DROP, Reason.REFERENCE_ONLY
            ),
            lambda: self._shorten_summaries(digest),
            lambda: self._drop_last_first(digest, "summary", Reason.SUMMARY_DROPPED),
            lambda: self._drop_last_first(digest, "hash", Reason.HASH_DROPPED),
            lambda: self._drop_entries(digest),
            lambda: self._cut(references(sections.fields_of(digest)), Stage.DROP, last_reason),
            lambda: self._cut(references([digest]), Stage.DROP, last_reason),
        )
        for stage in stages[self._stage :]:
            if self.fits:
                break
            stage()
            self._stage += 1
            if self._remembered is not None and not self.fits and len(self._ladder.states) < self._stage:
                self._ladder.states.append((self.tokens, sections.copy_trimmable(self.trimmed), self.cut_record.copy()))
        if self.fits and self.tokens < LEAST_USED * self._budget:
            self._undo_needless_cuts()

    # --- the spec's own ---

    def _cut(self, candidates: Iterable[Cut], stage: Stage, reason: Reason, enough: float = 1.0) -> None:
        """Makes as many of the cuts as needed, those that save most first, and softens the last one as far as possible.
        `enough`: from this used share of the budget on, the last cut is not softened."""
        cuts = [cut for cut in candidates if self._may_change(cut.path)]
        for cut in cuts:
            cut.gain = self._gain(cut)
        cuts = sorted((cut for cut in cuts if cut.gain > 0), key=lambda cut: (-cut.gain, cut.path))
        made = 0

        def make(count: int) -> None:
            nonlocal made
            for cut in cuts[made:count]:
                cut.holder[cut.key] = cut.new
            for cut in cuts[count:made]:
                cut.holder[cut.key] = cut.old
            made = count

        saved = list(accumulate(cut.gain for cut in cuts))
        count = self._settle(len(cuts), make, 1 + bisect_left(saved, self.tokens - self._budget))
        steps = [cut.between + 1 for cut in cuts[:count]]
        if self.fits and count and self.tokens < enough * self._budget:
            steps[-1] = self._soften(cuts[count - 1], count)
        starts = [cut.start(step) for cut, step in zip(cuts, steps, strict=False)]
        if self.fits and count and self.tokens < LEAST_USED * self._budget:
            starts[-1] = self._keep_beginning(cuts[count - 1], starts[-1])
        for cut, start in zip(cuts, starts, strict=False):
            self.cut_record.add(cut.path, stage, reason, start)

    def _gain(self, cut: Cut) -> int:
        def look_up() -> int:
            if self._remembered is None:
                return cut.count_gain(self._counter)
            key = self._counter.name, self._stage, cut.path, sections.digest_of(sections.text_of(cut.old))
            return self._remembered.known.once(key, lambda: cut.count_gain(self._counter))

        return self._ladder.known.once((self._stage, cut.path), look_up)

    def _soften(self, cut: Cut, count: int) -> int:
        longest = len(sections.text_of(cut.old))

        def make(step: int) -> bool:
            value = cut.value(step)
            cut.holder[cut.key] = value
            return len(sections.text_of(value)) < longest

        return self._settle(cut.between + 1, make, before=self.tokens + cut.gain, after_cuts=count)

    def _keep_beginning(self, cut: Cut, start: int | None) -> int | None:
        """Keeps the longest beginning that fits of a cut whose first step leaves much room unused; returns the position
        from which the end of a list changed."""
        coarse, longest, units = cut.holder[cut.key], len(sections.text_of(cut.old)), cut.units
        best = self.tokens, coarse, start

        def make(step: int) -> int:
            nonlocal best
            part = cut.beginning(units - step) if step < units else None
            value, first = part or (coarse, start)
            cut.holder[cut.key] = value
            tokens = self._count() if value is coarse or len(sections.text_of(value)) < longest else self._budget + 1
            if best[0] < tokens <= self._budget:
                best = tokens, value, first
            return tokens

        self._search(units, make, before=self.tokens + cut.gain)
        self.tokens, cut.holder[cut.key], start = best
        return start

    def _may_change(self, path: sections.Path) -> bool:
        return not any(other[: len(path)] == path[: len(other)] for other in self._pinned)

    # --- what is left of the dependencies ---

    def _changeable_entries(self, digest: sections.EnvelopeValue) -> list[sections.EnvelopeValue]:
        return [node for node in sections.entries_of(digest) if self._may_change(node.path)]

    def _shorten_summaries(self, digest: sections.EnvelopeValue) -> None:
        """Shortens all summaries to one length, from the longest down: a step takes one character of one entry, the
        last entry first."""
        nodes = [node for node in self._changeable_entries(digest) if isinstance(node.value.get("summary"), str)]
        whole = [node.value for node in nodes]
        longest = max((len(entry["summary"]) for entry in whole), default=0)

        def make(step: int) -> None:
            most, further = longest - step // len(nodes), len(nodes) - step % len(nodes)
            for index, (node, entry) in enumerate(zip(nodes, whole, strict=True)):
                summary, room = entry["summary"], most - (index >= further)
                short = len(summary) > room
                node.holder[node.key] = entry | {"summary": summary[: room - 1] + "…"} if short else entry

        self._settle(max(0, longest - SHORTEST_SUMMARY) * len(nodes), make)
        self._note(nodes, whole, Stage.TRUNCATE, Reason.SUMMARY_SHORTENED)

    def _drop_last_first(self, digest: sections.EnvelopeValue, field: str, reason: Reason) -> None:
        others = set(sections.NAMING) - {"summary", "hash"}
        holders = [node for node in self._changeable_entries(digest) if field in node.value]
        nodes = [node for node in holders if any(isinstance(node.value.get(name), str) for name in others)]
        whole = [node.value for node in nodes]
        dropped = 0

        def make(step: int) -> None:
            nonlocal dropped
            for index in range(len(nodes) - max(step, dropped), len(nodes) - min(step, dropped)):
                node, entry = nodes[index], whole[index]
                without = {name: held for name, held in entry.items() if name != field}
                node.holder[node.key] = without if index >= len(nodes) - step else entry
            dropped = step

        self._settle(len(nodes), make)
        self._note(nodes, whole, Stage.DROP, reason)

    def _drop_entries(self, digest: sections.EnvelopeValue) -> None:
        nodes, steps, limits = [], [], [0]
        parents = {node.path[:-1] for node in sections.entries_of(digest)}
        outside = sections.walk(digest, into=lambda node: not sections.is_entry(node))
        for node in [node for node in outside if node.path in parents]:
            size, step = container_steps(node, self._original)
            keys = node.value if isinstance(node.value, dict) else range(len(node.value))
            held = [at for at, key in enumerate(keys, 1) if not self._may_change((*node.path, key))]
            least = min(size, max(held, default=0))
            then, now = sections.text_of(node.value), sections.text_of(step(least))
            if len(now) < len(then) and self._counter.count(now) < self._counter.count(then):
                nodes.append(node)
                steps.append((step, least))
                limits.append(limits[-1] + size - least)
        whole = [node.value for node in nodes]

        def make(step: int) -> None:
            left = limits[-1] - step
            rows = zip(nodes, whole, limits, limits[1:], steps, strict=False)
            for node, entry, first, last, (shorter, least) in rows:
                node.holder[node.key] = entry if left >= last else shorter(least + max(0, left - first))

        self._settle(limits[-1], make)
        for node, before in zip(nodes, whole, strict=True):
            if (now := node.value) is not before:
                self.cut_record.add(
                    node.path, Stage.DROP, Reason.ENTRIES_DROPPED, len(now) - 1 if isinstance(now, list) else None
                )

    def _note(
        self, nodes: Sequence[sections.EnvelopeValue], whole: Sequence[Any], stage: Stage, reason: Reason
    ) -> None:
        for node, before in zip(nodes, whole, strict=True):
            if node.value is not before:
                self.cut_record.add(node.path, stage, reason)

    def _undo_needless_cuts(self) -> None:
        cuts = []
        for path, start, *_ in self.cut_record.sections():
            key = path[-1] if start is None else slice(start, None)
            holder = path[:-1] if start is None else path
            now, then = sections.value_at(self.trimmed, holder), sections.value_at(self._original, holder)
            gain = self._counter.count(sections.text_of(then[key])) - self._counter.count(sections.text_of(now[key]))
            cuts.append(Cut(now, key, path, then[key], partial(itemgetter(key), now), gain=gain))
        cuts.sort(key=lambda cut: (cut.gain, cut.path))

        def make(count: int) -> int:
            for index, cut in enumerate(cuts):
                cut.holder[cut.key] = cut.old if index < len(cuts) - count else cut.new
            return self._count()

        before = self.tokens + sum(cut.gain for cut in cuts)
        count = self._search(len(cuts), make, before=before)
        for cut in cuts[: len(cuts) - count]:
            self.cut_record.undo(cut.path)

    # --- counting ---

    def _settle(
        self,
        size: int,
        make: Callable[[int], bool | None],
        guess: int = 0,
        before: int | None = None,
        after_cuts: int = 0,
    ) -> int:
        """Applies the first of `size` steps of this stage that fits, or the last if none does; returns its number and
        keeps its tokens. `make` applies a step, and returns False for one that is never enough. A step that was counted
        before is applied only if it is the result. `after_cuts`: the cuts of the stage before the steps."""
        made = 0

        def measure(step: int) -> int:
            nonlocal made
            made = step
            return _TOO_LONG if make(step) is False else self._count()

        def count(step: int) -> int:
            tokens = self._ladder.known.once((self._stage, after_cuts, step), lambda: measure(step))
            return self._budget + 1 if tokens == _TOO_LONG else tokens

        step = self._search(size, count, guess, before)
        if made != step:
            make(step)
        return step

    def _search(self, size: int, make: Callable[[int], int], guess: int = 0, before: int | None = None) -> int:
        """Applies the first of `size` steps that fits, or the last if none does; returns its number and keeps its
        tokens. `make` applies a step and counts it."""
        if not size:
            return 0
        before, after = self.tokens if before is None else before, make(size)
        if after > self._budget:
            self.tokens = after
            return size
        step, self.tokens = first_that_fits(size, make, self._budget, before, after, guess)
        return step

    def _count(self) -> int:
        return self._counter.count(sections.text_of(self.trimmed))
