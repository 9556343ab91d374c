"""The chunks of a diff, each as a bar with its files below it, and the budget above them: how full every chunk is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from secateur.kinds.diff.changes import Treatment
from secateur.ledger import WRAPPER
from secateur.model import State
from secateur.terminal import clip, visible

from secateur_tui.columns import Label, ListColumn, sampled, usual
from secateur_tui.short_names import short_words
from secateur_tui.state.diff_rows import ChunkRow, DiffAnswer, RowKind, chunk_moves
from secateur_tui.state.ledger_answer import sums_of
from secateur_tui.styled_text import Line, Span, bar, line, width
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture
from secateur_tui.widgets.ledger_list import LedgerListing, label_path, measure_labels

_WAS, _TOKENS, _BESIDE = 5, 7, (8, 20, 40)
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
"""Letters of what a diff does to a file, as git abbreviates it."""


class ChunkListing(LedgerListing):
    """The chunks as headings, and their files below them. An item is a row of the answer."""

    titles: ClassVar[tuple[str, str]] = ("file", "folder")

    def list_columns(self) -> Sequence[ListColumn]:
        beside, most = _measure_beside(self.answer)
        return (
            ListColumn.fixed("was", "was", _WAS, 4),
            ListColumn.fixed("state", "", 2, 0),
            ListColumn.fixed("change", "", 1, 3),
            *measure_labels(type(self), self.answer),
            ListColumn("beside", "lines", _BESIDE[0], beside, 5, right=True, most=most),
            ListColumn.fixed("tokens", "tokens", _TOKENS, 2),
        )

    @staticmethod
    def label_of(answer: DiffAnswer, item: int) -> Label:
        row = answer.rows[item]
        if row.coverage is not None:
            return label_path(row.coverage.path)
        return Label(f"chunk {row.chunk}" if row.kind is RowKind.CHUNK else "what is left out")

    def after(self, item: int) -> int:
        row = self.answer.rows[item]
        return int(self.answer.tokens[row.chunk - 1] if row.kind is RowKind.CHUNK else row.share.after)

    def heading(self, item: int, cells: int) -> Line | None:
        row = self.answer.rows[item]
        if row.kind is RowKind.CHUNK:
            return _chunk(self.answer, row.chunk, cells)
        if row.kind is not RowKind.OUTSIDE:
            return None
        left = self.answer.left_out
        tokens = sum(entry.entry.before for entry in left)
        return line(
            Span(" left out", "bold dropped"),
            Span(f"  {counted(len(left), 'file')}, {tokens:,} tokens of the diff", "faint"),
        )

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        row = self.answer.rows[item]
        covered, state = row.coverage, row.share.state
        assert covered is not None
        moves = chunk_moves(self.comparison) if self.comparison is not None else None
        was = moves.was(covered.path) if moves is not None else ""
        if column.id == "was":
            return line(Span(clip(was, cells), "up" if was == "new" else "accent"))
        if column.id == "state":
            return self.decision(item, state, was == "out" or (was != "" and state is State.DROPPED))
        if column.id == "tokens":
            return line(f"{row.share.after if row.piece is not None else row.share.before:,}")
        if column.id == "change":
            return line(Span(_LETTERS[covered.file.change.treatment], "faint"))
        return line(Span(short_words(_beside(row), cells), "faint"))


@lru_cache(maxsize=2)
def _measure_beside(answer: DiffAnswer) -> tuple[int, int]:
    rows = (answer.rows[item] for item in sampled(len(answer)))
    return usual((_beside(row) for row in rows if row.coverage is not None), *_BESIDE)


def _chunk(answer: DiffAnswer, number: int, cells: int) -> Line:
    """A bar as long as those of the other chunks."""
    limit, tokens, files = answer.plan.limit, answer.tokens[number - 1], len(answer.plan.chunks[number - 1])
    of = len(answer.tokens)
    head = line(Span(f" chunk {number:>{len(f'{of}')}}/{of} ", "bold"))
    tail = line(
        Span(f" {tokens:>{len(f'{limit:,}')},}", "bold"),
        Span(f" {tokens / limit:>4.0%}  {counted(files, 'file'):<{len(f'{answer.most_files:,} files')}}", "faint"),
    )
    room = min(_LONGEST_BAR, max(_SHORTEST_BAR, cells - width(head) - width(tail) - 1))
    return (*head, *draw_fill(answer, number, room), *tail)


def draw_fill(answer: DiffAnswer, number: int, cells: int) -> Line:
    """Draws how full a chunk is: what is injected, the changes, remarks about them, what is free."""
    limit, tokens, pieces = answer.plan.limit, answer.tokens[number - 1], answer.plan.chunks[number - 1]
    whole = sum(piece.cost for piece in pieces if piece.part is None or not piece.part.shortened)
    cut = sum(piece.cost for piece in pieces) - whole
    remarks = sum(piece.filled for piece in pieces)
    injected = max(0, tokens - whole - cut - remarks)
    parts = (
        (injected, "▒", "faint"),
        (whole, "█", "kept"),
        (cut, "▓", "shortened"),
        (remarks, "░", "accent"),
        (limit - tokens, "·", "faint"),
    )
    return bar([(float(amount), texture, role) for amount, texture, role in parts], limit, cells)


def _beside(row: ChunkRow) -> str:
    """The words right of a path."""
    assert row.coverage is not None
    change = row.coverage.file.change
    if row.piece is None:
        pattern = row.coverage.entry.figures.get("pattern")
        return visible(f"pattern {pattern}" if pattern is not None else row.coverage.reason)
    if row.piece.part is not None:
        place = row.piece.part.place
        return f"{row.piece.number}/{row.piece.of}: {place.line_start:,}-{place.line_end:,}"
    return f"+{change.added:,} −{change.removed:,}" if change.added or change.removed else ""


def counted(count: int, noun: str) -> str:
    """A number of things: "1 file", "2 files"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


@lru_cache(maxsize=4)
def picture_of(answer: DiffAnswer) -> BudgetPicture:
    """The budget of a diff: a frame a chunk, and in it the parts of files as they stand there. A file that is cut
    counts once."""
    plan = answer.plan
    segments: list[list[tuple[int, int, State]]] = [[] for _ in answer.tokens]
    for item, row in enumerate(answer.rows):
        if row.piece is not None:
            segments[row.chunk - 1].append((item, row.share.after, row.share.state))
    frames = []
    for filled, tokens in zip(segments, answer.tokens, strict=True):
        frames.append(BudgetFrame.of(plan.limit, filled, tokens - sum(one[1] for one in filled)))
    files = [entry for entry in answer.ledger.entries if entry.id != WRAPPER]
    further = (counted(len(frames), "chunk"), f"fewest {plan.fewest:,}")
    return BudgetPicture(tuple(frames), sums_of(files), further=further)
