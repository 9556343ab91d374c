"""Walks over the values of an envelope, and finds those that each stage of trimming is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from secateur.kinds.envelope.degrading import Path
from secateur.kinds.envelope.sections import DIGEST, SECTIONS, TARGET

NAMING = ("path", "summary", "hash", "id", "name", "title")
"""Fields that say what something is: never truncated, because what is left of an object would not be found again."""


@dataclass(frozen=True, slots=True)
class EnvelopeValue:
    """A value and where it stands."""

    holder: Any  # a dict or a list
    key: Any  # of the holder
    path: Path

    @property
    def value(self) -> Any:
        """The value that stands there now."""
        return self.holder[self.key]


def walk(
    root: EnvelopeValue, keep: int | None = None, into: Callable[[EnvelopeValue], bool] = lambda _: True
) -> Iterator[EnvelopeValue]:
    """The values below `root` and itself, in document order.

    Args:
        keep: of lists only so many first items; None: all.
        into: whether what stands in a value is looked at.
    """
    pending = [root]
    while pending:
        place = pending.pop()
        yield place
        value = place.value
        if isinstance(value, dict | list) and into(place):
            keys = value if isinstance(value, dict) else range(len(value[:keep]))
            pending += reversed([EnvelopeValue(value, key, (*place.path, key)) for key in keys])


def is_entry(place: EnvelopeValue) -> bool:
    """Tells whether it is an object that stands in a list or names the file it is about."""
    held = place.value
    return len(place.path) > 1 and isinstance(held, dict) and (isinstance(place.key, int) or "path" in held)


def entries_of(digest: EnvelopeValue) -> Iterator[EnvelopeValue]:
    """The outermost entries of the digest: its dependencies, one object each."""
    return filter(is_entry, walk(digest, into=lambda place: not is_entry(place)))


def containers_of(entries: Iterable[EnvelopeValue], digest: EnvelopeValue) -> list[EnvelopeValue]:
    """The lists and objects in which the entries stand, in document order."""
    parents = {place.path[:-1] for place in entries}
    return [place for place in walk(digest, into=lambda place: not is_entry(place)) if place.path in parents]


def fields_without_entries(digest: EnvelopeValue) -> Iterator[EnvelopeValue]:
    """The outermost values of the digest that neither are nor hold an entry, but those that name it."""
    above = {place.path[:length] for place in entries_of(digest) for length in range(1, len(place.path) + 1)}

    def holds_entries(place: EnvelopeValue) -> bool:
        return place.path in above and isinstance(place.value, dict) and not is_entry(place)

    for place in walk(digest, into=holds_entries):
        if place.path not in above and len(place.path) > 1 and place.key not in NAMING:
            yield place


def fields_of(digest: EnvelopeValue) -> Iterator[EnvelopeValue]:
    """The fields of the digest, but those that name it."""
    if isinstance(digest.value, dict):
        yield from (
            EnvelopeValue(digest.value, name, (*digest.path, name)) for name in digest.value if name not in NAMING
        )


def extensions_of(envelope: dict[str, Any], names: Iterable[str]) -> Iterator[EnvelopeValue]:
    """The outermost extension fields outside the target and the digest."""
    known = {name.casefold() for name in names}

    def extension(place: EnvelopeValue) -> bool:
        name = place.key.casefold() if isinstance(place.key, str) else ""
        return len(place.path) > 1 and (name in known or name.startswith(("x_", "x-")))

    for section in SECTIONS:
        if section not in (TARGET, DIGEST):
            root = EnvelopeValue(envelope, section, (section,))
            yield from filter(extension, walk(root, into=lambda place: not extension(place)))


def value_at(value: Any, path: Path) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value
