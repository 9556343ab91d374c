"""The chunks of a diff, each as a bar with its files below it, and the budget above them: how full every chunk is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import ClassVar

from secateur.kinds.diff.changes import Treatment
from secateur.ledger import WRAPPER
from secateur.model import State
from secateur.render.page import count_noun
from secateur.terminal import clip, visible

from secateur_tui.columns import Label, ListColumn, measure_usual, sample_items
from secateur_tui.short_names import shorten_words
from secateur_tui.state.diff_rows import ChunkRow, DiffAnswer, RowKind, compare_chunks
from secateur_tui.state.ledger_answer import sum_states
from secateur_tui.styled_text import Line, Span, line, stack_bar, width
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
"""Git's letters for what a diff does to a file."""


class ChunkListing(LedgerListing):
    """The chunks as headings, and their files below them. An item is a row of the answer."""

    titles: ClassVar[tuple[str, str]] = ("file", "folder")
    grouped_by: ClassVar[str] = "chunk"

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
            return _draw_chunk(self.answer, row.chunk, cells)
        if row.kind is not RowKind.OUTSIDE:
            return None
        left = self.answer.left_out
        tokens = sum(entry.entry.before for entry in left)
        return line(
            Span(" left out", "bold dropped"),
            Span(f"  {count_noun(len(left), 'file')}, {tokens:,} tokens of the diff", "faint"),
        )

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        row = self.answer.rows[item]
        covered, state = row.coverage, row.share.state
        assert covered is not None
        moves = compare_chunks(self.comparison) if self.comparison is not None else None
        was = moves.was(covered.path) if moves is not None else ""
        if column.id == "was":
            return line(Span(clip(was, cells), "up" if was == "new" else "accent"))
        if column.id == "state":
            return self.decision(item, state, was == "out" or (was != "" and state is State.DROPPED))
        if column.id == "tokens":
            return line(f"{row.share.after if row.piece is not None else row.share.before:,}")
        if column.id == "change":
            return line(Span(_LETTERS[covered.file.change.treatment], "faint"))
        return line(Span(shorten_words(_describe_row(row), cells), "faint"))


@lru_cache(maxsize=2)
def _measure_beside(answer: DiffAnswer) -> tuple[int, int]:
    rows = (answer.rows[item] for item in sample_items(len(answer)))
    return measure_usual((_describe_row(row) for row in rows if row.coverage is not None), *_BESIDE)


def _draw_chunk(answer: DiffAnswer, chunk: int, cells: int) -> Line:
    """Draws a bar as long as those of the other chunks."""
    limit, tokens, files = answer.plan.limit, answer.tokens[chunk - 1], len(answer.plan.chunks[chunk - 1])
    of = len(answer.tokens)
    head = line(Span(f" chunk {chunk:>{len(f'{of}')}}/{of} ", "bold"))
    tail = line(
        Span(f" {tokens:>{len(f'{limit:,}')},}", "bold"),
        Span(f" {tokens / limit:>4.0%}  {count_noun(files, 'file'):<{len(f'{answer.most_files:,} files')}}", "faint"),
    )
    room = min(_LONGEST_BAR, max(_SHORTEST_BAR, cells - width(head) - width(tail) - 1))
    return (*head, *draw_fill(answer, chunk, room), *tail)


def draw_fill(answer: DiffAnswer, chunk: int, cells: int) -> Line:
    """Draws how full a chunk is: what is injected, the changes, remarks about them, what is free."""
    limit, tokens, pieces = answer.plan.limit, answer.tokens[chunk - 1], answer.plan.chunks[chunk - 1]
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
    return stack_bar([(float(amount), texture, role) for amount, texture, role in parts], limit, cells)


def _describe_row(row: ChunkRow) -> str:
    """Describes a row beside its path."""
    assert row.coverage is not None
    change = row.coverage.file.change
    if row.piece is None:
        pattern = row.coverage.entry.figures.get("pattern")
        return visible(f"pattern {pattern}" if pattern is not None else row.coverage.reason)
    if row.piece.part is not None:
        lines = row.piece.part.place
        return f"{row.piece.number}/{row.piece.of}: {lines.line_start:,}-{lines.line_end:,}"
    return f"+{change.added:,} −{change.removed:,}" if change.added or change.removed else ""


@lru_cache(maxsize=4)
def picture_of(answer: DiffAnswer) -> BudgetPicture:
    """Returns the picture of a diff's budget: a frame for each chunk with its parts of files. A file that is cut counts
    once."""
    plan = answer.plan
    segments: list[list[tuple[int, int, State]]] = [[] for _ in answer.tokens]
    for item, row in enumerate(answer.rows):
        if row.piece is not None:
            segments[row.chunk - 1].append((item, row.share.after, row.share.state))
    frames = []
    for filled, tokens in zip(segments, answer.tokens, strict=True):
        frames.append(BudgetFrame.of(plan.limit, filled, tokens - sum(segment[1] for segment in filled)))
    files = [entry for entry in answer.ledger.entries if entry.id != WRAPPER]
    further = (count_noun(len(frames), "chunk"), f"fewest {plan.fewest:,}")
    return BudgetPicture(tuple(frames), sum_states(files), further=further)
