"""Lists candidates of a search by name: place, declaration and what led to each, the best first."""

from __future__ import annotations

import re
from collections import Counter

from secateur import Engine, Pool, SecateurError, Selection, clip, visible

from secateur_agents.mcp.pages import Count

NAMES_TOKENS = 600
"""Default tokens of a page of names: fifteen or more. A second page costs less than listing it at once."""

MOST_PAGES = 5
"""Most pages of names."""

LINE_TOKENS = 38
"""Mean tokens of a line that a page aims at; where paths are long, declarations are clipped for it."""

LEAST_LINE_TOKENS = 20

_DECLARATION_CELLS = (100, 60, 30)
_WORD = re.compile(r"[^\W_]+")
_WORDS, _WORD_CHARS = 3, 4
"""Most words of the query that a line repeats, and fewest characters of such a word."""


def name_pages(engine: Engine, selection: Selection, budget: int, count: Count) -> list[str]:
    """Returns pages of at most `budget` tokens each."""
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
        pages, left = [""], budget
        for text in lines:
            line = visible(text) + "\n"
            tokens = count(line) + 1  # joined parts may cost one token more than their sum
            if tokens > left and pages[-1]:
                if len(pages) == MOST_PAGES:
                    break
                pages.append("")
                left = budget
            if tokens <= left:
                pages[-1] += line
                left -= tokens
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
