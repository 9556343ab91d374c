"""The report of `secateur evaluate`, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from secateur.evaluation.cases import CaseSet, LeftOut, LeftOutShape
from secateur.evaluation.evaluation import EvaluationPlan, MeasuredCase, MeasuredShape
from secateur.evaluation.intervals import NOTHING, Interval
from secateur.evaluation.metrics import METRICS
from secateur.evaluation.summary import (
    Ablation,
    Mean,
    MeanShape,
    QueryDifference,
    ablations,
    profile_differences,
    profile_means,
    query_differences,
)
from secateur.render import dumps
from secateur.shape import SCHEMA_VERSION, Count, Shape, Version
from secateur.terminal import clip, visible

TITLES = {"recall": "recall", "precision": "precision", "ndcg": "nDCG@10"}

EXTREMES = 5
"""Queries that gain most, and that lose most, which the text names."""

BEYOND = "*"
"""Mark of a difference that is more than noise."""

ABOUT_CELLS = 60

_CELL = 20
_NAME = 16


MeansShape = Annotated[
    dict[str, dict[str, MeanShape]], Meta(description="By figure (recall, precision, ndcg) and budget.")
]


class GainShape(Shape, frozen=True):
    """The gain of one profile on another, case by case."""

    before: str = field(name="from")
    to: str
    means: MeansShape


class AblationShape(Shape, frozen=True):
    """The gain of a profile without one of its weights."""

    profile: str
    without: str
    means: MeansShape


class EvaluationOutput(Shape, frozen=True, kw_only=True):
    """The output of `secateur evaluate --format json`."""

    schema_version: Version
    cases: Count
    repositories: Annotated[dict[str, Count], Meta(description="Cases by repository.")]
    part: CaseSet
    of_other_part: Annotated[Count, Meta(description="Cases that are not measured for their part.")]
    interrupted: bool
    budgets: Sequence[Count]
    left_out: list[LeftOutShape]
    profiles: dict[str, MeansShape]
    differences: Annotated[list[GainShape], Meta(description="Of each further profile from the first.")]
    ablations: list[AblationShape] | UnsetType = UNSET
    queries: list[MeasuredShape]


@dataclass(frozen=True)
class Evaluation:
    """The measured cases, and those that are not among them."""

    plan: EvaluationPlan
    measured: Sequence[MeasuredCase]
    left_out: Sequence[LeftOut]
    of_other_part: int = 0  # cases that belong to the part that was not asked for
    part: CaseSet = "all"  # that was asked for
    interrupted: bool = False


def json_report(evaluation: Evaluation) -> str:
    """All of it as JSON."""
    plan, measured = evaluation.plan, evaluation.measured
    without = [
        AblationShape(name, one.key, _table(one.means))
        for name in plan.names
        for one in ablations(measured, plan, name)
    ]
    return dumps(
        EvaluationOutput(
            schema_version=SCHEMA_VERSION,
            cases=len(measured),
            repositories=dict(sorted(Counter(one.case.repository for one in measured).items())),
            part=evaluation.part,
            of_other_part=evaluation.of_other_part,
            interrupted=evaluation.interrupted,
            budgets=plan.budgets,
            left_out=[one.shape() for one in evaluation.left_out],
            profiles={name: _table(profile_means(measured, plan, name)) for name in plan.names},
            differences=[
                GainShape(one.before, one.after, _table(one.means)) for one in profile_differences(measured, plan)
            ],
            ablations=without if plan.ablate else UNSET,
            queries=[one.shape() for one in measured],
        )
    )


def text_report(evaluation: Evaluation, *, verbose: bool = False) -> str:
    """A table for each figure, what the queries gain and lose, and what each weight is worth."""
    lines = [*_head(evaluation), ""]
    if evaluation.measured:
        lines += _tables(evaluation)
        budget = evaluation.plan.budgets[len(evaluation.plan.budgets) // 2]
        for name in evaluation.plan.names[1:]:
            lines += ["", *_query_lines(evaluation, name, budget, verbose=verbose)]
        if evaluation.plan.ablate:
            for name in evaluation.plan.names:
                lines += ["", *_ablation_lines(evaluation, name)]
        lines += ["", *_legend(evaluation)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _head(evaluation: Evaluation) -> Iterator[str]:
    repositories = Counter(one.case.repository for one in evaluation.measured)
    number, where = len(evaluation.measured), len(repositories)
    of = f" of {where:,} repositories" if where > 1 else f" of {visible(next(iter(repositories)))}" if where else ""
    yield f"{_cases(number)} measured{of}" + (
        " (interrupted: what was measured until then)" if evaluation.interrupted else ""
    )
    if evaluation.of_other_part:
        other = "training" if evaluation.part == "held_out" else "held-out"
        yield f"not among them: {_cases(evaluation.of_other_part)} of the {other} part (--part all)"
    if evaluation.left_out:
        yield f"{_cases(len(evaluation.left_out))} cannot be measured:"
        for one in evaluation.left_out:
            yield f"    {visible(one.name)}: {visible(one.error.message)}"
            if one.error.hint:
                yield f"        hint: {visible(one.error.hint)}"


def _cases(number: int) -> str:
    return f"{number:,} case" + ("" if number == 1 else "s")


def _tables(evaluation: Evaluation) -> list[str]:
    plan, lines = evaluation.plan, []
    means = {name: profile_means(evaluation.measured, plan, name) for name in plan.names}
    gains = profile_differences(evaluation.measured, plan)
    for metric in METRICS:
        lines.append(f"{TITLES[metric]:<{_NAME}}" + "".join(f"{budget:>{_CELL - 1},} " for budget in plan.budgets))
        for name in plan.names:
            lines += _rows(name, [one for one in means[name] if one.metric == metric])
        for gain in gains:
            title = "difference" if len(gains) == 1 else f"{gain.after} less {gain.before}"
            lines += _rows(title, [one for one in gain.means if one.metric == metric], signed=True)
        lines.append("")
    return lines[:-1]


def _rows(name: str, means: Sequence[Mean], *, signed: bool = False) -> list[str]:
    """A row with intervals by case, and one by repository where there are several."""
    title = clip(visible(name), _NAME - 1)
    rows = [f"{title:<{_NAME}}" + "".join(f"{_shown(one.by_case, signed=signed):>{_CELL}}" for one in means)]
    if means[0].by_repository is not None:
        cells = "".join(f"{_ends(one.by_repository, signed=signed):>{_CELL}}" for one in means)
        rows.append(f"{'  by repository':<{_NAME}}" + cells)
    return rows


def _query_lines(evaluation: Evaluation, name: str, budget: int, *, verbose: bool) -> list[str]:
    first = evaluation.plan.names[0]
    found = query_differences(evaluation.measured, first, name, "recall", budget)
    better = [one for one in found if one.gain > 0]
    worse = [one for one in reversed(found) if one.gain < 0]
    same = len(found) - len(better) - len(worse)
    head = f"{name} against {first}, recall at {budget:,} by query: "
    lines = [head + f"{len(better):,} better, {same:,} equal, {len(worse):,} worse"]
    most = len(found) if verbose else EXTREMES
    several = len({one.case.case.repository for one in found}) > 1
    for some in (better[:most], worse[:most]):
        lines += [_query_line(one, several=several) for one in some]
    return lines


def _query_line(one: QueryDifference, *, several: bool) -> str:
    case = one.case.case
    where = f"  {visible(case.repository)}" if several and case.repository not in case.name else ""
    head = f"  {one.gain:+.2f}  {one.was:.2f} -> {one.now:.2f}"
    return f"{head}  {visible(case.name)}{where}  {_about(case.about)}"


def _about(text: str) -> str:
    return clip(visible(text.partition("\n")[0]), ABOUT_CELLS)


def _ablation_lines(evaluation: Evaluation, name: str) -> list[str]:
    found, budgets = ablations(evaluation.measured, evaluation.plan, name), evaluation.plan.budgets
    if not found:
        return [f"{visible(name)} has no weight that can be set to 0"]
    width = max(len(one.key) for one in found) + 2
    lines = [f"{visible(name)} without a weight: recall gained or lost"]
    lines.append(" " * width + "".join(f"{budget:>{_CELL - 1},} " for budget in budgets))
    for one in sorted(found, key=_worth):
        cells = [mean for mean in one.means if mean.metric == "recall"]
        shown = "".join(f"{_shown(mean.by_case, signed=True):>{_CELL}}" for mean in cells)
        lines.append(f"{one.key:<{width}}" + shown)
    return lines


def _worth(one: Ablation) -> tuple[float, str]:
    """Weights that cost most when they are gone come first."""
    return sum(mean.by_case.mean for mean in one.means if mean.metric == "recall"), one.key


def _legend(evaluation: Evaluation) -> Iterator[str]:
    repositories = len({one.case.repository for one in evaluation.measured})
    yield "Means; [low, high] holds 95 % of the means of cases drawn anew."
    if evaluation.plan.names[1:] or evaluation.plan.ablate:
        yield f"{BEYOND} beyond noise: the interval of the difference does not hold 0."
    if repositories == 1:
        yield "They speak of further cases of this repository; of other repositories they say nothing."
    elif repositories < 6:
        yield f"Intervals of {repositories} repositories are rough."


def _shown(one: Interval, *, signed: bool) -> str:
    mean = _number(one.mean, signed=signed)
    return f"{mean} {_ends(one, signed=signed)}" if one.low is not None else f"{mean} "


def _ends(one: Interval | None, *, signed: bool) -> str:
    if one is None or one.low is None or one.high is None:
        return ""
    mark = BEYOND if signed and one.beyond_noise else " "
    return f"[{_number(one.low, signed=signed)}, {_number(one.high, signed=signed)}]{mark}"


def _number(value: float, *, signed: bool) -> str:
    """Two decimals, without the 0 before them; "+.00" is a little more than nothing."""
    mark = "+" if value > NOTHING else "-" if value < -NOTHING else ""
    return (mark if signed else "") + f"{abs(value):.2f}".removeprefix("0")


def _table(means: Sequence[Mean]) -> MeansShape:
    out: MeansShape = {}
    for one in means:
        out.setdefault(one.metric, {})[str(one.budget)] = one.shape()
    return out
