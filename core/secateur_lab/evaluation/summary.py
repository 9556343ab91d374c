"""Figures of many cases as means with intervals: per profile, between profiles, without each weight. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType
from secateur import Count, Shape

from secateur_lab.evaluation.evaluation import EvaluationPlan, MeasuredCase
from secateur_lab.evaluation.intervals import Interval, differences, mean_of
from secateur_lab.evaluation.metrics import METRICS, Figures


class Ends(Shape, frozen=True):
    """An interval that holds 95 % of the resampled means; its ends are null if fewer than two things are drawn."""

    low: float | None
    high: float | None
    drawn: Annotated[Count, Meta(description="Cases, or repositories.")]


class MeanShape(Shape, frozen=True):
    """A mean over cases; also by repository if there are several."""

    mean: float
    by_case: Ends
    by_repository: Ends | UnsetType = UNSET


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of one figure over cases, with its interval by case and, for several repositories, by repository."""

    metric: str
    budget: int
    by_case: Interval
    by_repository: Interval | None  # None: there is one repository

    def shape(self) -> MeanShape:
        """Returns the mean in JSON."""
        case, repository = self.by_case.rounded(), self.by_repository and self.by_repository.rounded()
        return MeanShape(
            case.mean,
            Ends(case.low, case.high, case.drawn),
            Ends(repository.low, repository.high, repository.drawn) if repository else UNSET,
        )


@dataclass(frozen=True, slots=True)
class ProfileDifference:
    """The gain of one profile over another, case by case."""

    before: str
    after: str
    means: tuple[Mean, ...]


@dataclass(frozen=True, slots=True)
class QueryDifference:
    """The gain of one case."""

    case: MeasuredCase
    metric: str
    budget: int
    was: float
    now: float

    @property
    def gain(self) -> float:
        return self.now - self.was


@dataclass(frozen=True, slots=True)
class Ablation:
    """The gain of a profile without one of its weights: below 0 if the weight helps."""

    name: str
    key: str
    means: tuple[Mean, ...]


def profile_means(measured: Sequence[MeasuredCase], plan: EvaluationPlan, name: str) -> tuple[Mean, ...]:
    """Returns the mean figures of a profile."""
    return _means(measured, plan, lambda row, metric, budget: _value(row.figures[name, budget], metric))


def profile_differences(measured: Sequence[MeasuredCase], plan: EvaluationPlan) -> tuple[ProfileDifference, ...]:
    """Returns the gain of each profile over the first one."""
    first, *others = plan.names
    return tuple(
        ProfileDifference(first, name, _gains(measured, plan, lambda row, b: row.figures[first, b], _of_profile(name)))
        for name in others
    )


def query_differences(
    measured: Sequence[MeasuredCase], before: str, after: str, metric: str, budget: int
) -> list[QueryDifference]:
    """Returns the gain of each case, the largest first; equal ones by name."""
    gains = []
    for row in measured:
        was, now = (_value(row.figures[name, budget], metric) for name in (before, after))
        gains.append(QueryDifference(row, metric, budget, was, now))
    return sorted(gains, key=lambda gain: (-gain.gain, gain.case.case.name))


def ablations(measured: Sequence[MeasuredCase], plan: EvaluationPlan, name: str) -> tuple[Ablation, ...]:
    """Returns the gain of a profile without each of its weights, in the order of the settings."""
    keys = dict.fromkeys(key for row in measured for other, key, _ in row.without if other == name)
    return tuple(Ablation(name, key, _without(measured, plan, name, key)) for key in keys)


def _without(measured: Sequence[MeasuredCase], plan: EvaluationPlan, name: str, key: str) -> tuple[Mean, ...]:
    having = [row for row in measured if (name, key, plan.budgets[0]) in row.without]
    return _gains(having, plan, _of_profile(name), lambda row, budget: row.without[name, key, budget])


_Side = Callable[[MeasuredCase, int], Figures]


def _of_profile(name: str) -> _Side:
    return lambda row, budget: row.figures[name, budget]


def _gains(measured: Sequence[MeasuredCase], plan: EvaluationPlan, before: _Side, after: _Side) -> tuple[Mean, ...]:
    def gain(row: MeasuredCase, metric: str, budget: int) -> float:
        return differences([_value(before(row, budget), metric)], [_value(after(row, budget), metric)])[0]

    return _means(measured, plan, gain)


def _means(
    measured: Sequence[MeasuredCase], plan: EvaluationPlan, value: Callable[[MeasuredCase, str, int], float]
) -> tuple[Mean, ...]:
    groups, means = [row.case.repository for row in measured], []
    for metric, budget in product(METRICS, plan.budgets) if measured else ():
        values = [value(row, metric, budget) for row in measured]
        by_repository = mean_of(values, groups) if len(set(groups)) > 1 else None
        means.append(Mean(metric, budget, mean_of(values), by_repository))
    return tuple(means)


def _value(figures: Figures, metric: str) -> float:
    value: float = getattr(figures, metric)
    return value
