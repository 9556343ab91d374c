"""Reads the hunks of a diff. Each must end where its head says; an error names the damaged line and the fault."""

from __future__ import annotations

import re

from secateur.kinds.diff.changes import Hunk
from secateur.terminal import clip, visible

_SHOWN_CELLS = 60
"""Cells of a line that an error quotes."""

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
        """Tells whether the two lines that name a file are here and a hunk follows."""
        lines = self._lines[at : at + 3]
        return (
            len(lines) == 3
            and lines[0].startswith("--- ")
            and lines[1].startswith("+++ ")
            and lines[2].startswith("@@")
        )

    def _hunk(self) -> tuple[Hunk, int, int]:
        """Reads the hunk that starts here; returns it with the counts of added and removed lines."""
        start = self._at
        head = self._lines[start]
        plain = _HUNK.fullmatch(head)
        if plain:
            old: tuple[tuple[int, int], ...] = (_range(plain[1], plain[2]),)
            new, section = _range(plain[3], plain[4]), plain[5]
        else:
            merge = _MERGE_HUNK.fullmatch(head)
            old = tuple(_range(first, count) for first, count in _RANGE.findall(merge[2])) if merge else ()
            if not merge or merge[1] != merge[5] or len(old) != len(merge[1]) - 1:
                raise self._damage_at(
                    start, f"is no head of a hunk: {self._quote_line(start)}", "the diff is damaged; make it again"
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
        hunk = Hunk(
            start + 1,
            old,
            new,
            section.removesuffix("\r"),
            self._text(start, start + 1),
            self._text(start + 1, self._at),
        )
        return hunk, added, removed

    def _plain_body(self, start: int, old: int, new: int) -> tuple[int, int]:
        """Skips the lines of a hunk with `old` and `new` lines; returns the counts of added and removed lines."""
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
        """Raises if a line can only belong to a hunk that is longer than its head says, or that has no file."""
        signature = line.rstrip() in ("--", "")  # a mail's; git ends the last hunk with it
        below = "".join(self._lines[self._at + 1 : self._at + 2])
        names = line.startswith("--- ") and below.startswith("+++ ")  # of the next file, whose hunks do not follow
        if self._at == self._hunk_end and line[:1] in ("+", "-", " ") and not signature and not names:
            what = f"goes on behind the end of its hunk: {self._quote_line(self._at)}"
            raise self._damage_at(self._at, what, "the hunk's head promises fewer lines than it has", behind=True)
        if line.startswith("@@ -") and _HUNK.fullmatch(line):
            raise self._damage_at(
                self._at,
                "is a hunk of no file: no `---` and `+++` before it",
                "give the whole diff, with the lines that name the files",
            )

    def _short_hunk(self, start: int, at: int, promised: tuple[int, int], held: tuple[int, int]) -> Damage:
        where = f"line {at + 1:,} is neither: {self._quote_line(at)}" if at < len(self._lines) else "the diff ends"
        counts = (
            f"promises {promised[0]:,} old and {promised[1]:,} new lines; after {held[0]:,} and {held[1]:,} {where}"
        )
        return self._damage_at(
            start,
            counts,
            "the diff was cut off, edited or is damaged; make it again",
            resume=self._names_before(start, at),
        )

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
        """Lines `start` to `end` as they stand in the text."""
        if start >= end:
            return ""
        text = "\n".join(self._lines[start:end])
        return text if end == len(self._lines) and not self._closed else text + "\n"


def _range(first: str, count: str | None) -> tuple[int, int]:
    return int(first), int(count) if count else 1
