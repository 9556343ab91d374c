"""The files of a diff under a heading for each chunk that says how full it is, and the budget as a frame a chunk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import ClassVar

from secateur.kinds.diff.changes import Treatment
from secateur.kinds.diff.kind import Planned
from secateur.kinds.diff.plan import Coverage, FilePiece
from secateur.render.page import count_noun
from secateur.terminal import clip, visible

from secateur_tui.columns import ListColumn, measure_usual, sample_items
from secateur_tui.short_names import shorten_path, shorten_words
from secateur_tui.state.answer import Answer, Comparison
from secateur_tui.styled_text import Line, Span, line, stack_bar, width, wrap_words
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture
from secateur_tui.widgets.item_pages import draw_group
from secateur_tui.widgets.listing import Between, ItemListing

_BESIDE = (8, 20, 40)
_SHORTEST_BAR, _LONGEST_BAR = 8, 40

_LETTERS: Mapping[Treatment, str] = {
    Treatment.MODIFIED: "M",
    Treatment.ADDED: "A",
    Treatment.DELETED: "D",
    Treatment.RENAMED: "R",
    Treatment.COPIED: "C",
    Treatment.MODE: "m",
    Treatment.TYPE: "T",
}
"""Git's letters for what a diff does to a file."""


class ChunkListing(ItemListing):
    """The changed files in the order of the chunks that hold them; those that are left out come last."""

    titles: ClassVar[tuple[str, str]] = ("file", "folder")
    ordered_by: ClassVar[str] = "chunk"

    @property
    def between(self) -> Sequence[Between]:
        return _headings(self.answer)

    def own_columns(self) -> Sequence[ListColumn]:
        beside, most = _measure_beside(self.answer)
        return (
            ListColumn.fixed("change", "", 1, 4),
            ListColumn.fixed("chunk", "chunk", 7, 5),
            ListColumn("lines", "lines", _BESIDE[0], beside, 6, right=True, most=most),
        )

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        if column.id not in ("change", "chunk", "lines"):
            return super().cell(item, column, cells)
        planned = self.answer.outcome.payload
        if item >= len(planned.plan.coverage):
            return ()
        covered = planned.plan.coverage[item]
        if column.id == "change":
            return line(Span(_LETTERS[covered.file.change.treatment], "faint"))
        if column.id == "lines":
            return line(Span(shorten_words(_describe_lines(planned, covered), cells), "faint"))
        was = chunks_of(self.comparison.then).get(covered.path) if self.comparison is not None else None
        now = format_chunks(covered.chunks)
        moved = was is not None and sorted(was) != sorted(covered.chunks)
        words = f"{format_chunks(was)}→{now}" if moved and was is not None else now
        return line(Span(clip(words, cells), "accent" if moved else "faint"))


def chunks_of(answer: Answer[Planned]) -> Mapping[str, tuple[int, ...]]:
    """Returns the numbers of the chunks of each path; nothing for recorded decisions, which name no chunks."""
    return (
        {covered.path: covered.chunks for covered in answer.outcome.payload.plan.coverage}
        if answer.outcome.payload
        else {}
    )


def format_chunks(chunks: Sequence[int]) -> str:
    """Formats numbers of chunks: "2", "1-3", "1,4"; "out" if there are none."""
    ordered = sorted(chunks)
    if len(ordered) > 1 and all(after - before == 1 for before, after in pairwise(ordered)):
        return f"{ordered[0]}-{ordered[-1]}"
    return ",".join(map(str, ordered)) or "out"


def pieces_of(planned: Planned, covered: Coverage) -> Sequence[tuple[int, FilePiece]]:
    """Returns (chunk, piece) of a file, in the order of the chunks."""
    chunks = sorted(covered.chunks)
    pieces = ((chunk, piece) for chunk in chunks for piece in planned.plan.chunks[chunk - 1])
    return [(chunk, piece) for chunk, piece in pieces if piece.file.number == covered.file.number]


def _describe_lines(planned: Planned, covered: Coverage) -> str:
    change = covered.file.change
    if not covered.chunks:
        pattern = covered.entry.figures.get("pattern")
        return visible(f"pattern {pattern}" if pattern is not None else covered.reason)
    places = [piece.part.place for _, piece in pieces_of(planned, covered) if piece.part is not None]
    if places:
        return ", ".join(f"{place.line_start:,}-{place.line_end:,}" for place in places)
    return f"+{change.added:,} −{change.removed:,}" if change.added or change.removed else ""


@lru_cache(maxsize=2)
def _measure_beside(answer: Answer[Planned]) -> tuple[int, int]:
    planned = answer.outcome.payload
    items = (item for item in sample_items(len(answer)) if item < len(planned.plan.coverage))
    return measure_usual((_describe_lines(planned, planned.plan.coverage[item]) for item in items), *_BESIDE)


@lru_cache(maxsize=2)
def _headings(answer: Answer[Planned]) -> Sequence[Between]:
    """Returns a heading for each chunk, above the first file that begins in it or later; then for what is in none."""
    coverage, planned = answer.outcome.payload.plan.coverage, answer.outcome.payload
    firsts = sorted(min(covered.chunks) for covered in coverage if covered.chunks)
    headings, above = [], 0
    for chunk in range(1, len(planned.tokens) + 1):
        while above < len(firsts) and firsts[above] < chunk:
            above += 1
        headings.append(Between(above, partial(draw_chunk, planned, chunk)))
    left = [covered for covered in coverage if not covered.chunks]
    words = f"{count_noun(len(left), 'file')}, {sum(covered.entry.before for covered in left):,} tokens of the diff"
    if left:
        headings.append(Between(len(firsts), partial(_draw_heading, " left out", words)))
    if len(answer) > len(coverage) and coverage:
        headings.append(Between(len(coverage), partial(_draw_heading, " around the files", "in every chunk")))
    return headings


def _draw_heading(title: str, words: str, _: int) -> Line:
    return line(Span(title, "bold"), Span(f"  {words}", "faint"))


def draw_chunk(planned: Planned, chunk: int, cells: int) -> Line:
    """Draws how full a chunk is, with a bar as long as those of the other chunks."""
    plan, tokens = planned.plan, planned.tokens[chunk - 1]
    limit, of, most = plan.limit, len(planned.tokens), max(map(len, plan.chunks))
    head = line(Span(f" chunk {chunk:>{len(f'{of}')}}/{of} ", "bold"))
    files = f"{count_noun(len(plan.chunks[chunk - 1]), 'file'):<{len(f'{most:,} files')}}"
    tail = line(Span(f" {tokens:>{len(f'{limit:,}')},}", "bold"), Span(f" {tokens / limit:>4.0%}  {files}", "faint"))
    room = min(_LONGEST_BAR, max(_SHORTEST_BAR, cells - width(head) - width(tail) - 1))
    pieces = plan.chunks[chunk - 1]
    whole = sum(piece.cost for piece in pieces if piece.part is None or not piece.part.shortened)
    cut = sum(piece.cost for piece in pieces) - whole
    remarks = sum(piece.filled for piece in pieces)
    parts = (
        (max(0, tokens - whole - cut - remarks), "▒", "faint"),  # injected
        (whole, "█", "kept"),
        (cut, "▓", "shortened"),
        (remarks, "░", "accent"),
        (limit - tokens, "·", "faint"),
    )
    fill = stack_bar([(float(amount), texture, role) for amount, texture, role in parts], limit, room)
    return (*head, *fill, *tail)


def draw_pieces(planned: Planned, item: int, cells: int) -> list[Line]:
    """Draws the chunks of a file, and the lines of its parts."""
    lines: list[Line] = []
    if item >= len(planned.plan.coverage):
        return lines
    for chunk, piece in pieces_of(planned, planned.plan.coverage[item]):
        lines += [(), draw_chunk(planned, chunk, cells)]
        if (part := piece.part) is not None:
            place = part.place
            side = "old lines" if place.old else "lines"
            words = f"part {piece.number}/{piece.of}, {side} {place.line_start:,}-{place.line_end:,}"
            inside = f", inside {place.inside}" if place.inside else ""
            cut = f", {count_noun(len(part.shortened), 'line')} shortened" if part.shortened else ""
            lines += wrap_words(visible(f"{words}{inside}: {piece.cost:,} tokens{cut}"), cells, indent=" ")
        if piece.filled:
            behind = count_noun(sum(filling.lines for filling in piece.filling), "line")
            lines += wrap_words(f"{behind} of remarks behind it: {piece.filled:,} tokens", cells, indent=" ")
    return lines


def draw_moved(comparison: Comparison, cells: int) -> list[Line]:
    """Draws the files that are in other chunks since the baseline."""
    then, now = chunks_of(comparison.then), chunks_of(comparison.now)
    moved = [path for path, chunks in now.items() if sorted(then.get(path, chunks)) != sorted(chunks)]

    def draw_move(path: str) -> Line:
        head = f"{format_chunks(then[path]):>5} → {format_chunks(now[path]):<5} "
        return line(Span(head, "faint"), shorten_path(visible(path), max(1, cells - len(head))))

    return draw_group("in other chunks", "accent", moved, draw_move)


@lru_cache(maxsize=4)
def picture_of(answer: Answer[Planned]) -> BudgetPicture:
    """Returns the picture of a diff's budget: a frame for each chunk with its parts of files. A file that is cut counts
    once."""
    plan = answer.outcome.payload.plan
    item_of = {covered.file.number: (item, covered.entry.state) for item, covered in enumerate(plan.coverage)}
    frames = []
    for chunk, tokens in zip(plan.chunks, answer.outcome.payload.tokens, strict=True):
        filled = [(item_of[piece.file.number][0], piece.cost, item_of[piece.file.number][1]) for piece in chunk]
        frames.append(BudgetFrame.of(plan.limit, filled, tokens - sum(piece.cost for piece in chunk)))
    return BudgetPicture(
        tuple(frames), answer.ledger.sums, further=(count_noun(len(frames), "chunk"), f"fewest {plan.fewest:,}")
    )
