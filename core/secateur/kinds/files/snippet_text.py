"""Writes files that leave: as they are, or as snippets with their line numbers; as plain texts, or as one Markdown
document.

    Snippets:
    # Lines 12-18 of Calculator
        def add(self, a, b):
    ...

The tokens of a file are those of what leaves of it, in the form of the run, header lines, heading and fence included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from secateur.kinds.files.line_ranges import Range, merge
from secateur.languages.syntax.cutting import is_blank
from secateur.languages.syntax.fragments import language_of, split_lines
from secateur.model import FragmentKind
from secateur.render.layouts import Item, layout_of
from secateur.render.pack import item_text
from secateur.tokens import Counter

PLAIN, MARKDOWN = "plain", "markdown"
FORMS = (PLAIN, MARKDOWN)
"""The forms in which files leave: each a text of its own, or all in one document."""

HEAD = "Snippets:\n"
"""The first line of what is not a whole file (pruner spec)."""

WIDEST_GAP = 3
"""Blank lines between two snippets that go with them: a further header would cost more."""


LONGEST_OWNER = 80
"""Characters of an owner's name; longer ones are no names."""


def header(start: int, end: int, owner: str = "") -> str:
    """The line before a snippet. `owner`: the class it is a part of, whose own first line is not in it."""
    said = " ".join(owner.split())
    return f"# Lines {start}-{end}{f' of {said}' if said and len(said) <= LONGEST_OWNER else ''}\n"


def joined(ranges: Iterable[Range], lines: Sequence[str]) -> list[Range]:
    """The ranges merged, also over a few blank lines that part them."""
    out: list[Range] = []
    for start, end in merge(ranges, len(lines)):
        if out and touches(out[-1][1], start, lines):
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


def touches(end: int, start: int, lines: Sequence[str]) -> bool:
    """Tells whether a snippet that starts at line `start` goes on where one that ends at line `end` stopped."""
    return start - end - 1 <= WIDEST_GAP and all(is_blank(line) for line in lines[end : start - 1])


def snippet_text(lines: Sequence[str], ranges: Sequence[Range], owners: Sequence[str]) -> str:
    """Merged ranges of a file, each with its owner, as the text that leaves."""
    parts = zip(ranges, owners, strict=True)
    return HEAD + "".join(
        f"{header(start, end, owner)}{newline_ended(lines[start - 1 : end])}" for (start, end), owner in parts
    )


def newline_ended(lines: Sequence[str]) -> str:
    """Lines, each with its line break."""
    return "".join(f"{line}\n" for line in lines)


def block(name: str, text: str, form: str, span: Range | None = None) -> str:
    """The block that stands for one file in the text that leaves. `span`: its first and last line there, all of them
    where not given."""
    if form == PLAIN:
        return text
    first, last = span or (1, max(1, len(split_lines(text))))
    item = Item(name, first, last, str(FragmentKind.BLOCK), "")
    return item_text(layout_of(MARKDOWN), item, language_of(name, b""), text)


def cost(name: str, text: str, form: str, counter: Counter, span: Range | None = None) -> int:
    """Tokens of `block`."""
    return counter.count(block(name, text, form, span))
