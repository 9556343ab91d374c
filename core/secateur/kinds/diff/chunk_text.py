"""The text of a chunk, in the format of the spec (CHUNKING-FORMAT), from pieces whose token counts add up.

    # Context Chunk 1/3
    ## Project Rules        if there are any
    ## Instructions         if there are any
    ## Code Changes
    one fenced block a file, or a part of one behind a line that says which
    ## About This Diff      where files are left out, or the change edits settings

A piece ends in a blank line and begins with a letter, `#` or a backtick: the word patterns of the tokenizers always cut
there, so the tokens of a chunk are the sum of the tokens of its pieces. The other counters round up by piece, so that
their sum is a bound.

Nothing from outside can pass for structure: a fence is longer than any run of backticks inside, headings above parts
hold no backticks, and rules or instructions that have one of the headings of this format in them, or leave something
open, stand in a fence of their own.

Lines beside the changes, remarks of linters and signatures, fill the free room of a chunk and never cost a further one:
the diff is packed without them, then each chunk takes as many as fit, first those about changed lines.

Writes the section of every chunk about its diff: settings that the change edits, and files left out with their rule.

A reader of a chunk cannot see what is missing. The section is bounded, and charged like the other injected text. Pure.
A pull request must not decide through `secateur.toml` which of its own changes are shown: the settings at the base
count, and a notice says so.
"""

import re
from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from secateur.errors import ConfigError, not_utf8
from secateur.kinds.diff.changes import Diff, Treatment, sendable
from secateur.kinds.diff.skip_rules import Verdict
from secateur.model import Notice, Reason
from secateur.render import markdown
from secateur.render.markdown import fence_ends, heading, leaves_open, lines_of
from secateur.render.page import listed
from secateur.settings import FILE_NAME, Committed, keys
from secateur.sources.committed import SETTINGS_FILES
from secateur.terminal import ELLIPSIS, clip
from secateur.tokens import Counter

# Code of the notice that a change edits the repository's settings; the old settings count.
SETTINGS_CHANGED = "settings_changed"

RULES_CHANGED = "rules_changed"  # code of the notice that a change edits the project's rules; the old rules count
# The file of instructions of the spec. It goes into chunks only on request: the change may have written it.
SKILL_FILE = "SKILL.md"

MOST_TOKENS = 240
SHARE = 8  # the section takes at most `MOST_TOKENS`, and at most 1/`SHARE` of a chunk
# Numbers of files to name, tried in this order until the section fits; other files are counted.
_NAME_COUNTS = (12, 8, 5, 3, 2, 1, 0)

_SHOWN_CODES = (SETTINGS_CHANGED, RULES_CHANGED)
# Rules whose files are only counted: their names say nothing about the change.
_COUNTED = (Reason.BINARY, Reason.LOCKFILE)


def skill_notice(path: str) -> Notice:
    """The notice that a file of instructions exists and is not used; `path` is how --skill takes it."""
    return Notice("skill_not_used", f"{SKILL_FILE} is not used; --skill {path} puts it into every chunk.")


def notes(
    notices: Sequence[Notice], left_out: Sequence[tuple[str, Verdict]], of: int, room: int, counter: Counter
) -> str:
    """Writes the section with as many names as fit; "" if it is empty or not even one line fits.

    Args:
        notices: all of the run; only those about settings and rules are shown.
        left_out: path and verdict of each file that is in no chunk.
        of: number of changed files.
        room: tokens the section may take.
    """
    messages = [notice.message for notice in notices if notice.code in _SHOWN_CODES]
    notice_lines = [f"- {one_line(message, 2 * LONGEST_PLACE)}\n" for message in messages]
    for named in _NAME_COUNTS:
        if not (lines := notice_lines + _list_left_out(left_out, of, named)):
            return ""
        text = "".join([heading(2, "About This Diff"), *lines, "\n"])
        if counter.count(text) <= room:
            return text
    return ""


def _list_left_out(left_out: Sequence[tuple[str, Verdict]], of: int, named: int) -> list[str]:
    if not left_out:
        return []
    by_rule = sorted(Tally(verdict.rule.label for _, verdict in left_out).items())
    shown = ", ".join(f"{rule} {count:,}" for rule, count in by_rule)
    lines = [f"- {len(left_out):,} of {of:,} changed files are left out: {shown}.\n"]
    worth_naming = [entry for entry in left_out if entry[1].rule not in _COUNTED]
    for path, verdict in worth_naming[:named]:
        rule, matched = verdict.words
        detail = f" (`{one_line(matched, LONGEST_PLACE)}`)" if matched else ""
        lines.append(f"- `{one_line(path, 2 * LONGEST_PLACE)}`: {rule}{detail}\n")
    if 0 < named < len(worth_naming):
        lines.append(f"- and {len(worth_naming) - named:,} more.\n")
    return lines


_NAMED = 8  # most keys that a notice names


def distrust_notice(diff: Diff, origins: Mapping[str, str]) -> Notice | None:
    """A notice if a diff without its repository may have written the settings on disk, which then do not count.
    `origins`: the origin of each setting in force."""
    touched = {path.rpartition("/")[2] for change in diff.changes for path in (change.path, change.old_path)}
    damaged = [change.text for change in diff.changes if change.fault]  # damage may hide a header
    touched |= {name for name in SETTINGS_FILES for text in damaged if name in text}
    used = {name for name in SETTINGS_FILES if any(origin.startswith(name) for origin in origins.values())}
    file = next((name for name in SETTINGS_FILES if name in touched and (name in used or name == FILE_NAME)), None)
    if file is None:
        return None
    message = "Its old content is not in the diff, so no settings of the repository are used."
    return Notice(SETTINGS_CHANGED, f"The diff changes {file}. {message}")


def settings_notice(before: Committed, diff: Diff, contents: Mapping[str, bytes | None]) -> Notice | None:
    """A notice if a diff changes the repository's settings, else None. `contents`: the new content of each file, by
    path; None if it was not read."""
    after: dict[str, bytes] = dict(before.files)
    unread = False
    for change in diff.changes:
        if change.old_path in SETTINGS_FILES and change.treatment in (Treatment.DELETED, Treatment.RENAMED):
            after.pop(change.old_path, None)
        if change.path in SETTINGS_FILES and change.treatment is not Treatment.DELETED:
            content = contents.get(change.path)
            unread = unread or content is None
            after[change.path] = content or b""
    if after == before.files and not unread:
        return None
    try:
        old, new = (committed.table() for committed in (before, Committed(after, "as changed")))
    except ConfigError:
        unread, old, new = True, None, None
    old_values, new_values = (dict(_list_keys(table[1])) if table else {} for table in (old, new))
    changed = [name for name in keys() if old_values.get(name) != new_values.get(name)]
    if not changed and not unread:
        return None
    file = next((table[0] for table in (new, old) if table), FILE_NAME)
    which = f" ({listed(changed, _NAMED)})" if changed else ""
    message = f"The chunks use the settings from before it, {before.place}."
    return Notice(SETTINGS_CHANGED, f"This change edits settings in {file}{which}. {message}")


def _list_keys(table: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if prefix + name in keys():
            yield prefix + name, value
        elif isinstance(value, Mapping):
            yield from _list_keys(value, f"{prefix}{name}.")


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
