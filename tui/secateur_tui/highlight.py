"""Colours strings, comments, numbers and keywords of source text in one linear pass, which no input can slow down.

It is a reading aid, not a parser: it knows quotes and what the traits of a language say about comments, strings over
several lines and keywords. It colours nothing that it is unsure of.
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
"""Keywords of languages whose traits name none."""

LONGEST_TEXT = 200_000  # characters above which a text is shown without colours


def highlight(lines: Sequence[str], language: str) -> list[Line]:
    """Returns lines, which are safe to print, as spans with roles."""
    traits = traits_of(language)
    if not language or not traits.is_code or sum(map(len, lines)) > LONGEST_TEXT:
        return [(Span(text),) for text in lines]
    scanner = _Scanner(traits)
    return [scanner.colour_line(text) for text in lines]


class _Scanner:
    """Colours one line after another, and remembers which string or comment is open."""

    def __init__(self, traits: LanguageTraits) -> None:
        self._tokens = _compile_tokens(traits.line_comment, traits.block_comments)
        self._keywords = _KEYWORDS if traits.keywords is None else traits.keywords
        self._triples = traits.triple_quotes
        self._closing = ""  # the token that closes the open string or comment; "" if none is open
        self._role = ""  # of the open string or comment

    def colour_line(self, text: str) -> Line:
        """Returns the line as spans with roles."""
        spans: list[Span] = []
        start = 0
        while start < len(text):
            if self._closing:
                end = text.find(self._closing, start) + len(self._closing)
                if end < len(self._closing):
                    end = len(text)
                else:
                    self._closing = ""
                spans.append(Span(text[start:end], self._role))
                start = end
                continue
            if (token := self._tokens.search(text, start)) is None:
                spans.append(Span(text[start:]))
                break
            if token.start() > start:
                spans.append(Span(text[start : token.start()]))
            spans.append(self._colour_token(token, text))
            start = token.start() + len(spans[-1].text)
        return tuple(spans)

    def _colour_token(self, token: re.Match[str], text: str) -> Span:
        """Returns the span that begins with this token: a word, a number, a string, a comment or the start of one."""
        kind, word = token.lastgroup, token.group()
        if kind == "word":
            return Span(word, "keyword" if word in self._keywords else "")
        if kind == "number":
            return Span(word, "number")
        if kind == "comment":
            return Span(text[token.start() :], "comment")
        if kind == "block" or (kind == "triple" and self._triples):
            self._closing, self._role = ("*/", "comment") if kind == "block" else (word, "string")
            return Span(word, self._role)
        literal = text[token.start() : _find_string_end(text, token.start())]
        return Span(literal, "string" if len(literal) > 1 else "")


@cache
def _compile_tokens(line_comment: str, block_comments: bool) -> re.Pattern[str]:
    """Compiles a pattern of the tokens of a line: words, numbers, quotes, and the beginnings of comments."""
    tokens = [r"(?P<word>[^\W\d]\w*)", r"(?P<number>\d[\w.]*)", r"(?P<triple>\"\"\"|''')", r"(?P<quote>[\"'`])"]
    tokens += [r"(?P<block>/\*)"] if block_comments else []
    tokens += [f"(?P<comment>{re.escape(line_comment)})"] if line_comment else []
    return re.compile("|".join(tokens))


def _find_string_end(text: str, start: int) -> int:
    """Returns the end of the string literal that starts here; of the quote alone if the line does not close it."""
    end = start + 1
    while end < len(text):
        if text[end] == text[start]:
            return end + 1
        end += 2 if text[end] == "\\" else 1
    return start + 1
