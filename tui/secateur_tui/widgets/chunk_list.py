"""The chunks of a diff, each as a bar with its files below it, and the budget above them: how full every chunk is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from secateur.kinds.diff.changes import Treatment
from secateur.ledger import WRAPPER
from secateur.model import State
from secateur.terminal import clip, visible

from secateur_tui.columns import Label, ListColumn, sampled, usual
from secateur_tui.short_names import short_words
from secateur_tui.state.diff_rows import ChunkMoves, ChunkRow, DiffAnswer, RowKind
from secateur_tui.state.ledger_answer import sums_of
from secateur_tui.state.subject import named
from secateur_tui.styled_text import Line, Span, bar, line, width
from secateur_tui.widgets.budget_bar import BudgetFrame, BudgetPicture
from secateur_tui.widgets.listing import ItemListing, label_columns

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


class ChunkListing(ItemListing):
    """The chunks as headings, and their files below them. An item is a row of the answer."""

    def __init__(self, answer: DiffAnswer, moves: ChunkMoves | None = None) -> None:
        self._answer, self._moves = answer, moves
        self.columns = _columns(answer)

    def __len__(self) -> int:
        return len(self._answer)

    def item_at(self, line: int) -> int:
        return self._answer.item_at(line)

    def line_of(self, item: int) -> int:
        return self._answer.line_of(item)

    def label(self, item: int) -> Label:
        return _label(self._answer.rows[item])

    def tone(self, item: int) -> str:
        return "faint" if self._answer.rows[item].share.state is State.DROPPED else ""

    def after(self, item: int) -> int:
        row = self._answer.rows[item]
        return self._answer.tokens[row.chunk - 1] if row.kind is RowKind.CHUNK else row.share.after

    def heading(self, item: int, cells: int) -> Line | None:
        row = self._answer.rows[item]
        if row.kind is RowKind.CHUNK:
            return _chunk(self._answer, row.chunk, cells)
        if row.kind is not RowKind.OUTSIDE:
            return None
        left = self._answer.left_out
        tokens = sum(entry.entry.before for entry in left)
        return line(
            Span(" left out", "bold dropped"),
            Span(f"  {counted(len(left), 'file')}, {tokens:,} tokens of the diff", "faint"),
        )

    def cell(self, item: int, column: ListColumn, cells: int) -> Line:
        row = self._answer.rows[item]
        covered, state = row.coverage, row.share.state
        assert covered is not None
        was = self._moves.was(covered.path) if self._moves is not None else ""
        if column.id == "was":
            return line(Span(clip(was, cells), "up" if was == "new" else "accent"))
        if column.id == "state":
            return self.decision(item, state, was == "out" or (was != "" and state is State.DROPPED))
        if column.id == "tokens":
            return line(f"{row.share.after if row.piece is not None else row.share.before:,}")
        if column.id == "change":
            return line(Span(_LETTERS[covered.file.change.treatment], "faint"))
        return line(Span(short_words(_beside(row), cells), "faint"))


def _label(row: ChunkRow) -> Label:
    if row.coverage is not None:
        return named(row.coverage.path)
    return Label(f"chunk {row.chunk}" if row.kind is RowKind.CHUNK else "what is left out")


@lru_cache(maxsize=2)
def _columns(answer: DiffAnswer) -> tuple[ListColumn, ...]:
    files = [row for number in sampled(len(answer)) if (row := answer.rows[number]).coverage is not None]
    name, place = label_columns(map(_label, files), "file", "folder")
    beside, most = usual(map(_beside, files), *_BESIDE)
    return (
        ListColumn.fixed("was", "was", _WAS, 4),
        ListColumn.fixed("state", "", 2, 0),
        ListColumn.fixed("change", "", 1, 3),
        name,
        place,
        ListColumn("beside", "lines", _BESIDE[0], beside, 5, right=True, most=most),
        ListColumn.fixed("tokens", "tokens", _TOKENS, 2),
    )


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
