"""The candidates of one query as columns, with what is known of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np

from secateur.ledger import Notice, Redaction
from secateur.model.columns import BoolArray, FloatArray, IntArray

UNREACHABLE = 0
"""Distance of a candidate that no path of calls reaches; its distance term is 0 (specs README, point 6)."""


class Channel(IntEnum):
    """Ways a fragment was found; `Pool.channels` is a bit mask of `1 << Channel`."""

    LEXICAL = 0
    SEMANTIC = 1
    NAME = 2
    MENTION = 3
    GRAPH = 4


LineRange = tuple[int, int]
"""First and last line, both included."""


@dataclass(frozen=True, eq=False)
class Pool:
    """All candidates of one query as columns; row i is one fragment. Built by `retrieve`, read by `select`.

    Rows are in tie-break order: higher relevance, then smaller token count, then path, then line. Therefore
    `select` needs only a stable order by priority, and the order is total.
    """

    query: str
    source: str  # "graph-rag" | "embedding" | "keyword": what really ran
    anchored_by: str  # "keyword" | "mixed" (words and vectors) | "embedding": what chose the anchors
    counter: str  # name of the token counter behind `tokens` and `cost`
    commit: str  # what was read: a commit id, or a digest of the files read
    symbol_id: list[str]  # unique
    path: list[str]
    qualname: list[str]
    kind: list[str]
    language: list[str]
    line_start: IntArray
    line_end: IntArray
    tokens: IntArray  # exact tokens of the fragment's own text
    cost: IntArray  # upper bound of its tokens in the pack, own wrapper included; at least 1
    sig_start: IntArray
    sig_end: IntArray
    sig_tokens: IntArray  # tokens of the declaration lines alone
    sig_cost: IntArray  # the same with wrapper; 0 = has no signature of its own
    relevance: FloatArray
    hotspot: FloatArray
    distance: IntArray  # 1 = anchor, 2 = its caller or callee, ...; UNREACHABLE = 0
    preference: FloatArray
    parts: dict[
        str, dict[str, FloatArray]
    ]  # signal -> part -> value; parts of relevance sum to it, hotspot is the root of the product of its two
    channels: IntArray
    anchor: BoolArray
    predecessor: IntArray  # row through which the graph search reached this one; -1 for anchors and unreached
    predecessor_edge: list[str]  # "calls", "called_by", "imports", ... of that step; "" for anchors
    caller_depth: IntArray  # fewest calls in a row that lead from here to an anchor; 0 where none do, and for anchors
    callee_depth: IntArray  # fewest calls in a row that lead from an anchor to here; 0 where none do, and for anchors
    overhead: int  # tokens of the pack that belong to no candidate (head line)
    calls: list[list[list[int]]] = field(default_factory=list)  # per row the anchors that it calls, nearest first: the
    # row of the anchor, and how many calls lead there; [] of all rows where no calls are known
    called: list[list[list[int]]] = field(default_factory=list)  # per row the anchors that call it
    warnings: tuple[Notice, ...] = ()
    facts: Mapping[str, Any] = field(
        default_factory=dict
    )  # figures for the screen: indexed files, fragments, embedding model, matched terms...
    redactions: Mapping[int, tuple[Redaction, ...]] = field(default_factory=dict)  # row -> credentials taken out of it
    elsewhere: BoolArray | None = None  # outside the part that answers are drawn from; None: they are drawn from all
    heading: IntArray | None = None  # tokens of the heading that all rows of its file share; None: each has its own

    @property
    def partial(self) -> bool:
        """True where only a part of the repository was searched, because the rest is not indexed yet."""
        return "partial" in self.facts

    @property
    def short_query(self) -> bool:
        """True for a query of a few words that was told its kind: no issue, no trace."""
        told = self.facts.get("query_kind")
        return told is not None and told["kind"] not in ("issue", "trace")

    def __len__(self) -> int:
        return len(self.symbol_id)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Row by symbol id."""
        return {symbol: row for row, symbol in enumerate(self.symbol_id)}

    @cached_property
    def file(self) -> IntArray:
        """Number of the file per row: rows of one path share it."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(path, len(numbers)) for path in self.path], dtype=np.int64)

    @cached_property
    def by_file(self) -> tuple[IntArray, IntArray]:
        """All rows, those of a file together and ascending, and the place at which each file begins, by its number."""
        rows = np.argsort(self.file, kind="stable")
        return rows, np.flatnonzero(np.diff(self.file[rows], prepend=-1))

    def alone(self, cost: IntArray) -> IntArray:
        """Per row what it takes if no other row of its file goes out: `cost`, with the heading of the file where rows
        share one."""
        return cost if self.heading is None else cost + self.heading

    def call_path(self, row: int) -> list[int]:
        """Rows from an anchor to `row`, both included; `[row]` for an anchor or an unreached candidate."""
        chain = [row]
        while self.predecessor[chain[-1]] >= 0 and len(chain) <= len(self):
            chain.append(int(self.predecessor[chain[-1]]))
        return chain[::-1]
