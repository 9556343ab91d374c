"""The report of a selection for a terminal or a log: what is kept and why, what is not, and why an empty answer is
empty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import UNSET, UnsetType

from secateur.model import UNREACHABLE, Decision, Pool, Selection, State
from secateur.render.page import Column, Page, Section, count_noun, line_range, notices_of, phrase
from secateur.render.search_json import DROPPED_LISTED
from secateur.terminal import clip, visible

# Dropped candidates that are listed without `explain`, by default: the next ones, which a larger budget would keep
# first.
DROPPED_SHOWN = 10

QUERY_CELLS = 100
LABEL_CELLS = 7

_DETAILS = (Column(9, gap=4), Column(gap=1))  # columns of a candidate with `explain`: a label and its text


def search_page(
    selection: Selection,
    pack_tokens: int,
    *,
    exact: bool = True,
    explain: bool = False,
    dropped: int | UnsetType | None = UNSET,
) -> Page:
    """Returns the report before its layout.

    Args:
        pack_tokens: tokens of the pack as recounted.
        exact: whether the counter is; otherwise the figures say estimated.
        explain: each candidate with its symbol id (what pins, exclusions and boosts name), the parts of its signals,
            the path of calls that led to it and the reason with its figures.
        dropped: most dropped candidates to list, best first; None: all; without it DROPPED_LISTED with `explain`, else
            DROPPED_SHOWN.
    """
    if dropped is UNSET:
        dropped = DROPPED_LISTED if explain else DROPPED_SHOWN
    pool = selection.pool
    counted = (pool.counter, *([] if exact else ["estimated"]), *(["as XML"] if pool.format == "xml" else []))
    vectors = visible(pool.facts.get("embedding", "none"))
    head = [
        ("query", clip(visible(" ".join(pool.query.split())), QUERY_CELLS)),
        ("budget", f"{pack_tokens:,} of {selection.budget:,} tokens ({', '.join(counted)})"),
        (
            "ranked",
            f"by {selection.strategy}, profile {visible(selection.profile)}, source {pool.source}, vectors {vectors}",
        ),
    ]
    if kind := kind_of(pool):
        head.append(("kind", kind))
    if "preference" in selection.terms:
        head.append(("prefers", f"{np.count_nonzero(pool.preference):,} of the candidates (secateur prefer list)"))
    listed = selection.dropped_rows[:dropped]
    unlisted = len(selection.dropped_rows) - len(listed)
    shown = sorted((*selection.kept_rows, *listed), key=lambda row: int(selection.rank[row]))
    proves = ", --why ID explains one" if explain else "; --explain says what keeps each"
    more = f"      … and {unlisted:,} more dropped (--dropped all lists them{proves})" if unlisted else ""
    if explain:
        candidates = Section(tuple(_explained_rows(selection, shown)), more=more, columns=_DETAILS)
    else:
        terms = (Column(len(name), right=True) for name in selection.terms)
        figures = (Column(5, right=True, gap=0), Column(1, gap=1), Column(7, right=True, gap=1), Column(8, right=True))
        candidates = Section(tuple(_candidate_rows(selection, shown)), more=more, columns=(*figures, *terms, Column()))
    totals = Section((_totals(selection, pack_tokens),))
    return Page(head, (candidates, totals) if len(selection) else (), notices_of(selection), label_cells=LABEL_CELLS)


def kind_of(pool: Pool) -> str:
    """Describes the kind of the query and the reason for it; "" if all kinds of queries are treated alike."""
    kind = pool.facts.get("query_kind")
    return visible(f"{kind['kind']} ({kind['because']})") if kind else ""


def why(selection: Selection, decision: Decision) -> str:
    """Formats the reason of a decision as a phrase with its figures."""
    room, budget = selection.capacity, selection.budget
    figures = {"needed": decision.needed, "left": decision.left, "budget": budget, "room": room, "head": budget - room}
    return phrase(decision.reason, figures | decision.figures)


def _candidate_rows(selection: Selection, rows: Sequence[int]) -> Iterator[Sequence[str]]:
    yield "#", "", "tokens", "priority", *selection.terms, "candidate"
    for row in rows:
        decision = selection.decision(row)
        because = "" if decision.state is State.KEPT else f"  ({why(selection, decision)})"
        tokens = decision.tokens_after or decision.tokens_before
        scores = (f"{score:.3f}" for score in (decision.priority, *decision.terms.values()))
        yield f"{decision.rank}", decision.state.glyph, f"{tokens:,}", *scores, f"{_place(selection, row)}{because}"


def _explained_rows(selection: Selection, rows: Sequence[int]) -> Iterator[Sequence[str] | str]:
    pool = selection.pool
    for row in rows:
        decision = selection.decision(row)
        before, after = decision.tokens_before, decision.tokens_after
        tokens = f"{before:,} -> {after:,} tokens" if 0 < after < before else count_noun(before, "token")
        yield f"#{decision.rank} {decision.state.glyph} {decision.state.label}  {_place(selection, row)}  {tokens}"
        yield "id", visible(pool.symbol_id[row])
        yield "because", why(selection, decision)
        terms = " + ".join(f"{name} {term:.6f}" for name, term in decision.terms.items())
        yield "priority", f"{decision.priority:.6f} = {terms}"
        yield from signals_of(selection, row)


def signals_of(selection: Selection, row: int, digits: int = 6) -> Sequence[tuple[str, str]]:
    """Returns (signal, its value and parts) of a candidate, and the path of calls that led to it."""
    pool = selection.pool
    relevance, hotspot = (f"{column[row]:.{digits}f}" for column in (pool.relevance, pool.hotspot))
    return (
        ("relevance", relevance + _parts(pool, "relevance", row, " = ", " + ", digits)),
        ("hotspot", hotspot + _parts(pool, "hotspot", row, " from ", " × ", digits, zeros=True)),
        ("distance", _route(selection, row)),
    )


def _parts(pool: Pool, signal: str, row: int, lead: str, between: str, digits: int, *, zeros: bool = False) -> str:
    parts = sorted(
        (-float(column[row]), name) for name, column in pool.parts.get(signal, {}).items() if zeros or column[row]
    )
    return lead + between.join(f"{name} {-value:.{digits}f}" for value, name in parts) if parts else ""


def _route(selection: Selection, row: int) -> str:
    pool = selection.pool
    if pool.distance[row] == UNREACHABLE:
        return "unreachable"
    first, *steps = pool.call_path(row)
    if not steps:
        return f"{pool.distance[row]} (anchor)"
    names = [f"{pool.predecessor_edge[step].replace('_', ' ')} {_name(selection, step)}" for step in steps]
    return f"{pool.distance[row]}: {_name(selection, first)} {', '.join(names)}"


def _totals(selection: Selection, pack_tokens: int) -> str:
    parts = []
    for state in (State.KEPT, State.SHORTENED, State.DROPPED):
        number, tokens = selection.counts(state)
        saved = int(selection.pool.tokens[selection.state == state].sum()) - tokens
        cut = f", saved {saved:,}" if state is State.SHORTENED else ""
        if number or state is not State.SHORTENED:
            parts.append(f"{state.glyph} {state.label} {number:,} ({count_noun(tokens, 'token')}{cut})")
    return "  ".join((*parts, f"free {max(0, selection.budget - pack_tokens):,}"))


def _place(selection: Selection, row: int) -> str:
    pool = selection.pool
    name, lines = visible(pool.qualname[row]), line_range(pool.line_start[row], pool.line_end[row])
    return f"{visible(pool.path[row])}:{lines}" + (f"  {name}" if name else "")


def _name(selection: Selection, row: int) -> str:
    return visible(selection.pool.qualname[row]) or _place(selection, row)
