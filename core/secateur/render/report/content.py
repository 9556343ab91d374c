"""The content of a report on a decision, whatever it is drawn as. Every text in it is harmless (`terminal.visible`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from secateur.ledger import Notice, State
from secateur.render.walk_shapes import Walk

STATE_ORDER = (State.KEPT, State.SHORTENED, State.SUMMARISED, State.DROPPED)
"""States in the order in which they are counted for people."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text, or its beginning."""

    text: str
    more: int = 0  # characters that are left out behind it


@dataclass(frozen=True, slots=True)
class Sums:
    """A number of entries, and their tokens before and after."""

    number: int = 0
    before: int = 0
    after: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.number + other.number, self.before + other.before, self.after + other.after)


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One entry of the ledger as it is shown."""

    number: int  # in the order of the whole ledger, from 1: of a search the rank
    id: str
    name: str
    place: str  # where it is found; "" where the name says it
    beside: str  # how it begins, where the name does not tell what it is about
    state: State
    reason: str  # a sentence without its subject
    before: int
    after: int
    position: int | None  # in what goes out, from 1
    terms: Mapping[str, float]
    facts: Sequence[tuple[str, str]]
    came: Excerpt | None = None  # what came in; None: it is not shown, or all of it goes out
    went: Excerpt | None = None  # what goes out of it

    @property
    def score(self) -> float:
        """The sum of its terms."""
        return sum(self.terms.values())

    @property
    def sums(self) -> Sums:
        return Sums(1, self.before, self.after)

    @property
    def tokens(self) -> str:
        """Its tokens for people: "120", "690 → 31"."""
        return f"{self.after:,}" if self.before == self.after else f"{self.before:,} → {self.after:,}"


@dataclass(frozen=True)
class DecisionReport:
    """A decision with its items, and how to get it again."""

    kind: str  # "Search"
    noun: str  # "Candidates"
    question: str  # what was asked or read
    source: str  # where that is from
    figures: Sequence[tuple[str, str]]  # label, text: the head of the command's own report
    knobs: Sequence[tuple[str, str]]  # label, value: what can be turned
    budget: int
    before: int
    after: int
    wrapper: int  # tokens of what stands around the items
    items: Sequence[ReportItem]
    unlisted: Mapping[State, Sums]  # those that are not among the items
    further: Sequence[tuple[str, str]]  # title, text: what else there is to show, such as who calls whom
    notices: Sequence[Notice]
    command: str
    leaving: Excerpt | None  # the text that a model reads
    without_text: int  # items that have text, and no room for it here
    version: str
    walk: Walk | None = (
        None  # the calls around what goes out, of code; its texts are made harmless where they are drawn
    )

    @cached_property
    def counts(self) -> Mapping[State, Sums]:
        """Number and tokens per state, also of what is not listed."""
        counts = dict.fromkeys(STATE_ORDER, Sums()) | dict(self.unlisted)
        for item in self.items:
            counts[item.state] += item.sums
        return counts

    @cached_property
    def going_out(self) -> Sequence[ReportItem]:
        """The items of which something goes out, in the order of what goes out."""
        going = [item for item in self.items if item.state is not State.DROPPED]
        return sorted(going, key=lambda item: item.number if item.position is None else item.position)

    @property
    def free(self) -> int:
        """Tokens of the budget that are not used."""
        return max(0, self.budget - self.after)

    @property
    def saved(self) -> str:
        """The share of what came in that is saved: "92.1 %"; "" where nothing came in, or more goes out."""
        known = self.before > 0 and self.after <= self.before
        return f"{1 - self.after / self.before:.1%}".replace("%", " %") if known else ""

    @property
    def saved_words(self) -> str:
        """The same behind what came in: ", 92.1 % less"."""
        return f", {self.saved} less" if self.saved else ""

    @cached_property
    def scored(self) -> bool:
        """Tells whether items have scores made of terms."""
        return any(item.terms for item in self.items)


def state_words(report: DecisionReport) -> list[str]:
    """The counts in words, for states that there are: "24 kept (3,120 tokens)", dropped ones by what they held."""
    told = []
    for state in STATE_ORDER:
        sums = report.counts[state]
        if sums.number:
            tokens = sums.before if state is State.DROPPED else sums.after
            told.append(f"{sums.number:,} {state.label} ({tokens:,} tokens)")
    return told
