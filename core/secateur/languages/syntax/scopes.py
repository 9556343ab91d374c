"""The text form of expressions, with which calls are resolved without the tree, and the scopes of local variables.

An expression is a chain of names:

- `shop.cart.lines[]`: an element of the container `shop.cart.lines`
- `NewShop().cart`: a member of the result of a call
- `split()#1`: the second result of a call
- `<Cart>.total()`: a method of a value of type `Cart`
- `<Cart>?` as the receiver of a call inside an anonymous class that extends `Cart`: a method of `Cart` if it has one
- `()`: any other expression

A local variable is replaced by its declared type or by its initial value, so a chain starts with a type, `self`, or a
name of the file.

A type is a name, `Cart[]` for any container of carts (slices, lists, maps to carts), or `Cart()` for a function that
returns a cart.
"""

from __future__ import annotations

from bisect import bisect_right, insort_right
from operator import itemgetter

UNKNOWN = "()"  # an expression or local variable whose text gives no useful information
CALLED_ITSELF = "="  # prefix of a receiver if a local variable is called; the meaning of the variable follows
MACRO = "!"  # the receiver of a macro without a path
LONGEST = 160  # most characters of a chain; a longer one cannot be followed
_LOOKED_AT = 100  # most earlier bindings of a name that are searched; one function rarely has ten
DEEPEST = 12  # most levels of an expression or type that are read


_first_byte = itemgetter(0)


class Scopes:
    """The meanings of local variables, by block. Bind in source order, because a variable's origin is looked up
    first."""

    def __init__(self) -> None:
        self._bound: dict[str, list[tuple[int, int, str]]] = {}

    def bind(self, name: str, meaning: str, first: int, last: int) -> None:
        """Binds `name` to an expression from byte `first` to byte `last`."""
        if name and name != "_":
            insort_right(self._bound.setdefault(name, []), (first, last, meaning), key=_first_byte)

    def find_meaning(self, name: str, at: int) -> str | None:
        """Returns the expression of a local variable at a byte; None for a name that is not a local variable there."""
        if not (known := self._bound.get(name)):
            return None
        behind = bisect_right(known, at, key=_first_byte)
        for first, last, meaning in reversed(known[max(0, behind - _LOOKED_AT) : behind]):
            if first <= at < last:
                return meaning
        return None


def value_of(type_: str) -> str:
    """Returns the expression for a value of a type."""
    return f"<{type_}>" if type_ else UNKNOWN


def format_container(item: str) -> str:
    """Returns the type of a container of items of a type."""
    return f"{item}[]" if item and not item.startswith("=") else ""


def member(owner: str, name: str) -> str:
    """Returns the expression `owner.name`."""
    return f"{owner}.{name}" if owner != UNKNOWN and name and len(owner) + len(name) < LONGEST else UNKNOWN


def call_of(function: str, arguments: int | None = None) -> str:
    """Returns the expression for the result of calling `function`; the number of arguments is written if it
    distinguishes functions with one name."""
    if function == UNKNOWN or len(function) >= LONGEST:
        return UNKNOWN
    return f"{function}({'' if arguments is None else arguments})"


def element(container: str) -> str:
    """Returns the expression for an element of `container`."""
    if container.startswith("<") and container.endswith("[]>"):
        return f"<{container[1:-3]}>"
    return f"{container}[]" if container != UNKNOWN and len(container) < LONGEST else UNKNOWN


def result(call: str, index: int) -> str:
    """Returns the expression for the result at `index` of a call with several results."""
    if not index:
        return call
    return f"{call}#{index}" if call.endswith("()") and call != UNKNOWN else UNKNOWN
