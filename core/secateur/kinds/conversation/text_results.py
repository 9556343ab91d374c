"""Reads results of tools that are written as text: `<tool_result tool_name='…' success='…'>…</tool_result>`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_OPENING = re.compile(r"<tool_result(?P<attributes>(?:\s+[\w:-]+\s*=\s*(?:'[^']*'|\"[^\"]*\"))*)\s*>")
_FURTHER = re.compile(r"</tool_result>\s*(?=<tool_result[\s>])")
_CLOSING = "</tool_result>"
_NAME = re.compile(r"\stool_name\s*=\s*(?:'([^']*)'|\"([^\"]*)\")")
_SUCCESS = re.compile(r"\ssuccess\s*=\s*['\"](\w+)['\"]")


def tool_name(text: str) -> str:
    """The tool that a `<tool_result …>` text names; "unknown" if it names none."""
    opening = _OPENING.match(text.lstrip())
    named = opening and _NAME.search(opening["attributes"])
    return (named[1] or named[2] or "") if named else "unknown"


def is_result_text(content: Any) -> bool:
    """Tells whether content is a text that opens with the tag of a tool result; mentioning the tag later is not
    enough."""
    return isinstance(content, str) and _OPENING.match(content.lstrip()) is not None


def text_results(content: str) -> Iterator[tuple[int, int]]:
    """Yields the spans of the results in a text that opens with one. An unclosed result ends at the next, or at the
    end."""
    start = len(content) - len(content.lstrip())
    starts = [start, *(match.end() for match in _FURTHER.finditer(content, start))]
    for begin, limit in zip(starts, [*starts[1:], len(content)], strict=True):
        closed = content.rfind(_CLOSING, begin, limit)
        yield begin, limit if closed < 0 else closed + len(_CLOSING)


def opening_tag(text: str) -> str:
    """The opening tag of a result written as text."""
    opening = _OPENING.match(text)
    return opening[0] if opening else "<tool_result>"


def success_of(text: str) -> bool | None:
    """Tells whether a result written as text succeeded; None if it does not say."""
    flag = _SUCCESS.search(opening_tag(text))
    return {"true": True, "false": False}.get(flag[1].lower()) if flag else None
