"""Reads names from text: the receiver before a call, and the name of a type.

Both work on the source text, not on the tree: one rule serves twelve grammars, and the time does not depend on the
nesting of an expression.

The text form of expressions, with which calls are resolved without the tree, and the scopes of local variables.

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

import re
from bisect import bisect_right, insort_right
from operator import itemgetter


def words(text: str) -> frozenset[str]:
    """Returns the words of `text` as a set."""
    return frozenset(text.split())


_WINDOW = 160  # most bytes of a receiver before a call; longer receivers are not simple

_SEPARATOR = r"(?:\s*(?:\.[?!&]?|>-\??|::)\s*|\\)"  # reversed: ".", "?.", "!.", "&.", "->", "?->", "::", "\\"
_WORD = r"[\w$@#]+"
_RECEIVER = re.compile(rf"{_SEPARATOR}(?:({_WORD}(?:{_SEPARATOR}{_WORD})*)({_SEPARATOR})?)?")
_GENERIC = re.compile(r"::>[^<>]*<(?:::)?([\w:]*\w)")
_OUTERMOST = re.compile(r"(?:::|\\)(?![\])>])")
_SEPARATORS = re.compile(r"(?:(?<!\s)\s+)?(?:[?!&]?\.|\??->|::|\\)\s*")
_SPACES = b" \t\r\n"
_MEMBER_ENDS = b".>:\\"


def read_receiver(source: bytes, at: int) -> str:
    """Returns the receiver of the name that starts at byte `at`: "" for a plain name, dotted text for identifiers and
    attribute chains, "()" for the rest.

    Separators (`->`, `::`, `?.`) become "."; `super().f` has the receiver "super".
    """
    before = at - 1
    if before < 0:
        return ""
    last = source[before]
    if last in _SPACES:
        stripped = source[max(0, at - _WINDOW) : at].rstrip()
        if not stripped or stripped[-1] not in _MEMBER_ENDS:
            return ""
    elif last not in _MEMBER_ENDS:
        return ""
    window = source[max(0, at - _WINDOW) : at]
    text = window.decode("utf-8", errors="ignore")[::-1]
    if (match := _RECEIVER.match(text)) is None or text.startswith(".."):
        return ""
    if (chain := match[1]) is None:
        if generic := _GENERIC.match(text):
            return _SEPARATORS.sub(".", generic[1][::-1])  # `Cart<int>::total()`
        if _OUTERMOST.match(text):
            return ""  # `\strlen()`, `::open()`
        return "super" if text.startswith(".)(repus") else "()"
    outermost = (
        match[2] and match[2].strip() in ("::", "\\") and text[match.end() : match.end() + 1] not in (")", ">", "]")
    )
    if (match[2] and not outermost) or (match.end() == len(text) and len(window) == _WINDOW):
        return "()"
    return _SEPARATORS.sub(".", chain[::-1]).lstrip("#")


_QUALIFIERS = re.compile(
    r"(?:[&*?:\s(~^!]|\.\.\.|'\w+\b(?!')"
    r"|(?:const|mut|dyn|impl|final|volatile|struct|enum|union|class|typename|ref|out|in|params|readonly|static"
    r"|inline|extern|mutable|constexpr|chan|keyof|typeof|unique|asserts|scoped"
    r"|required|auto|where|extends|super)\b(?!\s*[.:]))*"
)
_DOTTED = re.compile(r"\\?[^\W\d][\w$]*(?:(?:\.|::|\\)[^\W\d][\w$]*)*")
_TRANSPARENT = words(
    "Optional Option Box Rc Arc RefCell Cell Mutex RwLock Pin Cow unique_ptr shared_ptr weak_ptr Annotated ClassVar"
    " Final Type type Readonly Partial Required NonNullable Nullable Lazy Promise Task ValueTask Future Awaitable"
    " Coroutine InitVar Ref NotRequired Unpack reference_wrapper optional Result IO"
)
_NOTHING = words("None null undefined nil NoneType false")
_PRIMITIVE = words(
    "int str float bool bytes complex object Any None list dict set tuple frozenset bytearray Callable Iterable"
    " Iterator Sequence Mapping string number boolean any unknown never void undefined null symbol bigint error byte"
    " rune uint uintptr int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128 map func"
    " interface char short long double unsigned signed size_t ssize_t int8_t int16_t int32_t int64_t uint8_t uint16_t"
    " uint32_t uint64_t uintptr_t intptr_t wchar_t auto i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64"
    " String Vec Self self Integer Long Double Float Boolean Byte Short Character Object CharSequence var val let"
    " decimal sbyte ushort ulong nint nuint dynamic array mixed iterable callable true false static parent Literal"
    " Union fn"
)
_TYPE_LENGTH = 300
_UNWRAPPINGS = 6  # most layers like `Optional[Annotated[...]]` that are removed


def read_type_name(text: str) -> str:
    """Returns the name that resolves a type: no generics, pointers, qualifiers or `None`; "" for built-in types and for
    anything without one.

    `Optional["money.Money"]` → `money.Money`, `*Cart` → `Cart`, `std::unique_ptr<Route>` → `Route`, `Cart | None` →
    `Cart`, `list[Cart]` → "".
    """
    rest = text[:_TYPE_LENGTH].lstrip("\"' \t\r\n|")
    for _ in range(_UNWRAPPINGS):
        if qualifiers := _QUALIFIERS.match(rest):
            rest = rest[qualifiers.end() :]
        if (match := _DOTTED.match(rest)) is None:
            return ""
        name = match[0].replace("::", ".").replace("\\", ".").strip(".")
        last = name.rsplit(".", 1)[-1]
        rest = rest[match.end() :].lstrip()
        if (
            (last in _NOTHING and rest[:1] in ("|", ","))
            or (last in _TRANSPARENT and rest[:1] in ("[", "<", "|"))
            or (last == "Union" and rest[:1] == "[")
        ):
            rest = rest[1:].lstrip("\"' \t\r\n")
            continue
        return "" if last in _PRIMITIVE or rest.startswith("[]") else name
    return ""


def read_dotted_name(text: str) -> str:
    """Returns `text` with every separator as "." if it contains only names, else ""."""
    name = text[:_TYPE_LENGTH].replace("::", ".").replace("\\", ".").strip(". \t\r\n")
    return name if _CHAIN.fullmatch(name) else ""


_CHAIN = re.compile(r"[\w$]+(?:\.[\w$]+)*")


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
