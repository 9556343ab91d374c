"""One pass over a file in source order: the meaning of names at each position, for languages whose variables are not
declared by block.

`Flow` keeps the open scopes. A language reports at which bytes something opens or is bound, and its meaning (in the
form of `scopes.py`). Names that no function binds have no meaning here: they belong to the file, and the resolver knows
them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from secateur.languages.syntax.collector import Collector
from secateur.languages.syntax.scopes import UNKNOWN, value_of

if TYPE_CHECKING:
    from tree_sitter import Node

Step = tuple[int, int, int, Callable[[Any, "Node"], None], "Node"]
"""(byte, 1 for the beginning of a node and 0 for its end, minus the end so that outer nodes open first, action,
node)."""


@dataclass(slots=True)
class Scope:
    """A scope that binds names up to a byte. Functions and classes bind; a block only refines what is known."""

    kind: str  # "module", "class", "function", "inner" (binds, but has no `return`), "block"
    end: int
    names: dict[str, str] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)  # type parameters
    receiver: str = UNKNOWN  # the meaning of `self` or `this`
    returned: set[str] = field(default_factory=set)
    row: int = -1  # where to record the type that it returns; -1: nowhere
    hides: bool = False  # definitions inside are not fragments
    yields: bool = False
    manager: bool = False  # yields once, for `with`


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

    def meaning(self, name: str) -> str | None:
        """Returns the meaning of a function's name here; None for a name of the file."""
        for scope in reversed(self.scopes):
            if name in scope.names:
                return scope.names[name]
        return None

    def binder(self) -> Scope:
        """Returns the scope that binds an assignment here."""
        at = -1  # the module is never a block; a loop, because this runs for every assignment
        while self.scopes[at].kind == "block":
            at -= 1
        return self.scopes[at]

    def bind(self, name: str, meaning: str, *, declared: bool = False, scope: Scope | None = None) -> None:
        """Gives a name of a function a meaning. Its declared type stays if nothing is known of a new value."""
        holder = scope or self.binder()
        if holder.kind in ("module", "class"):
            return
        holder.names[name] = holder.declared.get(name, UNKNOWN) if meaning == UNKNOWN else meaning
        if declared and meaning != UNKNOWN:
            holder.declared[name] = meaning
        for block in reversed(self.scopes):
            if block is holder:
                break
            block.names.pop(name, None)

    def hidden(self) -> bool:
        """Tells whether definitions here are not fragments."""
        for scope in self.scopes:  # noqa: SIM110 - twice as fast, and runs for every definition and assignment
            if scope.hides:
                return True
        return False

    def hidden_class(self) -> bool:
        """Tells whether the innermost class is not a fragment."""
        last = max((position for position, scope in enumerate(self.scopes) if scope.kind == "class"), default=0)
        return any(scope.hides for scope in self.scopes[:last])

    def hide(self, name: str) -> None:
        """Records that a definition which is not a fragment hides an outer one with the same name."""
        if self.hidden():
            self.bind(name, UNKNOWN)

    def function(self) -> Scope | None:
        """Returns the function to which a `return` here belongs."""
        return next((scope for scope in reversed(self.scopes) if scope.kind == "function"), None)


def places_of(word: bytes, source: bytes) -> list[int]:
    """Returns the offsets of a word, in order."""
    return [match.start() for match in re.finditer(re.escape(word), source)]


def holds(node: Node, offsets: Sequence[int]) -> bool:
    """Tells whether one of some offsets, in order, lies in a node."""
    index = bisect_left(offsets, node.start_byte)
    return index < len(offsets) and offsets[index] < node.end_byte


def of_type(written: str) -> str:
    """Returns the meaning of a value with a declared type."""
    return written[1:] if written.startswith("=") else value_of(written)


def type_of(meaning: str) -> str:
    """Returns the type of a value in its recorded form."""
    plain = meaning.startswith("<") and meaning.find(">") == len(meaning) - 1
    return meaning[1:-1] if plain else f"={meaning}"
