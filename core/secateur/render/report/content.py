"""The content of a report about a decision, for every format. All its texts are safe (`terminal.visible`).

The report as Markdown for a pull request, and as plain lines for screen readers and pipes: words for states and no
drawing. Both give the figures, and kept and dropped items, each with its reason.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from secateur.ledger import Notice, State, Sums
from secateur.render.markdown import block, escape_line, heading, one_line
from secateur.render.page import fewer_together
from secateur.terminal import ELLIPSIS, clip, visible

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
    further: Sequence[tuple[str, str]]  # title, text: further content: the proofs
    notices: Sequence[Notice]
    command: str
    leaving: Excerpt | None  # the text that a model reads
    without_text: int  # items whose text is omitted for lack of room
    version: str
    changed: str = ""  # what is decided otherwise than before, in lines; "" if nothing is, or there was no before

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


CHANGED = "What changed"  # title of the section
LIMIT = 60_000  # most characters in total: a comment on GitHub holds 65,536
MOST_DROPPED = 20  # most dropped items that are listed
LONGEST_CELL = 200  # most characters of a name or a reason
_TITLE = 160
_MENTION = re.compile(r"@(?=\w)")


def markdown_report(report: DecisionReport) -> str:
    """Returns the whole text. Items without room are counted."""
    notices = [f"> **{_prose(notice.title)}** {_prose(notice.message)}\n>\n" for notice in report.notices]
    source = f" ({_prose(report.source)})" if report.source else ""
    head = f"{heading(2, f'{report.kind}: {_prose(report.title(_TITLE))}{source}')}\n"
    lines = [
        _prose(summary_sentence(report)),
        "",
        f"**{report.after:,} of {report.budget:,} tokens** go out; {report.before:,} came in{report.saved_words}.",
        f"{'; '.join(state_words(report)) or 'Nothing was decided'}.",
        "",
    ]
    lines += [f"- {_prose(label)}: {_prose(text)}" if label else f"- {_prose(text)}" for label, text in report.figures]
    if report.knobs:
        lines.append("- settings: " + ", ".join(_prose(f"{label} {value}") for label, value in report.knobs))
    parts = [head, "\n".join(lines) + "\n\n"]
    parts += ["".join(notices).removesuffix(">\n") + "\n"] if notices else []
    if report.changed:
        parts.append(f"{heading(3, CHANGED)}\n{''.join(block(clip(report.changed, LIMIT // 4), 'diff')).rstrip()}\n\n")
    end = f"{heading(3, 'Get it again')}\n{''.join(block(report.command, 'sh'))}".rstrip() + "\n"
    room = LIMIT - sum(map(len, parts)) - len(end)
    for title, states, most in (
        ("Goes out", STATE_ORDER[:3], None),
        ("Left out", STATE_ORDER[3:], MOST_DROPPED),
    ):
        items = [item for item in report.items if item.state in states]
        if of := sum(report.counts[state].number for state in states):
            parts.append(_table(title, items[:most], of, report.scored, room))
            room -= len(parts[-1])
    return "".join((*parts, end))


def _table(title: str, items: Sequence[ReportItem], of: int, scored: bool, room: int) -> str:
    score, line = ("score | ", "---: | ") if scored else ("", "")
    text = f"| state | name | {score}tokens | reason |\n| --- | --- | {line}---: | --- |\n"
    room -= len(text) + 200
    rows = 0
    for item in items:
        place = f" {_code(item.place)}" if item.place else ""
        beside = f" {_prose(item.beside[:60])}" if item.beside else ""
        score = f"{item.score:.3f} | " if scored else ""
        name = f"{_code(item.name)}{place}{beside}"
        row = f"| {item.state.glyph} {item.state.label} | {name} | {score}{item.tokens} | {_prose(item.reason)} |\n"
        if len(row) > room:
            break
        text += row
        rows += 1
        room -= len(row)
    others = of - rows
    more = f"\n{others:,} more {'is' if others == 1 else 'are'} not listed here.\n" if others else ""
    opened = " open" if title == "Goes out" else ""
    return f"<details{opened}><summary>{title}: {of:,}</summary>\n\n{text if rows else ''}{more}\n</details>\n\n"


def _prose(text: str) -> str:
    return _MENTION.sub("@<!-- -->", escape_line(_cut(text)))


def _code(text: str) -> str:
    """Puts outside text between backticks, where it cannot form marks, mentions or links."""
    cut = _cut(text)
    return f"`{cut}`".replace("|", "\\|") if cut.strip() else ""


def _cut(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= LONGEST_CELL else line[: LONGEST_CELL - 1] + ELLIPSIS


BEGINNING = 120  # cells for the beginning of an item whose name does not identify it


def plain_lines(report: DecisionReport) -> str:
    """Describes everything that the screen shows of a decision, in its order, ending in a line break."""
    around = f"{report.wrapper:,} tokens around them" if report.wrapper >= 0 else fewer_together(report.wrapper)
    lines = [
        f"secateur, {report.kind}" + (f", {report.source}" if report.source else ""),
        *(f"asked: {line}" for line in report.question.split("\n")),
        f"budget: {report.after:,} of {report.budget:,} tokens go out, {report.before:,} came in{report.saved_words}",
        f"decided: {'; '.join(state_words(report)) or 'nothing'}; {around}, {report.free:,} free",
        *(f"{label}: {text}" if label else text for label, text in report.figures),
        *(f"knob {label}: {value}" for label, value in report.knobs),
        *(f"warning {notice.title}: {visible(notice.message)}" for notice in report.notices),
        f"{report.noun}: {sum(sums.number for sums in report.counts.values()):,}",
        *(_line(item, report.scored) for item in report.items),
    ]
    for state, sums in report.unlisted.items():
        if sums.number:
            figures = f"{sums.before:,} tokens came in, {sums.after:,} go out"
            lines.append(f"not listed: {sums.number:,} {state.label}, {figures}")
    return "\n".join((*lines, f"command: {report.command}")) + "\n"


def _line(item: ReportItem, scored: bool) -> str:
    parts = [f"{item.number:,} {item.state.label}: {item.name}" + (f", {item.place}" if item.place else "")]
    of = f", {'of' if item.after < item.before else 'before'} {item.before:,}" if item.after != item.before else ""
    parts.append(f"{item.after:,} tokens{of}")
    if scored:
        terms = ", ".join(f"{name} {value:.3f}" for name, value in item.terms.items())
        parts.append(f"score {item.score:.3f} ({terms})")
        if item.position and item.state is not State.DROPPED:
            parts.append(f"place {item.position:,} in what goes out")
    return "; ".join((*parts, item.reason, *([f"begins: {clip(item.beside, BEGINNING)}"] if item.beside else [])))
