"""Writes the files that go out: whole, or as snippets with line numbers; as plain texts, or as one Markdown document.

    Snippets:
    # Lines 12-18 of Calculator
        def add(self, a, b):
    ...

The tokens of a file are counted on its text as it goes out, in the form of the run, with headers, heading and fence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from secateur.kinds.files.line_ranges import Range, merge
from secateur.languages.syntax.cutting import is_blank
from secateur.languages.syntax.fragments import language_of
from secateur.render.layouts import layout_of
from secateur.render.pack import body, file_block
from secateur.tokens import Counter

PLAIN, MARKDOWN = "plain", "markdown"
FORMS = (PLAIN, MARKDOWN)
"""The forms of output: each file as a text of its own, or all in one document."""

HEAD = "Snippets:\n"
"""The first line of a file that is not whole (pruner spec)."""

WIDEST_GAP = 3
"""Most blank lines that join two snippets: a further header would cost more."""

LONGEST_OWNER = 80
"""Longest name of an owner, in characters; a longer text is not a name."""


def header(start: int, end: int, owner: str = "") -> str:
    """The line before a snippet. `owner`: the class around it, if its first line is not in the snippet."""
    name = " ".join(owner.split())
    return f"# Lines {start}-{end}{f' of {name}' if name and len(name) <= LONGEST_OWNER else ''}\n"


def merge_ranges(ranges: Iterable[Range], lines: Sequence[str]) -> list[Range]:
    """Merges ranges, also across a few blank lines."""
    merged: list[Range] = []
    for start, end in merge(ranges, len(lines)):
        if merged and touches(merged[-1][1], start, lines):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def touches(end: int, start: int, lines: Sequence[str]) -> bool:
    """Tells whether only a few blank lines separate a snippet ending at `end` from one starting at `start`."""
    return start - end - 1 <= WIDEST_GAP and all(is_blank(line) for line in lines[end : start - 1])


def snippet_text(lines: Sequence[str], ranges: Sequence[Range], owners: Sequence[str]) -> str:
    """Writes merged ranges of a file, each with its owner, as snippets."""
    parts = zip(ranges, owners, strict=True)
    return HEAD + "".join(
        f"{header(start, end, owner)}{end_lines(lines[start - 1 : end])}" for (start, end), owner in parts
    )


def end_lines(lines: Sequence[str]) -> str:
    """Joins lines, each with its line break."""
    return "".join(f"{line}\n" for line in lines)


def block(name: str, text: str, form: str) -> str:
    """Formats one file for the output."""
    return text if form == PLAIN else file_block(layout_of(MARKDOWN), name, language_of(name, b""), body(text))


def cost(name: str, text: str, form: str, counter: Counter) -> int:
    """Tokens of `block`."""
    return counter.count(block(name, text, form))
