"""Splits text into pages of the size of an answer, so that no client has to cut it; lists candidates by name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec
from secateur import Engine, Pool, SecateurError, Selection, UsageError, clip, visible

ANSWER_TOKENS = 25_000  # clients cut longer answers
TEXT_TOKENS = 16_000  # Most tokens of a page's text. Counters of clients give up to half as many tokens more.
_LINE_CHARS = 4_000  # longer lines are split

NAMES_TOKENS = 600
"""Default tokens of a page of names: fifteen or more. A second page costs less than listing it at once."""

MOST_PAGES = 5  # most pages of names
LINE_TOKENS = 38  # mean tokens of a line that a page aims at; where paths are long, declarations are clipped for it

LEAST_LINE_TOKENS = 20

_DECLARATION_CELLS = (100, 60, 30)
_WORD = re.compile(r"[^\W_]+")
_WORDS, _WORD_CHARS = 3, 4  # most words of the query that a line repeats, and fewest characters of such a word
Count = Callable[[str], int]  # counts the tokens of a text

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


def other_page() -> UsageError:
    """Returns the error of a cursor whose page the call does not have."""
    message = "cursor: this call has no such page; its files or its arguments changed"
    return UsageError(message, hint="call again without a cursor")


def name_pages(engine: Engine, selection: Selection, budget: int, count: Count) -> list[str]:
    """Returns pages of at most `budget` tokens each, which list candidates of a search, the best first: place,
    declaration and what led to each."""
    pool = selection.pool
    rows = selection.order.tolist()[: MOST_PAGES * max(1, budget // LEAST_LINE_TOKENS)]
    texts = [_texts(engine, pool, row) for row in rows]
    sought = {word for word in _WORD.findall(pool.query.lower()) if len(word) >= _WORD_CHARS}
    shared = [
        sought & {*_WORD.findall(f"{pool.path[row]} {text}".lower())}
        for row, (_, text) in zip(rows, texts, strict=True)
    ]
    common = Counter(word for words in shared for word in words)
    for cells in _DECLARATION_CELLS:
        lines = (
            f"{pool.path[row]}:{pool.line_start[row]}-{pool.line_end[row]} {clip(declaration, cells)}"
            f" [{' '.join(sorted(words, key=lambda word: (common[word], word))[:_WORDS]) or _other_reason(pool, row)}]"
            for row, (declaration, _), words in zip(rows, texts, shared, strict=True)
        )
        written = (visible(text) + "\n" for text in lines)
        pages = fill_pages((line for line in written if count(line) < budget), count, budget)[:MOST_PAGES]
        if pages[0].count("\n") >= min(len(rows), budget // LINE_TOKENS):
            break
    return pages


def _texts(engine: Engine, pool: Pool, row: int) -> tuple[str, str]:
    try:
        return " ".join(engine.signature(pool, row).split()).rstrip(" {:"), engine.content(pool, row)
    except SecateurError:  # its file changed since
        return pool.qualname[row], pool.qualname[row]


def _other_reason(pool: Pool, row: int) -> str:
    """Names what led to a candidate that shares no word with the query: the call to it, or a part of its relevance."""
    parts = sorted((-float(column[row]), name) for name, column in pool.parts.get("relevance", {}).items())
    return (pool.predecessor_edge[row] or (parts[0][1] if parts and parts[0][0] else "")).replace("_", " ")
