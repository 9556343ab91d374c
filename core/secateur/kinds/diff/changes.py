"""The nouns of a diff: hunks, patches, changed files. Frozen; the exact text of every patch is kept.

Text is the diff's bytes as UTF-8; bytes that are not UTF-8 travel as lone surrogates (`surrogateescape`), so that
nothing is lost on the way. Lines end at `\\n` alone: a carriage return or a form feed belongs to its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

SYMBOLIC_LINK = "120000"
SUBMODULE = "160000"

NOT_IN_CLONE = "its content is not in this clone"
"""The fault of a file that cannot be diffed."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_NEWLINE = "\\"


class Treatment(StrEnum):
    """The kinds of change that a diff makes to a file."""

    MODIFIED = "modified"
    ADDED = "added"
    DELETED = "deleted"
    RENAMED = "renamed"
    COPIED = "copied"
    MODE = "mode"  # only its permissions
    TYPE = "type"  # a file became a link, a link a submodule, ...


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a hunk with its line end, and its `\\ No newline at end of file` if it has one."""

    text: str
    old: tuple[bool, ...]  # per parent: whether the line is in it
    new: bool  # whether the line is in the result

    @property
    def changed(self) -> bool:
        """Tells whether a parent or the result lacks the row."""
        return not (self.new and all(self.old))


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch of changed lines with its context. Ranges are (first line, number of lines) as the diff gives them."""

    line: int  # 1-based line of its head in the diff
    old: tuple[tuple[int, int], ...]  # one range a parent: several in a combined diff of a merge
    new: tuple[int, int]
    section: str  # the text behind the ranges, without line end: the enclosing declaration as git sees it
    head: str  # its first line, with line end
    body: str  # all other lines

    @property
    def text(self) -> str:
        """The hunk as it stands in the diff."""
        return self.head + self.body

    def rows(self) -> list[Row]:
        """Its lines, in order."""
        rows: list[Row] = []
        parents = len(self.old)
        for line in lines_of(self.body):
            if line.startswith(_NO_NEWLINE):
                if rows:
                    rows[-1] = Row(rows[-1].text + line, rows[-1].old, rows[-1].new)
                continue
            marks = line[:parents].rstrip("\r\n").ljust(parents)
            removed = "-" in marks
            rows.append(Row(line, tuple(mark == "-" if removed else mark == " " for mark in marks), not removed))
        return rows


@dataclass(frozen=True, slots=True)
class Patch:
    """One section of a diff about one file: everything up to the next file."""

    line: int  # 1-based line where it starts
    path: str  # the new path; of a deleted file the old one
    old_path: str
    treatment: Treatment
    header: str  # all lines before the first hunk; the whole of a patch without hunks
    hunks: tuple[Hunk, ...]
    binary: bool
    modes: frozenset[str]  # file modes it names: "100644", SYMBOLIC_LINK, ...
    old_id: str  # of the blobs as the diff gives them: maybe shortened, "" for none
    new_id: str
    added: int  # lines
    removed: int
    fault: str = ""  # of a damaged patch: what is wrong on which line; its header then holds all its text

    @property
    def text(self) -> str:
        """The patch as it stands in the diff."""
        return self.header + "".join(hunk.text for hunk in self.hunks)


@dataclass(frozen=True)
class Change:
    """One changed file with its patches: mostly one; a file that became a link has two."""

    patches: tuple[Patch, ...]  # at least one

    @property
    def path(self) -> str:
        """The new path; for a deleted file the old one."""
        return self.patches[-1].path

    @property
    def old_path(self) -> str:
        """The path before the change."""
        return self.patches[0].old_path

    @property
    def treatment(self) -> Treatment:
        """The kind of change."""
        first, last = self.patches[0].treatment, self.patches[-1].treatment
        if (first, last) == (Treatment.DELETED, Treatment.ADDED):
            return Treatment.TYPE
        return last if len(self.patches) == 1 else Treatment.MODIFIED

    @property
    def binary(self) -> bool:
        """Tells whether any patch cannot be shown as text."""
        return any(patch.binary for patch in self.patches)

    @property
    def fault(self) -> str:
        """The first patch's damage, "" if none is damaged."""
        return next((patch.fault for patch in self.patches if patch.fault), "")

    @property
    def added(self) -> int:
        """Lines."""
        return sum(patch.added for patch in self.patches)

    @property
    def removed(self) -> int:
        """Lines."""
        return sum(patch.removed for patch in self.patches)

    @cached_property
    def text(self) -> str:
        """Its patches as they stand in the diff."""
        return "".join(patch.text for patch in self.patches)

    def side(self, *, new: bool) -> list[tuple[int, str]]:
        """The lines of the new (or the old) file that the diff shows: (number, text without line end), in order."""
        shown: list[tuple[int, str]] = []
        for hunk in (hunk for patch in self.patches for hunk in patch.hunks):
            number = hunk.new[0] if new else hunk.old[0][0]
            for row in hunk.rows():
                if row.new if new else row.old[0]:
                    shown.append((number, row.text[len(hunk.old) :].split("\n", 1)[0]))
                    number += 1
        return shown

    def changed_lines(self) -> frozenset[int]:
        """Numbers of the lines of the result that were added or changed."""
        return frozenset(
            new
            for patch in self.patches
            for hunk in patch.hunks
            for _, new, row in number_rows(hunk, hunk.rows())
            if row.new and row.changed
        )


@dataclass(frozen=True, slots=True)
class Diff:
    """A parsed diff: every changed file once, in the order of the diff."""

    changes: tuple[Change, ...]
    # (first line, number of lines) of text outside any file: messages of commits, notes of tools
    outside: tuple[tuple[int, int], ...]
    lines: int

    def __len__(self) -> int:
        return len(self.changes)


def lines_of(text: str) -> list[str]:
    """The lines of a text, each with its `\\n`; only the last may lack it."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def sendable(text: str) -> str:
    """Returns `text` as valid UTF-8: surrogates that stand for invalid bytes become U+FFFD, which all counters count
    alike."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def number_rows(hunk: Hunk, rows: list[Row]) -> Iterator[tuple[tuple[int, ...], int, Row]]:
    """Yields each row with its line number in every parent and in the result."""
    # A range without lines names the line before it.
    olds, new = (
        [first if count else first + 1 for first, count in hunk.old],
        hunk.new[0] if hunk.new[1] else hunk.new[0] + 1,
    )
    for row in rows:
        yield tuple(olds), new, row
        olds = [line + present for line, present in zip(olds, row.old, strict=True)]
        new += row.new


def line_numbers(change: Change) -> list[int]:
    """For each line of a change's text its line number in the result; of removed lines the old number, of headers 1."""
    numbers: list[int] = []
    for patch in change.patches:
        numbers += [1] * len(lines_of(patch.header))
        for hunk in patch.hunks:
            numbers.append(hunk.new[0])
            for olds, new, row in number_rows(hunk, hunk.rows()):
                numbers += [new if row.new else olds[0]] * len(lines_of(row.text))
    return numbers
