"""Selection -> plain text for a terminal or a log: what goes out and why, what does not, and which kind of empty an
empty answer is."""

from __future__ import annotations

from collections.abc import Iterator

from secateur.model import UNREACHABLE, Decision, Pool, Reason, Selection, State
from secateur.render.notices import notices_of
from secateur.terminal import clip, visible

DROPPED_SHOWN = 10
"""Dropped candidates listed without `explain`: the ones next in line, which a larger budget would reach first."""

QUERY_CELLS = 100

_WHY = {
    Reason.FITS: "there was room: needed {needed:,} of {left:,} left",
    Reason.PINNED: "pinned: needed {needed:,} of {left:,} left",
    Reason.SIGNATURE: "its declaration fits, whole it needs {needed:,} of {left:,} left",
    Reason.NO_ROOM: "needs {needed:,}, only {left:,} left",
    Reason.LARGER_THAN_BUDGET: "needs {needed:,}, more than {room}",
    Reason.EXCLUDED: "excluded",
    Reason.BEYOND_DEPTH: "further from the anchors than max_depth",
    Reason.ZERO_BUDGET: "the budget is 0, needs {needed:,}",
    Reason.NO_SIGNAL: "its priority is 0",
}


def render_text(selection: Selection, pack_tokens: int, *, exact: bool = True, explain: bool = False) -> str:
    """The report, ending in a line break.

    Args:
        pack_tokens: tokens of the pack as recounted.
        exact: whether the counter is; otherwise the figures say estimated.
        explain: every candidate, with its symbol id (what pins, exclusions and boosts name), the parts of its signals,
        the path of calls that
            led to it and the reason with its figures.
    """
    pool = selection.pool
    estimated = "" if exact else ", estimated"
    lines = [
        f"query   {clip(visible(' '.join(pool.query.split())), QUERY_CELLS)}",
        f"budget  {pack_tokens:,} of {selection.budget:,} tokens ({pool.counter}{estimated})",
        (
            f"ranked  by {selection.strategy}, profile {visible(selection.profile)}, source {pool.source}, vectors"
            f" {visible(pool.facts.get('embedding', 'none'))}"
        ),
    ]
    lines += [f"! {notice.code}: {visible(notice.message)}" for notice in notices_of(selection)]
    if len(selection):
        lines += ["", *(_explained(selection) if explain else _listed(selection)), "", _totals(selection, pack_tokens)]
    return "\n".join(lines) + "\n"


def why(selection: Selection, decision: Decision) -> str:
    """The reason of a decision as a phrase with its figures."""
    return _WHY[decision.reason].format(needed=decision.needed, left=decision.left, room=_room(selection))


def _room(selection: Selection) -> str:
    """What the budget has for candidates, beside what the pack says before the first."""
    head = selection.pool.overhead
    if not head:
        return f"the whole budget of {selection.budget:,} holds"
    return f"the {selection.capacity:,} that the pack's head of {head:,} leaves of the budget of {selection.budget:,}"


def _listed(selection: Selection) -> Iterator[str]:
    yield f"{'#':>5}   {'tokens':>7}  {'priority':>8}  {'  '.join(selection.terms)}  candidate"
    kept, dropped = selection.kept_rows, selection.dropped_rows
    for row in sorted((*kept, *dropped[:DROPPED_SHOWN]), key=lambda row: int(selection.rank[row])):
        decision = selection.decision(row)
        terms = "  ".join(f"{term:>{len(name)}.3f}" for name, term in decision.terms.items())
        because = "" if decision.state is State.KEPT else f"  ({why(selection, decision)})"
        tokens = decision.tokens_after or decision.tokens_before
        yield (
            f"{decision.rank:>5} {decision.state.glyph} {tokens:>7,}  {decision.priority:>8.3f}  {terms} "
            f" {_place(selection, row)}{because}"
        )
    if len(dropped) > DROPPED_SHOWN:
        yield f"      … and {len(dropped) - DROPPED_SHOWN:,} more dropped (--explain lists them)"


def _explained(selection: Selection) -> Iterator[str]:
    pool = selection.pool
    for decision in selection.decisions:
        row = decision.row
        yield (
            f"#{decision.rank} {decision.state.glyph} {decision.state.label}  {_place(selection, row)} "
            f" {decision.tokens_before:,} tokens"
        )
        yield f"    id        {visible(pool.symbol_id[row])}"
        yield f"    because   {why(selection, decision)}"
        terms = " + ".join(f"{name} {term:.6f}" for name, term in decision.terms.items())
        yield f"    priority  {decision.priority:.6f} = {terms}"
        yield f"    relevance {pool.relevance[row]:.6f}{_parts(pool, 'relevance', row, ' = ', ' + ')}"
        yield f"    hotspot   {pool.hotspot[row]:.6f}{_parts(pool, 'hotspot', row, ' from ', ' × ', zeros=True)}"
        yield f"    distance  {_reached(selection, row)}"


def _parts(pool: Pool, signal: str, row: int, lead: str, between: str, *, zeros: bool = False) -> str:
    """What a signal is made of, largest first; in a product the part that is 0 is told too."""
    parts = sorted(
        (-float(column[row]), name) for name, column in pool.parts.get(signal, {}).items() if zeros or column[row]
    )
    return lead + between.join(f"{name} {-value:.6f}" for value, name in parts) if parts else ""


def _reached(selection: Selection, row: int) -> str:
    """How the search came here: "1 (anchor)", or the path of calls from an anchor."""
    pool = selection.pool
    if pool.distance[row] == UNREACHABLE:
        return "unreachable"
    first, *steps = pool.call_path(row)
    if not steps:
        return f"{pool.distance[row]} (anchor)"
    names = [f"{pool.predecessor_edge[step].replace('_', ' ')} {_name(selection, step)}" for step in steps]
    return f"{pool.distance[row]}: {_name(selection, first)} {', '.join(names)}"


def _totals(selection: Selection, pack_tokens: int) -> str:
    kept, shortened, dropped = (selection.counts(state) for state in (State.KEPT, State.SHORTENED, State.DROPPED))
    saved = int(selection.pool.tokens[selection.state == State.SHORTENED].sum()) - shortened[1]
    parts = [f"{State.KEPT.glyph} kept {kept[0]:,} ({kept[1]:,} tokens)"]
    if shortened[0]:
        parts.append(f"{State.SHORTENED.glyph} shortened {shortened[0]:,} ({shortened[1]:,} tokens, saved {saved:,})")
    parts.append(f"{State.DROPPED.glyph} dropped {dropped[0]:,} ({dropped[1]:,} tokens)")
    parts.append(f"free {max(0, selection.budget - pack_tokens):,}")
    return "  ".join(parts)


def _place(selection: Selection, row: int) -> str:
    pool = selection.pool
    name = visible(pool.qualname[row])
    return f"{visible(pool.path[row])}:{pool.line_start[row]}-{pool.line_end[row]}" + (f"  {name}" if name else "")


def _name(selection: Selection, row: int) -> str:
    return visible(selection.pool.qualname[row]) or _place(selection, row)
