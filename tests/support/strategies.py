"""Pools and settings for hypothesis: small numbers and few levels, so that ties, misfits and edges are the rule."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from secateur.model import Pool
from secateur.settings import Settings, with_values
from support.pools import FOUND, REACHED, Row, pool_of

_SCORES = st.one_of(
    st.sampled_from([0.0, 0.25, 0.5, 0.5, 1.0]), st.integers(0, 1_000_000).map(lambda steps: steps / 1e6)
)
_SIZES = st.one_of(st.integers(1, 12), st.integers(1, 400))


@st.composite
def rows(draw: st.DrawFn, number: int) -> Row:
    """One candidate; the number makes its symbol unique, paths repeat."""
    tokens = draw(_SIZES)
    return Row(
        name=f"f{number}",
        path=draw(st.sampled_from(["a.py", "b/c.py", "ä.go"])),
        line=number + 1,
        tokens=tokens,
        cost=tokens + draw(st.integers(0, 5)),
        sig=draw(st.one_of(st.just(0), _SIZES)),
        relevance=draw(_SCORES),
        hotspot=draw(_SCORES),
        distance=draw(st.integers(0, 5)),
        preference=draw(_SCORES),
        channels=draw(st.sampled_from([FOUND, REACHED, FOUND | REACHED])),
    )


@st.composite
def row_lists(draw: st.DrawFn, max_size: int = 14) -> list[Row]:
    """Candidates in no order; those of a path may share a heading."""
    found = [draw(rows(number)) for number in range(draw(st.integers(0, max_size)))]
    if not draw(st.booleans()):
        return found
    heading = {path: draw(st.integers(0, 30)) for path in sorted({row.path for row in found})}
    return [replace(row, heading=heading[row.path]) for row in found]


@st.composite
def settings_for(draw: st.DrawFn, symbols: list[str]) -> Settings:
    """Any settings a selection reads, with pins, excludes and boosts among the symbols."""
    some = st.lists(st.sampled_from(symbols), max_size=3, unique=True) if symbols else st.just([])
    weight = st.one_of(st.sampled_from([0.0, 0.3, 0.4, 1.0]), st.integers(0, 1000).map(lambda steps: steps / 100))
    return with_values(
        Settings(),
        {
            "budget": draw(st.one_of(st.sampled_from([0, 1, 10]), st.integers(0, 3000))),
            "smart_pruning.strategy": draw(st.sampled_from(["priority", "relevance", "density"])),
            "smart_pruning.signature_share": draw(st.sampled_from([0.0, 0.0, 0.08, 0.5])),
            "smart_pruning.priority_weights.relevance": draw(weight),
            "smart_pruning.priority_weights.hotspot": draw(weight),
            "smart_pruning.priority_weights.distance": draw(weight),
            "graph_rag.max_depth": draw(st.integers(1, 4)),
            "preference.enabled": draw(st.booleans()),
            "pins": draw(some),
            "excludes": draw(some),
            "boosts": {symbol: draw(st.sampled_from([0.0, 0.5, 1.0, 3.0])) for symbol in draw(some)},
        },
    )


@st.composite
def cases(draw: st.DrawFn, max_size: int = 14) -> tuple[Pool, Settings]:
    """A pool and settings that speak of it."""
    overhead, last_line = draw(st.sampled_from([0, 0, 7])), draw(st.sampled_from([0, 0, 30]))
    pool = pool_of(draw(row_lists(max_size)), overhead=overhead, last_line=last_line)
    return pool, draw(settings_for(pool.symbol_id))
