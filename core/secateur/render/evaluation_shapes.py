"""The shapes of the JSON of `secateur evaluate` and `secateur mine`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from secateur.render.shared_shapes import Count, ErrorDetails, Shape, Version

Share = Annotated[float, Meta(ge=0, le=1)]


class EndsShape(Shape):
    """An interval that holds 95 % of the resampled means; its ends are null where fewer than two things are drawn."""

    low: float | None
    high: float | None
    drawn: Annotated[Count, Meta(description="Cases, or repositories.")]


class MeanShape(Shape):
    """A mean over cases; by repository where there are several."""

    mean: float
    by_case: EndsShape
    by_repository: EndsShape | UnsetType = UNSET


MeansShape = Annotated[
    dict[str, dict[str, MeanShape]], Meta(description="By figure (recall, precision, ndcg) and budget.")
]


class FiguresShape(Shape):
    """The figures of one case at one budget."""

    recall: Share
    precision: Share
    ndcg: Share
    judged: Annotated[Count, Meta(description="Items judged above 0.")]
    found: Annotated[Count, Meta(description="Of them those that leave whole.")]
    leaving: Annotated[Count, Meta(description="Items that leave whole.")]


class MeasuredShape(Shape):
    """One case that was measured."""

    case: str
    repository: str
    about: str
    figures: Annotated[dict[str, dict[str, FiguresShape]], Meta(description="By profile and budget.")]
    part: Literal["training", "held_out"] | UnsetType = UNSET


class LeftOutShape(Shape):
    """One case that cannot be measured."""

    case: str
    error: ErrorDetails


class GainShape(Shape):
    """The gain of one profile on another, case by case."""

    before: str = msgspec.field(name="from")
    to: str
    means: MeansShape


class AblationShape(Shape):
    """The gain of a profile without one of its weights."""

    profile: str
    without: str
    means: MeansShape


class EvaluationOutput(Shape):
    """The output of `secateur evaluate --format json`."""

    schema_version: Version
    cases: Count
    repositories: Annotated[dict[str, Count], Meta(description="Cases by repository.")]
    part: Literal["training", "held_out", "all"]
    of_other_part: Annotated[Count, Meta(description="Cases that are not measured for their part.")]
    interrupted: bool
    budgets: list[Count]
    left_out: list[LeftOutShape]
    profiles: dict[str, MeansShape]
    differences: Annotated[list[GainShape], Meta(description="Of each further profile from the first.")]
    queries: list[MeasuredShape]
    ablations: list[AblationShape] | UnsetType = UNSET


class MinedShape(Shape):
    """One case that was written."""

    file: str
    commit: str
    part: Literal["training", "held_out"]
    query: str
    judged: Annotated[list[str], Meta(description="Ids of the functions that the commit changed, at its parent.")]


class MineFailure(Shape):
    """A repository of a workspace that no cases were drawn from."""

    name: str
    code: str
    message: str
    hint: str


class MineOutput(Shape):
    """The output of `secateur mine --format json`."""

    schema_version: Version
    commits: Annotated[Count, Meta(description="That were looked at.")]
    cases: list[MinedShape]
    left_out: Annotated[dict[str, Count], Meta(description="Commits that are no cases, by reason.")]
    interrupted: bool
    failed: Annotated[list[MineFailure] | UnsetType, Meta(description="With --workspace: repositories not read.")] = (
        UNSET
    )
