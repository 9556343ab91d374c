"""The values of file pruning: files, pieces of them, what was measured and what was decided.

A piece is what can leave of a file by itself: a function, a method, the header of a class, a region, or statements of
one too long for a window. Scores run from 0 to 10 (pruner spec), relevance from 0 to 1; the score of a piece is ten
times its relevance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from secateur.kinds.files.line_ranges import Range
from secateur.ledger import Figure
from secateur.model import ModelCall, Notice, Reason, State

SCORES = 10
"""The best score there is."""

LOCAL, MODEL = "local", "model"
"""The two that judge a file: our measures, or a language model."""


@dataclass(frozen=True, slots=True)
class SourceCode:
    """A file as a prompt holds it. `tokens` of what comes in are not trusted: they are counted again.

    SourceCode("src/cart.py", "def total(): ...")
    """

    module_name: str
    source_code: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """Lines of a file that can leave by themselves, and what speaks for them."""

    start: int  # 1-based, both ends inclusive
    end: int
    name: str  # "Cart.total"; "" for regions and blocks
    relevance: float
    owner: str = ""  # "Cart": what its own lines do not say; "" where it stands for itself
    parts: Mapping[str, float] = field(default_factory=dict)  # sum to `relevance` of the fragment it is or was cut from
    chosen: bool = False  # a model named these lines
    named: int = 0  # which of the ranges it named in this file they belong to
    gap: int = (
        -1
    )  # tokens of the blank lines between it and the piece before, where a snippet of both goes on over them; else -1
    tokens: int = 0  # of its lines; 0 where nothing speaks for it
    header: int = 0  # tokens of the line before them where they leave as a snippet of their own


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """One input: its text counted, and judged where there was a query."""

    source: SourceCode  # with its tokens as counted
    lines: int
    cost: int  # its tokens in the form of the run, wrapper included
    score: float = 0.0
    judge: str = ""  # LOCAL, MODEL, or "" where nobody was asked
    said: str = ""  # what the model gave as its reason; text from outside
    pieces: tuple[SourcePiece, ...] = ()  # by line, disjoint


@dataclass(frozen=True, slots=True)
class MeasuredFiles:
    """The slow part of file pruning done: what `prune` decides on, under any budget and strategy."""

    files: tuple[MeasuredFile, ...]
    counter: str
    form: str  # "plain" or "markdown": the text that leaves
    query: str  # "" where nobody asked
    calls: tuple[ModelCall, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def total(self) -> int:
        """Tokens of all files as they came, in the form of the run."""
        return sum(file.cost for file in self.files)


@dataclass(frozen=True, slots=True)
class TriedSnippet:
    """A piece that was tried: whether it goes out, and the figures of that moment."""

    start: int
    end: int
    name: str
    score: float
    kept: bool
    reason: Reason
    needed: int
    left: int

    @property
    def refused(self) -> str:
        """The reason why it stays behind; "" where it goes out."""
        words = self.reason.label.replace("_", " ")
        return "" if self.kept else f"{words}: needs {self.needed:,}, {self.left:,} left"

    def to_dict(self) -> dict[str, Any]:
        """JSON; `needed` and `left` where it was refused."""
        out: dict[str, Any] = {
            "lines": [self.start, self.end],
            "name": self.name,
            "score": self.score,
            "kept": self.kept,
            "reason": self.reason.label,
        }
        return out if self.kept else out | {"needed": self.needed, "left": self.left}


@dataclass(frozen=True, slots=True)
class Threshold:
    """The setting below which a score answers nothing, and what it asks for."""

    setting: str  # "context_prune.min_score", "context_prune.snippet_share"
    value: float
    best: float  # score of the best snippet, of which `snippet_share` is a share; 0 where it does not count
    asked: float  # the score that is asked for

    @property
    def figures(self) -> dict[str, Figure]:
        """As figures of the ledger; those of a share where the threshold is one."""
        share: dict[str, Figure] = {"value": self.value, "best": self.best} if self.best else {}
        return {"asked": round(self.asked, 6), "setting": self.setting, **share}

    def to_dict(self) -> dict[str, Any]:
        """JSON; `best` where the threshold is a share of it."""
        best = {"best": self.best} if self.best else {}
        return {"setting": self.setting, "value": self.value, **best, "asked": round(self.asked, 6)}


@dataclass(frozen=True, slots=True)
class FileDecision:
    """The decision on one input file."""

    number: int  # in the input
    module_name: str
    state: State
    reason: Reason
    before: int  # tokens, in the form of the run
    after: int
    # its tokens as a whole; of a dropped file whose snippets were tried, what the best of them would have added
    needed: int
    left: int  # what was free when that was tried
    score: float = 0.0
    judge: str = ""
    said: str = ""
    ranges: tuple[Range, ...] = ()  # lines that go out of a shortened file
    tried: tuple[TriedSnippet, ...] = ()  # its pieces, in the order in which they were tried
    text: str | None = None  # what goes out; None: nothing
    threshold: Threshold | None = None  # of a file that is not relevant: what its score is below
    displaced: Range | None = None  # its best lines that do not go out, but would with full_file_share = 0

    @property
    def hint(self) -> str:
        """The change that would let the best of it out; "" where nothing is proven to."""
        if self.displaced is None:
            return ""
        first, last = self.displaced
        return f"whole files went first: with context_prune.full_file_share = 0 its lines {first}-{last} go out"

    def to_dict(self) -> dict[str, Any]:
        """JSON: the decision without the text."""
        out: dict[str, Any] = {"module_name": self.module_name, "state": self.state.label, "reason": self.reason.label}
        out |= {"tokens_before": self.before, "tokens_after": self.after}
        if self.state is not State.KEPT:
            out |= {"needed": self.needed, "left": self.left}
        if self.threshold is not None:
            out["threshold"] = self.threshold.to_dict()
        if self.displaced is not None:
            out["what_if"] = {"full_file_share": 0, "lines": list(self.displaced)}
        if self.judge:
            out |= {"score": self.score, "judge": self.judge}
        if self.said:
            out["said"] = self.said
        if self.ranges:
            out["ranges"] = [list(one) for one in self.ranges]
        if self.tried:
            out["snippets"] = [piece.to_dict() for piece in self.tried]
        return out
