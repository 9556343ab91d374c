"""The cuts that make an envelope smaller: those of the stages that the spec names, and the steps on the way there.

A cut replaces a value, or the end of a list, by a smaller one. Where the smaller one is more than is needed, there are
steps between both: a list that keeps more of its items, a text that keeps more of its characters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from secateur.kinds.envelope.degrading import (
    Path,
    beginning,
    reference,
    reference_to_end,
    shortened,
    shortened_tail,
    text_of,
    truncated,
    units_of,
)
from secateur.kinds.envelope.places import NAMING, EnvelopeValue, value_at, walk
from secateur.settings import ContextBudget
from secateur.tokens import Counter

SHORTEST_TEXT = 20
"""Characters below which the beginning of a text says nothing."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A value, or the end of a list, that can become smaller."""

    holder: Any
    key: Any  # a slice for the end of a list
    path: Path
    old: Any
    new: Any
    between: int = 0  # steps between `old` and `new`
    step: Callable[[int], Any] | None = None  # value at step 1 to `between`: each smaller than the one before
    kept: Callable[[int], int] | None = None  # of the end of a list: its first position at a step
    gain: int = 0  # tokens
    whole: Any = None  # the list or object before it was cut, of which a beginning may stay; None: of a text

    def value(self, step: int) -> Any:
        """`old` at 0, `new` behind the last step between both."""
        if step == 0:
            return self.old
        return self.step(step) if self.step is not None and step <= self.between else self.new

    def start(self, step: int) -> int | None:
        """First position of the end of a list at a step; None for a value."""
        if not isinstance(self.key, slice):
            return None
        start: int = self.key.start
        return self.kept(step) if self.kept is not None and step <= self.between else start

    @property
    def units(self) -> int:
        """Units of what the cut takes, as `beginning` counts them; 0 where no beginning of it can stay."""
        if self.whole is None:
            return 0
        return units_of(self.whole[self.key] if isinstance(self.key, slice) else self.whole)

    def beginning(self, units: int, chars: int) -> tuple[Any, int | None] | None:
        """The value of which so many units stay, and, of the end of a list, its first position that changes; None
        where nothing stays."""
        first: int = self.key.start if isinstance(self.key, slice) else 0
        room = units + (units_of(self.whole[:first]) if first else 0)
        part = beginning(self.whole, room, self.path, chars, SHORTEST_TEXT, NAMING)
        if part is None or not isinstance(self.key, slice):
            return None if part is None else (part, None)
        same = next((at for at, (now, then) in enumerate(zip(part, self.whole, strict=False)) if now is not then), 0)
        return (part[first:], same) if same >= first else None


def list_cuts(root: EnvelopeValue, rules: ContextBudget, counter: Counter) -> Iterator[Cut]:
    """Ends of lists that hold something else than objects; what stands in an end that can go is not looked into."""
    for place in walk(root, keep=rules.keep_items):
        items = place.value
        if not isinstance(items, list) or len(items) <= rules.keep_items:
            continue
        if not all(isinstance(item, dict) for item in items[rules.keep_items :]):
            yield from _smaller(_end_cut(place, items, rules), counter)


def item_cuts(root: EnvelopeValue, rules: ContextBudget, counter: Counter) -> Iterator[Cut]:
    """The items behind the first ones of lists, one by one: objects, long texts and long lists."""
    for place in walk(root, keep=rules.keep_items):
        items = place.value
        for position, item in enumerate(items if isinstance(items, list) else ()):
            one = EnvelopeValue(items, position, (*place.path, position))
            if position < rules.keep_items:
                continue
            if isinstance(item, dict):
                lengths = range(rules.keep_chars, longest_text(item))
                yield from _smaller(_object_cut(one, item, item, lengths, rules), counter)
            elif isinstance(item, str) and len(item) > rules.keep_chars:
                yield from _smaller(_text_cut(one, item, item, range(rules.keep_chars, len(item))), counter)
            elif isinstance(item, list) and len(item) > rules.keep_items:
                yield from _smaller(_end_cut(one, item, rules), counter)


def text_cuts(roots: Iterable[EnvelopeValue], rules: ContextBudget, counter: Counter) -> Iterator[Cut]:
    """Long texts that name nothing."""
    for root in roots:
        for place in walk(root):
            text = place.value
            if isinstance(text, str) and len(text) > rules.keep_chars and place.key not in NAMING:
                yield from _smaller(_text_cut(place, text, text, range(rules.keep_chars, len(text))), counter)


def reference_cuts(
    places: Iterable[EnvelopeValue], original: Any, rules: ContextBudget, counter: Counter
) -> Iterator[Cut]:
    """Values of which only `path + summary + hash` is left; of a text its length and digest."""
    for place in places:
        now, then = place.value, value_at(original, place.path)
        if isinstance(now, str):
            cut = _text_cut(place, now, then, range(min(rules.keep_chars, len(then))))
        elif isinstance(now, dict):
            known = then if isinstance(then, dict) else now
            lengths = range(SHORTEST_TEXT, min(rules.keep_chars, longest_text(known)))
            cut = _object_cut(place, now, known, lengths, rules)
        elif isinstance(now, list):
            cut = _list_cut(place, now, then if isinstance(then, list) else now, rules)
        else:
            continue
        yield from _smaller(cut, counter)


def longest_text(value: dict[str, Any]) -> int:
    """Characters of the longest text in an object that names nothing."""
    places = walk(EnvelopeValue({"": value}, "", ("",)))
    return max((len(one.value) for one in places if isinstance(one.value, str) and one.key not in NAMING), default=0)


def _smaller(cut: Cut, counter: Counter) -> Iterator[Cut]:
    """The cut with its gain, if it makes the text shorter in characters and in tokens."""
    then, now = text_of(cut.old), text_of(cut.new)
    if len(now) < len(then):
        gain = counter.count(then) - counter.count(now)
        if gain > 0:
            yield replace(cut, gain=gain)


def _text_cut(place: EnvelopeValue, now: str, text: str, lengths: range) -> Cut:
    """From a text to the first of these lengths, in characters of the original `text`; the longest first."""

    def step(number: int) -> str:
        return truncated(text, lengths[-number])

    between = max(0, len(lengths) - 1)
    return Cut(place.holder, place.key, place.path, now, truncated(text, lengths.start), between, step)


def _object_cut(
    place: EnvelopeValue, now: dict[str, Any], then: dict[str, Any], lengths: range, rules: ContextBudget
) -> Cut:
    """From an object to its reference: over shorter texts, then over its first fields.

    Fields go one by one only where none of them names the object: what stands for those that went has fields of these
    names.
    """
    fields = 0 if set(then) & set(NAMING) else max(0, len(then) - 1)

    def step(number: int) -> dict[str, Any]:
        chars = lengths[-number] if number <= len(lengths) else lengths.start
        small = shortened(then, chars, rules.keep_items, place.path, NAMING)
        left = len(then) - max(0, number - len(lengths))
        kept = {name: small[name] for name in list(then)[:left]}
        return kept if left == len(then) else kept | reference_to_end(then, left, place.path, rules.keep_chars)

    short = reference(now, then, place.path, rules.keep_chars)
    return Cut(place.holder, place.key, place.path, now, short, len(lengths) + fields, step, whole=then)


def _end_cut(place: EnvelopeValue, items: list[Any], rules: ContextBudget) -> Cut:
    """From all items but one down to the first `keep_items`."""
    keep, whole = rules.keep_items, list(items)

    def kept(number: int) -> int:
        return len(whole) - number

    def step(number: int) -> list[Any]:
        return whole[keep : kept(number)] + shortened_tail(whole, kept(number), place.path, rules.keep_chars)

    new = shortened_tail(whole, keep, place.path, rules.keep_chars)
    between = len(whole) - keep - 1
    return Cut(items, slice(keep, None), place.path, whole[keep:], new, between, step, kept, whole=whole)


def _list_cut(place: EnvelopeValue, now: list[Any], then: list[Any], rules: ContextBudget) -> Cut:
    """From a list that keeps all of its first items but one, and a line for the others, down to a reference to all."""
    same = _unmoved(now, then, rules)

    def step(number: int) -> list[Any]:
        return now[: same - number] + shortened_tail(then, same - number, place.path, rules.keep_chars)

    new = [reference(now, then, place.path, rules.keep_chars)]
    return Cut(place.holder, place.key, place.path, now, new, max(0, same - 1), step, whole=then)


def _unmoved(now: list[Any], then: list[Any], rules: ContextBudget) -> int:
    """Items of a list that stand where they stood in the original: those of an end that was summarised do not."""
    return len(now) if len(now) == len(then) else min(len(now), rules.keep_items)


def container_steps(place: EnvelopeValue, original: Any, rules: ContextBudget) -> tuple[int, Callable[[int], Any]]:
    """Of a list or an object that holds entries: how many can go, and what it is with so many of the first left."""
    now, then = place.value, value_at(original, place.path)
    gradual = isinstance(now, list) or not (set(now) & set(NAMING) or set(now) != set(then))
    size = len(now) if gradual else 1
    if isinstance(now, list):
        size = _unmoved(now, then, rules)

    def step(left: int) -> Any:
        if left == size:
            return now
        rest = reference_to_end(then, left if gradual else 0, place.path, rules.keep_chars)
        if isinstance(now, list):
            return [*now[:left], rest]
        return {name: now[name] for name in list(now)[:left]} | rest if gradual else rest

    return size, step
