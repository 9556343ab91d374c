"""The pages beside the chunks of a diff: why a file goes where it goes, any chunk as it will be sent, and what moved
since the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from secateur.kinds.diff.changes import Treatment
from secateur.kinds.diff.plan import Coverage
from secateur.kinds.diff.skip_rules import pattern_of
from secateur.model import Reason
from secateur.terminal import visible

from secateur_tui.short_names import short_path
from secateur_tui.state.diff_rows import (
    DROPPED,
    MOVED,
    NEW,
    TAKEN_IN,
    ChunkMoves,
    ChunkRow,
    DiffAnswer,
    RowKind,
    by_rule,
    numbers,
)
from secateur_tui.styled_text import Line, Span, clipped, line, outside, signed, width, wrapped
from secateur_tui.widgets.chunk_list import counted, draw_fill
from secateur_tui.widgets.text_page import ItemText, text_lines
from secateur_tui.widgets.texts import NOTHING_CHANGED, draw_rest

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
    return [clipped(drawn, cells) for drawn in lines]


def _why_chunk(answer: DiffAnswer, number: int, cells: int) -> list[Line]:
    plan, pieces, tokens = answer.plan, answer.plan.chunks[number - 1], answer.tokens[number - 1]
    changes, remarks = sum(piece.cost for piece in pieces), sum(piece.filled for piece in pieces)
    measured = plan.measured
    injected = ["headings"]
    for name, text in (("project rules", measured.injection.rules), ("instructions", measured.injection.skill)):
        injected += [name] if text.strip() else []
    head, figure = line(Span(f"chunk {number} of {len(answer.tokens)}", "bold")), line(f"{tokens:,} of {plan.limit:,}")
    lines = [
        (*head, Span(" " * max(2, cells - width(head) - width(figure))), *figure),
        draw_fill(answer, number, cells),
        (),
    ]
    figures = [("█", "kept", changes, f"changes: {counted(len(pieces), 'file')}", "")]
    if remarks:
        behind = sum(filling.lines for piece in pieces for filling in piece.filling)
        figures.append(("░", "accent", remarks, f"beside them: {counted(behind, 'line')}", ""))
    figures += [
        ("▒", "faint", tokens - changes - remarks, "injected", ", ".join(injected)),
        ("·", "faint", plan.limit - tokens, "free", ""),
    ]
    for texture, role, amount, words, more in figures:
        lines += [line(Span(f"{texture} ", role), f"{amount:>9,}  {words}"), *wrapped(more, cells, "faint", " " * 13)]
    about = "" if measured.counter.exact else ", estimated"
    tight = f"{counted(len(answer.tokens), 'chunk')}; these files cannot go in fewer than {plan.fewest:,}"
    lines += [
        (),
        *wrapped(f"tokens by {measured.counter.name}{about}", cells, "faint"),
        *wrapped(tight, cells, "faint"),
        (),
    ]
    largest = sorted(pieces, key=lambda piece: (-piece.cost, piece.file.number, piece.number))
    for piece in largest[:_LONGEST_LIST]:
        part = f" {piece.number}/{piece.of}" if piece.part is not None else ""
        path = short_path(visible(piece.file.change.path), max(1, cells - 11 - len(part)))
        lines.append(line(f"  {piece.cost:>8,} ", path, Span(part, "faint")))
    return lines


def _why_outside(answer: DiffAnswer, cells: int) -> list[Line]:
    tokens = sum(entry.entry.before for entry in answer.left_out)
    lines = [line(Span(f"○ LEFT OUT  {counted(len(answer.left_out), 'file')}, {tokens:,} tokens", "bold dropped")), ()]
    lines += [
        line(f"{files:>6,} ", f"{rule.replace('_', ' '):<11}", Span(f"{saved:>10,} tokens", "faint"))
        for rule, (files, saved) in _ruled(answer)
    ]
    return [*lines, (), *wrapped("The same rules leave them out of every chunk, whatever the limit.", cells, "faint")]


def _ruled(answer: DiffAnswer) -> list[tuple[str, tuple[int, int]]]:
    return list(by_rule(answer.left_out).items())


def _why_file(answer: DiffAnswer, row: ChunkRow, entry: Coverage, cells: int, hold_key: str) -> list[Line]:
    state, change, plan = row.share.state, entry.file.change, answer.plan
    tokens = row.share.after if row.piece is not None else row.share.before
    label = "LEFT OUT" if row.piece is None else state.label.upper()
    label += f"  part {row.piece.number}/{row.piece.of}" if row.piece is not None and row.piece.part is not None else ""
    head, figure = line(Span(f"{state.glyph} {label}", f"bold {state.label}")), line(f"{tokens:,} tokens")
    lines = [(*head, Span(" " * max(2, cells - width(head) - width(figure))), *figure), line(outside(change.path))]
    if row.piece is None:
        lines += wrapped(visible(f"because of a rule: {entry.reason}"), cells, state.label)
    elif row.piece.part is not None:
        lines += wrapped(visible(f"because the file is {entry.reason}"), cells, state.label)
    else:
        lines += wrapped(f"because it fits into chunk {row.chunk} as it is", cells, state.label)
    lines += [
        (),
        line(
            f"{_treated(change.treatment)}  +{change.added:,} −{change.removed:,} lines",
            Span("  binary" if change.binary else "", "faint"),
        ),
    ]
    if change.old_path != change.path:
        lines.append(line(Span("was ", "faint"), outside(change.old_path)))
    lines += wrapped(f"{entry.entry.before:,} tokens in the diff, {entry.file.cost:,} in a chunk with its fence", cells)
    if row.piece is not None:
        lines += wrapped(f"chunk {row.chunk} of {len(answer.tokens)}: {tokens / plan.limit:.1%} of its limit", cells)
        if row.piece.filled:
            behind = sum(filling.lines for filling in row.piece.filling)
            lines += wrapped(f"{counted(behind, 'line')} of remarks behind it: {row.piece.filled:,} tokens", cells)
    if row.piece is not None and row.piece.part is not None:
        lines += [(), *_parts(answer, row, cells)]
    if hold_key and _can_be_held(entry):
        pattern = pattern_of(entry.path)
        held = {pattern, f"!{pattern}"}.intersection(answer.settings.chunking.ignore)
        words = (
            "takes its pattern back"
            if held
            else "leaves it out"
            if row.piece is not None
            else "takes it in, whatever the rules say"
        )
        lines += [(), *wrapped(f"{hold_key} {words}", cells, "faint")]
    return lines


def _parts(answer: DiffAnswer, row: ChunkRow, cells: int) -> list[Line]:
    """All parts of the file, wherever they are."""
    assert row.coverage is not None
    lines: list[Line] = []
    for number in sorted(row.coverage.chunks):
        for piece in answer.plan.chunks[number - 1]:
            if piece.file.number != row.coverage.file.number or piece.part is None:
                continue
            place = piece.part.place
            here = piece.number == (row.piece.number if row.piece is not None else 0)
            side = "old lines" if place.old else "lines"
            lines.append(
                line(
                    Span("▸ " if here else "  ", "accent"),
                    Span(f"part {piece.number}/{piece.of}", "bold" if here else ""),
                    f"  chunk {number}  {side} {place.line_start:,}-{place.line_end:,}  {piece.cost:,}",
                )
            )
            lines += wrapped(visible(f"inside {place.inside}"), cells, "faint", indent="    ") if place.inside else []
            if cut := sum(missing for _, missing in piece.part.shortened):
                lines += wrapped(
                    f"{counted(len(piece.part.shortened), 'line')} shortened by {cut:,} characters",
                    cells,
                    "shortened",
                    indent="    ",
                )
    return lines


def _can_be_held(entry: Coverage) -> bool:
    return entry.verdict is None or entry.verdict.rule not in (Reason.NO_ROOM, Reason.LONG_LINE)


def _treated(treatment: Treatment) -> str:
    return {Treatment.MODE: "only its mode", Treatment.TYPE: "another type of file"}.get(treatment, treatment.value)


def text_of(answer: DiffAnswer, item: int) -> ItemText:
    """A chunk as it will be sent, a file as it stands in its chunk; of what is left out what the diff says."""
    row = answer.rows[item]
    if row.kind is RowKind.CHUNK:
        said = f"chunk {row.chunk} as it is sent: {answer.tokens[row.chunk - 1]:,} tokens"
        return ItemText(line(Span(said, "kept")), _coloured(answer.text(row.chunk)))
    if row.piece is not None:
        return ItemText(line(Span(f"as it stands in chunk {row.chunk}", "kept")), _coloured(row.piece.text))
    if row.coverage is not None:
        head = line(Span("○ nothing of it goes out", "dropped"))
        return ItemText(head, [*text_lines(row.coverage.file.change.text, "faint")])
    lines: list[Line] = []
    for entry in answer.left_out[:_LONGEST_LIST]:
        lines += [
            line(f"{entry.entry.before:>8,} ", outside(entry.path)),
            line(Span(f"{'':>8} {visible(entry.reason)}", "faint")),
        ]
    return ItemText(
        line(Span("○ nothing of these goes out", "dropped")), [*lines, *draw_rest(len(answer.left_out), _LONGEST_LIST)]
    )


def _coloured(text: str) -> list[Line]:
    """The lines of a chunk, coloured as a diff."""
    return [
        (Span(drawn[0].text, drawn[0].role or _LINE_ROLES.get(drawn[0].text[:1], "")),) for drawn in text_lines(text)
    ]


def draw_moves(answer: DiffAnswer, moved: ChunkMoves | None, item: int, cells: int) -> list[Line]:
    """Draws what goes elsewhere since the baseline, then where the file at the cursor was and is."""
    if moved is None:
        return [*NOTHING_CHANGED]
    then = moved.then
    limits = (
        f"{answer.plan.limit:,}"
        if then.plan.limit == answer.plan.limit
        else f"{then.plan.limit:,} → {answer.plan.limit:,}"
    )
    chunks = f"{len(then.tokens):,} → {len(answer.tokens):,} ({signed(len(answer.tokens) - len(then.tokens))})"
    was, now = then.ledger.after, answer.ledger.after
    tokens = f"{was:,} → {now:,} ({signed(now - was)})"
    lines = [
        line(Span("chunks ", "faint"), chunks, Span("  of ", "faint"), limits),
        line(Span("tokens ", "faint"), tokens),
    ]
    entry = answer.rows[item].coverage
    if entry is not None:
        held = then.chunks_of.get(entry.path)
        there = "not in the diff" if held is None else numbers(held)
        place = line(Span("chunk ", "faint"), f"{there} → {numbers(entry.chunks)}")
        lines += [(), line(outside(entry.path, "bold")), place]
    for title, role in _GROUPS.items():
        lines += _group(title, role, moved, moved.groups[title], cells)
    if moved.gone:
        lines += [(), line(Span(f"in the diff no longer ({len(moved.gone):,})", "down"))]
        lines += [
            line("  ", Span(short_path(visible(path), max(1, cells - 2)))) for path in moved.gone[:_LONGEST_LIST]
        ] + draw_rest(len(moved.gone), _LONGEST_LIST)
    return (
        lines
        if any(moved.groups.values()) or moved.gone
        else [*lines, (), line(Span("every file is where it was", "faint"))]
    )


def _group(title: str, role: str, moved: ChunkMoves, entries: Sequence[Coverage], cells: int) -> list[Line]:
    if not entries:
        return []
    lines: list[Line] = [(), line(Span(f"{title} ({len(entries):,})", role))]
    for entry in entries[:_LONGEST_LIST]:
        was = moved.then.chunks_of.get(entry.path)
        head = f"{'–' if was is None else numbers(was):>5} → {numbers(entry.chunks):<5} "
        lines.append(line(Span(head, "faint"), short_path(visible(entry.path), max(1, cells - len(head)))))
    return lines + draw_rest(len(entries), _LONGEST_LIST)
