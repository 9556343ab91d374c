"""The ledger: what became of every input of any kind of context, why, and what it cost.

An entry carries codes and figures, never sentences: `render.sentences` makes those, for screen, text and JSON alike.
`TrimReport` is the same in the frozen shape of the context-budget spec.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, auto
from functools import cached_property
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType, field

from secateur.notice import Notice as Notice
from secateur.shape import Count, Shape

Figure = int | float | str
"""A figure of an entry: tokens, lines, characters, a score, or the name of a setting."""

WRAPPER = "wrapper"
"""Id of the entry for what stands around the others; its `after` may be negative where an estimate of the whole is
below its parts."""

NOT_LISTED = "not-listed"
"""Id of the entry that stands for those that are left out of a list."""


CHARS_BEFORE, CHARS_AFTER = "chars_before", "chars_after"
"""Figures of entries of a kind that counts characters too."""


class State(IntEnum):
    """The state of an input after a decision. An entry of which something goes out is not dropped."""

    DROPPED = 0  # nothing of it goes out
    KEPT = 1  # goes out as it came
    SHORTENED = 2  # a part of it goes out
    SUMMARISED = 3  # something that tells of it goes out, in its place or in an entry of its own

    @property
    def label(self) -> str:
        """The state in JSON and in text."""
        return self.name.lower()

    @property
    def glyph(self) -> str:
        """The state as one cell."""
        return "○●◐◍"[self.value]


class Reason(IntEnum):
    """The reason of a decision. The one list for all kinds of context: every entry has one, its figures come with it.

    `secateur config --reasons` prints it with the sentences of `render.sentences`.
    """

    # several kinds
    FITS = auto()  # kept: there was room when its turn came
    NO_ROOM = auto()  # dropped: needed `needed`, only `left` were free
    LARGER_THAN_BUDGET = auto()  # dropped: needs more than the whole budget
    ZERO_BUDGET = auto()  # dropped: the budget is 0
    WRAPPER = auto()  # what stands around the entries: headings, fences, names, punctuation
    NOT_LISTED = auto()  # `items` entries of one state, left out of the list
    DAMAGED = auto()  # the input cannot be read there

    # search
    PINNED = auto()  # kept: the user asked for it
    SIGNATURE = auto()  # shortened: whole it did not fit, its declaration did
    EXCLUDED = auto()  # dropped: the user said so
    BEYOND_DEPTH = auto()  # dropped: further from the anchors than max_depth
    NO_SIGNAL = auto()  # dropped: its priority is 0
    UNLIKELY = auto()  # dropped: its chance to be needed is below `least`
    UNLIKELY_WHOLE = auto()  # shortened: as before, its declaration goes out all the same
    ELSEWHERE = auto()  # dropped: it lies outside the part of the repository that answers are drawn from

    # files
    DISABLED = auto()  # kept: pruning is switched off
    WHOLE = auto()  # kept: relevant, and within the share for whole files
    NOT_SHORTER = auto()  # kept: its snippets would take as many tokens as the whole
    SNIPPETS = auto()  # shortened: its relevant pieces go out
    NOT_RELEVANT = auto()  # dropped: it scores below what is asked for

    # conversations
    SYSTEM = auto()  # kept: what the system says always stays
    ASIDE = auto()  # kept: no model is sent this line
    UNPAIRED = auto()  # kept: its call or its result may be in a message that cannot be read
    LAST_USER = auto()  # kept: the last thing the user said
    FIRST_USER = auto()  # kept: the first thing the user said
    LATEST = auto()  # kept: the latest step
    SUMMARY = auto()  # kept: a summary, or what joins one to the rest
    SUMMARY_BY_MODEL = auto()  # kept: a summary in the words of a model
    KEPT = auto()  # kept: it holds no result that had to go, or none that may
    OLDEST_GROUP = auto()  # dropped or summarised: among the oldest messages
    OLDEST_RESULT = auto()  # shortened: its result is among the oldest
    SUPERSEDED = auto()  # shortened: a later message shows the same file as it was later
    OUTDATED = auto()  # shortened: the file was changed later
    REPEATED = auto()  # shortened: a later message, or line, is the same

    # envelopes
    TARGET = auto()  # kept: the target snapshot comes back as it is
    LONG_LIST = auto()  # summarised: a list of the digest keeps its first items
    LONG_TEXT = auto()  # shortened: a long text keeps its beginning
    REFERENCE_ONLY = auto()  # summarised: only path, summary and hash are left
    SUMMARY_SHORTENED = auto()  # shortened, or summarised already: its summary is shorter still
    SUMMARY_DROPPED = auto()  # summarised: what is left has no summary
    HASH_DROPPED = auto()  # summarised: what is left has no hash
    ENTRIES_DROPPED = auto()  # summarised: entries go, their number and digest stay

    # diffs
    PATTERN = auto()  # dropped: a pattern of the user matches it
    LOCKFILE = auto()
    VENDORED = auto()
    BUILD = auto()
    EDITOR = auto()
    BINARY = auto()
    GENERATED = auto()
    MINIFIED = auto()
    TOO_LARGE = auto()  # dropped: the file is larger than the setting allows
    LONG_LINE = auto()  # shortened: a line of it alone fills a chunk
    SPLIT = auto()  # kept, in parts that lie in several chunks
    SOME_LINES = auto()  # shortened: `shown` of `lines` lines had room

    # logs
    FIRST_FAILURE = auto()  # kept: the first thing that went wrong
    DISTINCT_ERROR = auto()  # kept: an error that no earlier line reports
    LAST_LINES = auto()  # kept: among the last lines
    MATCHES_QUERY = auto()  # kept: it holds words of the query
    ROUTINE = auto()  # dropped: it reports nothing that went wrong
    RUN_RESULT = auto()  # kept: it sums up a run
    BESIDE_ERROR = auto()  # kept: among the lines around an error
    REPEATS_EARLIER = auto()  # dropped or shortened: earlier lines say the same
    LONG_LINES = auto()  # shortened: the end of a long line is cut off

    @property
    def label(self) -> str:
        """The code in JSON."""
        return self.name.lower()


VERBS: Mapping[State, str] = {
    State.KEPT: "keep",
    State.SHORTENED: "shorten",
    State.SUMMARISED: "summarize",
    State.DROPPED: "drop",
}
"""The name of a state in the actions of the context-budget spec's report; of an envelope, the kind's `action_of`."""

StateName = Annotated[str, Meta(extra_json_schema={"enum": [state.label for state in State]})]
ReasonCode = Annotated[str, Meta(extra_json_schema={"enum": [reason.label for reason in Reason]})]
ActionName = Annotated[str, Meta(extra_json_schema={"enum": [*VERBS.values(), "truncate"]})]


class Redaction(Shape, frozen=True):
    """A credential that was taken out of an input."""

    rule: Annotated[str, Meta(description="The rule that found it, as in the marker.")]
    line: Annotated[int, Meta(ge=1, description="Of the input: of a message or section, of its text.")]


class TurningShape(Shape, frozen=True, kw_only=True):
    """The other items that a value changes: ids of those that then go no longer out, and of those that then do."""

    loses: list[str]
    loses_more: Count | UnsetType = UNSET
    gains: list[str]
    gains_more: Count | UnsetType = UNSET


class WhatIf(Shape, frozen=True, kw_only=True):
    """The changes that turn a decision, whether an item goes out whole; each proven by deciding again."""

    budget: Annotated[Count | None, Meta(description="The nearest one; null: none that was tried.")]
    weights: dict[str, float]
    loses: Annotated[list[str], Meta(description="What goes out now and at that budget no longer.")]
    loses_more: Count | UnsetType = UNSET
    knobs: Annotated[dict[str, float], Meta(description="Settings by key, the nearest value of each.")]
    changes: Annotated[dict[str, TurningShape], Meta(description="By name of the budget, a weight or a setting.")]


class EntryShape(Shape, frozen=True):
    """One input: what became of it, why, and its tokens before and after."""

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
    """Each input once. The entries sum to `before` and `after`."""

    kind: str
    budget: Count
    before: Count
    after: Count
    entries: list[EntryShape]


@dataclass(frozen=True, slots=True)
class Entry:
    """One input: what became of it, why, and its tokens before and after."""

    id: str  # the same under other settings: what a pin, a baseline and a scenario name
    state: State
    reason: Reason
    before: int
    after: int
    figures: Mapping[str, Figure] = dataclasses.field(default_factory=dict)
    # of a score, where the kind has one; they sum to it
    terms: Mapping[str, float] = dataclasses.field(default_factory=dict)
    position: int | None = None  # in what goes out, from 1; None: it does not, or it stands nowhere in particular
    redactions: tuple[Redaction, ...] = ()  # credentials that were taken out of the input before it was counted

    def shape(self) -> EntryShape:
        """The entry in JSON. The terms stand beside the item itself, not here."""
        figures, redactions = dict(self.figures) or UNSET, list(self.redactions) or UNSET
        return EntryShape(self.id, self.state.label, self.reason.label, self.before, self.after, figures, redactions)


def unique_ids(entries: Iterable[Entry]) -> list[str]:
    """The id of each entry; a second one of an id gets `#2`."""
    seen: dict[str, int] = {}
    out = []
    for entry in entries:
        times = seen[entry.id] = seen.get(entry.id, 0) + 1
        id_ = entry.id
        while times > 1 and (id_ := f"{entry.id}#{times}") in seen:  # another entry is really called that
            times = seen[entry.id] = times + 1
        seen.setdefault(id_, 1)
        out.append(id_)
    return out


@dataclass(frozen=True, eq=False)
class Ledger:
    """The account of a decision: each input once. The entries sum to `before` and `after`, exactly."""

    kind: str
    budget: int
    before: int
    after: int
    entries: tuple[Entry, ...]

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
        """The ledger of these entries with the wrapper's, which makes the sums hold.

        Args:
            after: tokens of what leaves, recounted.
            around: tokens that stood around the entries before.
            figures: of the wrapper.
        """
        entries = tuple(entries)
        before = around + sum(entry.before for entry in entries)
        rest = after - sum(entry.after for entry in entries)
        wrapper = Entry(WRAPPER, State.KEPT, Reason.WRAPPER, around, rest, figures or {})
        return cls(kind, budget, before, after, (*entries, wrapper))

    def redacted(self, taken: Iterable[tuple[Redaction, ...]]) -> Ledger:
        """The ledger with what was taken out of each entry, in their order."""
        pairs = zip(self.entries, taken, strict=True)
        return replace(
            self, entries=tuple(replace(entry, redactions=found) if found else entry for entry, found in pairs)
        )

    @cached_property
    def redactions(self) -> Sequence[tuple[str, Redaction]]:
        """(id of the entry, what was taken out of it), in their order."""
        return [(entry.id, one) for entry in self.entries for one in entry.redactions]

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """Number of the entry of an id."""
        return {entry.id: number for number, entry in enumerate(self.entries)}

    @cached_property
    def ids(self) -> Sequence[str]:
        """The id of each entry as `unique_ids` makes it."""
        return unique_ids(self.entries)

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        """Number of the entry of an id as `ids` has it."""
        return {id_: number for number, id_ in enumerate(self.ids)}

    @cached_property
    def ranked(self) -> Sequence[tuple[str, bool]]:
        """(id, whether it leaves whole) of every entry that leaves: by score, else in their order."""
        named = zip(self.ids, self.entries, strict=True)
        leaving = [(id_, one) for id_, one in named if one.state is not State.DROPPED and one.id != WRAPPER]
        leaving.sort(key=lambda pair: -sum(pair[1].terms.values()))
        return [(id_, one.state is State.KEPT) for id_, one in leaving]

    def shape(self) -> LedgerShape:
        """The `ledger` of an answer."""
        entries = [entry.shape() for entry in self.entries]
        return LedgerShape(self.kind, self.budget, self.before, self.after, entries)

    def report(
        self,
        action: Callable[[Entry], TrimAction | None] | None = None,
        *,
        reserve: int = 0,
        calls: tuple[ModelCall, ...] = (),
    ) -> TrimReport:
        """The ledger in the frozen shape of the context-budget spec.

        Args:
            action: an entry as an action of that report, None where it has none; by default as `plain_action`.
        """
        action = action or plain_action
        actions = [told for entry in self.entries if (told := action(entry)) is not None]
        applied = any(entry.state is not State.KEPT for entry in self.entries)
        return TrimReport(applied, self.before, self.after, self.budget, reserve, actions, list(calls))


def plain_action(entry: Entry) -> TrimAction:
    """An entry as an action that gives its reason as a code."""
    return TrimAction(entry.id, VERBS[entry.state], entry.reason.label, entry.before, entry.after)


class TrimAction(Shape, frozen=True):
    """An input in the report of the context-budget spec, with tokens, the reason, and characters of envelopes."""

    section: str
    action: ActionName
    reason: str
    before: int = field(name="beforeTokens")
    after: int = field(name="afterTokens")
    before_chars: int | UnsetType = field(name="beforeChars", default=UNSET)
    after_chars: int | UnsetType = field(name="afterChars", default=UNSET)


class ModelCall(Shape, frozen=True, rename="camel"):
    """The cost of one question to a language model; tokens as its server counted them, else estimated."""

    what: Annotated[str, Meta(description="`score src/a.py`")]
    outcome: Annotated[
        Literal["answered", "not_sent", "failed", "refused"],
        Meta(description="refused: an answer that was malformed or broke an invariant"),
    ]
    attempts: Count
    prompt_tokens: Count
    completion_tokens: Count


class Totals(Shape, frozen=True):
    """The figures of a report on all inputs together: what they hold, and the recounted text that leaves."""

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
