"""The parts that every Markdown text of ours is made of: headings, lines from outside, fences, escaping.

Text from outside cannot break the structure: a fence is longer than any run of backticks inside, a line holds neither
line breaks nor backticks, and `leaves_open` tells what would swallow the text behind it.
"""

from __future__ import annotations

import re

from secateur.terminal import visible

SHORTEST_FENCE = 3

_BACKTICKS = re.compile("`{3,}")
_MARKS = re.compile(r"[\\*_\[\]<>&#|~]")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_OPENERS = (
    ("<!--", "-->"),
    ("<![CDATA[", "]]>"),
    ("<?", "?>"),
    ("<!", ">"),
    ("<textarea", "</textarea>"),
    ("<pre", "</pre>"),
    ("<script", "</script>"),
    ("<style", "</style>"),
)


def heading(level: int, text: str) -> str:
    """A heading of our own words."""
    return f"{'#' * level} {text}\n"


def one_line(text: str, *, quotes: bool = True) -> str:
    """A text from outside as a part of one line, harmless. With `quotes` it can stand between backticks."""
    line = " ".join(text.split())
    return unticked(line) if quotes else visible(line)


def unticked(text: str) -> str:
    """A text from outside, harmless, that can stand between backticks."""
    return visible(text).replace("`", "'")


def escaped(line: str) -> str:
    """A line as prose: nothing in it is a mark of Markdown."""
    return _MARKS.sub(lambda mark: "\\" + mark[0], line)


def longest_run(text: str) -> int:
    """The longest run of backticks if 3 or more, else 0."""
    return max(map(len, _BACKTICKS.findall(text)), default=0) if "```" in text else 0


def fence_ends(language: str, backticks: int = 0) -> tuple[str, str]:
    """(start, end) of a block with no longer run of backticks. The line of the start is not ended."""
    fence = "`" * max(SHORTEST_FENCE, backticks + 1)
    return fence + language, f"{fence}\n\n"


def block(text: str, language: str) -> tuple[str, str, str]:
    """A text in a fence that it cannot close, and a blank line. The tokens of the three pieces add up."""
    start, end = fence_ends(language, longest_run(text))
    return start + "\n", text if text.endswith("\n") else text + "\n", end


def leaves_open(text: str) -> bool:
    """Tells whether a Markdown text leaves a fence or a tag open that would swallow what follows."""
    fence = ""
    for line in lines_of(text):
        found = _FENCE.fullmatch(line)
        if found and not fence:
            fence = found[1]
        elif found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
    lower = text.lower()
    return bool(fence) or any(lower.rfind(opener) > lower.rfind(closer) for opener, closer in _OPENERS)


def lines_of(text: str) -> list[str]:
    """The lines of a Markdown text, whatever ends them."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
