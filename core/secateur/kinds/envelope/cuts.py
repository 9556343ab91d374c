"""The cuts that make an envelope smaller: the cuts of the spec's stages, and smaller steps on the way there.

A cut replaces a value, or the end of a list, by a smaller one. If less would be enough, there are steps between both: a
list that keeps more of its items, a text that keeps more of its characters. A value gets smaller in one of three ways:
a list is summarised, a text truncated, an object reduced to `path + summary + hash`. Types do not change, so that every
reader of envelopes can read a trimmed one. A removed part is described by its count, its size and the first digits of
the SHA-256 of its JSON text, so that it can be found again.
"""

import hashlib
import sys
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from secateur.kinds.envelope.sections import NAMING, EnvelopeValue, Path, section_of, text_of, value_at, walk
from secateur.tokens import Counter

KEEP_ITEMS = 10  # items that a shortened list keeps at least: they show what the others are like
KEEP_CHARS = 400  # characters that a shortened text keeps at least, and a summary at most: about five lines
LONGEST_PATH = 1024  # longest `path` that could be opened, in characters
LONGEST_HASH = 160  # longest digest, in characters with its name: hexadecimal SHA-512
HASH_DIGITS = 16
FOLDERS = 5  # most folders that a summary of paths names
DEEPEST_FOLDER = 8

_UNITS = {list: "items", dict: "fields", str: "characters"}


def hash_of(value: Any) -> str:
    """`sha256:` and the first digits of the digest of the value's JSON text."""
    return "sha256:" + hashlib.sha256(text_of(value).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


def shorten_tail(items: Sequence[Any], keep: int, path: Path, chars: int = KEEP_CHARS) -> list[Any]:
    """Makes short forms of `items[keep:]`: a reference for each object, one line for all other items."""
    tail: list[Any] = []
    others = []
    for position, item in enumerate(items[keep:], keep):
        if not isinstance(item, dict):
            others.append(item)
            continue
        short = reference(item, item, (*path, position), chars)
        tail.append(short if len(text_of(short)) < len(text_of(item)) else item)
    if others:
        tail.append(f"({len(others):,} more of {len(items):,}{_folders(others)}; {hash_of(others)})")
    return tail


def truncate(text: str, keep: int) -> str:
    """The beginning of a text, its length and its digest."""
    return f"{text[:keep]}… ({len(text):,} characters, {hash_of(text)})"


def reference(value: Any, original: Any, path: Path, chars: int = KEEP_CHARS) -> dict[str, str]:
    """Makes `path + summary + hash` of an object or list from its own fields, else from its location, contents and
    digest. `original`: the value before any cut, for summary and digest; `chars`: most characters of the summary."""
    own = value if isinstance(value, dict) else {}
    location, digest, summary = own.get("path"), own.get("hash"), own.get("summary")
    if not (isinstance(location, str) and len(location) <= LONGEST_PATH):
        location = section_of(path)
        location = location if len(location) <= LONGEST_PATH else ""
    if not (isinstance(digest, str) and len(digest) <= LONGEST_HASH):
        digest = hash_of(original)
    if not isinstance(summary, str):
        summary = _describe_contents(original, chars)
    summary = summary if len(summary) <= chars else summary[: chars - 1] + "…"
    return {"path": location, "summary": summary, "hash": digest}


def reference_to_end(value: list[Any] | dict[str, Any], start: int, path: Path) -> dict[str, str]:
    """Makes `path + summary + hash` of the part of a list or object from position `start` on."""
    if start == 0:
        return reference(value, value, path)
    end = value[start:] if isinstance(value, list) else dict(list(value.items())[start:])
    location, summary = f"{section_of(path)}[{start}:]", f"{len(end):,} more of {len(value):,}"
    return {"path": location if len(location) <= LONGEST_PATH else "", "summary": summary, "hash": hash_of(end)}


_NOTHING = object()


def _take_beginning(value: Any, room: int, path: Path) -> tuple[Any, int]:
    """Takes the first `room` units of a value in document order, with a short form for the rest of each container. A
    unit is a character of a text, or any other value. Naming fields stay. Returns the value, its beginning or _NOTHING,
    and the units that are left, -1 if it did not fit."""
    if not isinstance(value, list | dict):
        left = room - (max(1, len(value)) if isinstance(value, str) else 1)
        if left >= 0:
            return value, left
        return (truncate(value, room) if isinstance(value, str) and room >= SHORTEST_TEXT else _NOTHING), -1
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    named = [key for key, _ in items if isinstance(value, dict) and key in NAMING]
    kept: dict[Any, Any] = {}
    start = 0
    for key, held in items:
        if key in named:
            part, room = held, room - 1
        else:
            part, room = _take_beginning(held, room, (*path, key))
        if part is not _NOTHING:
            kept[key] = part
        if room < 0:
            break
        start += 1
    if start == len(items):
        return value, room
    if not kept:
        return _NOTHING, -1
    if isinstance(value, dict):
        for key in named:
            kept[key] = value[key]
        if named:
            return reference(value, value, path) | {key: kept[key] for key in value if key in kept}, -1
        return kept | (reference_to_end(value, len(kept), path) if len(kept) < len(value) else {}), -1
    rest = value[len(kept) :]
    if any(isinstance(item, dict) for item in rest):
        return [*kept.values(), reference_to_end(value, len(kept), path)], -1
    return [*kept.values(), *shorten_tail(value, len(kept), path)], -1


def units_of(value: Any) -> int:
    """The units that `Cut.beginning` counts in a value."""
    if isinstance(value, dict):
        return sum(map(units_of, value.values()))
    return sum(map(units_of, value)) if isinstance(value, list) else max(1, len(value)) if isinstance(value, str) else 1


def shorten(value: Any, chars: int, path: Path, name: str | int = "") -> Any:
    """Copies a value with texts cut to `chars` characters, except in naming fields, and lists cut to KEEP_ITEMS
    items."""
    if isinstance(value, str):
        return truncate(value, chars) if len(value) > chars and name not in NAMING else value
    if isinstance(value, dict):
        return {key: shorten(held, chars, (*path, key), key) for key, held in value.items()}
    if isinstance(value, list):
        first = enumerate(value[:KEEP_ITEMS])
        kept = [shorten(item, chars, (*path, position), position) for position, item in first]
        return kept + shorten_tail(value, KEEP_ITEMS, path, chars) if len(value) > KEEP_ITEMS else kept
    return value


def _describe_contents(value: Any, chars: int) -> str:
    """Counts the items of a list, or names the fields of an object until they exceed `chars` characters, so that the
    cost does not depend on their number."""
    if isinstance(value, list):
        return f"{len(value):,} items"
    text = ""
    for name, held in value.items():
        unit = next((unit for kind, unit in _UNITS.items() if isinstance(held, kind)), "")
        part = f"{name} ({len(held):,} {unit})" if unit else name
        text += f", {part[: chars + 1]}" if text else part[: chars + 1]
        if len(text) > chars:
            break
    return text


def _folders(items: Iterable[Any]) -> str:
    """Counts the paths among `items` by folder, as deep as at most FOLDERS folders allow: ": assets/audio 72,
    assets/img 120"; "" without a common folder."""
    texts = [item for item in items if isinstance(item, str) and len(item) <= LONGEST_PATH]
    paths = [text.split("/")[:-1] for text in texts if "\n" not in text]
    deepest: Tally[str] = Tally()
    for depth in range(1, DEEPEST_FOLDER + 1):
        tally = Tally("/".join(path[:depth]) for path in paths if path)
        if len(tally) > FOLDERS or tally == deepest:
            break
        deepest = tally
    counts = ", ".join(f"{folder or '/'} {count:,}" for folder, count in sorted(deepest.items()))
    return f": {counts}" if counts else ""


SHORTEST_TEXT = 20  # shortest useful beginning of a text, in characters


@dataclass
class Cut:
    """A replacement of a value, or of the end of a list, by a smaller one. Most cuts are not made: what only a made one
    needs is computed when it is asked for."""

    holder: Any
    key: Any  # key or position in the holder; a slice for the end of a list
    path: Path
    old: Any
    make_new: Callable[[], Any]
    count_between: Callable[[], int] = int
    # returns the value at step 1 to `between`; each is smaller than the one before
    step: Callable[[int], Any] | None = None
    kept: Callable[[int], int] | None = None  # for the end of a list: returns its first position at a step
    gain: int = 0  # tokens saved by `new`
    whole: Any = None  # the list or object before the cut, whose beginning may stay; None for a text

    @cached_property
    def new(self) -> Any:
        """The smaller value."""
        return self.make_new()

    @cached_property
    def between(self) -> int:
        """The steps between `old` and `new`."""
        return self.count_between()

    def count_gain(self, counter: Counter) -> int:
        """Counts the tokens that `new` saves; 0 if it saves no characters."""
        then, now = text_of(self.old), text_of(self.new)
        return counter.count(then) - counter.count(now) if len(now) < len(then) else 0

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

    def beginning(self, units: int) -> tuple[Any, int | None] | None:
        """Returns the value with its first units, and for the end of a list the first position that changes; None if
        nothing stays."""
        first: int = self.key.start if isinstance(self.key, slice) else 0
        part, _ = _take_beginning(self.whole, units + (units_of(self.whole[:first]) if first else 0), self.path)
        if part is _NOTHING or not isinstance(self.key, slice):
            return None if part is _NOTHING else (part, None)
        same = next((at for at, (now, then) in enumerate(zip(part, self.whole, strict=False)) if now is not then), 0)
        return (part[first:], same) if same >= first else None


def list_cuts(root: EnvelopeValue) -> Iterator[Cut]:
    """Yields cuts of the ends of lists that do not hold only objects; values inside a removable end are skipped."""
    for node in walk(root, keep=KEEP_ITEMS):
        items = node.value
        if not isinstance(items, list) or len(items) <= KEEP_ITEMS:
            continue
        if not all(isinstance(item, dict) for item in items[KEEP_ITEMS:]):
            yield _end_cut(node, items)


def item_cuts(root: EnvelopeValue) -> Iterator[Cut]:
    """Yields cuts of single items after the first ones of lists: objects, long texts and long lists."""
    for node in walk(root, keep=KEEP_ITEMS):
        items = node.value
        for position, item in enumerate(items if isinstance(items, list) else ()):
            item_node = EnvelopeValue(items, position, (*node.path, position))
            if position < KEEP_ITEMS:
                continue
            if isinstance(item, dict):
                yield _object_cut(item_node, item, item, KEEP_CHARS, sys.maxsize)
            elif isinstance(item, str) and len(item) > KEEP_CHARS:
                yield _text_cut(item_node, item, item, range(KEEP_CHARS, len(item)))
            elif isinstance(item, list) and len(item) > KEEP_ITEMS:
                yield _end_cut(item_node, item)


def text_cuts(roots: Iterable[EnvelopeValue]) -> Iterator[Cut]:
    """Yields cuts of long texts, except those in naming fields."""
    for root in roots:
        for node in walk(root):
            text = node.value
            if isinstance(text, str) and len(text) > KEEP_CHARS and node.key not in NAMING:
                yield _text_cut(node, text, text, range(KEEP_CHARS, len(text)))


def reference_cuts(nodes: Iterable[EnvelopeValue], original: Any) -> Iterator[Cut]:
    """Yields cuts of values to `path + summary + hash`; a text keeps its length and digest."""
    for node in nodes:
        now, then = node.value, value_at(original, node.path)
        if isinstance(now, str):
            yield _text_cut(node, now, then, range(min(KEEP_CHARS, len(then))))
        elif isinstance(now, dict):
            yield _object_cut(node, now, then if isinstance(then, dict) else now, SHORTEST_TEXT, KEEP_CHARS)
        elif isinstance(now, list):
            yield _list_cut(node, now, then if isinstance(then, list) else now)


def _text_cut(node: EnvelopeValue, now: str, text: str, lengths: range) -> Cut:
    """Cuts a text step by step down to the shortest of these lengths, in characters of the original `text`."""

    return Cut(
        *(node.holder, node.key, node.path, now),
        make_new=lambda: truncate(text, lengths.start),
        count_between=lambda: max(0, len(lengths) - 1),
        step=lambda step: truncate(text, lengths[-step]),
    )


def _object_cut(node: EnvelopeValue, now: dict[str, Any], then: dict[str, Any], shortest: int, longest: int) -> Cut:
    """Cuts an object to its reference: first by texts of at most `longest` characters down to `shortest`, then field by
    field from the end.

    Fields go one by one only if none of them is a naming field: the reference for the removed fields uses these names.
    """
    fields = 0 if set(then) & set(NAMING) else max(0, len(then) - 1)

    def find_lengths() -> range:
        texts = (held for held in walk(EnvelopeValue({"": then}, "", ("",))) if isinstance(held.value, str))
        return range(
            shortest, min(longest, max((len(held.value) for held in texts if held.key not in NAMING), default=0))
        )

    def step(step_number: int) -> dict[str, Any]:
        lengths = find_lengths()
        small = shorten(then, lengths[-step_number] if step_number <= len(lengths) else lengths.start, node.path)
        left = len(then) - max(0, step_number - len(lengths))
        kept = {name: small[name] for name in list(then)[:left]}
        return kept if left == len(then) else kept | reference_to_end(then, left, node.path)

    return Cut(
        *(node.holder, node.key, node.path, now),
        make_new=lambda: reference(now, then, node.path),
        count_between=lambda: len(find_lengths()) + fields,
        step=step,
        whole=then,
    )


def _end_cut(node: EnvelopeValue, items: list[Any]) -> Cut:
    whole = list(items)

    def shorten_from(left: int) -> list[Any]:
        return whole[KEEP_ITEMS:left] + shorten_tail(whole, left, node.path)

    return Cut(
        *(items, slice(KEEP_ITEMS, None), node.path, whole[KEEP_ITEMS:]),
        make_new=lambda: shorten_from(KEEP_ITEMS),
        count_between=lambda: len(whole) - KEEP_ITEMS - 1,
        step=lambda step: shorten_from(len(whole) - step),
        kept=lambda step: len(whole) - step,
        whole=whole,
    )


def _list_cut(node: EnvelopeValue, now: list[Any], then: list[Any]) -> Cut:
    same = _count_unmoved(now, then)

    return Cut(
        *(node.holder, node.key, node.path, now),
        make_new=lambda: [reference(now, then, node.path)],
        count_between=lambda: max(0, same - 1),
        step=lambda step: now[: same - step] + shorten_tail(then, same - step, node.path),
        whole=then,
    )


def _count_unmoved(now: list[Any], then: list[Any]) -> int:
    return len(now) if len(now) == len(then) else min(len(now), KEEP_ITEMS)


def container_steps(node: EnvelopeValue, original: Any) -> tuple[int, Callable[[int], Any]]:
    """For a list or object of entries, returns how many can go, and a function from the number left to the value."""
    now, then = node.value, value_at(original, node.path)
    gradual = isinstance(now, list) or not (set(now) & set(NAMING) or set(now) != set(then))
    size = len(now) if gradual else 1
    if isinstance(now, list):
        size = _count_unmoved(now, then)

    def step(left: int) -> Any:
        if left == size:
            return now
        rest = reference_to_end(then, left if gradual else 0, node.path)
        if isinstance(now, list):
            return [*now[:left], rest]
        return {name: now[name] for name in list(now)[:left]} | rest if gradual else rest

    return size, step
