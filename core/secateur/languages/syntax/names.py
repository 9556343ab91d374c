"""Reads names from text: the receiver before a call, and the name of a type.

Both work on the source text, not on the tree: one rule serves twelve grammars, and the time does not depend on the
nesting of an expression.
"""

from __future__ import annotations

import re


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
