"""The cuts that make an envelope smaller: the cuts of the spec's stages, and smaller steps on the way there.

A cut replaces a value, or the end of a list, by a smaller one. If less would be enough, there are steps between both: a
list that keeps more of its items, a text that keeps more of its characters.
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
    shorten,
    shorten_tail,
    text_of,
    truncate,
    units_of,
)
from secateur.kinds.envelope.places import NAMING, EnvelopeValue, value_at, walk
from secateur.settings import ContextBudget
from secateur.tokens import Counter

SHORTEST_TEXT = 20
"""Shortest useful beginning of a text, in characters."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A replacement of a value, or of the end of a list, by a smaller one."""

    holder: Any
    key: Any  # key or position in the holder; a slice for the end of a list
    path: Path
    old: Any
    new: Any
    between: int = 0  # steps between `old` and `new`
    step: Callable[[int], Any] | None = (
        None  # returns the value at step 1 to `between`; each is smaller than the one before
    )
    kept: Callable[[int], int] | None = None  # for the end of a list: returns its first position at a step
    gain: int = 0  # tokens saved by `new`
    whole: Any = None  # the list or object before the cut, whose beginning may stay; None for a text

    def value(self, step: int) -> Any:
        """The value at a step: `old` at 0, `new` after the last step between both."""
        if step == 0:
            return self.old
        return self.step(step) if self.step is not None and step <= self.between else self.new

    def start(self, step: int) -> int | None:
        """The first position of the end of a list at a step; None for a value."""
        if not isinstance(self.key, slice):
            return None
        start: int = self.key.start
        return self.kept(step) if self.kept is not None and step <= self.between else start

    @property
    def units(self) -> int:
        """The units that the cut removes, as `beginning` counts them; 0 if no beginning can stay."""
        if self.whole is None:
            return 0
        return units_of(self.whole[self.key] if isinstance(self.key, slice) else self.whole)

    def beginning(self, units: int, chars: int) -> tuple[Any, int | None] | None:
        """Returns the value with its first units, and for the end of a list the first position that changes; None if
        nothing stays."""
        first: int = self.key.start if isinstance(self.key, slice) else 0
        room = units + (units_of(self.whole[:first]) if first else 0)
        part = beginning(self.whole, room, self.path, chars, SHORTEST_TEXT, NAMING)
        if part is None or not isinstance(self.key, slice):
            return None if part is None else (part, None)
        same = next((at for at, (now, then) in enumerate(zip(part, self.whole, strict=False)) if now is not then), 0)
        return (part[first:], same) if same >= first else None


def list_cuts(root: EnvelopeValue, rules: ContextBudget, counter: Counter) -> Iterator[Cut]:
    """Yields cuts of the ends of lists that do not hold only objects; values inside a removable end are skipped."""
    for node in walk(root, keep=rules.keep_items):
        items = node.value
        if not isinstance(items, list) or len(items) <= rules.keep_items:
            continue
        if not all(isinstance(item, dict) for item in items[rules.keep_items :]):
            yield from _yield_if_smaller(_end_cut(node, items, rules), counter)


def item_cuts(root: EnvelopeValue, rules: ContextBudget, counter: Counter) -> Iterator[Cut]:
    """Yields cuts of single items after the first ones of lists: objects, long texts and long lists."""
    for node in walk(root, keep=rules.keep_items):
        items = node.value
        for position, item in enumerate(items if isinstance(items, list) else ()):
            item_node = EnvelopeValue(items, position, (*node.path, position))
            if position < rules.keep_items:
                continue
            if isinstance(item, dict):
                lengths = range(rules.keep_chars, longest_text(item))
                yield from _yield_if_smaller(_object_cut(item_node, item, item, lengths, rules), counter)
            elif isinstance(item, str) and len(item) > rules.keep_chars:
                yield from _yield_if_smaller(
                    _text_cut(item_node, item, item, range(rules.keep_chars, len(item))), counter
                )
            elif isinstance(item, list) and len(item) > rules.keep_items:
                yield from _yield_if_smaller(_end_cut(item_node, item, rules), counter)


def text_cuts(roots: Iterable[EnvelopeValue], rules: ContextBudget, counter: Counter) -> Iterator[Cut]:
    """Yields cuts of long texts, except those in naming fields."""
    for root in roots:
        for node in walk(root):
            text = node.value
            if isinstance(text, str) and len(text) > rules.keep_chars and node.key not in NAMING:
                yield from _yield_if_smaller(_text_cut(node, text, text, range(rules.keep_chars, len(text))), counter)


def reference_cuts(
    nodes: Iterable[EnvelopeValue], original: Any, rules: ContextBudget, counter: Counter
) -> Iterator[Cut]:
    """Yields cuts of values to `path + summary + hash`; a text keeps its length and digest."""
    for node in nodes:
        now, then = node.value, value_at(original, node.path)
        if isinstance(now, str):
            cut = _text_cut(node, now, then, range(min(rules.keep_chars, len(then))))
        elif isinstance(now, dict):
            known = then if isinstance(then, dict) else now
            lengths = range(SHORTEST_TEXT, min(rules.keep_chars, longest_text(known)))
            cut = _object_cut(node, now, known, lengths, rules)
        elif isinstance(now, list):
            cut = _list_cut(node, now, then if isinstance(then, list) else now, rules)
        else:
            continue
        yield from _yield_if_smaller(cut, counter)


def longest_text(value: dict[str, Any]) -> int:
    """Characters of the longest text in an object, without naming fields."""
    nodes = walk(EnvelopeValue({"": value}, "", ("",)))
    return max((len(node.value) for node in nodes if isinstance(node.value, str) and node.key not in NAMING), default=0)


def _yield_if_smaller(cut: Cut, counter: Counter) -> Iterator[Cut]:
    """Yields the cut with its gain if it saves both characters and tokens."""
    then, now = text_of(cut.old), text_of(cut.new)
    if len(now) < len(then):
        gain = counter.count(then) - counter.count(now)
        if gain > 0:
            yield replace(cut, gain=gain)


def _text_cut(node: EnvelopeValue, now: str, text: str, lengths: range) -> Cut:
    """Cuts a text step by step down to the shortest of these lengths, in characters of the original `text`."""

    def step(step_number: int) -> str:
        return truncate(text, lengths[-step_number])

    between = max(0, len(lengths) - 1)
    return Cut(node.holder, node.key, node.path, now, truncate(text, lengths.start), between, step)


def _object_cut(
    node: EnvelopeValue, now: dict[str, Any], then: dict[str, Any], lengths: range, rules: ContextBudget
) -> Cut:
    """Cuts an object to its reference: first by shorter texts, then field by field from the end.

    Fields go one by one only if none of them is a naming field: the reference for the removed fields uses these names.
    """
    fields = 0 if set(then) & set(NAMING) else max(0, len(then) - 1)

    def step(step_number: int) -> dict[str, Any]:
        chars = lengths[-step_number] if step_number <= len(lengths) else lengths.start
        small = shorten(then, chars, rules.keep_items, node.path, NAMING)
        left = len(then) - max(0, step_number - len(lengths))
        kept = {name: small[name] for name in list(then)[:left]}
        return kept if left == len(then) else kept | reference_to_end(then, left, node.path, rules.keep_chars)

    short = reference(now, then, node.path, rules.keep_chars)
    return Cut(node.holder, node.key, node.path, now, short, len(lengths) + fields, step, whole=then)


def _end_cut(node: EnvelopeValue, items: list[Any], rules: ContextBudget) -> Cut:
    """Cuts the end of a list, from its last item back to the first `keep_items`."""
    keep, whole = rules.keep_items, list(items)

    def count_kept(step_number: int) -> int:
        return len(whole) - step_number

    def step(step_number: int) -> list[Any]:
        return whole[keep : count_kept(step_number)] + shorten_tail(
            whole, count_kept(step_number), node.path, rules.keep_chars
        )

    new = shorten_tail(whole, keep, node.path, rules.keep_chars)
    between = len(whole) - keep - 1
    return Cut(items, slice(keep, None), node.path, whole[keep:], new, between, step, count_kept, whole=whole)


def _list_cut(node: EnvelopeValue, now: list[Any], then: list[Any], rules: ContextBudget) -> Cut:
    """Cuts a list from its last item on, with a line for the removed items, down to one reference."""
    same = _count_unmoved(now, then, rules)

    def step(step_number: int) -> list[Any]:
        return now[: same - step_number] + shorten_tail(then, same - step_number, node.path, rules.keep_chars)

    new = [reference(now, then, node.path, rules.keep_chars)]
    return Cut(node.holder, node.key, node.path, now, new, max(0, same - 1), step, whole=then)


def _count_unmoved(now: list[Any], then: list[Any], rules: ContextBudget) -> int:
    """Counts the items of a list that are at their original positions: all before a summarised end."""
    return len(now) if len(now) == len(then) else min(len(now), rules.keep_items)


def container_steps(node: EnvelopeValue, original: Any, rules: ContextBudget) -> tuple[int, Callable[[int], Any]]:
    """For a list or object of entries, returns how many can go, and a function from the number left to the value."""
    now, then = node.value, value_at(original, node.path)
    gradual = isinstance(now, list) or not (set(now) & set(NAMING) or set(now) != set(then))
    size = len(now) if gradual else 1
    if isinstance(now, list):
        size = _count_unmoved(now, then, rules)

    def step(left: int) -> Any:
        if left == size:
            return now
        rest = reference_to_end(then, left if gradual else 0, node.path, rules.keep_chars)
        if isinstance(now, list):
            return [*now[:left], rest]
        return {name: now[name] for name in list(now)[:left]} | rest if gradual else rest

    return size, step
