"""Converts declared types of TypeScript to the form of `scopes.py`, which distinguishes containers and functions from
what they contain or return."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from secateur.languages.syntax.names import words
from secateur.languages.syntax.scopes import DEEPEST, format_container

_WRAPPERS = words("Promise PromiseLike Awaited Partial Required Readonly NonNullable Omit Pick Extract Exclude")
_CONTAINERS = words(
    "Array ReadonlyArray Set ReadonlySet WeakSet Iterable Iterator IterableIterator AsyncIterable AsyncIterator"
    " AsyncIterableIterator Generator AsyncGenerator"
)
_MAPPINGS = words("Map ReadonlyMap WeakMap Record")
_UNINFORMATIVE = words("any unknown never void undefined null object infer keyof unique")
_PREFIX = re.compile(r"\A(?:\s|readonly\b|abstract\b|asserts\b)*")
_NAME = re.compile(r"[^\W\d][\w$]*(?:\s*\.\s*[^\W\d][\w$]*)*|\$[\w$]*")
_LENGTH = 300
_OPENING, _CLOSING = "<([{", ">)]}"


@lru_cache(maxsize=4096)
def parse_type(text: str, depth: int = 0) -> str:
    """Converts a type; "" for a type without information.

    `Cart | null` → `Cart`, `readonly Cart[]` → `Cart[]`, `Map<string, Cart>` → `Cart[]`, `() => Cart` → `Cart()`,
    `typeof Cart` → `=Cart`, `this` → `=self`.
    """
    if depth > DEEPEST:
        return ""
    text = text[:_LENGTH].strip().lstrip(":|& \t\r\n")
    arrow = list(_split(text, "=>"))
    if len(arrow) > 1:
        returned = parse_type(arrow[-1], depth + 1)
        if text.startswith(("new ", "abstract new ")):
            return f"={returned}" if returned.replace(".", "").isidentifier() else ""
        return f"{returned}()" if returned and not returned.startswith("=") else ""
    if len(list(_split(text, "?"))) > 1:
        return ""  # a conditional type
    return next(filter(None, (_parse_single(next(_split(part, "&")), depth) for part in _split(text, "|"))), "")


def _parse_single(text: str, depth: int) -> str:
    text = _PREFIX.sub("", text.strip(), count=1)
    if text.startswith("typeof "):
        name = text[7:].strip()
        return f"={name}" if _NAME.fullmatch(name) else ""
    if text.endswith("[]"):
        return format_container(parse_type(text[:-2], depth + 1)) or "Array"
    if text.startswith("(") and text.endswith(")"):
        return parse_type(text[1:-1], depth + 1)
    match = _NAME.match(text)
    if match is None:
        return ""
    name, rest = re.sub(r"\s", "", match[0]), text[match.end() :].strip()
    if name == "this" and not rest:
        return "=self"
    if name in _UNINFORMATIVE or (rest and not (rest.startswith("<") and rest.endswith(">"))):
        return ""
    inside = [parse_type(argument, depth + 1) for argument in _split(rest[1:-1], ",")] if rest else []
    if name in _WRAPPERS:
        return inside[0] if inside else ""
    if inside and name in _CONTAINERS | _MAPPINGS:
        return format_container(inside[0 if name in _CONTAINERS else -1]) or name
    return name


def _split(text: str, separator: str) -> Iterator[str]:
    """Splits a type at separators outside brackets."""
    depth = start = 0
    for at, character in enumerate(text):
        if character == ">" and text[at - 1 : at] == "=":
            if separator == "=>" and not depth:
                yield text[start : at - 1]
                start = at + 1
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif (
            character == separator
            and not depth
            and not (separator == "?" and text[at + 1 : at + 2] in (":", ",", ")", ""))
        ):
            yield text[start:at]
            start = at + 1
    yield text[start:]
