"""The nouns of a diff: hunks, patches, changed files. Frozen; the exact text of every patch is kept. Reads hunks: each
must end where its head says; an error names the damaged line and the fault.

Text is the diff's bytes as UTF-8; bytes that are not UTF-8 travel as lone surrogates (`surrogateescape`), so that
nothing is lost on the way. Lines end at `\\n` alone: a carriage return or a form feed belongs to its line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from operator import add

from msgspec import Struct

from secateur.terminal import clip, visible

SYMBOLIC_LINK = "120000"
SUBMODULE = "160000"

NOT_IN_CLONE = "its content is not in this clone"  # the fault of a file that cannot be diffed
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


class Row(Struct, frozen=True):
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
        sides: dict[str, tuple[tuple[bool, ...], bool]] = {}  # by the marks before a line, of which a diff has few
        known: dict[str, Row] = {}  # equal lines share a row
        for line in lines_of(self.body):
            if (row := known.get(line)) is not None:
                rows.append(row)
                continue
            if line.startswith(_NO_NEWLINE):
                if rows:
                    rows[-1] = Row(rows[-1].text + line, rows[-1].old, rows[-1].new)
                continue
            marks = line[:parents]
            if marks not in sides:
                shown, removed = marks.rstrip("\r\n").ljust(parents), "-" in marks
                sides[marks] = tuple(mark == ("-" if removed else " ") for mark in shown), not removed
            known[line] = row = Row(line, *sides[marks])
            rows.append(row)
        return rows


@dataclass(frozen=True, slots=True)
class Patch:
    """One section of a diff about one file: everything up to the next file."""

    line: int  # 1-based line where it starts
    path: str  # the new path; of a deleted file the old one
    old_path: str
    treatment: Treatment
    header: str  # all lines before the first hunk; the whole of a patch without hunks
    hunks: tuple[Hunk, ...] = ()
    binary: bool = False
    modes: frozenset[str] = frozenset()  # file modes it names: "100644", SYMBOLIC_LINK, ...
    old_id: str = ""  # of the blobs as the diff gives them: maybe shortened, "" for none
    new_id: str = ""
    added: int = 0  # lines
    removed: int = 0
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
            marks = len(hunk.old)
            texts = [row.text for row in hunk.rows() if (row.new if new else row.old[0])]
            shown += enumerate([text[marks : text.find("\n")] for text in texts], number)
            if texts and "\n" not in texts[-1]:
                shown[-1] = shown[-1][0], texts[-1][marks:]
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
    olds, new = tuple(first + (not count) for first, count in hunk.old), hunk.new[0] + (not hunk.new[1])
    for row in rows:
        yield olds, new, row
        if any(row.old):
            olds = tuple(map(add, olds, row.old))
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


_SHOWN_CELLS = 60  # cells of a line that an error quotes
_HUNK = re.compile(r"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@(.*)", re.DOTALL)
_MERGE_HUNK = re.compile(r"(@{3,}) ((?:-\d{1,10}(?:,\d{1,10})? )+)\+(\d{1,10})(?:,(\d{1,10}))? (@{3,})(.*)", re.DOTALL)
_RANGE = re.compile(r"-(\d+)(?:,(\d+))?")


class Damage(Exception):
    """The rest of a file cannot be read."""

    def __init__(self, fault: str, hint: str, resume: int, *, behind: bool = False) -> None:
        super().__init__(fault)
        self.fault = fault
        self.hint = hint
        self.resume = resume  # the first line that may belong to another file
        self.behind = behind  # whether the file before is the damaged one


class HunkReader:
    """Holds the lines of a diff and reads the hunk at the current line."""

    def __init__(self, text: str, name: str) -> None:
        self._lines = text.split("\n")
        self._closed = self._lines[-1] == ""
        if self._closed:
            self._lines.pop()
        self._name = name
        self._at = 0
        self._hunk_end = -1  # where the last hunk ended
        self._path = ""  # of the current file, if known

    def _names_follow(self, at: int) -> bool:
        lines = self._lines[at : at + 3]
        return len(lines) == 3 and all(map(str.startswith, lines, ("--- ", "+++ ", "@@")))

    def _hunk(self) -> tuple[Hunk, int, int]:
        start = self._at
        head = self._lines[start]
        if plain := _HUNK.fullmatch(head):
            old: tuple[tuple[int, int], ...] = (_range(plain[1], plain[2]),)
            new, section = _range(plain[3], plain[4]), plain[5]
        else:
            merge = _MERGE_HUNK.fullmatch(head)
            old = tuple(_range(first, count) for first, count in _RANGE.findall(merge[2])) if merge else ()
            if not merge or merge[1] != merge[5] or len(old) != len(merge[1]) - 1:
                raise self._damage_at(
                    start, f"is not a hunk header: {self._quote_line(start)}", "the diff is damaged; make it again"
                )
            new, section = _range(merge[3], merge[4]), merge[6]
        self._at += 1
        added, removed = self._plain_body(start, old[0][1], new[1]) if len(old) == 1 else self._merge_body(len(old))
        if self._at - 1 > start and self._names_follow(self._at - 1):
            raise self._damage_at(
                start, "promises lines that name another file", "the diff was edited or is damaged", resume=self._at - 1
            )
        while self._at < len(self._lines) and self._lines[self._at].startswith("\\"):
            self._at += 1
        self._hunk_end = self._at
        texts = self._text(start, start + 1), self._text(start + 1, self._at)
        return Hunk(start + 1, old, new, section.removesuffix("\r"), *texts), added, removed

    def _plain_body(self, start: int, old: int, new: int) -> tuple[int, int]:
        lines, at, end = self._lines, self._at, len(self._lines)
        added = removed = 0
        left_old, left_new = old, new
        while left_old or left_new:
            mark = lines[at][:1] if at < end else "?"
            if mark == "+":
                left_new -= 1
                added += 1
            elif mark == "-":
                left_old -= 1
                removed += 1
            elif mark in (" ", "", "\r"):  # mail and editors remove the space of an empty line
                left_old -= 1
                left_new -= 1
            elif mark != "\\":
                raise self._short_hunk(start, at, (old, new), (old - left_old, new - left_new))
            if left_old < 0 or left_new < 0:
                counts = f"promises {old:,} old and {new:,} new lines; line {at + 1:,} is one more"
                raise self._damage_at(
                    start, counts, "the diff was edited or is damaged", resume=self._names_before(start, at)
                )
            at += 1
        self._at = at
        return added, removed

    def _merge_body(self, parents: int) -> tuple[int, int]:
        """Skips the lines of a combined diff's hunk, which have one mark for each parent.

        It ends at the first line without marks: git's counts of the parents' lines are wrong where git omits
        uninteresting lines.
        """
        added = removed = 0
        while self._at < len(self._lines):
            line = self._lines[self._at]
            marks = line[:parents]
            if line.startswith("\\"):
                pass
            elif len(marks) < parents or not set(marks) <= set(" +-") or {"+", "-"} <= set(marks):
                break
            elif "-" in marks:
                removed += 1
            elif "+" in marks:
                added += 1
            self._at += 1
        return added, removed

    # --- what is wrong ------------------------------------------------------------------------------------------------

    def _refuse_stray_line(self, line: str) -> None:
        signature = line.rstrip() in ("--", "")  # a mail's; git ends the last hunk with it
        below = "".join(self._lines[self._at + 1 : self._at + 2])
        names = line.startswith("--- ") and below.startswith("+++ ")  # of the next file, whose hunks do not follow
        if self._at == self._hunk_end and line[:1] in ("+", "-", " ") and not signature and not names:
            what = f"goes on after the end of its hunk: {self._quote_line(self._at)}"
            raise self._damage_at(self._at, what, "the hunk's header promises fewer lines than it has", behind=True)
        if line.startswith("@@ -") and _HUNK.fullmatch(line):
            raise self._damage_at(
                self._at,
                "is a hunk without a file: no `---` and `+++` before it",
                "give the whole diff, with the lines that name the files",
            )

    def _short_hunk(self, start: int, at: int, promised: tuple[int, int], held: tuple[int, int]) -> Damage:
        where = f"line {at + 1:,} is neither: {self._quote_line(at)}" if at < len(self._lines) else "the diff ends"
        counts = f"promises {promised[0]:,} old and {promised[1]:,} new lines; after {held[0]:,} and {held[1]:,}"
        hint = "the diff was cut off, edited or is damaged; make it again"
        return self._damage_at(start, f"{counts} {where}", hint, resume=self._names_before(start, at))

    def _names_before(self, start: int, at: int) -> int:
        """Line to go on with: `at`, or at the next file's names if they were taken for lines of the hunk at `start`."""
        return next(
            (candidate for candidate in (at - 2, at - 1) if candidate > start and self._names_follow(candidate)), at
        )

    def _damage_at(self, at: int, what: str, hint: str, *, resume: int = -1, behind: bool = False) -> Damage:
        return Damage(f"line {at + 1:,} {what}", hint, at + 1 if resume < 0 else resume, behind=behind)

    def _quote_line(self, at: int) -> str:
        return clip(visible(self._lines[at][: 4 * _SHOWN_CELLS]), _SHOWN_CELLS)

    def _text(self, start: int, end: int) -> str:
        if start >= end:
            return ""
        text = "\n".join(self._lines[start:end])
        return text if end == len(self._lines) and not self._closed else text + "\n"


def _range(first: str, count: str | None) -> tuple[int, int]:
    return int(first), int(count) if count else 1
