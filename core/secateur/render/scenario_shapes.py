"""The shapes of what `check`, `replay` and `demo` print as JSON: decisions, and what changed of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from secateur.render.shared_shapes import (
    Count,
    ErrorDetails,
    LedgerShape,
    NoticeShape,
    Number,
    ReasonCode,
    Shape,
    StateName,
    Version,
)


class RecordedShape(Shape):
    """One decision as a scenario records it."""

    id: str
    state: StateName
    reason: ReasonCode
    tokens: Annotated[list[int], Meta(min_length=2, max_length=2, description="Before and after.")] | UnsetType = UNSET
    score: float | UnsetType = UNSET
    rank: Number | UnsetType = UNSET
    terms: dict[str, float] | UnsetType = UNSET
    text: Annotated[str, Meta(description="Digest of what came in.")] | UnsetType = UNSET


class ChangeShape(Shape):
    """One item whose decision is another than the recorded one."""

    id: str
    what: Literal["state", "reason", "tokens", "score", "rank", "new", "gone"]
    line: Annotated[Number, Meta(description="Of the scenario's file.")]
    was: RecordedShape | None
    now: RecordedShape | None
    because: Annotated[str, Meta(description="The reason now, as a sentence.")]
    causes: Annotated[list[str], Meta(description="What moved it, the nearest cause first.")]
    instead: Annotated[list[str], Meta(description="What goes out in its place.")]


class FailureShape(Shape):
    """One assertion that does not hold."""

    assertion: str
    said: Annotated[str, Meta(description="What is there instead.")]
    line: Annotated[Number, Meta(description="Of the scenario's file.")]


class MovedSettingShape(Shape):
    """A setting that was another when the decisions were recorded."""

    was: Any
    now: Any
    from_: Annotated[str, Meta(description="Where it is set.")] | UnsetType = msgspec.field(name="from", default=UNSET)


class ScenarioShape(Shape):
    """The result of one scenario. With an error there are no differences, failures, knobs and files."""

    scenario: str
    verdict: Literal["passed", "changed", "assertion_failed", "cannot_run", "index_stale"]
    kind: Annotated[str, Meta(description="Empty where the file cannot be read.")]
    about: str | UnsetType = UNSET
    updated: Literal[True] | UnsetType = UNSET
    unrecorded: Literal[True] | UnsetType = UNSET
    error: ErrorDetails | UnsetType = UNSET
    line: Annotated[Number, Meta(description="Of the scenario's file, that the error is about.")] | UnsetType = UNSET
    differences: list[ChangeShape] | UnsetType = UNSET
    failures: list[FailureShape] | UnsetType = UNSET
    knobs: dict[str, MovedSettingShape] | UnsetType = UNSET
    files: Annotated[list[str], Meta(description="Whose text changed.")] | UnsetType = UNSET
    remarks: list[str] | UnsetType = UNSET


class ScenariosOutput(Shape):
    """The output of `secateur check --format json`."""

    schema_version: Version
    exit_code: Literal[0, 1, 4]
    counts: dict[str, Count]
    scenarios: list[ScenarioShape]


class StepChangeShape(Shape):
    """One entry that an event of a recording changed."""

    id: str
    what: Literal["state", "reason", "tokens", "new", "gone"]
    was: RecordedShape | None
    now: RecordedShape | None
    because: Annotated[str, Meta(description="The reason now, as a sentence.")]
    causes: list[str]
    instead: list[str]


class StepShape(Shape):
    """One event of a recording. What it decided is there where it could change what goes out."""

    step: Number
    event: Annotated[dict[str, Any], Meta(description="As it stands in the file.")]
    kind: str
    said: Annotated[str, Meta(description="The event in words.")]
    error: Annotated[ErrorDetails, Meta(description="In place of an answer: a budget cannot be met.")] | UnsetType = (
        UNSET
    )
    as_recorded: bool | UnsetType = UNSET
    differs: str | UnsetType = UNSET
    budget: int | UnsetType = UNSET
    before: Count | UnsetType = UNSET
    after: Count | UnsetType = UNSET
    states: Annotated[dict[str, Count], Meta(description="Entries of each state.")] | UnsetType = UNSET
    digest: Annotated[str, Meta(description="Of the ledger.")] | UnsetType = UNSET
    changes: list[StepChangeShape] | UnsetType = UNSET
    ledger: Annotated[LedgerShape, Meta(description="With --verbose.")] | UnsetType = UNSET


class AsRecordedShape(Shape):
    """The number of answers that were recorded, and of those that are decided the same."""

    answers: Count
    equal: Count


class ReplayOutput(Shape):
    """The output of `secateur replay --format json`."""

    schema_version: Version
    about: str
    steps: list[StepShape]
    as_recorded: AsRecordedShape
    warnings: list[NoticeShape]


class DemoShape(Shape):
    """One recording that comes along."""

    name: str
    about: str
    file: str


class DemosOutput(Shape):
    """The output of `secateur demo --format json`."""

    schema_version: Version
    demos: list[DemoShape]
