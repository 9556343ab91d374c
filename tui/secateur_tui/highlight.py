"""Colours for source text: strings, comments, numbers and keywords, in one linear pass that no input can slow down.

It is a reading aid, not a parser: it knows quotes and what the traits of a language say of comments, of strings over
several lines and of keywords, and colours nothing it is unsure of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from secateur.languages import traits_of
from secateur.languages.traits import LanguageTraits

from secateur_tui.styled_text import Line, Span

_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        "abstract and as async await break case catch class const continue def default defer delete do elif else enum"
        " except export extends final finally fn for foreach from func function go goto if impl implements import in"
        " interface is lambda let match mod module mut namespace new not or package pass private protected pub public"
        " raise readonly require return select static struct super switch throw throws trait try type typedef union"
        " unless unsafe use using var virtual void when where while with yield None True False null nil true false self"
        " this ",
    )
)
"""Those of languages that do not say their own."""

LONGEST_TEXT = 200_000
"""Characters above which a text is shown without colours."""


def highlight(lines: Sequence[str], language: str) -> list[Line]:
    """The lines, safe to print already, with roles."""
    traits = traits_of(language)
    if not language or not traits.is_code or sum(map(len, lines)) > LONGEST_TEXT:
        return [(Span(text),) for text in lines]
    scanner = _Scanner(traits)
    return [scanner.line(text) for text in lines]


class _Scanner:
    """Remembers across lines what is still open."""

    def __init__(self, traits: LanguageTraits) -> None:
        self._marks = _marks(traits.line_comment, traits.block_comments)
        self._keywords = _KEYWORDS if traits.keywords is None else traits.keywords
        self._triples = traits.triple_quotes
        self._until = ""  # what closes the open string or comment
        self._role = ""

    def line(self, text: str) -> Line:
        spans: list[Span] = []
        at = 0
        while at < len(text):
            if self._until:
                end = text.find(self._until, at)
                stop = len(text) if end < 0 else end + len(self._until)
                spans.append(Span(text[at:stop], self._role))
                at = stop
                if end >= 0:
                    self._until = ""
                continue
            found = self._marks.search(text, at)
            if not found:
                spans.append(Span(text[at:]))
                break
            if found.start() > at:
                spans.append(Span(text[at : found.start()]))
            at = self._mark(found, text, spans)
        return tuple(spans)

    def _mark(self, found: re.Match[str], text: str, spans: list[Span]) -> int:
        kind, token, end = found.lastgroup, found.group(), found.end()
        if kind == "word":
            spans.append(Span(token, "keyword" if token in self._keywords else ""))
        elif kind == "number":
            spans.append(Span(token, "number"))
        elif kind == "comment":
            spans.append(Span(text[found.start() :], "comment"))
            return len(text)
        elif kind == "triple" and self._triples:
            self._until, self._role = token, "string"
            spans.append(Span(token, "string"))
        elif kind == "block":
            self._until, self._role = "*/", "comment"
            spans.append(Span(token, "comment"))
        elif kind in ("quote", "triple"):
            end = _string_end(text, found.start())
            spans.append(Span(text[found.start() : end], "string" if end - found.start() > 1 else ""))
        else:
            spans.append(Span(token))
        return end


@cache
def _marks(line_comment: str, block_comments: bool) -> re.Pattern[str]:
    """A pattern of what is looked at in a line: words, numbers, quotes, and the beginnings of comments."""
    marks = [r"(?P<word>[^\W\d]\w*)", r"(?P<number>\d[\w.]*)", r"(?P<triple>\"\"\"|''')", r"(?P<quote>[\"'`])"]
    marks += [r"(?P<block>/\*)"] if block_comments else []
    marks += [f"(?P<comment>{re.escape(line_comment)})"] if line_comment else []
    return re.compile("|".join(marks))


def _string_end(text: str, start: int) -> int:
    """End of the string literal that starts here; just the quote (an apostrophe) when the line does not close it."""
    quote, at = text[start], start + 1
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == quote:
            return at + 1
        else:
            at += 1
    return start + 1
