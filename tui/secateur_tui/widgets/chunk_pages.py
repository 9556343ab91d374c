"""The pages beside the chunks of a diff: why a file goes where it goes, any chunk as it will be sent, and what moved
since the baseline."""

from __future__ import annotations

from collections.abc import Mapping

from secateur.kinds.diff.changes import Treatment
from secateur.kinds.diff.plan import Coverage
from secateur.kinds.diff.skip_rules import pattern_of
from secateur.model import Reason
from secateur.render.page import count_noun
from secateur.terminal import visible

from secateur_tui.short_names import shorten_path
from secateur_tui.state.diff_rows import (
    DROPPED,
    MOVED,
    NEW,
    TAKEN_IN,
    ChunkMoves,
    ChunkRow,
    DiffAnswer,
    RowKind,
    format_chunks,
    sum_rules,
)
from secateur_tui.styled_text import (
    Line,
    Span,
    clip_line,
    format_change,
    line,
    outside,
    spread_line,
    width,
    wrap_words,
)
from secateur_tui.widgets.chunk_list import draw_fill
from secateur_tui.widgets.text_page import ItemText, text_lines
from secateur_tui.widgets.texts import NOTHING_CHANGED, draw_group, draw_rest

_LONGEST_LIST = 100
"""Files listed under one heading; the rest is counted."""

_GROUPS: Mapping[str, str] = {TAKEN_IN: "up", DROPPED: "down", MOVED: "accent", NEW: "accent"}

_LINE_ROLES: Mapping[str, str] = {"+": "up", "-": "down", "@": "accent", "#": "bold"}
"""By how a line of a chunk begins; those of rules and instructions too, which does no harm."""


def draw_why(answer: DiffAnswer, item: int, cells: int, hold_key: str) -> list[Line]:
    """Draws the decision on the row at the cursor in words, with its figures."""
    row = answer.rows[item]
    if row.kind is RowKind.CHUNK:
        lines = _why_chunk(answer, row.chunk, cells)
    elif row.coverage is None:
        lines = _why_outside(answer, cells)
    else:
        lines = _why_file(answer, row, row.coverage, cells, hold_key)
    return [clip_line(drawn, cells) for drawn in lines]


def _why_chunk(answer: DiffAnswer, chunk: int, cells: int) -> list[Line]:
    plan, pieces, tokens = answer.plan, answer.plan.chunks[chunk - 1], answer.tokens[chunk - 1]
    changes, remarks = sum(piece.cost for piece in pieces), sum(piece.filled for piece in pieces)
    measured = plan.measured
    injected = ["headings"]
    for name, text in (("project rules", measured.injection.rules), ("instructions", measured.injection.skill)):
        injected += [name] if text.strip() else []
    head, figure = line(Span(f"chunk {chunk} of {len(answer.tokens)}", "bold")), line(f"{tokens:,} of {plan.limit:,}")
    lines = [spread_line(head, figure, cells), draw_fill(answer, chunk, cells), ()]
    figures = [("█", "kept", changes, f"changes: {count_noun(len(pieces), 'file')}", "")]
    if remarks:
        behind = sum(filling.lines for piece in pieces for filling in piece.filling)
        figures.append(("░", "accent", remarks, f"beside them: {count_noun(behind, 'line')}", ""))
    figures += [
        ("▒", "faint", tokens - changes - remarks, "injected", ", ".join(injected)),
        ("·", "faint", plan.limit - tokens, "free", ""),
    ]
    for texture, role, amount, words, more in figures:
        lines.append(line(Span(f"{texture} ", role), f"{amount:>9,}  {words}"))
        lines += wrap_words(more, cells, "faint", " " * 13)
    about = "" if measured.counter.exact else ", estimated"
    tight = f"{count_noun(len(answer.tokens), 'chunk')}; these files cannot go in fewer than {plan.fewest:,}"
    counter = f"tokens by {measured.counter.name}{about}"
    lines += [(), *wrap_words(counter, cells, "faint"), *wrap_words(tight, cells, "faint"), ()]
    largest = sorted(pieces, key=lambda piece: (-piece.cost, piece.file.number, piece.number))
    for piece in largest[:_LONGEST_LIST]:
        part = f" {piece.number}/{piece.of}" if piece.part is not None else ""
        path = shorten_path(visible(piece.file.change.path), max(1, cells - 11 - len(part)))
        lines.append(line(f"  {piece.cost:>8,} ", path, Span(part, "faint")))
    return lines


def _why_outside(answer: DiffAnswer, cells: int) -> list[Line]:
    tokens = sum(entry.entry.before for entry in answer.left_out)
    files_out = count_noun(len(answer.left_out), "file")
    lines = [line(Span(f"○ LEFT OUT  {files_out}, {tokens:,} tokens", "bold dropped")), ()]
    lines += [
        line(f"{files:>6,} ", f"{rule.replace('_', ' '):<11}", Span(f"{saved:>10,} tokens", "faint"))
        for rule, (files, saved) in sum_rules(answer.left_out).items()
    ]
    words = "The same rules leave them out of every chunk, whatever the limit."
    return [*lines, (), *wrap_words(words, cells, "faint")]


def _why_file(answer: DiffAnswer, row: ChunkRow, entry: Coverage, cells: int, hold_key: str) -> list[Line]:
    state, change, plan = row.share.state, entry.file.change, answer.plan
    tokens = row.share.after if row.piece is not None else row.share.before
    label = "LEFT OUT" if row.piece is None else state.label.upper()
    label += f"  part {row.piece.number}/{row.piece.of}" if row.piece is not None and row.piece.part is not None else ""
    head, figure = line(Span(f"{state.glyph} {label}", f"bold {state.label}")), line(f"{tokens:,} tokens")
    lines = [(*head, Span(" " * max(2, cells - width(head) - width(figure))), *figure), line(outside(change.path))]
    if row.piece is None:
        lines += wrap_words(visible(f"because of a rule: {entry.reason}"), cells, state.label)
    elif row.piece.part is not None:
        lines += wrap_words(visible(f"because the file is {entry.reason}"), cells, state.label)
    else:
        lines += wrap_words(f"because it fits into chunk {row.chunk} as it is", cells, state.label)
    lines += [
        (),
        line(
            f"{_describe_treatment(change.treatment)}  +{change.added:,} −{change.removed:,} lines",
            Span("  binary" if change.binary else "", "faint"),
        ),
    ]
    if change.old_path != change.path:
        lines.append(line(Span("was ", "faint"), outside(change.old_path)))
    lines += wrap_words(
        f"{entry.entry.before:,} tokens in the diff, {entry.file.cost:,} in a chunk with its fence", cells
    )
    if row.piece is not None:
        lines += wrap_words(f"chunk {row.chunk} of {len(answer.tokens)}: {tokens / plan.limit:.1%} of its limit", cells)
        if row.piece.filled:
            behind = sum(filling.lines for filling in row.piece.filling)
            lines += wrap_words(
                f"{count_noun(behind, 'line')} of remarks behind it: {row.piece.filled:,} tokens", cells
            )
    if row.piece is not None and row.piece.part is not None:
        lines += [(), *_draw_parts(answer, row, cells)]
    if hold_key and _can_be_held(entry):
        pattern = pattern_of(entry.path)
        held = {pattern, f"!{pattern}"}.intersection(answer.settings.chunking.ignore)
        words = "leaves it out" if row.piece is not None else "takes it in, whatever the rules say"
        words = "takes its pattern back" if held else words
        lines += [(), *wrap_words(f"{hold_key} {words}", cells, "faint")]
    return lines


def _draw_parts(answer: DiffAnswer, row: ChunkRow, cells: int) -> list[Line]:
    """Draws all parts of the file, in whatever chunk they are."""
    assert row.coverage is not None
    lines: list[Line] = []
    for chunk in sorted(row.coverage.chunks):
        for piece in answer.plan.chunks[chunk - 1]:
            if piece.file.number != row.coverage.file.number or piece.part is None:
                continue
            place = piece.part.place
            here = piece.number == (row.piece.number if row.piece is not None else 0)
            side = "old lines" if place.old else "lines"
            lines.append(
                line(
                    Span("▸ " if here else "  ", "accent"),
                    Span(f"part {piece.number}/{piece.of}", "bold" if here else ""),
                    f"  chunk {chunk}  {side} {place.line_start:,}-{place.line_end:,}  {piece.cost:,}",
                )
            )
            if place.inside:
                lines += wrap_words(visible(f"inside {place.inside}"), cells, "faint", indent="    ")
            if cut := sum(missing for _, missing in piece.part.shortened):
                words = f"{count_noun(len(piece.part.shortened), 'line')} shortened by {cut:,} characters"
                lines += wrap_words(words, cells, "shortened", indent="    ")
    return lines


def _can_be_held(entry: Coverage) -> bool:
    return entry.verdict is None or entry.verdict.rule not in (Reason.NO_ROOM, Reason.LONG_LINE)


def _describe_treatment(treatment: Treatment) -> str:
    return {Treatment.MODE: "only its mode", Treatment.TYPE: "another type of file"}.get(treatment, treatment.value)


def text_of(answer: DiffAnswer, item: int) -> ItemText:
    """Returns a chunk as it will be sent, a file as it stands in its chunk; of what is left out what the diff says."""
    row = answer.rows[item]
    if row.kind is RowKind.CHUNK:
        caption = f"chunk {row.chunk} as it is sent: {answer.tokens[row.chunk - 1]:,} tokens"
        return ItemText(line(Span(caption, "kept")), _colour_diff(answer.text(row.chunk)))
    if row.piece is not None:
        return ItemText(line(Span(f"as it stands in chunk {row.chunk}", "kept")), _colour_diff(row.piece.text))
    if row.coverage is not None:
        head = line(Span("○ nothing of it is sent", "dropped"))
        return ItemText(head, [*text_lines(row.coverage.file.change.text, "faint")])
    lines: list[Line] = []
    for entry in answer.left_out[:_LONGEST_LIST]:
        lines += [
            line(f"{entry.entry.before:>8,} ", outside(entry.path)),
            line(Span(f"{'':>8} {visible(entry.reason)}", "faint")),
        ]
    head = line(Span("○ nothing of these is sent", "dropped"))
    return ItemText(head, [*lines, *draw_rest(len(answer.left_out), _LONGEST_LIST)])


def _colour_diff(text: str) -> list[Line]:
    """Returns the lines of a chunk, coloured as a diff."""
    return [
        (Span(drawn[0].text, drawn[0].role or _LINE_ROLES.get(drawn[0].text[:1], "")),) for drawn in text_lines(text)
    ]


def draw_moves(answer: DiffAnswer, moved: ChunkMoves | None, item: int, cells: int) -> list[Line]:
    """Draws what goes elsewhere since the baseline, then where the file at the cursor was and is."""
    if moved is None:
        return [*NOTHING_CHANGED]
    then = moved.then
    before = f"{then.plan.limit:,} → " if then.plan.limit != answer.plan.limit else ""
    chunks = format_change(len(then.tokens), len(answer.tokens))
    lines = [
        line(Span("chunks ", "faint"), chunks, Span("  of ", "faint"), f"{before}{answer.plan.limit:,}"),
        line(Span("tokens ", "faint"), format_change(then.ledger.after, answer.ledger.after)),
    ]
    entry = answer.rows[item].coverage
    if entry is not None:
        held = then.chunks_of.get(entry.path)
        there = "not in the diff" if held is None else format_chunks(held)
        chunks_line = line(Span("chunk ", "faint"), f"{there} → {format_chunks(entry.chunks)}")
        lines += [(), line(outside(entry.path, "bold")), chunks_line]

    def draw_move(entry: Coverage) -> Line:
        was = then.chunks_of.get(entry.path)
        head = f"{'–' if was is None else format_chunks(was):>5} → {format_chunks(entry.chunks):<5} "
        return line(Span(head, "faint"), shorten_path(visible(entry.path), max(1, cells - len(head))))

    def draw_gone(path: str) -> Line:
        return line("  ", Span(shorten_path(visible(path), max(1, cells - 2))))

    for title, role in _GROUPS.items():
        lines += draw_group(title, role, moved.groups[title], draw_move, _LONGEST_LIST)
    lines += draw_group("in the diff no longer", "down", moved.gone, draw_gone, _LONGEST_LIST)
    unchanged = not any(moved.groups.values()) and not moved.gone
    return [*lines, *([(), line(Span("every file is where it was", "faint"))] if unchanged else [])]
