"""The text of a chunk, in the format of the spec (CHUNKING-FORMAT), from pieces whose token counts add up.

    # Context Chunk 1/3
    ## Project Rules        if there are any
    ## Instructions         if there are any
    ## Code Changes
    one fenced block a file, or a part of one behind a line that says which
    ## About This Diff      where files are left out, or the change edits settings (`notes`)

A piece ends in a blank line and begins with a letter, `#` or a backtick: the word patterns of the tokenizers always cut
there, so the tokens of a chunk are the sum of the tokens of its pieces. The other counters round up by piece, so that
their sum is a bound.

Nothing from outside can pass for structure: a fence is longer than any run of backticks inside, headings above parts
hold no backticks, and rules or instructions that have one of the headings of this format in them, or leave something
open, stand in a fence of their own.

Lines beside the changes, remarks of linters and signatures, fill the free room of a chunk and never cost a further one:
the diff is packed without them, then each chunk takes as many as fit, first those about changed lines.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from secateur.errors import not_utf8
from secateur.kinds.diff.changes import sendable
from secateur.model import Notice
from secateur.render import markdown
from secateur.render.markdown import fence_ends, heading, leaves_open, lines_of
from secateur.terminal import ELLIPSIS, clip
from secateur.tokens import Counter

LONGEST_PLACE = 160  # cells of a signature in the heading of a part; the path may take twice as many
FEWEST_DIGITS = 3  # the fewest digits charged for a number in a heading: up to 999 every number is one token
_HEADING = re.compile(
    r"[\s>*+\-\d.)]*#{1,6}[\W_]*(context\s+chunk|project\s+rules|instructions|code\s+changes"
    r"|about\s+this\s+diff)(?![^\W_])",
    re.IGNORECASE,
)
_UNDERLINED = re.compile(
    r"\s*(context\s+chunk.*+|project\s+rules|instructions|code\s+changes|about\s+this\s+diff)\s*", re.IGNORECASE
)
_PART_HEADINGS = re.compile(r"\s*(part \d+/\d+ of|linter findings in|signatures around the changes of) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Injection:
    """Texts that go into every chunk beside the diff. "" for what is not there."""

    rules: str = ""
    skill: str = ""

    def head(self, number: int | str, of: int | str) -> str:
        """The text of a chunk before its changes."""
        pieces = [chunk_heading(number, of)]
        for title, text in (("Project Rules", self.rules), ("Instructions", self.skill)):
            if text.strip():
                pieces.append(f"{heading(2, title)}{fence_if_needed(text)}\n\n")
        return "".join([*pieces, heading(2, "Code Changes")])


def chunk_heading(number: int | str, of: int | str) -> str:
    """The first lines of a chunk."""
    return heading(1, f"Context Chunk {number}/{of}") + "\n"


def decode_injection(data: bytes, name: str) -> tuple[str, tuple[Notice, ...]]:
    """Decodes a file of instructions or rules. Bytes that are not UTF-8 become U+FFFD, and a notice says so. Raises
    SecateurError: `NOT_UTF8`: the file is not text, or has another encoding."""
    try:
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        if b"\0" in data:
            raise not_utf8(name, error) from error
        line = data.count(b"\n", 0, error.start) + 1
        message = f"{name}: bytes that are not UTF-8 go out as U+FFFD; the first is on line {line:,}."
        return data.decode("utf-8-sig", "replace"), (Notice("invalid_utf8", message),)


def widest_number(count: int) -> str:
    """The number to charge for one in a heading whose value is at most `count`."""
    return "9" * max(FEWEST_DIGITS, len(str(count)))


def fence_if_needed(text: str) -> str:
    """Returns a text to stand under a heading, without blank lines around it; fenced if it could pass for structure."""
    text = sendable(text).removeprefix("\ufeff").strip("\r\n").rstrip()
    lines = lines_of(text)
    passes = (
        any(_HEADING.match(line) or _PART_HEADINGS.match(line) for line in lines)
        or any(_UNDERLINED.fullmatch(line) and set(below.strip()) in ({"="}, {"-"}) for line, below in pairwise(lines))
        or leaves_open(text)
    )
    return "".join(markdown.block(text, "markdown")).rstrip("\n") if passes else text


def block(patch: str) -> str:
    """The fenced block of a patch in a chunk."""
    return "".join(block_pieces(patch))


def block_pieces(patch: str) -> tuple[str, str, str]:
    """The block in three pieces whose tokens add up: fence, patch, fence."""
    return markdown.block(sendable(patch), "diff")


@dataclass(frozen=True, slots=True)
class PartLocation:
    """The lines of a file that a part shows."""

    path: str
    old: bool  # whether lines are numbered as before the change: true for a deletion
    line_start: int
    line_end: int
    inside: str = ""  # the declaration that its first line is inside of
    cut: str = ""  # a sentence on shortened lines, without text from outside

    def heading(self, number: int | str, of: int | str) -> str:
        """The line before a part."""
        path = one_line(self.path, 2 * LONGEST_PLACE)
        inside = f", inside `{one_line(self.inside, LONGEST_PLACE)}`" if self.inside else ""
        return (
            f"Part {number}/{of} of `{path}`: {'old ' if self.old else ''}lines"
            f" {self.line_start}-{self.line_end}{inside}{self.cut and '; '}{self.cut}\n"
        )


def note_ends(title: str, path: str) -> tuple[str, str]:
    """The texts before and after a filling's lines, none of which may hold three backticks in a row."""
    start, end = fence_ends("text")
    return f"{title} `{one_line(path, 2 * LONGEST_PLACE)}`:\n{start}\n", end


def one_line(text: str, cells: int, *, quotes: bool = True) -> str:
    """Makes outside text safe as a part of one line of at most `cells`; with `quotes` also between backticks."""
    return clip(sendable(markdown.one_line(text, quotes=quotes)), cells) or ELLIPSIS


@dataclass(frozen=True, slots=True)
class Remark:
    """A line about a changed file that goes out where there is room."""

    title: str
    line: int  # in the new file; 0: the file as a whole
    rank: tuple[int, ...]  # lower goes first
    text: str  # one line, with its end
    tokens: int


@dataclass(frozen=True, slots=True)
class Filling:
    """The lines put behind one piece."""

    title: str
    text: str
    cost: int
    lines: int


def fill(
    offers: Sequence[tuple[int, Remark]], paths: Sequence[str], room: int, counter: Counter
) -> dict[int, list[Filling]]:
    """Chooses the lines that fit, by piece.

    Args:
        offers: each remark with the position in the chunk of the piece that it goes behind.
        paths: the path of each piece of the chunk.
        room: tokens left in it.
    """
    taken: dict[tuple[int, str], list[Remark]] = {}
    shells: dict[tuple[int, str], int] = {}
    for piece, remark in sorted(offers, key=lambda offer: (offer[1].rank, offer[0], offer[1].title, offer[1].text)):
        key = (piece, remark.title)
        if key not in shells:
            shells[key] = sum(counter.count_many(note_ends(remark.title, paths[piece])))
        cost = remark.tokens + (0 if key in taken else shells[key])
        if cost <= room:
            taken.setdefault(key, []).append(remark)
            room -= cost
    fillings: dict[int, list[Filling]] = {}
    for (piece, title), remarks in sorted(taken.items(), key=lambda item: item[0]):
        start, end = note_ends(title, paths[piece])
        lines = [remark.text for remark in sorted(remarks, key=lambda remark: (remark.rank[1:], remark.text))]
        cost = sum(remark.tokens for remark in remarks) + shells[piece, title]
        fillings.setdefault(piece, []).append(Filling(title, "".join([start, *lines, end]), cost, len(lines)))
    return fillings
