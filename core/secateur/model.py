"""The nouns every other module speaks: fragments and facts of files, the pool of a query, decisions, selections, the
ledger.

All are frozen. A `Pool` is columns (numpy arrays of one length) because ten thousand candidates must re-rank within a
frame; `Selection` is columns over the same rows and materialises a `Decision` object only for the rows somebody looks
at. Scores live in [0, 1] and are quantised to 1e-6 before anything is ordered by them, so order does not depend on a
processor.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from secateur.ledger import Entry, Ledger, ModelCall, Notice, Reason, State, TrimAction, TrimReport

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

QUANTUM = 1e-6
"""Scores are rounded to multiples of this before they are compared."""

UNREACHABLE = 0
"""Distance of a candidate that no path of calls reaches; its distance term is 0 (specs README, point 6)."""


# --- what is known of a file -----------------------------------------------------------------------------------------


class Kind(StrEnum):
    """What a fragment is."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"  # the header of a class, struct, interface, trait, enum: its lines that are in no method
    REGION = "region"  # module-level code outside functions: imports, constants, statements
    SECTION = "section"  # a section of a document or of a configuration file
    BLOCK = "block"  # a block of lines of any other text


@dataclass(frozen=True, slots=True)
class Fragment:
    """One piece of one file. Fragments of a file are disjoint and together hold every non-blank line exactly once.

    Lines are 1-based and inclusive. `line_start` includes leading comments and decorators that belong to the
    definition; `sig_start..sig_end` are the lines of the declaration itself (`def f(` ... `:`), equal to `line_start`
    where there is none.
    """

    kind: Kind
    name: str  # last segment ("total"); "" for regions and blocks, the heading for sections
    qualname: str  # "Cart.total"; regions: ""
    line_start: int
    line_end: int
    sig_start: int
    sig_end: int
    parent: int = -1  # position, in the same file, of the class fragment that holds it; -1 at module level
    complexity: int = 1  # 1 + decision points (branches, loops, cases, boolean operators)


@dataclass(frozen=True, slots=True)
class Call:
    """A call site: `receiver.name(...)` inside fragment number `fragment` of the file."""

    fragment: int
    name: str  # "total"
    # "" plain call; "self" / "cls" / "this" / "super"; dotted text ("cart", "orders.money"), or a chain as
    # `syntax/scopes.py` writes it
    receiver: str
    line: int
    # "(<String>,cart.lines)" where functions can share a name and differ in parameters; "" where that is not told
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Import:
    """One name an import brings into the file."""

    local: str  # the name it has here; "" when nothing is bound (side-effect import)
    module: str  # as written: "orders.money", "./rank", "example.com/courier/internal/route"
    symbol: str  # the imported name; "" = the module itself; "*" = everything
    level: int = 0  # leading dots of a Python relative import
    exported: bool = False  # a re-export: other files can import `local` from this one


@dataclass(frozen=True, slots=True)
class Base:
    """A base class, interface or embedded type, as written, of the class fragment number `fragment`."""

    fragment: int
    name: str  # dotted text as written


@dataclass(frozen=True, slots=True)
class Annotation:
    """A declared type that helps to resolve receivers: `name: Type` for a parameter, field or local of a fragment."""

    fragment: int  # the fragment in whose scope the name is bound (a class fragment for fields)
    name: str  # "cart"; "self.cart" for a field assigned in a method
    type: str  # last dotted name of the type, without generics: "Cart", "money.Money"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What parsing yields of one file: a pure function of its path's language and its bytes."""

    language: str  # "python", ..., "markdown", "text"
    fragments: tuple[Fragment, ...]
    calls: tuple[Call, ...] = ()
    imports: tuple[Import, ...] = ()
    bases: tuple[Base, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    package: str = ""  # Go/Java/C#/PHP/Rust: the declared package, namespace or module
    problems: tuple[str, ...] = ()  # "syntax_errors", "grammar_missing:go", "invalid_utf8", ...


# --- a query ----------------------------------------------------------------------------------------------------------


class Channel(IntEnum):
    """Ways a fragment was found; `Pool.channels` is a bit mask of `1 << Channel`."""

    LEXICAL = 0
    SEMANTIC = 1
    NAME = 2
    MENTION = 3
    GRAPH = 4


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
    cost: IntArray  # upper bound of its tokens in the pack, wrapper included; at least 1
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
    via: IntArray  # row through which the graph search reached this one; -1 for anchors and unreached
    via_edge: list[str]  # "calls", "called_by", "imports", ... of that step; "" for anchors
    caller_depth: IntArray  # fewest calls in a row that lead from here to an anchor; 0 where none do, and for anchors
    callee_depth: IntArray  # fewest calls in a row that lead from an anchor to here; 0 where none do, and for anchors
    overhead: int  # tokens of the pack that belong to no candidate (head line)
    warnings: tuple[Notice, ...] = ()
    facts: Mapping[str, Any] = field(
        default_factory=dict
    )  # figures for the screen: indexed files, fragments, embedding model, matched terms...

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

    def call_path(self, row: int) -> list[int]:
        """Rows from an anchor to `row`, both included; `[row]` for an anchor or an unreached candidate."""
        chain = [row]
        while self.via[chain[-1]] >= 0 and len(chain) <= len(self):
            chain.append(int(self.via[chain[-1]]))
        return chain[::-1]


# --- a decision -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Decision:
    """One input's fate with its figures."""

    row: int
    rank: int  # 1-based place in the order
    state: State
    reason: Reason
    priority: float
    terms: dict[str, float]  # sums to `priority`
    tokens_before: int
    tokens_after: int
    needed: int  # its cost as a whole
    left: int  # what was free when it was last tried as a whole; all there is to spend if it never was

    def to_dict(self) -> dict[str, Any]:
        """`{"state", "reason"}` and, for drops, `needed` and `left`."""
        out: dict[str, Any] = {"state": self.state.label, "reason": self.reason.label}
        if self.state is not State.KEPT:
            out |= {"needed": self.needed, "left": self.left}
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """One greedy pass over whole fragments: which rows were tried, which of them were kept, and with what to spend."""

    tried: BoolArray  # per row
    kept: IntArray  # rows
    free: int  # tokens before the pass


@dataclass(frozen=True, eq=False)
class Selection:
    """The answer of `select`: columns over the pool's rows, in pool row order.

    What only somebody who looks needs (`order`, `rank`, `left`) is worked out when it is first asked for: deciding
    itself does not take a full sort.
    """

    pool: Pool
    budget: int
    strategy: str
    profile: str
    score: FloatArray  # per row: what the strategy orders by, quantised
    priority: FloatArray  # per row, quantised
    terms: dict[str, FloatArray]  # per row; sum over terms == priority
    state: npt.NDArray[np.int8]  # per row, State
    reason: npt.NDArray[np.int8]  # per row, Reason
    turns: tuple[Turn, ...]
    capacity: int  # tokens there were to spend on candidates: the budget less the pack's head
    used: int  # tokens charged, overhead included; an upper bound of the rendered pack
    warnings: tuple[Notice, ...] = ()

    def __len__(self) -> int:
        return len(self.pool)

    @cached_property
    def order(self) -> IntArray:
        """Rows by rank, best first: falling score, equal scores in the pool's tie-break order."""
        return falling(self.score)

    @cached_property
    def rank(self) -> IntArray:
        """1-based rank per row."""
        rank = np.empty(len(self), dtype=np.int64)
        rank[self.order] = np.arange(1, len(self) + 1)
        return rank

    @property
    def needed(self) -> IntArray:
        """Per row, its cost as a whole."""
        return self.pool.cost

    @cached_property
    def left(self) -> IntArray:
        """Per row, the tokens that were free when it was last tried as a whole; `capacity` if it never was."""
        left = np.full(len(self), self.capacity, dtype=np.int64)
        for turn in self.turns:
            spent = np.zeros(len(self) + 1, dtype=np.int64)
            spent[self.rank[turn.kept]] = self.pool.cost[turn.kept]
            left[turn.tried] = turn.free - np.cumsum(spent)[self.rank[turn.tried] - 1]
        return left

    @cached_property
    def kept_rows(self) -> list[int]:
        """Rows that go out (kept or shortened), by rank."""
        out = np.flatnonzero(self.state != State.DROPPED)
        return [int(row) for row in out[falling(self.score[out])]]

    @cached_property
    def dropped_rows(self) -> list[int]:
        """Rows that do not go out, by rank."""
        return [int(r) for r in self.order[self.state[self.order] == State.DROPPED]]

    def decision(self, row: int) -> Decision:
        """The decision on one row of the pool."""
        state = State(int(self.state[row]))
        after = {State.KEPT: self.pool.tokens, State.SHORTENED: self.pool.sig_tokens}.get(state)
        return Decision(
            row=row,
            rank=int(self.rank[row]),
            state=state,
            reason=Reason(int(self.reason[row])),
            priority=float(self.priority[row]),
            terms={name: float(column[row]) for name, column in self.terms.items()},
            tokens_before=int(self.pool.tokens[row]),
            tokens_after=int(after[row]) if after is not None else 0,
            needed=int(self.needed[row]),
            left=int(self.left[row]),
        )

    @property
    def decisions(self) -> Iterator[Decision]:
        """One decision per input, by rank."""
        return (self.decision(int(row)) for row in self.order)

    def counts(self, state: State) -> tuple[int, int]:
        """(number of inputs in `state`, their tokens: what goes out for kept and shortened, what is lost for
        dropped)."""
        mask = self.state == state
        column = self.pool.sig_tokens if state is State.SHORTENED else self.pool.tokens
        return int(mask.sum()), int(column[mask].sum())


def falling(score: FloatArray) -> IntArray:
    """Positions by falling score, equal scores in their order. Scores that differ by less than QUANTUM may count as
    equal."""
    steps = np.rint(score / QUANTUM)
    steps = steps.max(initial=-np.inf) - steps
    if steps.max(initial=0) >= 1 << 32:
        return np.argsort(steps, kind="stable")
    # Twice by 16 bits, the low ones first: numpy's stable sort of such small integers is linear, four times as fast as
    # one of 64 bits.
    low, high = steps.astype(np.uint32).view(np.uint16).reshape(-1, 2).T[:: 1 if sys.byteorder == "little" else -1]
    by_low = np.argsort(low, kind="stable")
    return by_low[np.argsort(high[by_low], kind="stable")]


__all__ = [
    "QUANTUM",
    "UNREACHABLE",
    "Annotation",
    "Base",
    "BoolArray",
    "Call",
    "Channel",
    "Decision",
    "Entry",
    "FileFacts",
    "FloatArray",
    "Fragment",
    "Import",
    "IntArray",
    "Kind",
    "Ledger",
    "ModelCall",
    "Notice",
    "Pool",
    "Reason",
    "Selection",
    "State",
    "TrimAction",
    "TrimReport",
    "Turn",
    "falling",
]
