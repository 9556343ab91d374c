"""Splits text into pages of the size of an answer, so that no client has to cut it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec
from msgspec import Struct
from secateur import UsageError

ANSWER_TOKENS = 25_000
"""Clients cut longer answers."""

TEXT_TOKENS = 16_000
"""Most tokens of a page's text. Counters of clients give up to half as many tokens more."""

_LINE_CHARS = 4_000
"""Longer lines are split."""

Count = Callable[[str], int]
"""Counts the tokens of a text."""

R = TypeVar("R", bound=Struct)


def split_pages(pieces: Sequence[str], count: Count, limit: int = TEXT_TOKENS) -> list[str]:
    """Splits texts into pages: each text begins a page, and a longer one is split between lines.

    Joining the pages of a text gives the text.
    """
    pages: list[str] = []
    for piece in pieces:
        pages += [piece] if count(piece) <= limit else _cut(piece, count, limit)
    return pages or [""]


def _cut(text: str, count: Count, limit: int) -> list[str]:
    """Splits a text that is longer than a page."""
    pages: list[str] = []
    page: list[str] = []
    used = 0
    size = min(_LINE_CHARS, max(1, limit // 16))  # a character is at most a few tokens
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), size):
            part = line[start : start + size]
            tokens = count(part) + 1  # joined parts may cost one token more than their sum
            if page and used + tokens > limit:
                pages.append("".join(page))
                page, used = [], 0
            page.append(part)
            used += tokens
    return [*pages, "".join(page)]


def first_items(items: Iterable[R], count: Count, room: int) -> list[R]:
    """Returns the first items whose JSON fits into so many tokens."""
    fitting: list[R] = []
    for item in items:
        room -= count(msgspec.json.encode(item).decode()) + 1
        if room < 0:
            break
        fitting.append(item)
    return fitting


def first_texts(texts: Iterable[str], count: Count, room: int) -> list[str]:
    """Returns the first texts that fit into so many tokens."""
    fitting: list[str] = []
    for text in texts:
        room -= count(text) + 1
        if room < 0:
            break
        fitting.append(text)
    return fitting


def cursor_of(result: str, page: int) -> str:
    """Returns the cursor of a page, from 1."""
    return f"{result}.{page}"


def page_of_cursor(cursor: str) -> tuple[str, int]:
    """Parses a cursor into (result, page). Raises UsageError: it is not a valid cursor."""
    result, _, page = cursor.rpartition(".")
    if not result or not page.isascii() or not page.isdigit() or len(page) > 6:
        raise UsageError("cursor is not valid for this server", hint="leave it out, or give the `next` of an answer")
    return result, int(page)
