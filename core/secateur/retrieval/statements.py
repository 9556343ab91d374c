"""The statements of functions that hold words of the query: for functions that are larger than what is left.

Out go the declaration, the lines with most of the words (by their idf), the lines around them, and the headers of the
blocks that they stand in, told by indentation. A mark stands for the others; no line is changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from secateur.index.facts.lexical import word_terms, words
from secateur.model import LineRange, Pool
from secateur.retrieval.shorter_forms import shorter_form
from secateur.tokens import Counter

LONGEST_LINE = 400
"""Characters of a line in which words are looked for."""

LEAST_LINES = 12
"""A function of fewer lines is hardly larger than its statements and their marks."""

MOST_SHARE = 0.4
"""Of a function's lines go out as its statements."""

MOST_LINES = 40
"""Go out of any function: of a huge one, too, the statements shall fit what is left."""

AROUND = 2
"""Lines before and after a matched line go out with it."""

SHORTEST_GAP = 2
"""A gap of fewer lines goes out, too: its mark would be as long."""

_TAB = 4


def with_statements(pool: Pool, lines: Callable[[str], list[str]], counter: Counter) -> Pool:
    """The pool with the statements of its best rows that have a declaration of their own.

    Args:
        lines: of a file, by its path; of a file that cannot be read any more no statement is told.
    """
    worth = words_worth(pool)
    if not worth:
        return pool

    def found(own: Sequence[str], row: int) -> tuple[LineRange, ...]:
        if not pool.sig_cost[row]:
            return ()
        first, last = int(pool.line_start[row]), int(pool.line_end[row])
        return statements(own, first, last, (int(pool.sig_start[row]), int(pool.sig_end[row])), worth)

    form = shorter_form(pool, lines, counter, found)
    return replace(pool, statements=form) if form is not None else pool


def words_worth(pool: Pool) -> dict[str, float]:
    """The words of the query that occur here, with their idf as `Postings.idf` counts it."""
    fragments, terms = pool.facts.get("fragments", 0), pool.facts.get("terms", {})
    return {
        word: round(math.log(1 + (fragments - held + 0.5) / (held + 0.5)), 6) for word, held in terms.items() if held
    }


def statements(
    lines: Sequence[str], first: int, last: int, declaration: LineRange, worth: Mapping[str, float]
) -> tuple[LineRange, ...]:
    """The lines of `first..last` that go out as statements, 1-based; () where no line but the declaration has a word,
    or nothing would stay behind."""
    own = [line[:LONGEST_LINE] for line in lines[first - 1 : last]]
    head = range(declaration[0] - first, min(declaration[1] - first + 1, len(own)))
    if len(own) < LEAST_LINES or not head or head.start < 0:
        return ()
    value = [_value(line, worth) for line in own]
    matched = [place for place in range(head.stop, len(own)) if value[place] > 0]
    out, limit = set(head), min(MOST_LINES, int(len(own) * MOST_SHARE)) + len(head)
    above = _headers(own, head)
    for place in sorted(matched, key=lambda place: (-value[place], place)):
        more = {place, *above(place)} - out
        if len(out) + len(more) <= limit:
            out |= more
            around = range(max(head.stop, place - AROUND), min(len(own), place + AROUND + 1))
            out |= {near for near in around if own[near].strip() and len(out) < limit}
    if len(out) == len(head):
        return ()
    return _ranges(sorted(out), first, len(own))


def _value(line: str, worth: Mapping[str, float]) -> float:
    terms = {term for word in words(line) for term in word_terms(word) if term in worth}
    return sum(sorted(worth[term] for term in terms))  # sorted: a sum depends on its order


def _headers(own: Sequence[str], head: range) -> Callable[[int], list[int]]:
    """Tells the headers of the blocks that a line stands in: each the nearest line above that is less indented."""
    above: list[int] = []  # per line, its nearest header; -1 for none
    indents = [_indent(line) for line in own]
    open_: list[int] = []
    for place, indent in enumerate(indents):
        if not own[place].strip():
            above.append(open_[-1] if open_ else -1)
            continue
        while open_ and indents[open_[-1]] >= indent:
            open_.pop()
        above.append(open_[-1] if open_ else -1)
        open_.append(place)

    def headers(place: int) -> list[int]:
        found = []
        while (place := above[place]) >= head.stop:
            found.append(place)
        return found

    return headers


def _indent(line: str) -> int:
    expanded = line.expandtabs(_TAB)
    return len(expanded) - len(expanded.lstrip())


def _ranges(places: Sequence[int], first: int, count: int) -> tuple[LineRange, ...]:
    """Places as ranges of lines, with the gaps that are too short for a mark; () where nothing is left between."""
    out: list[LineRange] = []
    start = expected = 0
    for place in (*places, count):
        if place - expected >= SHORTEST_GAP:
            if expected > start:
                out.append((start + first, expected - 1 + first))
            start = place
        expected = place + 1
    if start < count:
        out.append((start + first, count - 1 + first))
    return () if out == [(first, first + count - 1)] else tuple(out)
