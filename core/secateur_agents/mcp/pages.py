"""Splits text into pages of the size of an answer, so that no client has to cut it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec
from secateur import UsageError

ANSWER_TOKENS = 25_000
"""Clients cut longer answers."""

TEXT_TOKENS = 16_000
"""Most tokens of a page's text. Counters of clients give up to half as many tokens more."""

_LINE_CHARS = 4_000
"""Longer lines are split."""

Count = Callable[[str], int]
"""Counts the tokens of a text."""

T = TypeVar("T")


def split_pages(pieces: Sequence[str], count: Count, limit: int = TEXT_TOKENS) -> list[str]:
    """Splits texts into pages: each text begins a page, and a longer one is split between lines.

    Joining the pages of a text gives the text.
    """
    pages: list[str] = []
    size = min(_LINE_CHARS, max(1, limit // 16))  # a character is at most a few tokens
    for piece in pieces:
        if count(piece) <= limit:
            pages.append(piece)
            continue
        lines = piece.splitlines(keepends=True)
        parts = (line[start : start + size] for line in lines for start in range(0, len(line), size))
        pages += fill_pages(parts, count, limit)
    return pages or [""]


def fill_pages(parts: Iterable[str], count: Count, limit: int) -> list[str]:
    """Joins parts to pages. Only a part that has too many tokens by itself exceeds a page."""
    pages, page, used = list[str](), list[str](), 0
    for part in parts:
        tokens = count(part) + 1  # joined parts may cost one token more than their sum
        if page and used + tokens > limit:
            pages.append("".join(page))
            page, used = [], 0
        page.append(part)
        used += tokens
    return [*pages, "".join(page)]


def first_fitting(items: Iterable[T], count: Count, room: int, written: Callable[[T], str]) -> list[T]:
    """Returns the first items that fit into so many tokens, each as it is written."""
    fitting: list[T] = []
    for item in items:
        room -= count(written(item)) + 1
        if room < 0:
            break
        fitting.append(item)
    return fitting


def as_json(item: object) -> str:
    """Writes an item as it is sent."""
    return msgspec.json.encode(item).decode()


def cursor_of(result: str, page: int) -> str:
    """Returns the cursor of a page, from 1."""
    return f"{result}.{page}"


def page_of_cursor(cursor: str) -> tuple[str, int]:
    """Parses a cursor into (result, page). Raises UsageError: it is not a valid cursor."""
    result, _, page = cursor.rpartition(".")
    if not result or not page.isascii() or not page.isdigit() or len(page) > 6:
        raise UsageError("cursor is not valid for this server", hint="leave it out, or give the `next` of an answer")
    return result, int(page)
