"""Converts declared types of Python to the form of `scopes.py`, which distinguishes containers and functions from what
they contain or return."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from secateur.languages.syntax.names import words
from secateur.languages.syntax.scopes import DEEPEST, format_container

SELF_TYPE = "=self"
"""The type of the receiver itself: `Self`."""

_WRAPPERS = words(
    "Optional Annotated ClassVar Final Required NotRequired ReadOnly Awaitable InitVar AbstractContextManager"
    " ContextManager TypeGuard Union"
)
_CONTAINERS = words(
    "list List Sequence MutableSequence Iterable Iterator Collection Container set Set frozenset FrozenSet MutableSet"
    " AbstractSet deque Deque AsyncIterable AsyncIterator Generator AsyncGenerator Reversible ValuesView KeysView tuple"
    " Tuple"
)
_MAPPINGS = words("dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict")
_UNINFORMATIVE = words("None Any object NoReturn Never Literal LiteralString")
_NAME = re.compile(r"[^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*")
_LENGTH = 300


@lru_cache(maxsize=4096)
def parse_type(text: str, depth: int = 0) -> str:
    """Converts a type; "" for a type without information.

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
            [parse_type(argument, depth + 1) for argument in _split(rest[1:-1], ",")]
            if rest.startswith("[") and rest.endswith("]")
            else []
        )
        return _format_type(name, last, inside)
    return ""


def _format_type(name: str, last: str, inside: list[str]) -> str:
    if last == "Self":
        return SELF_TYPE
    if last in _UNINFORMATIVE:
        return ""
    if last in ("type", "Type"):
        return f"={inside[0]}" if inside and inside[0].replace(".", "").isidentifier() else name
    if last in _WRAPPERS:
        return next(filter(None, inside), "")
    if last == "Coroutine":
        return inside[-1] if inside else ""
    if last == "Callable":
        return f"{inside[-1]}()" if inside and inside[-1] and not inside[-1].startswith("=") else ""
    if last in ("tuple", "Tuple") and len(set(inside[: 2 if inside[1:] == [""] else None])) > 1:
        return name  # its items have different types
    if inside and last in _CONTAINERS | _MAPPINGS:
        return format_container(inside[0 if last in _CONTAINERS else -1]) or name
    return name


def _split(text: str, separator: str) -> Iterator[str]:
    """Splits a type at separators outside brackets."""
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
