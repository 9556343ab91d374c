"""The ledger: what happened to every input of any kind of context, why, and what it cost.

An entry contains codes and figures, never sentences: `render.sentences` writes those for screen, text and JSON alike.
`TrimReport` is the same in the frozen shape of the context-budget spec.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum, auto
from functools import cached_property
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field
from msgspec.structs import replace

from secateur.notice import Notice as Notice
from secateur.shape import Count, Shape

Figure = int | float | str  # a figure of an entry: tokens, lines, characters, a score, or the name of a setting

# Id of the entry for the text around the others. Its `after` may be negative if the estimate of the whole is less than
# the sum of its parts.
WRAPPER = "wrapper"

NOT_LISTED = "not-listed"  # id of the entry that stands for entries left out of a list


CHARS_BEFORE, CHARS_AFTER = "chars_before", "chars_after"  # figures of entries of a kind that also counts characters


class State(IntEnum):
    """The state of an input after a decision. An entry with any output is not dropped."""

    DROPPED = 0  # not in the output
    KEPT = 1  # in the output, unchanged
    SHORTENED = 2  # a part of it is in the output
    SUMMARISED = 3  # a description of it is in the output, in its place or in an entry of its own

    @property
    def label(self) -> str:
        """The state in JSON and in text."""
        return self.name.lower()

    @property
    def glyph(self) -> str:
        """The state as one cell."""
        return "○●◐◍"[self.value]


class Reason(IntEnum):
    """The reason of a decision, for all kinds of context: every entry has one, with its figures.

    `secateur config --reasons` prints it with the sentences of `render.sentences`.
    """

    # several kinds
    FITS = auto()  # kept: there was room when its turn came
    NO_ROOM = auto()  # dropped: needed `needed`, only `left` were free
    LARGER_THAN_BUDGET = auto()  # dropped: needs more than the whole budget
    ZERO_BUDGET = auto()  # dropped: the budget is 0
    WRAPPER = auto()  # text around the entries: headings, fences, names, punctuation
    NOT_LISTED = auto()  # `items` entries of one state, left out of the list
    DAMAGED = auto()  # the input cannot be read there
    PINNED = auto()  # kept: the user asked for it

    # search
    SIGNATURE = auto()  # shortened: the whole did not fit, but its declaration did
    EXCLUDED = auto()  # dropped: the user said so
    BEYOND_DEPTH = auto()  # dropped: further from the anchors than max_depth
    NO_SIGNAL = auto()  # dropped: its priority is 0
    ELSEWHERE = auto()  # dropped: it is outside the part of the repository that answers come from

    # files
    DISABLED = auto()  # kept: pruning is switched off
    WHOLE = auto()  # kept: relevant, and within the share for whole files
    NOT_SHORTER = auto()  # kept: its snippets would take as many tokens as the whole
    SNIPPETS = auto()  # shortened: its relevant pieces are kept
    NOT_RELEVANT = auto()  # dropped: its score is too low

    # conversations
    SYSTEM = auto()  # kept: system messages always stay
    ASIDE = auto()  # kept: this line is not sent to a model
    UNPAIRED = auto()  # kept: its call or its result may be in a message that cannot be read
    LAST_USER = auto()  # kept: the last thing the user said
    FIRST_USER = auto()  # kept: the first thing the user said
    LATEST = auto()  # kept: the latest step
    BESIDE_PINNED = auto()  # kept: a pinned message needs it
    SUMMARY = auto()  # kept: a summary, or a message that links it to the rest
    SUMMARY_BY_MODEL = auto()  # kept: a summary in the words of a model
    RENEWED = auto()  # kept: a note named a result that was gone, and holds its text now
    KEPT = auto()  # kept: none of its results had to be removed, or may be
    OLDEST_GROUP = auto()  # dropped or summarised: among the oldest messages, `over` tokens too many at its turn
    OLDEST_RESULT = auto()  # shortened: its result, or the content that it wrote, is among the oldest; `over` likewise
    SUPERSEDED = auto()  # shortened: a later message shows a newer state of the same file
    OUTDATED = auto()  # shortened: the file was changed later
    REPEATED = auto()  # shortened: a later message or line is the same
    LONG_RESULT = auto()  # shortened: its result was long when it came

    # envelopes
    TARGET = auto()  # kept: the target snapshot is returned unchanged
    LONG_LIST = auto()  # summarised: a list of the digest keeps its first items
    LONG_TEXT = auto()  # shortened: a long text keeps its beginning
    REFERENCE_ONLY = auto()  # summarised: only path, summary and hash are left
    SUMMARY_SHORTENED = auto()  # shortened, or already summarised: its summary is shortened further
    SUMMARY_DROPPED = auto()  # summarised: its summary is dropped too
    HASH_DROPPED = auto()  # summarised: its hash is dropped too
    ENTRIES_DROPPED = auto()  # summarised: entries are dropped, their number and digest stay

    # diffs
    PATTERN = auto()  # dropped: it matches a pattern of the user
    LOCKFILE = auto()
    VENDORED = auto()
    BUILD = auto()
    EDITOR = auto()
    BINARY = auto()
    GENERATED = auto()
    MINIFIED = auto()
    TOO_LARGE = auto()  # dropped: the file is larger than the setting allows
    LONG_LINE = auto()  # shortened: one of its lines fills a chunk by itself
    SPLIT = auto()  # kept, in parts that lie in several chunks
    SOME_LINES = auto()  # shortened: `shown` of `lines` lines had room

    # logs
    FIRST_FAILURE = auto()  # kept: the first thing that went wrong
    DISTINCT_ERROR = auto()  # kept: an error that no earlier line reports
    LAST_LINES = auto()  # kept: among the last lines
    MATCHES_QUERY = auto()  # kept: it contains words of the query
    ROUTINE = auto()  # dropped: a line of a log that nothing singles out, for which no room was left
    RUN_RESULT = auto()  # kept: it sums up a run
    BESIDE_ERROR = auto()  # kept: among the lines around an error
    REPEATS_EARLIER = auto()  # dropped or shortened: earlier lines say the same
    LONG_LINES = auto()  # shortened: the end of a long line is cut off

    @property
    def label(self) -> str:
        """The code in JSON."""
        return self.name.lower()


# The name of a state in the actions of the context-budget spec's report; envelopes use the kind's `action_of`.
VERBS: Mapping[State, str] = {
    State.KEPT: "keep",
    State.SHORTENED: "shorten",
    State.SUMMARISED: "summarize",
    State.DROPPED: "drop",
}

StateName = Annotated[str, Meta(extra_json_schema={"enum": [state.label for state in State]})]
ReasonCode = Annotated[str, Meta(extra_json_schema={"enum": [reason.label for reason in Reason]})]
ActionName = Annotated[str, Meta(extra_json_schema={"enum": [*VERBS.values(), "truncate"]})]


class Redaction(Shape, frozen=True):
    """A credential that was removed from an input."""

    rule: Annotated[str, Meta(description="The rule that found it, as in the marker.")]
    line: Annotated[int, Meta(ge=1, description="Of the input: of a message or section, of its text.")]


class TurningShape(Shape, frozen=True, kw_only=True):
    """The other items that a value changes: ids that leave the output, and ids that enter it."""

    loses: list[str]
    loses_more: Count | UnsetType = UNSET
    gains: list[str]
    gains_more: Count | UnsetType = UNSET


class LeverShape(TurningShape, frozen=True, kw_only=True):
    """A way to turn a decision, and what it costs. The lists have further ids of which less, or more, would go out."""

    typed: Annotated[str, Meta(description="The flags, as one types them.")]
    state: Annotated[StateName, Meta(description="Of the item, with it.")]
    tokens: Annotated[int, Meta(description="Tokens that then leave, less those that leave now.")]
    over: Annotated[Count, Meta(description="Tokens by which what leaves then exceeds the budget.")] | UnsetType = UNSET
    again: Annotated[Count, Meta(description="A larger budget at which it no longer goes out whole.")] | UnsetType = (
        UNSET
    )
    shortens: list[str]
    shortens_more: Count | UnsetType = UNSET
    restores: list[str]
    restores_more: Count | UnsetType = UNSET


class WhatIf(Shape, frozen=True, kw_only=True):
    """The changes that would turn a decision, whether an item is in the output whole; each proven by deciding again."""

    budget: Annotated[Count | None, Meta(description="The nearest one; null: none that was tried.")]
    weights: dict[str, float]
    loses: Annotated[list[str], Meta(description="What goes out now and at that budget no longer.")]
    loses_more: Count | UnsetType = UNSET
    knobs: Annotated[dict[str, float], Meta(description="Settings by key, the nearest value of each.")]
    changes: Annotated[dict[str, TurningShape], Meta(description="By name of the budget, a weight or a setting.")]
    levers: Annotated[list[LeverShape], Meta(description="All of them, and pinning; the cheapest first.")]


class EntryShape(Shape, frozen=True):
    """One input: its state, the reason, and its tokens before and after."""

    id: Annotated[str, Meta(description="The same under other settings.")]
    state: StateName
    reason: ReasonCode
    before: Count
    after: Annotated[int, Meta(description="Of the wrapper it may be negative.")]
    figures: dict[str, int | float | str] | UnsetType = UNSET
    redactions: list[Redaction] | UnsetType = UNSET
    what_if: Annotated[WhatIf | None, Meta(description="With --explain; null: nothing that was tried.")] | UnsetType = (
        UNSET
    )


class LedgerShape(Shape, frozen=True):
    """Contains each input once. The entries sum to `before` and `after`."""

    kind: str
    budget: Count
    before: Count
    after: Count
    entries: list[EntryShape]


class Entry(Struct, frozen=True):
    """One input: its state, the reason, and its tokens before and after."""

    id: str  # the same under other settings: pins, baselines and scenarios refer to it
    state: State
    reason: Reason
    before: int
    after: int
    figures: Mapping[str, Figure] = field(default_factory=dict)
    # of a score, if the kind has one; they sum to it
    terms: Mapping[str, float] = field(default_factory=dict)
    position: int | None = None  # in the output, from 1; None: not in the output, or without a position there
    redactions: tuple[Redaction, ...] = ()  # credentials that were removed from the input before it was counted

    def shape(self) -> EntryShape:
        """Returns the entry for JSON. The terms are stored with the item itself, not here."""
        figures, redactions = dict(self.figures) or UNSET, list(self.redactions) or UNSET
        return EntryShape(self.id, self.state.label, self.reason.label, self.before, self.after, figures, redactions)


def unique_ids(entries: Iterable[Entry]) -> list[str]:
    """Returns the id of each entry; the second entry with the same id gets `#2`."""
    seen: dict[str, int] = {}
    out = []
    for entry in entries:
        times = seen[entry.id] = seen.get(entry.id, 0) + 1
        id_ = entry.id
        while times > 1 and (id_ := f"{entry.id}#{times}") in seen:  # another entry already has this id
            times = seen[entry.id] = times + 1
        seen.setdefault(id_, 1)
        out.append(id_)
    return out


class Sums(Struct, frozen=True):
    """A number of entries, and their tokens before and after."""

    number: int = 0
    before: int = 0
    after: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.number + other.number, self.before + other.before, self.after + other.after)

    def __sub__(self, other: Sums) -> Sums:
        return Sums(self.number - other.number, self.before - other.before, self.after - other.after)


class Ledger(Struct, frozen=True, eq=False, dict=True):
    """The account of a decision: each input once. The entries sum to `before` and `after`, exactly.

    The number of an entry is its row in what was read, the same under all settings. The last entry is the wrapper.
    """

    kind: str
    budget: int
    before: int
    count: Callable[[], int]  # counts the tokens of the output again; called at first use, because it may read texts
    entries: Sequence[Entry]

    @classmethod
    def closed(
        cls,
        kind: str,
        budget: int,
        entries: Iterable[Entry],
        after: int,
        *,
        around: int = 0,
        figures: Mapping[str, Figure] | None = None,
    ) -> Ledger:
        """Returns the ledger of these entries, with a wrapper entry that makes the sums correct.

        Args:
            after: tokens of the output, counted again.
            around: tokens around the entries before the decision.
            figures: of the wrapper.
        """
        entries = tuple(entries)
        before = around + sum(entry.before for entry in entries)
        rest = after - sum(entry.after for entry in entries)
        wrapper = Entry(WRAPPER, State.KEPT, Reason.WRAPPER, around, rest, figures or {})
        return cls(kind, budget, before, lambda: after, (*entries, wrapper))

    def redacted(self, taken: Iterable[tuple[Redaction, ...]]) -> Ledger:
        """Returns the ledger with the removed credentials of each entry, in their order."""
        pairs = zip(self.entries, taken, strict=True)
        return replace(
            self, entries=tuple(replace(entry, redactions=removed) if removed else entry for entry, removed in pairs)
        )

    @cached_property
    def after(self) -> int:
        """Tokens of the output."""
        return self.count()

    @cached_property
    def redactions(self) -> Sequence[tuple[int, Redaction]]:
        """(number of the entry, removed credential), in the order of the entries."""
        return [(number, redaction) for number, entry in enumerate(self.entries) for redaction in entry.redactions]

    @cached_property
    def ids(self) -> Sequence[str]:
        """The id of each entry from `unique_ids`."""
        return unique_ids(self.entries)

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """Number of the entry by its unique id, from `ids`."""
        return {id_: number for number, id_ in enumerate(self.ids)}

    @cached_property
    def order(self) -> Sequence[int]:
        """The numbers of all entries but the wrapper: by score, otherwise as they came."""
        return sorted(range(len(self.entries) - 1), key=lambda number: -sum(self.entries[number].terms.values()))

    @cached_property
    def rank(self) -> Sequence[int]:
        """The place of each entry in `order`, from 1."""
        rank = [0] * len(self.order)
        for place, number in enumerate(self.order, 1):
            rank[number] = place
        return rank

    @property
    def ranked(self) -> Sequence[tuple[str, bool]]:
        """(id, whether it is kept whole) of every entry in the output, the best first."""
        numbered = ((number, self.entries[number].state) for number in self.listed(0))
        return [(self.ids[number], state is State.KEPT) for number, state in numbered if state is not State.DROPPED]

    @cached_property
    def sums(self) -> Mapping[State, Sums]:
        """Number and tokens of the entries in each state, without the wrapper."""
        sums = dict.fromkeys(State, Sums())
        for entry in self.entries[:-1]:
            sums[entry.state] += Sums(1, entry.before, entry.after)
        return sums

    def listed(self, dropped: int | None, ids: Collection[str] = ()) -> Sequence[int]:  # noqa: ARG002
        """Returns the numbers of the entries that a report lists, in their order. A search lists what goes out, the
        best of the others, up to `dropped` (None: all), and what `ids` names; other kinds list all entries."""
        return self.order

    def only(self, numbers: Sequence[int]) -> Sequence[Entry]:
        """Returns these entries, one for the others of each state, and the wrapper: they have the sums of all."""
        entries, others = [self.entries[number] for number in numbers], dict(self.sums)
        for entry in entries:
            others[entry.state] -= Sums(1, entry.before, entry.after)
        for state in sorted(State, key=lambda state: state is State.DROPPED):
            if (rest := others[state]).number:
                name = NOT_LISTED if state is State.DROPPED else f"{NOT_LISTED}-{state.label}"
                entries.append(Entry(name, state, Reason.NOT_LISTED, rest.before, rest.after, {"items": rest.number}))
        return [*entries, self.entries[-1]]

    def shape(self, numbers: Sequence[int] | None = None) -> LedgerShape:
        """Returns the `ledger` of an answer; `numbers`: the entries to list one by one, by default all."""
        entries = [entry.shape() for entry in (self.entries if numbers is None else self.only(numbers))]
        return LedgerShape(self.kind, self.budget, self.before, self.after, entries)

    def report(
        self,
        action: Callable[[Entry], TrimAction | None] | None = None,
        *,
        numbers: Sequence[int] | None = None,
        reserve: int = 0,
        calls: tuple[ModelCall, ...] = (),
    ) -> TrimReport:
        """Returns the ledger in the frozen shape of the context-budget spec. `action`: converts an entry to an action
        of that report, or None; by default `plain_action`. `numbers` as in `shape`."""
        action, entries = action or plain_action, self.entries if numbers is None else self.only(numbers)
        actions = [trim_action for entry in entries if (trim_action := action(entry)) is not None]
        applied = any(entry.state is not State.KEPT for entry in entries)
        return TrimReport(applied, self.before, self.after, self.budget, reserve, actions, list(calls))


def plain_action(entry: Entry) -> TrimAction:
    """Converts an entry to an action that gives its reason as a code."""
    return TrimAction(entry.id, VERBS[entry.state], entry.reason.label, entry.before, entry.after)


class TrimAction(Shape, frozen=True):
    """An input in the report of the context-budget spec: its tokens, the reason, and for envelopes its characters."""

    section: str
    action: ActionName
    reason: str
    before: int = field(name="beforeTokens")
    after: int = field(name="afterTokens")
    before_chars: int | UnsetType = field(name="beforeChars", default=UNSET)
    after_chars: int | UnsetType = field(name="afterChars", default=UNSET)


class ModelCall(Shape, frozen=True, rename="camel"):
    """The cost of one question to a language model, in tokens as counted by its server, otherwise estimated."""

    what: Annotated[str, Meta(description="`score src/a.py`")]
    outcome: Annotated[
        Literal["answered", "not_sent", "failed", "refused"],
        Meta(description="refused: an answer that was malformed or broke an invariant"),
    ]
    attempts: Count
    prompt_tokens: Count
    completion_tokens: Count


class Totals(Shape, frozen=True):
    """The figures of a report for all inputs together, and the tokens of the output, counted again."""

    applied: bool
    before: Count = field(name="estimateBefore")
    after: Count = field(name="estimateAfter")
    budget: Count = field(name="contextBudget")
    reserve: Count = field(name="reserveForResponse")


class TrimReport(Totals, frozen=True, omit_defaults=True):
    """A ledger in the frozen shape of the context-budget spec."""

    actions: Sequence[TrimAction]
    calls: Annotated[Sequence[ModelCall], Meta(description="Where a language model was asked.")] = field(
        name="modelCalls", default_factory=list
    )
