"""Text in pages: what one answer holds, so that no client has to cut it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct

from secateur.errors import UsageError

ANSWER_TOKENS = 25_000
"""Clients cut answers that are longer."""

TEXT_TOKENS = 19_500
"""Most tokens of the text of a page. An answer holds it twice, as text and as a JSON string, and both are counted."""

_LINE_CHARS = 4_000
"""Longer lines are cut within."""

Count = Callable[[str], int]
"""Counts the tokens of a text."""

R = TypeVar("R", bound=Struct)


def pages_of(pieces: Sequence[str], count: Count, limit: int = TEXT_TOKENS) -> list[str]:
    """The pages of texts that belong apart: each begins a page of its own, and what is longer is cut between lines.

    Joined, the pages of one piece are the piece.
    """
    pages: list[str] = []
    for piece in pieces:
        pages += [piece] if twice(piece, count) <= limit else _cut(piece, count, limit)
    return pages or [""]


def twice(text: str, count: Count) -> int:
    """Tokens of a text, and of the same as a JSON string."""
    return count(text) + count(json.dumps(text, ensure_ascii=False))


def _cut(text: str, count: Count, limit: int) -> list[str]:
    """Pages of a text that is longer than one."""
    pages: list[str] = []
    page: list[str] = []
    used = 0
    size = min(_LINE_CHARS, max(1, limit // 16))  # a character is at most sixteen tokens, as text and escaped
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), size):
            part = line[start : start + size]
            tokens = twice(part, count) + 2  # joined parts may cost one token more than their sum
            if page and used + tokens > limit:
                pages.append("".join(page))
                page, used = [], 0
            page.append(part)
            used += tokens
    return [*pages, "".join(page)]


def within(items: Iterable[R], count: Count, room: int) -> list[R]:
    """The first items whose JSON has so many tokens together."""
    found: list[R] = []
    for item in items:
        room -= count(msgspec.json.encode(item).decode()) + 1
        if room < 0:
            break
        found.append(item)
    return found


def texts_within(texts: Iterable[str], count: Count, room: int) -> list[str]:
    """The first texts that have so many tokens together."""
    found: list[str] = []
    for text in texts:
        room -= count(text) + 1
        if room < 0:
            break
        found.append(text)
    return found


def cursor_of(result: str, page: int) -> str:
    """The cursor of a page, from 1."""
    return f"{result}.{page}"


def page_of_cursor(cursor: str) -> tuple[str, int]:
    """(result, page) of a cursor.

    Raises:
        UsageError: it is none.
    """
    result, _, page = cursor.rpartition(".")
    if not result or not page.isascii() or not page.isdigit() or len(page) > 6:
        raise UsageError("cursor: that is none of ours", hint="leave it out, or give the `next` of an answer")
    return result, int(page)
