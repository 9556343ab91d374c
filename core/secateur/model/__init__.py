"""The nouns every other module speaks: fragments and facts of files, the pool of a query, decisions, selections, the
ledger.

All are frozen. A `Pool` is columns (numpy arrays of one length), because ten thousand candidates must be ranked again
within one frame of the screen. A `Selection` is columns over the same rows, and makes a `Decision` object only for a
row that is looked at. Scores are in [0, 1] and rounded to 1e-6 before they are ordered, so that the order does not
depend on the processor.

The facts that parsing finds in one file: its fragments, calls, imports, base classes and declared types.

The decisions on all candidates of a pool, as columns over its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from secateur.ledger import (
    Entry,
    Figure,
    Ledger,
    ModelCall,
    Notice,
    Reason,
    ReasonCode,
    Redaction,
    State,
    StateName,
    TrimAction,
    TrimReport,
)
from secateur.model.pool import (
    QUANTUM,
    UNREACHABLE,
    BoolArray,
    Channel,
    FloatArray,
    IntArray,
    LineRange,
    Pool,
    add_columns,
    distinct,
    falling,
    union,
)
from secateur.shape import Count, Shape

# Reasons for which a row never goes out, at any budget.
NEVER_OUT = (Reason.EXCLUDED, Reason.ELSEWHERE, Reason.BEYOND_DEPTH, Reason.NO_SIGNAL)

LEAST_SAYING = 200  # the least budget at which a pack says what was left out


class DecisionShape(Shape, frozen=True):
    """The decision on a candidate: the tokens that the whole row needed, and those that were left when it was tried."""

    state: StateName
    reason: ReasonCode
    needed: Count
    left: int


class Decision(Struct, frozen=True):
    """The decision on one row, with its figures."""

    row: int
    rank: int  # from 1
    state: State
    reason: Reason
    priority: float
    terms: dict[str, float]  # sums to `priority`
    tokens_before: int
    tokens_after: int
    needed: int  # tokens of the whole row
    left: int  # tokens that were free when the whole row was last tried; the capacity if it never was

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures of the reason; empty for a row that is kept whole."""
        return {"needed": self.needed, "left": self.left} if self.state is not State.KEPT else {}

    def shape(self) -> DecisionShape:
        """Makes the decision for JSON."""
        return DecisionShape(self.state.label, self.reason.label, self.needed, self.left)


class Turn(Struct, frozen=True, eq=False):
    """One greedy pass over whole rows."""

    tried: BoolArray  # mask of the rows that were tried
    kept: IntArray  # rows that were kept
    free: int  # tokens before the pass
    files: BoolArray  # mask of the files of which a row went out before the pass


class Selection(Struct, frozen=True, eq=False, dict=True):
    """The answer of `select`: columns over the pool's rows, in pool row order.

    `order`, `rank` and `left` are worked out at their first use: deciding does not need a full sort.
    """

    pool: Pool
    budget: int
    strategy: str
    profile: str
    score: FloatArray  # the quantised score of each row, which the strategy orders by
    priority: FloatArray  # per row, quantised
    terms: dict[str, FloatArray]  # per row; sum over terms == priority
    state: npt.NDArray[np.int8]  # per row, State
    reason: npt.NDArray[np.int8]  # per row, Reason
    turns: tuple[Turn, ...]
    capacity: int  # tokens for candidates: the budget minus the head of the pack, and the line about what was left out
    used: int  # charged tokens, overhead included: an upper bound of the rendered pack without that line
    warnings: tuple[Notice, ...] = ()

    def __len__(self) -> int:
        return len(self.pool)

    @cached_property
    def order(self) -> IntArray:
        """The rows by rank, best first: by descending score, equal scores in the pool's tie-break order."""
        return falling(self.score)

    @cached_property
    def rank(self) -> IntArray:
        """The rank of each row, from 1."""
        rank = np.empty(len(self), dtype=np.int64)
        rank[self.order] = np.arange(1, len(self) + 1)
        return rank

    @cached_property
    def tokens_after(self) -> IntArray:
        """The tokens of each row that go out."""
        pool = self.pool
        return np.where(
            self.state == State.SHORTENED, pool.sig_tokens, np.where(self.state == State.KEPT, pool.tokens, 0)
        )

    def lines_out(self, row: int) -> LineRange | None:
        """Returns the lines of a row that go out: all, or its declaration; None for a dropped row."""
        pool, state = self.pool, self.state[row]
        if state == State.DROPPED:
            return None
        whole = state == State.KEPT
        first, last = (pool.line_start, pool.line_end) if whole else (pool.sig_start, pool.sig_end)
        return int(first[row]), int(last[row])

    @cached_property
    def needed(self) -> IntArray:
        """The tokens of each whole row when it was last tried: with its file's heading, unless another row had paid for
        it. With the heading if the row was never tried, or is larger than the budget."""
        pool, rank = self.pool, self.rank
        needed, larger = pool.alone.copy(), self.reason == Reason.LARGER_THAN_BUDGET
        for turn in self.turns:
            payer = np.full(len(turn.files), len(self) + 1, dtype=np.int64)  # the rank that pays for each file
            np.minimum.at(payer, pool.file[turn.kept], rank[turn.kept])
            payer[turn.files] = 0
            paid = payer[pool.file] < rank
            needed[turn.tried] = np.where(paid & ~larger, pool.cost, pool.alone)[turn.tried]
        return needed

    @cached_property
    def left_out(self) -> IntArray:
        """The dropped rows that a larger budget could hold, best first."""
        rows = np.flatnonzero((self.state == State.DROPPED) & ~np.isin(self.reason, NEVER_OUT))
        return rows[falling(self.score[rows])]

    @property
    def last_line(self) -> int:
        """The tokens for the line that says what was left out; 0 if there is no such line."""
        says = self.used and len(self.left_out) and self.budget >= LEAST_SAYING
        return min(self.pool.last_line, self.budget - self.used) if says else 0

    @cached_property
    def left(self) -> IntArray:
        """The tokens that were free when each whole row was last tried; `capacity` if it never was."""
        left = np.full(len(self), self.capacity, dtype=np.int64)
        for turn in self.turns:
            spent = np.zeros(len(self) + 1, dtype=np.int64)
            spent[self.rank[turn.kept]] = self.needed[turn.kept]
            left[turn.tried] = turn.free - np.cumsum(spent)[self.rank[turn.tried] - 1]
        return left

    @cached_property
    def kept_rows(self) -> list[int]:
        """The rows that go out (kept or shortened), by rank."""
        out = np.flatnonzero(self.state != State.DROPPED)
        return [int(row) for row in out[falling(self.score[out])]]

    @cached_property
    def pack_rows(self) -> list[int]:
        """The rows that go out, in the order of the pack: by the file's best rank and then by line."""
        position: dict[str, int] = {}
        for row in self.kept_rows:
            position.setdefault(self.pool.path[row], len(position))
        return sorted(
            self.kept_rows, key=lambda row: (position[self.pool.path[row]], int(self.pool.line_start[row]), row)
        )

    @cached_property
    def dropped_rows(self) -> list[int]:
        """The rows that do not go out, by rank."""
        return [int(r) for r in self.order[self.state[self.order] == State.DROPPED]]

    def decision(self, row: int) -> Decision:
        """Makes the decision on one row of the pool."""
        return Decision(
            row=row,
            rank=int(self.rank[row]),
            state=State(int(self.state[row])),
            reason=Reason(int(self.reason[row])),
            priority=float(self.priority[row]),
            terms={name: float(column[row]) for name, column in self.terms.items()},
            tokens_before=int(self.pool.tokens[row]),
            tokens_after=int(self.tokens_after[row]),
            needed=int(self.needed[row]),
            left=int(self.left[row]),
        )

    @property
    def decisions(self) -> Iterator[Decision]:
        """The decisions on all rows, by rank."""
        return (self.decision(int(row)) for row in self.order)

    def counts(self, state: State) -> tuple[int, int]:
        """Returns the number of rows in a state and their tokens: those that go out for kept and shortened rows, those
        that are lost for dropped rows."""
        mask = self.state == state
        column = self.tokens_after if state is State.SHORTENED else self.pool.tokens
        return int(mask.sum()), int(column[mask].sum())


class FragmentKind(StrEnum):
    """The kinds of fragments."""

    FUNCTION = "function"
    METHOD = "method"
    CLASS = "class"  # the header of a class, struct, interface, trait or enum: its lines outside of methods
    REGION = "region"  # module-level code outside functions: imports, constants, statements
    SECTION = "section"  # a section of a document or of a configuration file
    BLOCK = "block"  # a block of lines of any other text


class Fragment(Struct, frozen=True):
    """One piece of one file. Fragments of a file are disjoint and together hold every non-blank line exactly once.

    Lines are 1-based and inclusive. `line_start` includes leading comments and decorators that belong to the
    definition; `sig_start..sig_end` are the lines of the declaration itself (`def f(` ... `:`), equal to `line_start`
    without a declaration.
    """

    kind: FragmentKind
    name: str  # last segment ("total"); "" for regions and blocks, the heading for sections
    qualname: str  # "Cart.total"; regions: ""
    line_start: int
    line_end: int
    sig_start: int
    sig_end: int
    parent: int = -1  # position, in the same file, of the class fragment that holds it; -1 at module level
    complexity: int = 1  # 1 + decision points (branches, loops, cases, boolean operators)


class Call(Struct, frozen=True):
    """A call site: `receiver.name(...)` inside fragment number `fragment` of the file."""

    fragment: int
    name: str  # "total"
    # "" plain call; "self" / "cls" / "this" / "super"; dotted text ("cart", "orders.money"), or a chain as
    # `syntax/scopes.py` writes it
    receiver: str
    line: int
    # "(<String>,cart.lines)" in languages whose functions may share a name and differ in parameters; else ""
    arguments: str = ""


class Import(Struct, frozen=True):
    """One name that an import brings into the file."""

    local: str  # the name in this file; "" if no name is bound (an import for its side effects)
    module: str  # as written: "orders.money", "./rank", "example.com/courier/internal/route"
    symbol: str  # the imported name; "" = the module itself; "*" = everything
    level: int = 0  # leading dots of a Python relative import
    exported: bool = False  # a re-export: other files can import `local` from this one


class Base(Struct, frozen=True):
    """A base class, interface or embedded type of the class fragment number `fragment`."""

    fragment: int
    name: str  # dotted text as written


class Annotation(Struct, frozen=True):
    """A declared type that helps to resolve receivers: `name: Type` for a parameter, field or local of a fragment."""

    fragment: int  # the fragment in whose scope the name is bound (a class fragment for fields)
    name: str  # "cart"; "self.cart" for a field assigned in a method
    type: str  # last dotted name of the type, without generics: "Cart", "money.Money"


class FileFacts(Struct, frozen=True):
    """The facts that parsing finds in one file. They depend on the language of its path and on its bytes alone."""

    language: str  # "python", ..., "markdown", "text"
    fragments: tuple[Fragment, ...]
    calls: tuple[Call, ...] = ()
    imports: tuple[Import, ...] = ()
    bases: tuple[Base, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    package: str = ""  # Go/Java/C#/PHP/Rust: the declared package, namespace or module
    problems: tuple[str, ...] = ()  # "syntax_errors", "grammar_missing:go", "invalid_utf8", ...


__all__ = [
    "LEAST_SAYING",
    "NEVER_OUT",
    "QUANTUM",
    "UNREACHABLE",
    "Annotation",
    "Base",
    "BoolArray",
    "Call",
    "Channel",
    "Decision",
    "DecisionShape",
    "Entry",
    "FileFacts",
    "FloatArray",
    "Fragment",
    "FragmentKind",
    "Import",
    "IntArray",
    "Ledger",
    "LineRange",
    "ModelCall",
    "Notice",
    "Pool",
    "Reason",
    "Redaction",
    "Selection",
    "State",
    "TrimAction",
    "TrimReport",
    "Turn",
    "add_columns",
    "distinct",
    "falling",
    "union",
]
