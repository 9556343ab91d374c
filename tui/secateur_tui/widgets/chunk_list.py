"""The chunks of a diff, each as a bar with its files below it, and the budget above them: how full every chunk is."""

from __future__ import annotations

from collections.abc import Mapping

from secateur.kinds.diff.changes import Treatment
from secateur.model import State
from secateur.terminal import cell_width, clip, clip_left, visible

from secateur_tui.state.diff_rows import ChunkRow, DiffAnswer, RowKind
from secateur_tui.styled_text import Line, Span, bar, first_fitting, fit, line, width

_WAS, _TOKENS = 5, 8
_SHORTEST_BAR, _LONGEST_BAR = 8, 40
_LEAST_SLOT = 3
"""Cells of a chunk in the budget's bar, at least; where there are more chunks, the bar is that of all together."""
_PATH_SHARE = 0.55
"""Share of a line's rest that a path gets where what stands beside it is long."""

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


def draw_header() -> Line:
    """Titles of the columns."""
    return line(Span(f" {'was':>{_WAS}}    {'tokens':>{_TOKENS}}   file", "faint"))


def draw_row(answer: DiffAnswer, item: int, cells: int, was: str) -> Line:
    """One row: a chunk as a bar, or a file with its tokens; `was` says in which chunks it stood before."""
    row = answer.rows[item]
    if row.kind is RowKind.CHUNK:
        return _chunk(answer, row.chunk, cells)
    if row.kind is RowKind.OUTSIDE:
        tokens = sum(entry.entry.before for entry in answer.left_out)
        return line(
            Span(" left out", "bold dropped"),
            Span(f"  {counted(len(answer.left_out), 'file')}, {tokens:,} tokens of the diff", "faint"),
        )
    return _file(row, cells, was)


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


def _file(row: ChunkRow, cells: int, was: str) -> Line:
    entry, state = row.coverage, row.share.state
    assert entry is not None
    tone = "faint" if state is State.DROPPED else ""
    tokens = row.share.after if row.piece is not None else row.share.before
    head = (
        Span(f" {clip(was, _WAS):>{_WAS}} ", "up" if was == "new" else "accent"),
        Span("!" if was == "out" or (was and state is State.DROPPED) else " ", "warning"),
        Span(state.glyph, state.label),
        Span(f" {tokens:>{_TOKENS},} ", tone),
        Span(f"{_LETTERS[entry.file.change.treatment]} ", "faint"),
    )
    room = max(1, cells - width(head))
    beside = _beside(row)
    share = max(room - cell_width(beside) - 1, int(room * _PATH_SHARE))
    path = fit(clip_left(visible(entry.path), share), share)
    return (*head, Span(path, tone), Span(f" {clip(beside, max(0, room - share - 1))}", "faint"))


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


def draw_budget(answer: DiffAnswer, then: DiffAnswer | None, cells: int) -> list[Line]:
    """Every chunk as a bar beside the others, and the figures of all."""
    plan, of = answer.plan, len(answer.tokens)
    full = plan.limit * of
    slot = (cells - of + 1) // of if of else 0
    if not of:
        drawn = line(Span("·" * cells, "faint"))
    elif slot >= _LEAST_SLOT:
        drawn = tuple(span for number in range(1, of + 1) for span in (*draw_fill(answer, number, slot), Span(" ")))[
            :-1
        ]
    else:
        injected = sum(
            max(0, tokens - sum(piece.cost + piece.filled for piece in pieces))
            for tokens, pieces in zip(answer.tokens, plan.chunks, strict=True)
        )
        drawn = bar(
            [(injected, "▒", "faint"), (answer.ledger.after - injected, "█", "kept"), (answer.free, "·", "faint")],
            full,
            cells,
        )
    was = f" (was {len(then.tokens):,})" if then is not None and len(then.tokens) != of else ""
    chunks = line(Span(counted(of, "chunk"), "bold"), was, Span(f" of {plan.limit:,}", "bold"))
    fewest = Span(f" (fewest {plan.fewest:,})", "faint")
    files = len(plan.coverage) - len(answer.left_out) - answer.shortened
    out = sum(entry.entry.before for entry in answer.left_out)
    kept, cut, dropped = State.KEPT, State.SHORTENED, State.DROPPED
    long = line(Span(f"  {kept.glyph} whole ", kept.label), f"{files:,}")
    short = line(Span(f"  {kept.glyph} ", kept.label), f"{files:,}")
    if answer.shortened:
        long += line(Span(f"  {cut.glyph} shortened ", cut.label), f"{answer.shortened:,}")
        short += line(Span(f"  {cut.glyph} ", cut.label), f"{answer.shortened:,}")
    if answer.left_out:
        long += line(Span(f"  {dropped.glyph} left out ", dropped.label), f"{len(answer.left_out):,} ({out:,} tokens)")
        short += line(Span(f"  {dropped.glyph} ", dropped.label), f"{len(answer.left_out):,}")
    sent = line(f"  sends {answer.ledger.after:,}")
    injected_each = line(Span(f"  injected {plan.limit - plan.capacity:,} each", "faint"))
    free = line(Span(f"  free {answer.free:,}", "faint"))
    variants = [
        (*chunks, fewest, *sent, *long, *injected_each, *free),
        (*chunks, fewest, *sent, *long, *free),
        (*chunks, fewest, *sent, *short, *free),
        (*chunks, fewest, *sent, *short),
        (*chunks, *sent, *short),
        chunks,
    ]
    return [drawn, first_fitting(variants, cells)]
