"""Walks over the values of an envelope, and finds the values for each stage of trimming."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from secateur.kinds.envelope.degrading import Path
from secateur.kinds.envelope.sections import DIGEST, SECTIONS, TARGET

NAMING = ("path", "summary", "hash", "id", "name", "title")
"""Fields that identify an object: never truncated, so that the rest of an object can be found again."""


@dataclass(frozen=True, slots=True)
class EnvelopeValue:
    """A node of an envelope: a value and its location."""

    holder: Any  # a dict or a list
    key: Any  # of the holder
    path: Path

    @property
    def value(self) -> Any:
        """The current value of the node."""
        return self.holder[self.key]


def walk(
    root: EnvelopeValue, keep: int | None = None, into: Callable[[EnvelopeValue], bool] = lambda _: True
) -> Iterator[EnvelopeValue]:
    """Yields `root` and the nodes below it, in document order.

    Args:
        keep: how many first items of a list to visit; None: all.
        into: tells whether to visit the nodes inside a node.
    """
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        value = node.value
        if isinstance(value, dict | list) and into(node):
            keys = value if isinstance(value, dict) else range(len(value[:keep]))
            pending += reversed([EnvelopeValue(value, key, (*node.path, key)) for key in keys])


def is_entry(node: EnvelopeValue) -> bool:
    """Tells whether a node is an object in a list, or an object with a `path`."""
    held = node.value
    return len(node.path) > 1 and isinstance(held, dict) and (isinstance(node.key, int) or "path" in held)


def entries_of(digest: EnvelopeValue) -> Iterator[EnvelopeValue]:
    """Yields the outermost entries of the digest: its dependencies."""
    return filter(is_entry, walk(digest, into=lambda node: not is_entry(node)))


def containers_of(entries: Iterable[EnvelopeValue], digest: EnvelopeValue) -> list[EnvelopeValue]:
    """Lists the containers of the entries, in document order."""
    parents = {node.path[:-1] for node in entries}
    return [node for node in walk(digest, into=lambda node: not is_entry(node)) if node.path in parents]


def fields_without_entries(digest: EnvelopeValue) -> Iterator[EnvelopeValue]:
    """Yields the outermost nodes of the digest that are not entries and hold none, except naming fields."""
    above = {node.path[:length] for node in entries_of(digest) for length in range(1, len(node.path) + 1)}

    def holds_entries(node: EnvelopeValue) -> bool:
        return node.path in above and isinstance(node.value, dict) and not is_entry(node)

    for node in walk(digest, into=holds_entries):
        if node.path not in above and len(node.path) > 1 and node.key not in NAMING:
            yield node


def fields_of(digest: EnvelopeValue) -> Iterator[EnvelopeValue]:
    """Yields the fields of the digest, except naming fields."""
    if isinstance(digest.value, dict):
        yield from (
            EnvelopeValue(digest.value, name, (*digest.path, name)) for name in digest.value if name not in NAMING
        )


def extensions_of(envelope: dict[str, Any], names: Iterable[str]) -> Iterator[EnvelopeValue]:
    """Yields the outermost extension fields outside the target and the digest."""
    known = {name.casefold() for name in names}

    def extension(node: EnvelopeValue) -> bool:
        name = node.key.casefold() if isinstance(node.key, str) else ""
        return len(node.path) > 1 and (name in known or name.startswith(("x_", "x-")))

    for section in SECTIONS:
        if section not in (TARGET, DIGEST):
            root = EnvelopeValue(envelope, section, (section,))
            yield from filter(extension, walk(root, into=lambda node: not extension(node)))


def value_at(value: Any, path: Path) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value
