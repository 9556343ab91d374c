"""Draws two decisions side by side: the items that one alone lets out, and those that both decide differently."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from secateur.kinds.side_by_side import Pair, Placed, SideBySide
from secateur.ledger import Ledger
from secateur.terminal import clip, visible

from secateur_tui.short_names import fit_path, shorten_label, shorten_path
from secateur_tui.styled_text import (
    Line,
    Span,
    clip_line,
    fit_text,
    format_places,
    format_signed,
    line,
    width,
    wrap_words,
)
from secateur_tui.widgets.item_pages import LONGEST_LIST, draw_group, draw_rest

_TWO_COLUMNS = 76  # cells from which the sides stand beside each other
_GAP = 2  # cells between the sides, and between a name and its path
_REGION = re.compile("L([0-9]+)")  # matches the name in the id of a region of a file: its first line


def draw_side_by_side(sides: SideBySide, labels: tuple[str, str], cells: int) -> list[Line]:
    """Draws the page. `labels` are those of the left and the right side."""
    two_columns = cells >= _TWO_COLUMNS
    column = max(1, (cells - _GAP) // 2) if two_columns else cells

    def join(left: Sequence[Line], right: Sequence[Line], *between: Line) -> list[Line]:
        if not two_columns:
            return [*left, *between, *right]
        rows = (
            (clip_line(one, column), clip_line(other, column)) for one, other in zip_longest(left, right, fillvalue=())
        )
        return [(*one, Span(fit_text("", column - width(one) + _GAP)), *other) for one, other in rows]

    heads = _draw_head(labels[0], sides.left, None, column), _draw_head(labels[1], sides.right, sides.left, column)
    lines = join(*heads)
    if sides.equal:
        return [*lines, (), line(Span("the same is sent on both sides, at the same ranks", "faint"))]
    only_left = _draw_list("only left", "down", sides.only_left, [pair.left for pair in sides.only_left], column)
    only_right = _draw_list("only right", "up", sides.only_right, [pair.right for pair in sides.only_right], column)
    lines += [(), *join(only_left, only_right, ())]
    counts = [f"{len(sides.otherwise):,} cut otherwise"] if sides.otherwise else []
    counts += [f"{len(sides.moved):,} at another rank"] if sides.moved else []
    differences = ", ".join(counts) or "all as they are on the other side"
    lines += [(), line(Span(f"both ({len(sides.both):,})", "bold"), Span(f"  {differences}", "faint"))]
    lines += [_draw_pair(pair, False, cells) for pair in sides.otherwise[:LONGEST_LIST]]
    lines += draw_rest(len(sides.otherwise))
    lines += draw_group("other ranks", "faint", sides.moved, lambda pair: _draw_pair(pair, True, cells))
    return [clip_line(drawn, cells) for drawn in lines]


def _draw_head(label: str, ledger: Ledger, other: Ledger | None, cells: int) -> list[Line]:
    difference = f" ({format_signed(ledger.after - other.after)})" if other is not None else ""
    figures = f"{ledger.after:,}{difference} of {ledger.budget:,} tokens"
    return [*wrap_words(visible(label), cells, "bold accent"), line(Span(clip(figures, cells), ""))]


def _draw_list(title: str, role: str, pairs: Sequence[Pair], placed: Sequence[Placed | None], cells: int) -> list[Line]:
    tokens = sum(half.entry.after for half in placed if half is not None)
    heading = f"{title} ({len(pairs):,}, {tokens:,} tokens)" if pairs else f"{title}: nothing"
    lines = [line(Span(clip(heading, cells), f"bold {role}" if pairs else "faint"))]
    for pair, half in zip(pairs[:LONGEST_LIST], placed, strict=False):
        assert half is not None  # it goes out on this side
        state = half.entry.state
        head = f"{state.glyph} {half.entry.after:>6,} "
        lines.append(line(Span(head, state.label), *draw_id(pair.id, max(1, cells - len(head)))))
    return [*lines, *draw_rest(len(pairs))]


def _draw_pair(pair: Pair, ranks: bool, cells: int) -> Line:
    """Draws an item that both sides send: its ranks, or its states and tokens."""
    assert pair.left is not None
    assert pair.right is not None
    if ranks:
        mark = Span(format_places(pair.moved).rjust(6), "up" if pair.moved > 0 else "down")
        head = line(mark, f" {pair.left.rank:>6,} → {pair.right.rank:<6,} ")
    else:
        left, right = pair.left.entry, pair.right.entry
        states = Span(left.state.glyph, left.state.label), Span("→"), Span(right.state.glyph, right.state.label)
        head = line(*states, f" {left.after:>6,} → {right.after:<6,} ")
    return (*head, *draw_id(pair.id, max(1, cells - width(head))))


def draw_id(id_: str, cells: int) -> Line:
    """Draws the name in an id, and its path behind it where there is room."""
    path, is_symbol, name = id_.rpartition("::")
    if is_symbol and (region := _REGION.fullmatch(name)):  # it has no name: it is called as its file
        name = f"{path.rpartition('/')[2]}:{region[1]}"
    shown = shorten_label(visible(name), cells) if is_symbol else shorten_path(visible(name), cells)
    room = cells - width(line(shown)) - _GAP
    where = fit_path(visible(path), room) if is_symbol and room > _GAP else ""
    return line(shown, Span(" " * _GAP + where if where else "", "faint"))
