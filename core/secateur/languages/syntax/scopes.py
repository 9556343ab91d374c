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
"""An expression or local variable whose text gives no useful information."""

CALLED_ITSELF = "="
"""Begins a receiver if a local variable is called: the function, class or instance follows."""

MACRO = "!"
"""The receiver of a macro without a path."""

LONGEST = 160
"""Most characters of a chain; a longer one cannot be followed."""

_LOOKED_AT = 100
"""Most earlier bindings of a name that are searched for the innermost: one function rarely has ten."""

DEEPEST = 12
"""Most levels of an expression or type that are read."""


class Scopes:
    """The meanings of local variables, by block. Bind in source order, because a variable's origin is looked up
    first."""

    def __init__(self) -> None:
        self._bound: dict[str, list[tuple[int, int, str]]] = {}

    def bind(self, name: str, meaning: str, first: int, last: int) -> None:
        """Binds `name` to an expression from byte `first` to byte `last`."""
        if name and name != "_":
            insort_right(self._bound.setdefault(name, []), (first, last, meaning), key=_first)

    def meaning(self, name: str, at: int) -> str | None:
        """Returns the expression of a local variable at a byte; None for a name that is not a local variable there."""
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
    """Returns the expression for a value of a type."""
    return f"<{type_}>" if type_ else UNKNOWN


def member(owner: str, name: str) -> str:
    """Returns the expression `owner.name`."""
    return f"{owner}.{name}" if owner != UNKNOWN and name and len(owner) + len(name) < LONGEST else UNKNOWN


def called(function: str, arguments: int | None = None) -> str:
    """Returns the expression for the result of calling `function`; the number of arguments is written if it
    distinguishes functions with one name."""
    return (
        f"{function}({'' if arguments is None else arguments})"
        if function != UNKNOWN and len(function) < LONGEST
        else UNKNOWN
    )


def element(container: str) -> str:
    """Returns the expression for an element of `container`."""
    if container.startswith("<") and container.endswith("[]>"):
        return f"<{container[1:-3]}>"
    return f"{container}[]" if container != UNKNOWN and len(container) < LONGEST else UNKNOWN


def result(call: str, number: int) -> str:
    """Returns the expression for result `number`, from 0, of a call with several results."""
    return f"{call}#{number}" if number and call.endswith("()") and call != UNKNOWN else call if not number else UNKNOWN
