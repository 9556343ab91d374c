"""The values of file pruning: files, their pieces, measurements and decisions; pruned files, with the ledger, the
frozen report and the texts that go out: whole, or as snippets with line numbers; as plain texts, or as one Markdown
document.

A piece is a part of a file that can go out by itself: a function, a method, the header of a class, a region, or some
statements of a function too long for a window. Scores run from 0 to 10 (pruner spec), relevance from 0 to 1; the score
of a piece is ten times its relevance.

    Snippets:
    # Lines 12-18 of Calculator
        def add(self, a, b):
    ...

The tokens of a file are counted on its text as it goes out, in the form of the run, with headers, heading and fence.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from secateur.kinds.files.line_ranges import Range, merge
from secateur.languages.syntax.fragments import language_of
from secateur.languages.syntax.text import is_blank
from secateur.ledger import VERBS, WRAPPER, Figure, ReasonCode, StateName
from secateur.model import Entry, Ledger, ModelCall, Notice, Reason, State, TrimAction, TrimReport
from secateur.render.layouts import body, file_block, layout_of
from secateur.render.page import phrase
from secateur.shape import Count, Lines, Shape
from secateur.tokens import Counter, get_counter

PLAIN, MARKDOWN = "plain", "markdown"
FORMS = (PLAIN, MARKDOWN)  # the forms of output: each file as a text of its own, or all in one document
HEAD = "Snippets:\n"  # the first line of a file that is not whole (pruner spec)
WIDEST_GAP = 3  # most blank lines that join two snippets: a further header would cost more
LONGEST_OWNER = 80  # longest name of an owner, in characters; a longer text is not a name
MOST_COUNTED = 1_000  # most choices of lines of a file whose tokens are kept

Counted = TypeVar("Counted")


def header(start: int, end: int, owner: str = "") -> str:
    """The line before a snippet. `owner`: the class around it, if its first line is not in the snippet."""
    name = " ".join(owner.split())
    return f"# Lines {start}-{end}{f' of {name}' if name and len(name) <= LONGEST_OWNER else ''}\n"


def merge_ranges(ranges: Iterable[Range], lines: Sequence[str]) -> list[Range]:
    """Merges ranges, also across a few blank lines."""
    merged: list[Range] = []
    for start, end in merge(ranges, len(lines)):
        if merged and touches(merged[-1][1], start, lines):
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def touches(end: int, start: int, lines: Sequence[str]) -> bool:
    """Tells whether only a few blank lines separate a snippet ending at `end` from one starting at `start`."""
    return start - end - 1 <= WIDEST_GAP and all(is_blank(line) for line in lines[end : start - 1])


def end_lines(lines: Sequence[str]) -> str:
    """Joins lines, each with its line break."""
    return "\n".join((*lines, ""))


def block(name: str, text: str, form: str) -> str:
    """Formats one file for the output."""
    return text if form == PLAIN else file_block(layout_of(MARKDOWN), name, language_of(name, b""), body(text))


def cost(name: str, text: str, form: str, counter: Counter) -> int:
    """Tokens of `block`."""
    return counter.count(block(name, text, form))


def best(pieces: Sequence[SourcePiece]) -> float:
    """The relevance of the best piece; 0 if there is no piece."""
    return max((piece.relevance for piece in pieces), default=0.0)


def describe_room(needed: int, left: int) -> str:
    """Formats what something needs and what was left: "needs 975; nothing was left"."""
    return phrase(Reason.NO_ROOM, {"needed": needed, "left": left})


SCORES = 10  # the highest score

LOCAL, MODEL = "local", "model"  # the judges of a file: the engine's relevance, or a language model


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
    # Tokens of its lines, which proofs ask for hundreds of times; see `count_once`.
    counted: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def count_once(self, key: Hashable, count: Callable[[], Counted]) -> Counted:
        """Returns what `count` returned for this key, which names all that the result depends on beside the file."""
        known: Counted | None = self.counted.get(key)
        if known is None:
            if len(self.counted) >= MOST_COUNTED:
                self.counted.clear()
            known = self.counted[key] = count()
        return known


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
    def ids(self) -> list[str]:
        """The id of each file in the ledger; a repeated name gets a number."""
        seen: Multiset[str] = Multiset()
        ids = []
        for file in self.files:
            name = file.source.module_name
            seen[name] += 1
            ids.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
        return ids

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
        return "" if self.kept else f"{words}: {describe_room(self.needed, self.left)}"

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
    score: float  # the score that is compared, as exact as `asked`

    @property
    def figures(self) -> dict[str, Figure]:
        """The figures in the ledger; a share also has `value` and `best`."""
        share: dict[str, Figure] = {"value": self.value, "best": self.best} if self.best else {}
        return {"score": self.score, "asked": round(self.asked, 6), "setting": self.setting, **share}

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
    left: int | None  # tokens that were free at that moment; None: it would have had room, a threshold refused it
    of_share: bool = False  # whether `left` is of the share for whole files, not of the budget
    score: float = 0.0
    judge: str = ""
    said: str = ""
    ranges: tuple[Range, ...] = ()  # lines that go out of a shortened file
    tried: tuple[TriedSnippet, ...] = ()  # its pieces, in the order in which they were tried
    text: str | None = None  # what goes out; None: nothing
    threshold: Threshold | None = None  # the threshold that an irrelevant file missed

    def shape(self) -> FileDecisionShape:
        """The decision in JSON, without the text."""
        whole = self.state is State.KEPT or self.left is None
        return FileDecisionShape(
            self.module_name,
            self.state.label,
            self.reason.label,
            self.before,
            self.after,
            needed=UNSET if whole else self.needed,
            left=UNSET if whole or self.left is None else self.left,
            threshold=UNSET if self.threshold is None else self.threshold.shape(),
            score=self.score if self.judge else UNSET,
            judge=self.judge or UNSET,
            said=self.said or UNSET,
            ranges=[list(lines) for lines in self.ranges] or UNSET,
            snippets=[piece.shape() for piece in self.tried] or UNSET,
        )


@dataclass(frozen=True)
class PrunedFiles:
    """The decisions on files, with the measured files."""

    measured: MeasuredFiles
    decisions: tuple[FileDecision, ...]  # one per input, in its order
    budget: int
    strategy: str
    warnings: tuple[Notice, ...] = ()

    @cached_property
    def files(self) -> tuple[SourceCode, ...]:
        """The files that go out, in the order of the input."""
        counter = get_counter(self.measured.counter)
        out = []
        for decision in self.decisions:
            source = self.measured.files[decision.number].source
            if decision.state is State.SHORTENED and decision.text is not None:
                source = SourceCode(source.module_name, decision.text, counter.count(decision.text))
            if decision.text is not None:
                out.append(source)
        return tuple(out)

    @cached_property
    def ledger(self) -> Ledger:
        """Each file once."""
        entries: list[Entry] = []
        position, ids = 0, self.measured.ids
        for decision in self.decisions:
            position += decision.text is not None
            at = position if decision.text is not None else None
            outcome = decision.state, decision.reason, decision.before, decision.after
            entries.append(Entry(ids[decision.number], *outcome, self._figures(decision), position=at))
        return Ledger.closed("files", self.budget, entries, sum(decision.after for decision in self.decisions))

    @cached_property
    def report(self) -> TrimReport:
        """The ledger in the frozen shape: one action per file."""
        return self.ledger.report(self._action, calls=self.measured.calls)

    def document(self) -> str:
        """The files that go out as one text, in the counted form."""
        left = ((decision.module_name, decision.text) for decision in self.decisions if decision.text is not None)
        return "".join(block(name, text, self.measured.form) for name, text in left)

    def _figures(self, decision: FileDecision) -> dict[str, Figure]:
        figures: dict[str, Figure] = {"score": decision.score} if decision.judge else {}
        if decision.left is not None:
            figures |= {"needed": decision.needed, "left": decision.left}
        larger = decision.reason is Reason.SNIPPETS and decision.needed > self.budget
        if decision.reason is Reason.LARGER_THAN_BUDGET or larger:
            figures["budget"] = self.budget
        if decision.of_share:
            figures["setting"] = "context_prune.full_file_share"
        return figures | (decision.threshold.figures if decision.threshold is not None else {})

    def _action(self, entry: Entry) -> TrimAction | None:
        if entry.id == WRAPPER:  # files have no wrapper
            return None
        name = self.decisions[self.ledger.number_of[entry.id]].module_name
        return TrimAction(name, VERBS[entry.state], entry.reason.label, entry.before, entry.after)
