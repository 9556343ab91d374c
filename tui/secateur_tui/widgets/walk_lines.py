"""The lines of the page "Walk": the tree of callers and callees, chains of calls, and what the whole walk found."""

from __future__ import annotations

from collections.abc import Sequence

from secateur.index.graph.code_graph import Direction
from secateur.ledger import State
from secateur.render.page import count_noun
from secateur.render.walk_text import BRIEF_RULES, RULES, CallChain, Walk
from secateur.terminal import cell_width, visible

from secateur_tui.short_names import fit_path, shorten_label
from secateur_tui.state.walking import LineKind, TreeLine, WalkTree
from secateur_tui.styled_text import Line, Span, line, width, wrap_words

NAMES_SHOWN = 4
"""Names in one sentence."""

LEAST_RULE, ROOMY_RULE = 40, 80
"""The widths from which a line says in a word, or in several words, how its call was resolved."""

DEEPEST = 12
"""Steps by which a line is indented at most; a deeper line shows its depth as a number."""

GLYPHS = {state.label: state for state in State}
BRANCHES = {Direction.CALLED_BY: "called by", Direction.CALLS: "calls"}


def draw_tree_line(tree: WalkTree, index: int, cells: int) -> Line:
    """Draws one line of the tree, a blank as its first character."""
    drawn = tree.lines[index]
    marked = " ⚑" if drawn.node == tree.marked and drawn.kind in (LineKind.ROOT, LineKind.ITEM) else ""
    if drawn.kind is LineKind.ROOT:
        item = tree.calls.item(drawn.node, 0)
        return _draw_symbol(
            line(" ", *_draw_decision(item.state, item.rank)), item.symbol_id, "bold", marked, (), cells
        )
    if drawn.kind is LineKind.BRANCH:
        word = BRANCHES[drawn.direction]
        count = f"{drawn.count:,}" if drawn.count else "nothing" if drawn.direction is Direction.CALLS else "nobody"
        return line(f" {_draw_handle(drawn)} ", Span(word, "accent"), f" {count}")
    indent = _indent_line(drawn)
    if drawn.kind is LineKind.REST:
        return line(Span(f"{indent}  … and {drawn.count:,} more (→ shows them)", "faint"))
    assert drawn.end is not None
    row = tree.calls.row(drawn.node)
    rank = int(tree.calls.selection.rank[row]) if row is not None else None
    head = line(f"{indent}{_draw_handle(drawn)} ", *_draw_decision(drawn.end.state, rank))
    sites = f" ×{drawn.end.sites}" if drawn.end.sites > 1 else ""
    words = RULES if cells >= ROOMY_RULE else BRIEF_RULES
    how = f"  {words[drawn.end.how]} {drawn.end.certainty:.2f}{sites}".replace(" 0.", " .")
    role = "" if drawn.end.followed else "warning"
    rule = line(Span(how, role or "faint")) if cells >= LEAST_RULE else ()
    return _draw_symbol(head, drawn.end.symbol_id, role, marked, rule, cells)


def draw_chains(tree: WalkTree, chains: Sequence[CallChain], cells: int) -> list[Line]:
    """Draws the shortest calls between the marked item and the one at the cursor."""
    if tree.marked is None:
        return []
    if tree.marked == tree.line.node:
        return wrap_words("⚑ marked: the calls between it and the item at the cursor stand here", cells, "faint")
    if not chains:
        return wrap_words(
            f"no chain of calls leads from or to ⚑ {_name(tree.calls.symbol(tree.marked))}", cells, "faint"
        )
    lines: list[Line] = []
    for chain in chains:
        names = " → ".join(_name(symbol) for symbol in chain.symbol_ids)
        lines += wrap_words(f"{count_noun(len(chain.hows), 'call')}: {names}", cells)
    return lines


def draw_whole(walk: Walk | None, symbol: str, cells: int) -> list[Line]:
    """Draws the findings of the whole walk: the part that an item is in, what is one call further, a deeper search."""
    if walk is None:
        return []
    lines = [*wrap_words(_describe_part(walk, symbol), cells)]
    step = walk.next_step
    if step.count:
        counts = f"{count_noun(step.count, 'fragment')}, {count_noun(step.token_count, 'token')}"
        lines += wrap_words(f"one call from what goes out: {counts}", cells)
        joining = [item for item in step.items if item.joins > 1]
        for item in joining[:NAMES_SHOWN]:
            lines += wrap_words(f"{_name(item.symbol_id)} would join {item.joins} parts", cells, "faint", indent="  ")
    if (deeper := walk.deeper) is not None:
        sentence = f"at depth {deeper.depth}: {count_noun(deeper.candidates, 'more candidate')}"
        if deeper.kept or deeper.lost:
            kept, lost = len(deeper.kept) + deeper.kept_more, len(deeper.lost) + deeper.lost_more
            sentence += f"; lets {count_noun(kept, 'other item')} out, {lost:,} no longer"
        else:
            sentence += "; the same goes out"
        lines += wrap_words(sentence + " (searched again ✓)", cells)
    return lines


def _describe_part(walk: Walk, symbol: str) -> str:
    for part in walk.together:
        if symbol in part.symbol_ids:
            others = [_name(other) for other in part.symbol_ids if other != symbol]
            rest = len(others) + part.more - len(others[:NAMES_SHOWN])
            more = f" and {rest:,} more" if rest else ""
            return f"hangs together with {', '.join(others[:NAMES_SHOWN])}{more}"
    if symbol in walk.alone:
        return "stands alone: no call connects it with anything else that goes out"
    goes_out = any(len(part.symbol_ids) for part in walk.together) or bool(walk.alone)
    items = sum(len(part.symbol_ids) + part.more for part in walk.together)
    alone = len(walk.alone) + walk.alone_more
    parts = len(walk.together) + walk.together_more
    if not goes_out:
        return "nothing goes out"
    return f"of what goes out {items:,} items hang together in {count_noun(parts, 'part')}, {alone:,} stand alone"


def _draw_symbol(head: Line, symbol: str, role: str, marked: str, rule: Line, cells: int) -> Line:
    """Draws the name first, its path dim behind it, the rule at the right end: the path gives way first, then the
    rule."""
    path, _, name = (visible(part) for part in symbol.rpartition("::"))
    room = cells - width(head) - cell_width(marked)
    taken = shorten_label(name, max(1, room))
    room -= cell_width(taken)
    end = rule if width(rule) <= room else ()
    room -= width(end)
    where = fit_path(path, room - 2) if room > 6 else ""
    beside = f"  {where}" if where else ""
    gap = " " * max(0, room - cell_width(beside)) if end else ""
    return (*head, Span(taken, role), Span(marked, "accent"), Span(beside, "faint"), Span(gap), *end)


def _draw_decision(state: str | None, rank: int | None) -> Line:
    if state is None:
        return line(Span("· ", "faint"))
    return line(Span(f"{GLYPHS[state].glyph} ", state), Span(f"#{rank} ", "faint"))


def _draw_handle(drawn: TreeLine) -> str:
    if drawn.cycle:
        return "↻"
    return {True: "▾", False: "▸", None: " "}[drawn.opened]


def _indent_line(drawn: TreeLine) -> str:
    deep = drawn.depth - 1
    return " " + "  " * deep if deep <= DEEPEST else f" {'  ' * DEEPEST}{deep:,} "


def _name(symbol: str) -> str:
    return visible(symbol.rpartition("::")[2])
