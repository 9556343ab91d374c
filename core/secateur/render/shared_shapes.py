"""The shapes that the JSON of all kinds of context shares (ledger, report, notices, errors), and parts of answers."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from secateur.ledger import VERBS, Reason, State
from secateur.render.structured import SCHEMA_VERSION

StateName = Annotated[str, Meta(extra_json_schema={"enum": [state.label for state in State]})]
ReasonCode = Annotated[str, Meta(extra_json_schema={"enum": [reason.label for reason in Reason]})]
ActionName = Annotated[str, Meta(extra_json_schema={"enum": [*VERBS.values(), "truncate"]})]
Version = Annotated[str, Meta(extra_json_schema={"const": SCHEMA_VERSION})]
Count = Annotated[int, Meta(ge=0)]
Number = Annotated[int, Meta(ge=1)]
Lines = Annotated[list[Number], Meta(min_length=2, max_length=2, description="First and last line.")]


class Shape(msgspec.Struct, forbid_unknown_fields=True):
    """An object with these fields and no others. Docstrings are descriptions of the schemas: one line each, because
    the indentation of a second one depends on the release of Python."""


class NoticeShape(Shape):
    """Something the user should know about an otherwise good answer."""

    code: Annotated[str, Meta(description="Stable.")]
    message: str


class TurningShape(Shape):
    """The other items that a value changes: ids of those that then go no longer out, and of those that then do."""

    loses: list[str]
    gains: list[str]
    loses_more: Count | UnsetType = UNSET
    gains_more: Count | UnsetType = UNSET


class WhatIf(Shape):
    """The changes that turn a decision, whether an item goes out whole; each proven by deciding again."""

    budget: Annotated[Count | None, Meta(description="The nearest one; null: none that was tried.")]
    weights: dict[str, float]
    loses: Annotated[list[str], Meta(description="What goes out now and at that budget no longer.")]
    knobs: Annotated[dict[str, float], Meta(description="Settings by key, the nearest value of each.")]
    changes: Annotated[dict[str, TurningShape], Meta(description="By name of the budget, a weight or a setting.")]
    loses_more: Count | UnsetType = UNSET


class RedactionShape(Shape):
    """A credential that was taken out of an input."""

    rule: Annotated[str, Meta(description="The rule that found it, as in the marker.")]
    line: Annotated[int, Meta(ge=1, description="Of the input: of a message or section, of its text.")]


class EntryShape(Shape):
    """One input: what became of it, why, and its tokens before and after."""

    id: Annotated[str, Meta(description="The same under other settings.")]
    state: StateName
    reason: ReasonCode
    before: Count
    after: Annotated[int, Meta(description="Of the wrapper it may be negative.")]
    figures: dict[str, int | float | str] | UnsetType = UNSET
    redactions: list[RedactionShape] | UnsetType = UNSET
    what_if: Annotated[WhatIf | None, Meta(description="With --explain; null: nothing that was tried.")] | UnsetType = (
        UNSET
    )


class ReasonShape(Shape):
    """A reason code and its sentence, in which figures of the entry stand in braces."""

    reason: ReasonCode
    sentence: str


class LedgerShape(Shape):
    """Each input once. The entries sum to `before` and `after`."""

    kind: str
    budget: Count
    before: Count
    after: Count
    entries: list[EntryShape]


class ActionShape(Shape):
    """An input in the report of the context-budget spec."""

    section: str
    action: ActionName
    reason: str
    before_tokens: int = msgspec.field(name="beforeTokens")
    after_tokens: int = msgspec.field(name="afterTokens")


class ModelCallShape(Shape):
    """The cost of one question to a language model."""

    what: str
    outcome: Literal["answered", "not_sent", "failed", "refused"]
    attempts: Count
    prompt_tokens: Count = msgspec.field(name="promptTokens")
    completion_tokens: Count = msgspec.field(name="completionTokens")


class Totals(Shape, kw_only=True, rename="camel"):
    """The figures of a report on all inputs together."""

    applied: bool
    estimate_before: Count
    estimate_after: Count
    context_budget: Count
    reserve_for_response: Count
    model_calls: list[ModelCallShape] | UnsetType = UNSET


class ReportShape(Totals):
    """The ledger in the frozen shape of the context-budget spec."""

    actions: list[ActionShape]


class PointShape(Shape):
    """The figures of a budget: tokens that go out, items as they came, items in part, their worth by score."""

    budget: Count
    tokens: Count
    kept: Count
    partly: Count
    worth: float | UnsetType = UNSET
    chunks: Count | UnsetType = UNSET


class DropShape(Shape):
    """A budget at which something no longer goes out that does at the one before."""

    budget: Count
    loses: list[str]
    gains: list[str]


class CurveShape(Shape):
    """The curve of what goes out against the budget, each point proven by deciding with it."""

    points: list[PointShape]
    present: Count
    knee: Annotated[Count | None, Meta(description="From here on a token brings less than the average.")]
    least: Annotated[Count | None, Meta(description="Below it there is no answer; null: there always is one.")]
    enough: Annotated[Count, Meta(description="A budget that everything fits.")]
    drops: Annotated[list[DropShape], Meta(description="The next above the present budget.")]
    dropping: Annotated[Count, Meta(description="Budgets that drop something, of those that were looked at.")]
    every: Annotated[tuple[Count, Count] | None, Meta(description="Between these every budget was looked at.")]
    tried: Annotated[Count, Meta(description="Budgets that were looked at.")]
    runs: Annotated[Count, Meta(description="Times that was decided again.")]


class BestShape(Shape):
    """The best selection of whole items within the same room, by the sum of their scores."""

    present: float
    worth: float
    bound: Annotated[float, Meta(description="No selection is worth more.")]
    exact: bool
    enters: list[str]
    leaves: list[str]


class NotKnownShape(Shape):
    """The proofs that were not done when their limit was reached."""

    within: Annotated[str, Meta(description="The limit, in words.")]
    what_if: Annotated[list[str], Meta(description="Ids of items.")]
    ranges: Annotated[list[str], Meta(description="Names of settings.")]


class ProofsShape(Shape, kw_only=True):
    """The fields that `--explain` adds to the answer of every kind."""

    ranges: (
        Annotated[
            dict[str, tuple[float, float] | None],
            Meta(description="With --explain: weights that change nothing; null: not known."),
        ]
        | UnsetType
    ) = UNSET
    knob_ranges: (
        Annotated[dict[str, tuple[float, float] | None], Meta(description="The same of settings that are no weights.")]
        | UnsetType
    ) = UNSET
    curve: CurveShape | UnsetType = UNSET
    best: BestShape | UnsetType | None = UNSET
    not_known: NotKnownShape | UnsetType = UNSET


class PrunedOutput(ProofsShape):
    """The fields that the answer of every kind has."""

    schema_version: Version
    ledger: LedgerShape
    warnings: list[NoticeShape]


class ErrorDetails(Shape):
    """The error: what went wrong, where, and what to do."""

    code: str
    message: str
    hint: str


class ErrorOutput(Shape):
    """The output of any command with `--format json` where it fails."""

    error: ErrorDetails


class QueryKindShape(Shape):
    """The kind of the query, the name that it is about, and why it is that kind."""

    kind: str
    subject: str
    because: str


class PartialShape(Shape):
    """The part of the repository that an answer was made from, before the rest was indexed."""

    files: Count
    of: Count
    bytes: Count
    of_bytes: Count
