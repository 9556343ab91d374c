"""Local variables of one file, and expressions as text that can be followed without the tree.

An expression is the chain of names it is made of: `shop.cart.lines[]` (an element of a container), `NewShop().cart` (of
what a call returns), `split()#1` (its second result), `<Cart>.total()` (of a value of that type). "()" is any other
expression. A local variable is replaced by its declared type or by what it was made from, so that a chain starts with a
type, `self`, or a name that the whole file knows. `<Cart>?` before a called name: the call stands in a class without a
name that extends `Cart`, and means its method if it has one.

Types are written as a name, `Cart[]` for whatever contains carts (slices, lists, maps to carts), `Cart()` for a
function that returns one.
"""

from __future__ import annotations

from bisect import bisect_right, insort_right

UNKNOWN = "()"
"""An expression, or a local variable, of which the text says nothing that helps."""

CALLED_ITSELF = "="
"""Begins a receiver where a local variable is called: what follows is the function, class or instance that is
called."""

MACRO = "!"
"""The receiver of a macro that is named without a path."""

LONGEST = 160
"""Characters of a chain; nobody could follow a longer one."""

_LOOKED_AT = 100
"""Earlier bindings of a name among which the innermost is looked for: one function rarely has ten."""

DEEPEST = 12
"""Levels of an expression or type that are read."""


class Scopes:
    """The meanings of local variables, by block. Bind in the order of the source: what a variable is made from is
    looked up first."""

    def __init__(self) -> None:
        self._bound: dict[str, list[tuple[int, int, str]]] = {}

    def bind(self, name: str, meaning: str, first: int, last: int) -> None:
        """`name` stands for an expression from byte `first` to byte `last`."""
        if name and name != "_":
            insort_right(self._bound.setdefault(name, []), (first, last, meaning), key=_first)

    def meaning(self, name: str, at: int) -> str | None:
        """The expression a local variable stands for at a byte; None for a name that is not a local variable there."""
        known = self._bound.get(name)
        if not known:
            return None
        behind = bisect_right(known, at, key=_first)
        for first, last, meaning in reversed(known[max(0, behind - _LOOKED_AT) : behind]):
            if first <= at < last:
                return meaning
        return None


def _first(bound: tuple[int, int, str]) -> int:
    return bound[0]


def value_of(type_: str) -> str:
    """An expression of a type."""
    return f"<{type_}>" if type_ else UNKNOWN


def member(owner: str, name: str) -> str:
    """`owner.name`."""
    return f"{owner}.{name}" if owner != UNKNOWN and name and len(owner) + len(name) < LONGEST else UNKNOWN


def called(function: str, arguments: int | None = None) -> str:
    """The value that calling `function` returns; the number of arguments is written where it tells functions of one
    name apart."""
    return (
        f"{function}({'' if arguments is None else arguments})"
        if function != UNKNOWN and len(function) < LONGEST
        else UNKNOWN
    )


def element(container: str) -> str:
    """An element of `container`."""
    if container.startswith("<") and container.endswith("[]>"):
        return f"<{container[1:-3]}>"
    return f"{container}[]" if container != UNKNOWN and len(container) < LONGEST else UNKNOWN


def result(call: str, number: int) -> str:
    """Result `number`, from 0, of a call that has several."""
    return f"{call}#{number}" if number and call.endswith("()") and call != UNKNOWN else call if not number else UNKNOWN
