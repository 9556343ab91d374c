"""The parts of every Markdown text: headings, lines of outside text, fences, escaping.

Outside text cannot break the structure: a fence is longer than any run of backticks inside, a line contains neither
line breaks nor backticks, and `leaves_open` finds text that would swallow what follows.
"""

from __future__ import annotations

import re

from secateur.terminal import visible

SHORTEST_FENCE = 3

_BACKTICKS = re.compile("`{3,}")
_MARKS = re.compile(r"[\\*_\[\]<>&#|~]")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_OPENERS = (
    *(("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")),
    *((f"<{tag}", f"</{tag}>") for tag in ("textarea", "pre", "script", "style")),
)


def heading(level: int, text: str) -> str:
    """Formats a heading from trusted words."""
    return f"{'#' * level} {text}\n"


def one_line(text: str, *, quotes: bool = True) -> str:
    """Makes outside text safe as a part of one line. With `quotes` it can stand between backticks."""
    line = " ".join(text.split())
    return replace_backticks(line) if quotes else visible(line)


def replace_backticks(text: str) -> str:
    """Makes outside text safe between backticks."""
    return visible(text).replace("`", "'")


def escape_line(line: str) -> str:
    """Escapes all Markdown marks in a line."""
    return _MARKS.sub(lambda mark: "\\" + mark[0], line)


def longest_run(text: str) -> int:
    """Returns the longest run of backticks if 3 or more, else 0."""
    return max(map(len, _BACKTICKS.findall(text)), default=0) if "```" in text else 0


def fence_ends(language: str, backticks: int = 0) -> tuple[str, str]:
    """Returns (start, end) of a block with no longer run of backticks. The start's line is not ended."""
    fence = "`" * max(SHORTEST_FENCE, backticks + 1)
    return fence + language, f"{fence}\n\n"


def block(text: str, language: str) -> tuple[str, str, str]:
    """Puts a text into a fence that it cannot close, followed by a blank line. The three pieces' tokens add up."""
    start, end = fence_ends(language, longest_run(text))
    return start + "\n", text if text.endswith("\n") else text + "\n", end


def leaves_open(text: str) -> bool:
    """Tells whether a Markdown text leaves a fence or a tag open, which would swallow what follows."""
    fence = ""
    for line in lines_of(text):
        if (match := _FENCE.fullmatch(line)) and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not match[2].strip():
            fence = ""
    lower = text.lower()
    return bool(fence) or any(lower.rfind(opener) > lower.rfind(closer) for opener, closer in _OPENERS)


def lines_of(text: str) -> list[str]:
    """Splits a Markdown text into lines, whatever the line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
