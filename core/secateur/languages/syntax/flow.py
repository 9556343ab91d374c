"""One pass over a file in source order: the meaning of names at each position, for languages whose variables are not
declared by block.

`Flow` keeps the open scopes. A language reports at which bytes scopes open and names are bound, and to which meanings
(in the form of `scopes.py`). Names that no function binds have no meaning here: they belong to the file, and the
resolver knows them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from secateur.languages.syntax.collector import Captures, Collector
from secateur.languages.syntax.scopes import UNKNOWN, value_of

if TYPE_CHECKING:
    from tree_sitter import Node

Step = tuple[int, int, int, Callable[[Any, "Node"], None], "Node"]
"""(byte; 1 at the start of a node, 0 at its end; minus its end, so that outer nodes open first; action; node)."""


class Scope(Struct):
    """A scope that binds names up to a byte. Functions and classes bind; a block only refines what is known."""

    kind: str  # "module", "class", "function", "inner" (binds, but has no `return`), "block"
    end: int
    names: dict[str, str] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)  # type parameters
    receiver: str = UNKNOWN  # the meaning of `self` or `this`
    returned: set[str] = field(default_factory=set)
    row: int = -1  # row at which its return type is recorded; -1: it is not recorded
    hides: bool = False  # definitions inside are not fragments
    yields: bool = False
    manager: bool = False  # a context manager, which yields once


class Flow:
    """The open scopes, innermost last."""

    def __init__(self, out: Collector) -> None:
        self.out = out
        self.scopes = [Scope("module", len(out.source) + 1)]

    def run(self, steps: Iterable[Step]) -> None:
        """Runs all steps in source order, closing scopes on the way."""
        for at, begins, _, step, node in sorted(steps, key=itemgetter(0, 1, 2)):
            while self.scopes[-1].end + (not begins) <= at:
                self._close()
            step(self, node)
        while len(self.scopes) > 1:
            self._close()

    def _close(self) -> None:
        scope = self.scopes.pop()
        if scope.row < 0 or len(scope.returned) != 1 or (scope.yields and not scope.manager):
            return
        text = next(iter(scope.returned))
        if text != UNKNOWN:
            self.out.annotations.append((scope.row, "return", type_of(text)))

    def find_meaning(self, name: str) -> str | None:
        """Returns the meaning of a function's name here; None for a name of the file."""
        for scope in reversed(self.scopes):
            if name in scope.names:
                return scope.names[name]
        return None

    def find_binder(self) -> Scope:
        """Returns the scope that binds an assignment here."""
        at = -1  # the module is never a block; a loop, because this runs for every assignment
        while self.scopes[at].kind == "block":
            at -= 1
        return self.scopes[at]

    def bind(self, name: str, meaning: str, *, declared: bool = False, scope: Scope | None = None) -> None:
        """Gives a name of a function a meaning. If the new value is unknown, the declared type stays."""
        holder = scope or self.find_binder()
        if holder.kind in ("module", "class"):
            return
        holder.names[name] = holder.declared.get(name, UNKNOWN) if meaning == UNKNOWN else meaning
        if declared and meaning != UNKNOWN:
            holder.declared[name] = meaning
        for block in reversed(self.scopes):
            if block is holder:
                break
            block.names.pop(name, None)

    def is_hidden(self) -> bool:
        """Tells whether definitions here are not fragments."""
        for scope in self.scopes:  # noqa: SIM110 - twice as fast, and runs for every definition and assignment
            if scope.hides:
                return True
        return False

    def is_class_hidden(self) -> bool:
        """Tells whether the innermost class is not a fragment."""
        last = max((position for position, scope in enumerate(self.scopes) if scope.kind == "class"), default=0)
        return any(scope.hides for scope in self.scopes[:last])

    def hide(self, name: str) -> None:
        """Records that a definition without a fragment hides an outer definition with the same name."""
        if self.is_hidden():
            self.bind(name, UNKNOWN)

    def find_function(self) -> Scope | None:
        """Returns the function to which a `return` here belongs."""
        return next((scope for scope in reversed(self.scopes) if scope.kind == "function"), None)


def list_steps(
    captures: Captures,
    actions: Mapping[str, tuple[Callable[[Any, Node], None], bool]],
    loop: Callable[[Any, Node], None],
) -> Iterator[Step]:
    """Yields steps for captured nodes: `actions` at their start, or late ones at their end, and `loop` after the
    container of a loop."""
    done: set[tuple[str, int]] = set()
    for name, (action, is_late) in actions.items():
        for node in captures.get(name, ()):
            if (name, node.id) in done:  # a script's object has a match for each of its methods
                continue
            done.add((name, node.id))
            yield (node.end_byte, 0, 0, action, node) if is_late else (node.start_byte, 1, -node.end_byte, action, node)
    for node in captures.get("loop", ()):
        if (container := node.child_by_field_name("right")) is not None:
            yield container.end_byte, 0, 0, loop, node


def find_word(word: bytes, source: bytes) -> list[int]:
    """Returns the offsets of a word, in order."""
    return [match.start() for match in re.finditer(re.escape(word), source)]


def contains_offset(node: Node, offsets: Sequence[int]) -> bool:
    """Tells whether a node contains one of the sorted offsets."""
    index = bisect_left(offsets, node.start_byte)
    return index < len(offsets) and offsets[index] < node.end_byte


def value_of_type(written: str) -> str:
    """Returns the meaning of a value with a declared type."""
    return written[1:] if written.startswith("=") else value_of(written)


def type_of(meaning: str) -> str:
    """Returns the type of a value in its recorded form."""
    plain = meaning.startswith("<") and meaning.find(">") == len(meaning) - 1
    return meaning[1:-1] if plain else f"={meaning}"
