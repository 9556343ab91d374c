"""Condensed forms of candidates: whole but for lines that say little, so that more fits a budget.

What may leave: a docstring, or the comment before a definition, behind its first paragraph; licence texts; banners,
which are comments between rules; the middle of a long literal or table. Of no candidate more than a share of its lines
does: what goes out is still that function.
Only lines leave, none is changed. Only the best candidates are read: those that a budget of the usual size comes to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from secateur.languages import traits_of
from secateur.model import FragmentKind, LineRange, Pool
from secateur.retrieval.shorter_forms import shorter_form
from secateur.settings import Shorten
from secateur.tokens import Counter

LEAST_CHARACTERS = 60
"""A passage of fewer would hardly be longer than its mark."""

LONGEST_LINE = 2_000
"""Characters of a line that are looked at."""

BANNER_LINES = 6
"""Most lines of a banner, its rules included: what is longer explains something."""

LITERAL_LINES = 8
"""Lines of literals in a row, from which the middle of them leaves."""

_LITERAL_HEAD, _LITERAL_FOOT = 3, 1

Passage = tuple[int, int]
"""Lines that may leave: positions in the file's lines, the end excluded."""

_OPENING = re.compile(r"\s*[rRbBuUfF]{0,2}(\"\"\"|\'\'\')")
_LICENCE = re.compile(r"copyright|licen[sc]e|SPDX-|all rights reserved|warrant(?:y|ies)", re.IGNORECASE)
_WORD = re.compile(r"\w")
_RULE = re.compile(r"\s*+\W{0,4}?([-=*#~/+_])\1{7,}+\W{0,4}")
_TAG = re.compile(r"\W*(?:[@\\]\w+|#+ |:param|:return)")
_ATOM = r"""(?>"[^"\\]*"|'[^'\\]*'|[-+]?[0-9][\w.]*+|(?:[Tt]rue|[Ff]alse|[Nn]ull|None|nil)\b)"""
_LITERAL = re.compile(rf"(?=.*[\w\"'\[\](){{}}])(?>{_ATOM}|[\s,:;\[\](){{}}]|=>)*+")
"""Possessive, so that no line takes more than one look."""


def condensed(pool: Pool, lines: Callable[[str], list[str]], counter: Counter, rules: Shorten) -> Pool:
    """The pool with the condensed form of its best rows.

    Args:
        lines: of a file, by its path; of a file that cannot be read any more nothing is condensed.
    """
    if not (rules.docstrings or rules.licences or rules.banners or rules.literals) or not rules.most:
        return pool

    def found(own: Sequence[str], row: int) -> tuple[LineRange, ...]:
        first, last = int(pool.line_start[row]), int(pool.line_end[row])
        return lines_out(own, first, last, _Declared.of(pool, row), rules)

    form = shorter_form(pool, lines, counter, found)
    return replace(pool, condensed=form) if form is not None else pool


class _Declared:
    """The facts of the definition in a fragment: where it is declared, and how its language writes comments."""

    def __init__(self, sig_start: int, sig_end: int, kind: str, language: str) -> None:
        self.sig_start, self.sig_end, self.kind = sig_start, sig_end, kind
        self.python, self.comment = language == "python", comment_of(language)

    @classmethod
    def of(cls, pool: Pool, row: int) -> _Declared:
        return cls(int(pool.sig_start[row]), int(pool.sig_end[row]), pool.kind[row], pool.language[row])


@cache
def comment_of(language: str) -> re.Pattern[str] | None:
    """The beginnings of a line of comment; None in a language without comments."""
    traits = traits_of(language)
    if not traits.is_code:
        return None
    marks = [re.escape(traits.line_comment)] if traits.line_comment else []
    marks += [r"/?\*"] if traits.block_comments else []
    return re.compile(rf"\s*(?:{'|'.join(marks)})(?!\[)") if marks else None


def lines_out(
    lines: Sequence[str], first: int, last: int, declared: _Declared, rules: Shorten
) -> tuple[LineRange, ...]:
    """The lines of `first..last` that go out condensed, 1-based; () where none may leave."""
    limit = int((last - first + 1) * rules.most)
    left: list[Passage] = []
    for start, end in sorted(_passages(lines, first, last, declared, rules), key=lambda one: (one[0] - one[1], one[0])):
        # The end of a passage leaves first: what begins a text says more than what ends it.
        start = max(start, end - limit)
        if sum(len(line.strip()[:LONGEST_LINE]) for line in lines[start:end]) < LEAST_CHARACTERS:
            continue
        left.append((start, end))
        limit -= end - start
    out, expected = [], first
    for start, end in sorted(left):
        if start >= expected:
            out.append((expected, start))
        expected = end + 1
    if expected <= last:
        out.append((expected, last))
    return tuple(out) if left else ()


def _passages(lines: Sequence[str], first: int, last: int, declared: _Declared, rules: Shorten) -> Iterator[Passage]:
    """Passages that may leave; they are disjoint."""
    taken = np.zeros(last - first + 1, dtype=np.bool_)
    ways = (
        (rules.banners, _banners),  # first: what follows a rule would else be the rest of a comment
        (rules.docstrings, _described),
        (rules.licences, _licences),
        (rules.literals, _literals),
    )
    for wanted, find in ways:
        if not wanted:
            continue
        for start, end in find(lines, first - 1, last, declared):
            span = slice(start - first + 1, end - first + 1)
            if end > start and not taken[span].any():
                taken[span] = True
                yield start, end


def _described(lines: Sequence[str], start: int, end: int, declared: _Declared) -> Iterator[Passage]:
    """Finds the rest of a docstring behind its first paragraph, and of the comment before a definition."""
    if declared.python:
        at = start if declared.kind == FragmentKind.REGION else declared.sig_end
        while at < end and not lines[at].strip():
            at += 1
        yield from _docstring(lines, at, end)
    if declared.comment is not None:
        yield from _leading(lines, start, min(end, declared.sig_start - 1), declared.comment)


def _docstring(lines: Sequence[str], at: int, end: int) -> Iterator[Passage]:
    opening = _OPENING.match(lines[at][:LONGEST_LINE]) if at < end else None
    if opening is None or opening[1] in lines[at][opening.end() :]:
        return
    closing = next((place for place in range(at + 1, end) if opening[1] in lines[place]), None)
    if closing is None:  # it does not end here: nothing is known of it
        return
    begun = at if lines[at][opening.end() :].strip() else at + 1
    blank = next((place for place in range(begun + 1, closing) if not lines[place].strip()), None)
    if blank is not None:
        yield blank, closing


def _leading(lines: Sequence[str], start: int, end: int, comment: re.Pattern[str]) -> Iterator[Passage]:
    for first, last in _runs(lines, start, end, comment):
        said = next((place for place in range(first, last) if _WORD.search(lines[place][:LONGEST_LINE])), last)
        further = (place for place in range(said + 1, last) if _is_pause(lines[place][:LONGEST_LINE]))
        pause = next(further, None)
        # The line that closes the comment stays.
        closed = last - 1 if "*/" in lines[last - 1] else last
        if pause is not None:
            yield pause, closed


def _is_pause(line: str) -> bool:
    return not _WORD.search(line) or _TAG.match(line) is not None


def _licences(lines: Sequence[str], start: int, end: int, declared: _Declared) -> Iterator[Passage]:
    if declared.comment is None:
        return
    for first, last in _runs(lines, start, end, declared.comment):
        if any(_LICENCE.search(line[:LONGEST_LINE]) for line in lines[first:last]):
            opened = first + 1 if "/*" in lines[first] and last - first > 1 else first
            yield opened, last - 1 if opened > first and "*/" in lines[last - 1] else last


def _banners(lines: Sequence[str], start: int, end: int, declared: _Declared) -> Iterator[Passage]:
    """Finds what stands in a comment between two rules, and the rules."""
    if declared.comment is None:
        return
    for first, last in _runs(lines, start, end, declared.comment):
        rule = None
        for place in range(first, last):
            if not _is_rule(lines[place]):
                continue
            if rule is None or place - rule >= BANNER_LINES or place - rule == 1:
                rule = place
                continue
            # The lines that open and close a comment of several lines stay.
            opened, closed = "/*" in lines[rule] and "*/" not in lines[rule], "*/" in lines[place]
            yield rule + opened, place + 1 - (closed and opened)
            rule = None


def _is_rule(line: str) -> bool:
    return len(line) <= LONGEST_LINE and _RULE.fullmatch(line) is not None


def _literals(lines: Sequence[str], start: int, end: int, declared: _Declared) -> Iterator[Passage]:  # noqa: ARG001
    first = None
    for place in range(start, end + 1):
        line = lines[place] if place < end else ""
        if place < end and len(line) <= LONGEST_LINE and _is_literal(line):
            first = place if first is None else first
            continue
        if first is not None and place - first >= LITERAL_LINES:
            yield first + _LITERAL_HEAD, place - _LITERAL_FOOT
        first = None


def _is_literal(line: str) -> bool:
    return _LITERAL.fullmatch(line.rstrip("\r")) is not None


def _runs(lines: Sequence[str], start: int, end: int, comment: re.Pattern[str]) -> Iterator[Passage]:
    """Comments of several lines in a row, blank lines among them not."""
    first = None
    for place in range(start, end + 1):
        if place < end and comment.match(lines[place][:LONGEST_LINE]):
            first = place if first is None else first
        elif first is not None:
            if place - first > 1:
                yield first, place
            first = None
