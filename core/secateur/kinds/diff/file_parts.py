"""Cuts a file larger than a chunk into parts: between functions, else between hunks, else between lines.

Each part is a patch of its own: the file's header, and hunks whose heads count their lines and keep the line numbers
of the file, so that a comment on line 812 of a part is one on line 812 of the file. The rows of all parts together are
the rows of the file, in order and once each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from msgspec import Struct, structs

from secateur.kinds.diff.changes import Change, Row, Treatment, number_rows
from secateur.kinds.diff.chunk_text import PartLocation, block, widest_number
from secateur.model import FileFacts, FragmentKind
from secateur.tokens import Counter

# Characters kept of a line too long for a chunk while chunks are packed: enough to recognise it, too few to push
# another file out. After packing, `lengthen_lines` uses the room that is left.
KEPT_OF_A_LINE = 400

SHORTER = 4  # divides the kept characters of a line that is still too long
_CLOSE = 64  # cut lines are lengthened to within 1/64 of the room
_HUNK_HEAD_SPARE = 6  # tokens that a hunk's head may grow by: its counts are not known before the cut


@dataclass(frozen=True, slots=True)
class Outline:
    """The fragments of a file, to cut between them; line numbers are those of the new file, of a deleted file the
    old."""

    starts: tuple[int, ...]  # first lines, rising
    facts: FileFacts
    lines: Sequence[str]

    @classmethod
    def of(cls, facts: FileFacts, lines: Sequence[str]) -> Outline:
        """Makes the outline from the parsed facts of a file."""
        return cls(tuple(fragment.line_start for fragment in facts.fragments), facts, lines)

    def fragment(self, line: int) -> int:
        """Index of the fragment that holds the line or ends before it; -1 before the first."""
        return bisect_right(self.starts, line) - 1

    def inside(self, line: int) -> str:
        """The declaration around a line, with its class; "" at the first line of a top-level function and outside
        any."""
        index = self.fragment(line)
        if index < 0:
            return ""
        fragment = self.facts.fragments[index]
        if fragment.line_start == line:
            if fragment.parent < 0:
                return ""
            fragment = self.facts.fragments[fragment.parent]
        if not fragment.name:
            return ""
        declared = (
            " ".join(line.strip() for line in self.lines[fragment.sig_start - 1 : fragment.sig_end])
            if fragment.kind is not FragmentKind.SECTION
            else ""
        )
        owner = fragment.qualname.rpartition(".")[0]
        return ": ".join(text for text in (owner, declared or fragment.name) if text)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a file."""

    text: str  # a patch
    place: PartLocation
    rows: int
    # (line number, characters left out) of lines that would fill a chunk alone
    shortened: tuple[tuple[int, int], ...]
    cost: int = 0  # tokens of its block with the longest possible heading
    span: tuple[int, int] = (0, 0)  # its rows within the rows of the file
    cut: tuple[int, ...] = ()  # positions of its shortened rows
    kept: int = 0  # the most characters that a shortened row keeps


class _Unit(Struct, frozen=True, gc=False):
    """A row with its place. A file may have millions."""

    patch: int
    hunk: int
    olds: tuple[int, ...]
    new: int
    row: Row
    cost: int
    fragment: int
    original: str = ""  # its whole text if the row holds only the beginning
    kept: int = 0  # characters of `original` that the row holds

    @property
    def missing(self) -> int:
        return len(self.original.partition("\n")[0]) - self.kept if self.original else 0


class Splitter:
    """Cuts one changed file for any capacity. Its rows are counted once, at the first use."""

    def __init__(self, change: Change, counter: Counter, outline: Outline | None) -> None:
        self._change, self._counter, self._outline = change, counter, outline
        self._old = change.treatment is Treatment.DELETED

    @cached_property
    def _units(self) -> list[_Unit]:
        units: list[_Unit] = []
        fragment = self._outline.fragment if self._outline else lambda _: -1
        for patch_index, patch in enumerate(self._change.patches):
            for hunk_index, hunk in enumerate(patch.hunks):
                rows = hunk.rows()
                costs = self._counter.count_many([row.text for row in rows])
                for (olds, new, row), cost in zip(number_rows(hunk, rows), costs, strict=True):
                    units.append(
                        _Unit(patch_index, hunk_index, olds, new, row, cost, fragment(olds[0] if self._old else new))
                    )
        return units

    @cached_property
    def _heads(self) -> list[int]:
        return self._counter.count_many([patch.header for patch in self._change.patches])

    def parts(self, capacity: int) -> list[Part] | None:
        """Returns parts of at most `capacity` tokens each, headings included; None if not even one line fits."""
        parts: list[Part] = []
        units = list(self._units)
        start = 0
        while start < len(units):
            end = self._reach_end(units, start, capacity)
            while end > start:
                part = self._part(units, start, end)
                spent = self._counter.count(self.heading(part) + block(part.text))
                if spent <= capacity:
                    parts.append(replace(part, cost=spent))
                    start = end
                    break
                excess = spent - capacity
                while end > start and excess > 0:
                    end -= 1
                    excess -= max(units[end].cost, 1)
                end = self._find_cut(units, start, end)
            else:  # not even one line fits: try again with a shorter one
                unit = units[start]
                kept = unit.kept // SHORTER if unit.original else KEPT_OF_A_LINE
                if kept <= len(unit.row.old) or len(_line_of(unit)) <= kept:
                    return None
                short = self._cut_line(unit, kept)
                units[start] = structs.replace(short, cost=self._counter.count(short.row.text))
        return parts or None

    def heading(self, part: Part) -> str:
        """The heading of a part with the widest possible numbers."""
        most = widest_number(len(self._units))
        return part.place.heading(most, most)

    def lengthen_lines(self, part: Part, room: int) -> Part:
        """Lengthens the shortened lines of a part, all to the same length, by at most `room` tokens."""
        best, (start, end) = part, part.span
        low, high = part.kept, max((len(_line_of(self._units[at])) for at in part.cut), default=part.kept)
        while high - low > low // _CLOSE:
            kept = (low + high + 1) // 2
            units = list(self._units)
            for at in part.cut:
                units[at] = self._cut_line(units[at], kept)
            longer = self._part(units, start, end)
            cost = self._counter.count(self.heading(longer) + block(longer.text))
            if cost <= part.cost + room:
                best, low = replace(longer, cost=cost), kept
            else:
                high = kept - 1
        return best

    # --- where to cut -------------------------------------------------------------------------------------------------

    def _reach_end(self, units: list[_Unit], start: int, capacity: int) -> int:
        first = units[start]
        heading = self._locate_part(units, start, start + 1).heading(widest_number(0), widest_number(0))
        spent = self._heads[first.patch] + sum(map(self._counter.count, (block(""), heading)))
        end = start
        previous = None
        while end < len(units):
            unit = units[end]
            if previous is None or (unit.patch, unit.hunk) != (previous.patch, previous.hunk):
                hunk = self._change.patches[unit.patch].hunks[unit.hunk]
                spent += self._counter.count(hunk.head) + _HUNK_HEAD_SPARE
                spent += self._heads[unit.patch] if previous is not None and unit.patch != previous.patch else 0
            spent += unit.cost
            if spent > capacity:
                break
            previous = unit
            end += 1
        return self._find_cut(units, start, max(end, start + 1))

    def _find_cut(self, units: list[_Unit], start: int, end: int) -> int:
        """Returns the best cut at or before `end`: between functions, else between hunks, else `end`; at least
        `start`."""
        if end >= len(units) or end <= start + 1:
            return max(start, min(end, len(units)))
        between_hunks = 0
        for at in range(end, start, -1):
            before, after = units[at - 1], units[at]
            if before.fragment != after.fragment or before.patch != after.patch:
                return at
            if not between_hunks and before.hunk != after.hunk:
                between_hunks = at
        return between_hunks or end

    # --- what a part is -----------------------------------------------------------------------------------------------

    def _part(self, units: list[_Unit], start: int, end: int) -> Part:
        pieces: list[str] = []
        patches, at = self._change.patches, start
        patch = min(units[start - 1].patch + 1, units[start].patch) if start else 0
        while at < end:
            unit = units[at]
            pieces += [wordless.text for wordless in patches[patch : unit.patch]]  # between, without hunks
            pieces.append(patches[unit.patch].header)
            while at < end and units[at].patch == unit.patch:
                stop = at
                while stop < end and (units[stop].patch, units[stop].hunk) == (unit.patch, units[at].hunk):
                    stop += 1
                pieces.append(self._piece(units, at, stop))
                at = stop
            patch = unit.patch + 1
        if end == len(units):
            pieces += [wordless.text for wordless in patches[patch:]]
        cut = tuple(at for at in range(start, end) if units[at].original)
        shortened = tuple((self._line(units[at]), units[at].missing) for at in cut)
        cuts = _describe_cuts([units[at] for at in cut], [line for line, _ in shortened])
        location = replace(self._locate_part(units, start, end), cut=cuts)
        kept = max((units[at].kept for at in cut), default=0)
        return Part("".join(pieces), location, end - start, shortened, 0, (start, end), cut, kept)

    def _piece(self, units: list[_Unit], start: int, end: int) -> str:
        first, rows = units[start], [unit.row for unit in units[start:end]]
        hunk = self._change.patches[first.patch].hunks[first.hunk]
        body = "".join(row.text for row in rows)
        if body == hunk.body:
            return hunk.text
        begins = start == 0 or (units[start - 1].patch, units[start - 1].hunk) != (first.patch, first.hunk)
        section = hunk.section
        if self._outline and not begins:
            inside = self._outline.inside(self._line(first))
            section = f" {inside}" if inside else ""
        marks = "@" * (len(hunk.old) + 1)
        olds = [_range(first.olds[parent], sum(row.old[parent] for row in rows)) for parent in range(len(hunk.old))]
        ranges = " ".join([*(f"-{old}" for old in olds), f"+{_range(first.new, sum(row.new for row in rows))}"])
        return f"{marks} {ranges} {marks}{' '.join(section.splitlines())}\n{body}"

    def _locate_part(self, units: list[_Unit], start: int, end: int) -> PartLocation:
        first, last = self._line(units[start]), self._line(units[end - 1])
        held = units[end - 1].row.old[0] if self._old else units[end - 1].row.new
        inside = (
            self._outline.inside(first)
            if self._outline
            else self._change.patches[units[start].patch].hunks[units[start].hunk].section.strip()
        )
        return PartLocation(self._change.path, self._old, first, max(first, last if held else last - 1), inside)

    def _line(self, unit: _Unit) -> int:
        return unit.olds[0] if self._old else unit.new

    # --- lines that alone are too long --------------------------------------------------------------------------------

    @staticmethod
    def _cut_line(unit: _Unit, kept: int) -> _Unit:
        original = unit.original or unit.row.text
        line, end, rest = original.partition("\n")
        if len(line) <= kept:
            return structs.replace(unit, row=structs.replace(unit.row, text=original), original="", kept=0)
        text = f"{line[:kept]}… [{len(line) - kept:,} more characters]{end}{rest}"
        return structs.replace(unit, row=structs.replace(unit.row, text=text), original=original, kept=kept)


def _line_of(unit: _Unit) -> str:
    return (unit.original or unit.row.text).partition("\n")[0]


def _describe_cuts(units: Sequence[_Unit], lines: Sequence[int]) -> str:
    if not units:
        return ""
    shown, whole = sum(unit.kept for unit in units), sum(len(_line_of(unit)) for unit in units)
    if len(units) == 1:
        return f"line {lines[0]} is cut to {shown:,} of its {whole:,} characters"
    return f"{len(units):,} lines are cut to {shown:,} of their {whole:,} characters"


def _range(first: int, count: int) -> str:
    return f"{first if count else max(first - 1, 0)},{count}"  # an empty one names the line before it, as in any diff
