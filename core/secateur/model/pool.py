"""The candidates of one query as columns, with all signals; the array types, order and set operations of columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from secateur.ledger import Notice, Redaction

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

T = TypeVar("T", bound=np.generic)

QUANTUM = 1e-6  # scores are rounded to multiples of this before they are compared
UNREACHABLE = 0  # the distance of a candidate that no path of calls reaches; its distance term is 0 (REQ-GRAG-002)


class Channel(IntEnum):
    """The ways in which a fragment was found; `Pool.channels` is a bit mask of `1 << Channel`."""

    LEXICAL = 0
    SEMANTIC = 1
    NAME = 2
    MENTION = 3
    GRAPH = 4


LineRange = tuple[int, int]  # (first line, last line), both included


class Pool(Struct, frozen=True, eq=False, dict=True, weakref=True):
    """All candidates of one query as columns; row i is one fragment. Built by `retrieve`, read by `select`.

    Rows are in tie-break order: higher relevance, then fewer tokens, then path, then line. So a stable sort by priority
    gives `select` a total order.
    """

    query: str
    source: str  # the method that ran: "graph-rag" | "embedding" | "keyword"
    anchored_by: str  # the method that chose the anchors: "keyword" | "mixed" (words and vectors) | "embedding"
    counter: str  # name of the token counter behind `tokens` and `cost`
    commit: str  # the commit that was read, or a digest of the files that were read
    symbol_id: list[str]  # unique
    path: list[str]
    qualname: list[str]
    kind: list[str]
    language: list[str]
    line_start: IntArray
    line_end: IntArray
    tokens: IntArray  # exact tokens of the fragment's own text
    # upper bound of its tokens in the pack, own wrapper included, without its file's heading; at least 1
    cost: IntArray
    sig_start: IntArray
    sig_end: IntArray
    sig_tokens: IntArray  # tokens of the declaration lines alone
    sig_cost: IntArray  # the same with the wrapper; 0 = no declaration of its own
    relevance: FloatArray
    hotspot: FloatArray
    distance: IntArray  # 1 = anchor, 2 = its caller or callee, ...; UNREACHABLE = 0
    preference: FloatArray
    # signal -> part -> value; relevance is the sum of its parts, hotspot the root of the product of its two parts
    parts: dict[str, dict[str, FloatArray]]
    channels: IntArray
    anchor: BoolArray
    predecessor: IntArray  # row through which the graph search reached this one; -1 for anchors and unreached
    predecessor_edge: list[str]  # "calls", "called_by", "imports", ... of that step; "" for anchors
    caller_depth: IntArray  # fewest calls in a row that lead from here to an anchor; 0 where none do, and for anchors
    callee_depth: IntArray  # fewest calls in a row that lead from an anchor to here; 0 where none do, and for anchors
    heading: IntArray  # tokens of the heading that the rows of a file share: paid once for each file
    overhead: int  # tokens of the pack that belong to no candidate (head line)
    calls: list[list[list[int]]] = field(default_factory=list)  # per row the anchors that it calls, nearest first: the
    # row of the anchor, and how many calls lead there; [] of all rows where no calls are known
    called: list[list[list[int]]] = field(default_factory=list)  # per row the anchors that call it
    warnings: tuple[Notice, ...] = ()
    # figures for the screen: indexed files, fragments, embedding model, matched terms, ...
    facts: Mapping[str, Any] = field(default_factory=dict)
    redactions: Mapping[int, tuple[Redaction, ...]] = field(default_factory=dict)  # row -> its removed credentials
    elsewhere: BoolArray | None = None  # rows outside `graph_rag.only`; None: all rows may be in an answer
    format: str = "markdown"  # the format of the pack, for which `cost`, `heading` and `overhead` are counted
    last_line: int = 0  # most tokens of the line that says what was left out; 0: there is no such line

    @property
    def partial(self) -> bool:
        """True if only a part of the repository was searched, because the rest is not indexed yet."""
        return "partial" in self.facts

    @property
    def short_query(self) -> bool:
        """True if the kind of the query is known and is neither an issue nor a trace."""
        kind = self.facts.get("query_kind")
        return kind is not None and kind["kind"] not in ("issue", "trace")

    def __len__(self) -> int:
        return len(self.symbol_id)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each symbol id."""
        return {symbol: row for row, symbol in enumerate(self.symbol_id)}

    @cached_property
    def file(self) -> IntArray:
        """The file number of each row; rows with the same path have the same number."""
        numbers: dict[str, int] = {}
        return np.array([numbers.setdefault(path, len(numbers)) for path in self.path], dtype=np.int64)

    @cached_property
    def by_file(self) -> tuple[IntArray, IntArray]:
        """All rows, grouped by file and ascending, and the position at which each file begins, by its number."""
        rows = np.argsort(self.file, kind="stable")
        return rows, np.flatnonzero(np.diff(self.file[rows], prepend=-1))

    @cached_property
    def alone(self) -> IntArray:
        """The tokens of each row if no other row of its file goes out: `cost`, plus the heading of the file."""
        return self.cost + self.heading

    @cached_property
    def headings(self) -> IntArray:
        """The tokens of each file's heading, by the file's number."""
        rows, starts = self.by_file
        return self.heading[rows[starts]]

    @cached_property
    def full_cost(self) -> int:
        """The tokens of all rows with the headings of their files."""
        return int(self.cost.sum() + self.headings.sum())

    def cost_of(self, rows: BoolArray) -> int:
        """Sums the tokens of the marked rows and of their files' headings."""
        files = np.zeros(len(self.headings), dtype=np.bool_)
        files[self.file[rows]] = True
        return int(self.cost[rows].sum() + self.headings[files].sum())

    def call_path(self, row: int) -> list[int]:
        """Returns the rows from an anchor to `row`, both included; `[row]` for an anchor or an unreached candidate."""
        chain = [row]
        while self.predecessor[chain[-1]] >= 0 and len(chain) <= len(self):
            chain.append(int(self.predecessor[chain[-1]]))
        return chain[::-1]


def union(first: IntArray, second: IntArray) -> IntArray:
    """Returns the numbers of both arrays, each once, ascending. `np.union1d` does the same, but imports masked arrays,
    which takes 30 ms."""
    every = np.sort(np.concatenate([first, second]))
    numbers: IntArray = every[np.append(True, every[1:] != every[:-1])[: len(every)]]
    return numbers


def add_columns(columns: Sequence[FloatArray]) -> FloatArray:
    """Adds columns from the first to the last. `np.sum` would add columns of one row in another order."""
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total


def distinct(values: npt.NDArray[T]) -> tuple[npt.NDArray[T], IntArray, IntArray]:
    """Returns the distinct values, ascending; the first position of each; and for each of `values` its position among
    the distinct ones. `np.unique` does the same, but imports masked arrays."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_new = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    position = np.empty(len(values), dtype=np.int64)
    position[order] = np.cumsum(is_new) - 1
    return ordered[is_new], order[is_new], position


def falling(score: FloatArray) -> IntArray:
    """Returns the positions by descending score, equal scores in their order. Scores that differ by less than QUANTUM
    may count as equal."""
    steps = np.rint(score / QUANTUM)
    steps = steps.max(initial=-np.inf) - steps
    if steps.max(initial=0) >= 1 << 32:
        return np.argsort(steps, kind="stable")
    # Sort twice by 16 bits, the low ones first: numpy's stable sort of 16-bit integers is linear, so this is four times
    # as fast as one sort of 64-bit integers.
    low, high = steps.astype(np.uint32).view(np.uint16).reshape(-1, 2).T[:: 1 if sys.byteorder == "little" else -1]
    by_low = np.argsort(low, kind="stable")
    return by_low[np.argsort(high[by_low], kind="stable")]
