"""Python's declared types as `scopes.py` writes types: what can be called and iterated is told from what it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from secateur.languages.syntax.names import words
from secateur.languages.syntax.scopes import DEEPEST

SELF_TYPE = "=self"
"""The type of the receiver itself: `Self`."""

_INSIDE = words(
    "Optional Annotated ClassVar Final Required NotRequired ReadOnly Awaitable InitVar AbstractContextManager"
    " ContextManager TypeGuard Union"
)
_CONTAINERS = words(
    "list List Sequence MutableSequence Iterable Iterator Collection Container set Set frozenset FrozenSet MutableSet"
    " AbstractSet deque Deque AsyncIterable AsyncIterator Generator AsyncGenerator Reversible ValuesView KeysView tuple"
    " Tuple"
)
_MAPPINGS = words("dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict")
_NOTHING = words("None Any object NoReturn Never Literal LiteralString")
_NAME = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_LENGTH = 300


@lru_cache(maxsize=4096)
def written_type(text: str, depth: int = 0) -> str:
    """A type as text; "" for one that says nothing.

    `Cart | None` → `Cart`, `list["Cart"]` → `Cart[]`, `dict[str, Cart]` → `Cart[]`, `Callable[[], Cart]` → `Cart()`,
    `type[Cart]` → `=Cart`.
    """
    if depth > DEEPEST:
        return ""
    for part in _split(text[:_LENGTH].strip().strip("\"'"), "|"):
        match = _NAME.match(part)
        if match is None or match[0] == "None":
            continue
        name = re.sub(r"\s", "", match[0])
        last = name.rpartition(".")[2]
        rest = part[match.end() :].strip()
        inside = (
            [written_type(argument, depth + 1) for argument in _split(rest[1:-1], ",")]
            if rest.startswith("[") and rest.endswith("]")
            else []
        )
        return _generic(name, last, inside)
    return ""


def _generic(name: str, last: str, inside: list[str]) -> str:
    if last == "Self":
        return SELF_TYPE
    if last in _NOTHING:
        return ""
    if last in ("type", "Type"):
        return f"={inside[0]}" if inside and inside[0].replace(".", "").isidentifier() else name
    if last in _INSIDE:
        return next(filter(None, inside), "")
    if last == "Coroutine":
        return inside[-1] if inside else ""
    if last == "Callable":
        return f"{inside[-1]}()" if inside and inside[-1] and not inside[-1].startswith("=") else ""
    held = inside[0] if inside and last in _CONTAINERS else inside[-1] if inside and last in _MAPPINGS else ""
    if last in ("tuple", "Tuple") and len(set(inside[: 2 if inside[1:] == [""] else None])) > 1:
        held = ""
    return f"{held}[]" if held and not held.startswith("=") else name


def _split(text: str, separator: str) -> Iterator[str]:
    """The parts of a type between separators that stand in no brackets."""
    depth = start = 0
    for at, character in enumerate(text):
        if character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif character == separator and not depth:
            yield text[start:at].strip().strip("\"'")
            start = at + 1
    yield text[start:].strip().strip("\"'")
