"""Pools built by hand: a row is what a test says of it, everything else is plain and valid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from secateur.model import Channel, Pool, Selection

FOUND = 1 << Channel.LEXICAL
REACHED = 1 << Channel.GRAPH


@dataclass(frozen=True)
class Row:
    """One candidate. `cost` defaults to its tokens, so that a budget can be read off the test."""

    name: str
    tokens: int = 100
    relevance: float = 0.5
    hotspot: float = 0.0
    distance: int = 1
    preference: float = 0.0
    sig: int = 0  # tokens and cost of the declaration; 0 = none of its own
    channels: int = FOUND
    line: int = 1
    cost: int | None = None
    heading: int = 0  # tokens of the heading that rows of its path share
    path: str = field(default="")

    @property
    def symbol(self) -> str:
        return f"{self.path or self.name.lower() + '.py'}::{self.name}"


def pool_of(rows: Iterable[Row], *, overhead: int = 0, last_line: int = 0) -> Pool:
    """A pool of these rows, put in tie-break order: higher relevance, smaller token count, path, line."""
    rows = sorted(rows, key=lambda row: (-row.relevance, row.tokens, row.symbol.partition("::")[0], row.line))
    paths = [row.symbol.partition("::")[0] for row in rows]
    lines = np.array([row.line for row in rows], dtype=np.int64)
    sig = np.array([row.sig for row in rows], dtype=np.int64)
    distance = np.array([row.distance for row in rows], dtype=np.int64)
    return Pool(
        query="query",
        source="graph-rag",
        anchored_by="mixed",
        counter="o200k_base",
        commit="",
        symbol_id=[row.symbol for row in rows],
        path=paths,
        qualname=[row.name for row in rows],
        kind=["function"] * len(rows),
        language=["python"] * len(rows),
        line_start=lines,
        line_end=lines + 9,
        tokens=np.array([row.tokens for row in rows], dtype=np.int64),
        cost=np.array([row.tokens if row.cost is None else row.cost for row in rows], dtype=np.int64),
        sig_start=lines,
        sig_end=lines,
        sig_tokens=sig,
        sig_cost=sig,
        relevance=np.array([row.relevance for row in rows], dtype=np.float64),
        hotspot=np.array([row.hotspot for row in rows], dtype=np.float64),
        distance=distance,
        preference=np.array([row.preference for row in rows], dtype=np.float64),
        parts={},
        channels=np.array([row.channels for row in rows], dtype=np.int64),
        anchor=distance == 1,
        predecessor=np.full(len(rows), -1, dtype=np.int64),
        predecessor_edge=[""] * len(rows),
        caller_depth=np.zeros(len(rows), dtype=np.int64),
        callee_depth=np.zeros(len(rows), dtype=np.int64),
        overhead=overhead,
        heading=_headings(rows, paths),
        last_line=last_line,
    )


def _headings(rows: Sequence[Row], paths: Sequence[str]) -> np.ndarray:
    most: dict[str, int] = {}
    for row, path in zip(rows, paths, strict=True):
        most[path] = max(most.get(path, 0), row.heading)
    return np.array([most[path] for path in paths], dtype=np.int64)


def names(selection: Selection, rows: Iterable[int]) -> list[str]:
    """Names of rows, in the order given."""
    return [selection.pool.qualname[row] for row in rows]


def kept(selection: Selection) -> list[str]:
    """Names of what goes out, best first."""
    return names(selection, selection.kept_rows)


def fates(selection: Selection) -> dict[str, tuple[str, str]]:
    """Symbol id -> (state, reason)."""
    return {selection.pool.symbol_id[d.row]: (d.state.label, d.reason.label) for d in selection.decisions}


def digest(selection: Selection) -> str:
    """Everything a selection says, in one word."""
    said = [repr(decision) for decision in selection.decisions] + [
        str(selection.used),
        str(selection.budget),
        repr(selection.warnings),
    ]
    return blake2b("\n".join(said).encode(), digest_size=16).hexdigest()
