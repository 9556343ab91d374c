"""Draws two decisions side by side: what only one of them lets out, what both do otherwise, and where that moved."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from secateur.kinds.side_by_side import Pair, Placed, SideBySide
from secateur.ledger import Ledger
from secateur.terminal import clip, visible

from secateur_tui.short_names import fitting_path, short_path
from secateur_tui.styled_text import Line, Span, clipped, fit, line, signed, width, wrapped
from secateur_tui.widgets.texts import draw_rest

_TWO_COLUMNS = 76
"""Cells from which the sides stand beside each other."""

_LONGEST_LIST = 200
"""Items listed under one heading; the rest is counted."""

_GAP = 2

_REGION = re.compile("L([0-9]+)")
"""The name in the id of a part of a file that is no definition: its first line."""


def draw_side_by_side(sides: SideBySide, labels: tuple[str, str], cells: int) -> list[Line]:
    """The page. `labels`: of the left and the right side."""
    left, right = _side(labels[0], sides.left, None, cells), _side(labels[1], sides.right, sides.left, cells)
    lines = [*left, *right] if cells < _TWO_COLUMNS else _beside(left, right, cells)
    if sides.equal:
        return [*lines, (), line(Span("the same goes out on both sides, at the same ranks", "faint"))]
    one = _list("only left", "down", sides.only_left, [pair.left for pair in sides.only_left], cells)
    other = _list("only right", "up", sides.only_right, [pair.right for pair in sides.only_right], cells)
    lines += [(), *one, (), *other] if cells < _TWO_COLUMNS else [(), *_beside(one, other, cells)]
    lines += [(), line(Span(f"both ({len(sides.both):,})", "bold"), *_both(sides))]
    for pair in sides.otherwise[:_LONGEST_LIST]:
        lines.append(_otherwise(pair, cells))
    lines += draw_rest(len(sides.otherwise), _LONGEST_LIST)
    if sides.moved:
        lines += [(), line(Span(f"other ranks ({len(sides.moved):,})", "faint"))]
        lines += [_moved(pair, cells) for pair in sides.moved[:_LONGEST_LIST]]
        lines += draw_rest(len(sides.moved), _LONGEST_LIST)
    return [clipped(drawn, cells) for drawn in lines]


def _side(label: str, ledger: Ledger, other: Ledger | None, cells: int) -> list[Line]:
    gained = f" ({signed(ledger.after - other.after)})" if other is not None else ""
    room = cells if cells < _TWO_COLUMNS else _half(cells)
    figures = f"{ledger.after:,}{gained} of {ledger.budget:,} tokens"
    return [*wrapped(visible(label), room, "bold accent"), line(Span(clip(figures, room), ""))]


def _list(title: str, role: str, pairs: Sequence[Pair], placed: Sequence[Placed | None], cells: int) -> list[Line]:
    room = cells if cells < _TWO_COLUMNS else _half(cells)
    tokens = sum(one.entry.after for one in placed if one is not None)
    said = f"{title} ({len(pairs):,}, {tokens:,} tokens)" if pairs else f"{title}: nothing"
    lines = [line(Span(clip(said, room), f"bold {role}" if pairs else "faint"))]
    for pair, one in zip(pairs[:_LONGEST_LIST], placed, strict=False):
        assert one is not None  # it goes out on this side
        state = one.entry.state
        head = f"{state.glyph} {one.entry.after:>6,} "
        lines.append(line(Span(head, state.label), *named(pair.id, max(1, room - len(head)))))
    return [*lines, *draw_rest(len(pairs), _LONGEST_LIST)]


def _both(sides: SideBySide) -> Line:
    said = [f"{len(sides.otherwise):,} cut otherwise"] if sides.otherwise else []
    said += [f"{len(sides.moved):,} at another rank"] if sides.moved else []
    return line(Span(f"  {', '.join(said) or 'all as they are on the other side'}", "faint"))


def _otherwise(pair: Pair, cells: int) -> Line:
    assert pair.left is not None
    assert pair.right is not None
    then, now = pair.left.entry, pair.right.entry
    head = line(
        Span(then.state.glyph, then.state.label), "→", Span(now.state.glyph, now.state.label), f" {then.after:>6,} → "
    )
    head += line(f"{now.after:<6,} ")
    return (*head, *named(pair.id, max(1, cells - width(head))))


def _moved(pair: Pair, cells: int) -> Line:
    assert pair.left is not None
    assert pair.right is not None
    mark = f"{'▲' if pair.moved > 0 else '▼'}{abs(pair.moved):,}".rjust(6)
    head = line(Span(mark, "up" if pair.moved > 0 else "down"), f" {pair.left.rank:>6,} → {pair.right.rank:<6,} ")
    return (*head, *named(pair.id, max(1, cells - width(head))))


def named(id_: str, cells: int) -> Line:
    """An id within `cells`, the name first and where it is behind it."""
    path, found, name = id_.rpartition("::")
    if found and (region := _REGION.fullmatch(name)):  # it has no name: it is called as its file
        name = f"{path.rpartition('/')[2]}:{region[1]}"
    shown = clip(visible(name), cells) if found else short_path(visible(name), cells)
    rest = cells - width(line(shown)) - _GAP
    where = fitting_path(visible(path), rest) if found and rest > _GAP else ""
    return line(shown, Span(" " * _GAP + where if where else "", "faint"))


def _half(cells: int) -> int:
    return max(1, (cells - _GAP) // 2)


def _beside(left: Sequence[Line], right: Sequence[Line], cells: int) -> list[Line]:
    """Lines beside each other, each within its half."""
    half, lines = _half(cells), []
    for one, other in zip_longest(left, right, fillvalue=()):
        one = clipped(one, half)
        lines.append((*one, Span(fit("", half - width(one) + _GAP)), *clipped(other, half)))
    return lines
