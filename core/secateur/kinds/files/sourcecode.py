"""The values of file pruning: files, their pieces, measurements and decisions.

A piece is a part of a file that can go out by itself: a function, a method, the header of a class, a region, or some
statements of a function too long for a window. Scores run from 0 to 10 (pruner spec), relevance from 0 to 1; the score
of a piece is ten times its relevance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec import UNSET, UnsetType

from secateur.kinds.files.line_ranges import Range
from secateur.ledger import Figure, ReasonCode, StateName
from secateur.model import ModelCall, Notice, Reason, State
from secateur.shape import Count, Lines, Shape

SCORES = 10
"""The highest score."""

LOCAL, MODEL = "local", "model"
"""The judges of a file: the engine's relevance, or a language model."""


@dataclass(frozen=True, slots=True)
class SourceCode:
    """A file as a prompt holds it. The `tokens` of an input are not trusted: they are counted again.

    SourceCode("src/cart.py", "def total(): ...")
    """

    module_name: str
    source_code: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class SourcePiece:
    """Lines of a file that can go out by themselves, with their relevance."""

    start: int  # 1-based, both ends inclusive
    end: int
    name: str  # "Cart.total"; "" for regions and blocks
    relevance: float
    owner: str = ""  # "Cart", if its own lines do not name it
    parts: Mapping[str, float] = field(default_factory=dict)  # sum to `relevance` of the fragment it is or was cut from
    chosen: bool = False  # a model named these lines
    named: int = 0  # index of the range, among those named in this file
    gap: int = -1  # tokens of the blank lines after the piece before, if one snippet can hold both; else -1
    tokens: int = 0  # of its lines; 0 if it has no relevance
    matches: tuple[int, ...] = ()  # its lines with words of the query, best first, if it is long
    within: Range = (0, 0)  # the function, method or section that it is or was cut from
    header: int = 0  # tokens of its header as a snippet of its own


@dataclass(frozen=True, slots=True)
class MeasuredFile:
    """One input: counted, and judged if there was a query."""

    source: SourceCode  # with its tokens as counted
    lines: int
    cost: int  # its tokens in the form of the run, wrapper included
    score: float = 0.0
    judge: str = ""  # LOCAL, MODEL, or "" if it was not judged
    said: str = ""  # what the model gave as its reason; text from outside
    pieces: tuple[SourcePiece, ...] = ()  # by line, disjoint
    local: float = 0.0  # its score without a model


@dataclass(frozen=True, slots=True)
class MeasuredFiles:
    """Measured files, on which `prune` decides under any budget and strategy."""

    files: tuple[MeasuredFile, ...]
    counter: str
    form: str  # "plain" or "markdown": the text that leaves
    query: str  # "" if there was none
    calls: tuple[ModelCall, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def total(self) -> int:
        """Tokens of all files as they came, in the form of the run."""
        return sum(file.cost for file in self.files)


class ThresholdShape(Shape, frozen=True, kw_only=True):
    """The setting that a score is below, and the score it asks for."""

    setting: str
    value: float
    best: float | UnsetType = UNSET
    asked: float


class SnippetShape(Shape, frozen=True):
    """A piece of a file that was tried. A refused one has `needed` and `left`."""

    lines: Lines
    name: str
    score: float
    kept: bool
    reason: ReasonCode
    needed: Count | UnsetType = UNSET
    left: int | UnsetType = UNSET


class FileWhatIf(Shape, frozen=True):
    """The lines that would go out if no file went out whole first."""

    full_file_share: float
    lines: Lines


class FileDecisionShape(Shape, frozen=True):
    """The decision on a file, with its judgement."""

    module_name: str
    state: StateName
    reason: ReasonCode
    tokens_before: Count
    tokens_after: Count
    needed: Count | UnsetType = UNSET
    left: int | UnsetType = UNSET
    threshold: ThresholdShape | UnsetType = UNSET
    what_if: FileWhatIf | UnsetType = UNSET
    score: float | UnsetType = UNSET
    judge: str | UnsetType = UNSET
    said: str | UnsetType = UNSET
    ranges: list[Lines] | UnsetType = UNSET
    snippets: list[SnippetShape] | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class TriedSnippet:
    """A piece that was tried, whether it goes out, and the figures at that moment."""

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
        """The reason why it was refused; "" if it goes out."""
        words = self.reason.label.replace("_", " ")
        return "" if self.kept else f"{words}: needs {self.needed:,}, {self.left:,} left"

    def shape(self) -> SnippetShape:
        """The piece in JSON."""
        refused = () if self.kept else (self.needed, self.left)
        return SnippetShape([self.start, self.end], self.name, self.score, self.kept, self.reason.label, *refused)


@dataclass(frozen=True, slots=True)
class Threshold:
    """The setting that a score is below, and the score that it requires."""

    setting: str  # "context_prune.min_score", "context_prune.snippet_share"
    value: float
    best: float  # score of the best snippet if the setting is a share of it, else 0
    asked: float  # the score that is required

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures in the ledger; a share also has `value` and `best`."""
        share: dict[str, Figure] = {"value": self.value, "best": self.best} if self.best else {}
        return {"asked": round(self.asked, 6), "setting": self.setting, **share}

    def shape(self) -> ThresholdShape:
        """The threshold in JSON; with `best` if it is a share."""
        best, asked = self.best or UNSET, round(self.asked, 6)
        return ThresholdShape(setting=self.setting, value=self.value, best=best, asked=asked)


@dataclass(frozen=True, slots=True)
class FileDecision:
    """The decision on one input file."""

    number: int  # in the input
    module_name: str
    state: State
    reason: Reason
    before: int  # tokens, in the form of the run
    after: int
    # tokens of the whole file; if its snippets were tried and dropped, the tokens that the best would have added
    needed: int
    left: int  # tokens that were free at that moment
    score: float = 0.0
    judge: str = ""
    said: str = ""
    ranges: tuple[Range, ...] = ()  # lines that go out of a shortened file
    tried: tuple[TriedSnippet, ...] = ()  # its pieces, in the order in which they were tried
    text: str | None = None  # what goes out; None: nothing
    threshold: Threshold | None = None  # the threshold that an irrelevant file missed
    displaced: Range | None = None  # its best lines that do not go out, but would with full_file_share = 0

    @property
    def hint(self) -> str:
        """The change of settings that lets its best lines out; "" if none is proven."""
        if self.displaced is None:
            return ""
        first, last = self.displaced
        return f"whole files went first: with context_prune.full_file_share = 0 its lines {first}-{last} go out"

    def shape(self) -> FileDecisionShape:
        """The decision in JSON, without the text."""
        kept = self.state is State.KEPT
        return FileDecisionShape(
            self.module_name,
            self.state.label,
            self.reason.label,
            self.before,
            self.after,
            needed=UNSET if kept else self.needed,
            left=UNSET if kept else self.left,
            threshold=UNSET if self.threshold is None else self.threshold.shape(),
            what_if=UNSET if self.displaced is None else FileWhatIf(0, list(self.displaced)),
            score=self.score if self.judge else UNSET,
            judge=self.judge or UNSET,
            said=self.said or UNSET,
            ranges=[list(lines) for lines in self.ranges] or UNSET,
            snippets=[piece.shape() for piece in self.tried] or UNSET,
        )
