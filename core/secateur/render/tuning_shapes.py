"""The shapes of the JSON of `secateur tune` and `secateur bisect`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from secateur.render.shared_shapes import Count, Shape, Version


class ItemOutcomeShape(Shape):
    """The state of the item under some settings."""

    state: Annotated[
        str,
        Meta(description="As in a ledger; `not found`: no search finds it; `undecided`: there is no answer."),
    ]
    reason: Annotated[str, Meta(description="Code; empty where it is not among the entries.")]
    rank: int | None
    because: str


class BisectedSideShape(ItemOutcomeShape):
    """One side of a bisection."""

    name: str


class DifferingSettingShape(Shape):
    """One setting with its values on both sides."""

    key: str
    before: Any = msgspec.field(name="from")
    after: Any = msgspec.field(name="to")


class WithoutShape(ItemOutcomeShape):
    """The first side with all settings of a set but one."""

    key: str


class MovingSetShape(Shape):
    """Settings that together move the item, each of them needed, and the decisions that prove it."""

    settings: list[DifferingSettingShape]
    applied: Annotated[ItemOutcomeShape, Meta(description="The first side with them.")] = msgspec.field(name="with")
    without: list[WithoutShape]
    taken_back: Annotated[ItemOutcomeShape, Meta(description="The second side with them as on the first.")]


class BisectionOutput(Shape):
    """The output of `secateur bisect --format json`."""

    schema_version: Version
    item: str
    before: BisectedSideShape = msgspec.field(name="from")
    after: BisectedSideShape = msgspec.field(name="to")
    moved: Literal["state", "reason", "rank", "nothing"]
    differing: list[DifferingSettingShape]
    sets: Annotated[list[MovingSetShape], Meta(description="Several where each of them is enough by itself.")]
    runs: Annotated[Count, Meta(description="Decisions that were made.")]


class IntervalShape(Shape):
    """A mean with the interval that holds 95 % of the resampled means; null ends: too few things are drawn."""

    mean: float
    low: float | None
    high: float | None
    drawn: Annotated[Count, Meta(description="Cases, or repositories.")]


class HeldOutShape(Shape):
    """Recall of the held-out cases before and after."""

    budget: Annotated[int | None, Meta(description="null: the mean over all budgets, by which it is judged.")]
    before: IntervalShape
    after: IntervalShape
    gain: IntervalShape


class CaseCountsShape(Shape):
    """Cases by part."""

    training: Count
    held_out: Count
    left_out: Annotated[Count, Meta(description="That could not be read.")]


class TurnedShape(Shape):
    """A setting that was turned."""

    was: float | str
    now: float | str


class TuningOutput(Shape):
    """The output of `secateur tune --format json`."""

    schema_version: Version
    profile: Annotated[str, Meta(description="That it started from.")]
    name: str
    cases: CaseCountsShape
    repositories: Annotated[dict[str, Count], Meta(description="Cases by repository.")]
    dates: Annotated[
        dict[str, list[str] | None], Meta(description="First and last day of the commits that each part is asked at.")
    ]
    seed: Count
    tried: Annotated[Count, Meta(description="Sets of weights.")]
    price: Annotated[float, Meta(description="Recall that each turned weight has to bring.")]
    turned: Annotated[dict[str, TurnedShape], Meta(description="By key.")]
    cross_validated: IntervalShape
    held_out_recall: list[HeldOutShape]
    proven: bool
    verdict: str
    interrupted: bool
    written: Annotated[str | None, Meta(description="The file, as it was named.")]
