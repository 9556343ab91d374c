"""The content of a report about a decision, for every format. All its texts are safe (`terminal.visible`)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from secateur.ledger import Notice, State, Sums
from secateur.render.walk_text import Walk

STATE_ORDER = (State.KEPT, State.SHORTENED, State.SUMMARISED, State.DROPPED)  # states in the order of counts for people


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A text, or its beginning."""

    text: str
    more: int = 0  # characters that are left out after it


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One entry of the ledger for display."""

    number: int  # in the order of the whole ledger, from 1
    id: str
    name: str
    place: str  # its location; "" if the name says it
    beside: str  # its beginning, if the name does not say what it is about
    state: State
    reason: str  # a sentence without its subject
    before: int
    after: int
    position: int | None  # in the output, from 1
    terms: Mapping[str, float]
    facts: Sequence[tuple[str, str]]
    came: Excerpt | None = None  # its input; None: not shown, or all of it is in the output
    went: Excerpt | None = None  # its output

    @property
    def score(self) -> float:
        """The sum of its terms."""
        return sum(self.terms.values())

    @property
    def tokens(self) -> str:
        """Its tokens for people: "120", "690 → 31"."""
        return f"{self.after:,}" if self.before == self.after else f"{self.before:,} → {self.after:,}"


@dataclass(frozen=True)
class DecisionReport:
    """A decision with its items, and the command that repeats it."""

    kind: str  # "Search"
    noun: str  # "Candidates"
    question: str  # the query or input
    source: str  # its origin
    figures: Sequence[tuple[str, str]]  # label, text: the head of the command's own report
    knobs: Sequence[tuple[str, str]]  # label, value
    budget: int
    before: int
    after: int
    wrapper: int  # tokens around the items
    items: Sequence[ReportItem]
    unlisted: Mapping[State, Sums]  # those that are not among the items
    further: Sequence[tuple[str, str]]  # title, text: further content, such as the call graph
    notices: Sequence[Notice]
    command: str
    leaving: Excerpt | None  # the text that a model reads
    without_text: int  # items whose text is omitted for lack of room
    version: str
    # the calls around the output of a code search; its texts are made safe when they are drawn
    walk: Walk | None = None

    def title(self, most: int) -> str:
        """The question on one line of at most so many characters."""
        line = " ".join(self.question.split())
        return line if len(line) <= most else line[: most - 1].rstrip() + "…"

    @cached_property
    def counts(self) -> Mapping[State, Sums]:
        """Number and tokens per state, including unlisted items."""
        counts = dict.fromkeys(STATE_ORDER, Sums()) | dict(self.unlisted)
        for item in self.items:
            counts[item.state] += Sums(1, item.before, item.after)
        return counts

    @cached_property
    def going_out(self) -> Sequence[ReportItem]:
        """The items with output, in the order of the output."""
        going = [item for item in self.items if item.state is not State.DROPPED]
        return sorted(going, key=lambda item: item.number if item.position is None else item.position)

    @property
    def free(self) -> int:
        """Unused tokens of the budget."""
        return max(0, self.budget - self.after)

    @property
    def saved(self) -> str:
        """The share of the input that is saved: "92.1 %"; "" if there was no input, or the output is larger."""
        known = self.before > 0 and self.after <= self.before
        return f"{1 - self.after / self.before:.1%}".replace("%", " %") if known else ""

    @property
    def saved_words(self) -> str:
        """The saving as an addition to the input: ", 92.1 % less"."""
        return f", {self.saved} less" if self.saved else ""

    @cached_property
    def scored(self) -> bool:
        """Tells whether items have scores made of terms."""
        return any(item.terms for item in self.items)


def summary_sentence(report: DecisionReport) -> str:
    """Says what was read, what fits the budget, and what is lost, with the first part that is."""
    counts = {state: report.counts[state].number for state in STATE_ORDER}
    total, dropped = sum(counts.values()), counts[State.DROPPED]
    reduced = ", ".join(f"{counts[s]:,} {s.label}" for s in (State.SHORTENED, State.SUMMARISED) if counts[s])
    fits = (f" ({reduced})" if reduced else "") + (" fit into" if report.after <= report.budget else " need more than")
    first = [f", among them {item.name}" for item in report.items if item.state is State.DROPPED][:1]
    lost = f"{dropped:,} left out{''.join(first)}" if dropped else "nothing is left out"
    read = f"Of {total:,} parts with {report.before:,} tokens"
    return f"{read}, {total - dropped:,}{fits} {report.budget:,} tokens; {lost}."


def state_words(report: DecisionReport) -> Iterator[str]:
    """Describes the counts of non-empty states: "24 kept (3,120 tokens)"; dropped ones by their input."""
    for state in STATE_ORDER:
        if (sums := report.counts[state]).number:
            tokens = sums.before if state is State.DROPPED else sums.after
            yield f"{sums.number:,} {state.label} ({tokens:,} tokens)"
