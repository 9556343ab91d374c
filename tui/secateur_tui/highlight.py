"""Colours for source text: strings, comments, numbers and keywords, in one linear pass that no input can slow down.

It is a reading aid, not a parser: it knows quotes, comment marks and a common set of keywords, and colours nothing it
is unsure of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from secateur_tui.styled_text import Line, Span

_HASH = frozenset({"python", "ruby", "yaml", "toml", "shell", "bash", "make", "dockerfile", "perl", "r", "elixir"})
_PLAIN = frozenset({"markdown", "text", "restructuredtext", "", "csv", "html", "xml"})

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

_WORD_OR_MARK = re.compile(
    r"(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<triple>\"\"\"|''')|(?P<quote>[\"'`])|(?P<block>/\*)|(?P<slashes>//)|(?P<hash>#)"
)

LONGEST_TEXT = 200_000
"""Characters above which a text is shown without colours."""


def highlight(lines: Sequence[str], language: str) -> list[Line]:
    """The lines, safe to print already, with roles."""
    if language in _PLAIN or sum(map(len, lines)) > LONGEST_TEXT:
        return [(Span(text),) for text in lines]
    scanner = _Scanner(language)
    return [scanner.line(text) for text in lines]


class _Scanner:
    """Remembers across lines what is still open."""

    def __init__(self, language: str) -> None:
        self._hash = language in _HASH
        self._triples = language == "python"
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
            found = _WORD_OR_MARK.search(text, at)
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
            spans.append(Span(token, "keyword" if token in _KEYWORDS else ""))
        elif kind == "number":
            spans.append(Span(token, "number"))
        elif (kind == "hash" and self._hash) or (kind == "slashes" and not self._hash):
            spans.append(Span(text[found.start() :], "comment"))
            return len(text)
        elif kind == "triple" and self._triples:
            self._until, self._role = token, "string"
            spans.append(Span(token, "string"))
        elif kind == "block" and not self._hash:
            self._until, self._role = "*/", "comment"
            spans.append(Span(token, "comment"))
        elif kind in ("quote", "triple"):
            end = _string_end(text, found.start())
            spans.append(Span(text[found.start() : end], "string" if end - found.start() > 1 else ""))
        else:
            spans.append(Span(token))
        return end


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
