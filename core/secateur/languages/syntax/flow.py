"""One pass over a file in the order of its source: what names stand for at each place, for languages in which variables
are not declared by block.

`Flow` keeps the open scopes. A language says at which bytes something opens or is bound, and what it means (`scopes.py`
says how that is written). Names that no function binds have no meaning here: they are the file's, and the resolver
knows them.
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
"""(byte, 1 where a node begins and 0 where it ends, minus the end so that outer nodes open first, what to do, node)."""


@dataclass(slots=True)
class Scope:
    """Something that binds names, up to a byte. Functions and classes do; in a block names are only known better."""

    kind: str  # "module", "class", "function", "inner" (binds, but has no `return`), "block"
    end: int
    names: dict[str, str] = field(default_factory=dict)
    declared: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)  # type parameters
    receiver: str = UNKNOWN  # what `self` or `this` is
    returned: set[str] = field(default_factory=set)
    row: int = -1  # where to record what it is seen to return; -1: nowhere
    hides: bool = False  # what is defined inside is no fragment
    yields: bool = False
    manager: bool = False  # yields once, what `with` binds


class Flow:
    """The scopes that are open, innermost last."""

    def __init__(self, out: Collector) -> None:
        self.out = out
        self.scopes = [Scope("module", len(out.source) + 1)]

    def run(self, steps: Iterable[Step]) -> None:
        """Do all steps in the order of the source, closing scopes on the way."""
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
        """The text that a name of a function stands for here; None for a name of the file."""
        for scope in reversed(self.scopes):
            if name in scope.names:
                return scope.names[name]
        return None

    def binder(self) -> Scope:
        """The scope that binds what is assigned here."""
        at = -1  # the module is never a block; a loop, because this is asked for every assignment
        while self.scopes[at].kind == "block":
            at -= 1
        return self.scopes[at]

    def bind(self, name: str, meaning: str, *, declared: bool = False, scope: Scope | None = None) -> None:
        """Give a name of a function a meaning. What is declared of it stays true where nothing is known of a new
        value."""
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
        """Tells whether what is defined here is no fragment."""
        for scope in self.scopes:  # noqa: SIM110 - twice as fast, and asked for every definition and assignment
            if scope.hides:
                return True
        return False

    def hidden_class(self) -> bool:
        """Tells whether the innermost class is no fragment."""
        last = max((position for position, scope in enumerate(self.scopes) if scope.kind == "class"), default=0)
        return any(scope.hides for scope in self.scopes[:last])

    def hide(self, name: str) -> None:
        """A definition that is no fragment hides what has its name outside."""
        if self.hidden():
            self.bind(name, UNKNOWN)

    def function(self) -> Scope | None:
        """The function that a `return` here belongs to."""
        return next((scope for scope in reversed(self.scopes) if scope.kind == "function"), None)


def places_of(word: bytes, source: bytes) -> list[int]:
    """The places of a word, in order."""
    return [match.start() for match in re.finditer(re.escape(word), source)]


def holds(node: Node, places: Sequence[int]) -> bool:
    """Tells whether one of some places, in order, lies in a node."""
    found = bisect_left(places, node.start_byte)
    return found < len(places) and places[found] < node.end_byte


def of_type(written: str) -> str:
    """A value of a declared type."""
    return written[1:] if written.startswith("=") else value_of(written)


def type_of(meaning: str) -> str:
    """The type of a value, as it is recorded."""
    plain = meaning.startswith("<") and meaning.find(">") == len(meaning) - 1
    return meaning[1:-1] if plain else f"={meaning}"
