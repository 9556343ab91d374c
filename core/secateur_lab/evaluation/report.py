"""The report of `secateur evaluate`, as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field
from secateur import SCHEMA_VERSION, Count, Shape, Version, clip, dumps, visible

from secateur_lab.evaluation.cases import CaseSet, LeftOut, LeftOutShape
from secateur_lab.evaluation.evaluation import EvaluationPlan, MeasuredCase, MeasuredShape
from secateur_lab.evaluation.intervals import NOTHING, Interval
from secateur_lab.evaluation.metrics import METRICS
from secateur_lab.evaluation.summary import (
    Mean,
    MeanShape,
    QueryDifference,
    ablations,
    profile_differences,
    profile_means,
    query_differences,
)

TITLES = {"recall": "recall", "precision": "precision", "ndcg": "nDCG@10"}

EXTREMES = 5  # queries that the text lists at each end: those that gain most and those that lose most
BEYOND = "*"  # mark of a difference beyond noise
ABOUT_CELLS = 60

_CELL = 20
_NAME = 16


MeansShape = Annotated[
    dict[str, dict[str, MeanShape]], Meta(description="By figure (recall, precision, ndcg) and budget.")
]


class GainShape(Shape, frozen=True):
    """The gain of one profile over another, case by case."""

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
    of_other_part: Annotated[Count, Meta(description="Cases of the other part, which are not measured.")]
    interrupted: bool
    budgets: Sequence[Count]
    left_out: list[LeftOutShape]
    profiles: dict[str, MeansShape]
    differences: Annotated[list[GainShape], Meta(description="Of each other profile from the first.")]
    ablations: list[AblationShape] | UnsetType = UNSET
    queries: list[MeasuredShape]


@dataclass(frozen=True)
class Evaluation:
    """The measured cases, and the others."""

    plan: EvaluationPlan
    measured: Sequence[MeasuredCase]
    left_out: Sequence[LeftOut]
    of_other_part: int = 0  # cases of the part that was not requested
    part: CaseSet = "all"  # the requested part
    interrupted: bool = False


def json_report(evaluation: Evaluation) -> str:
    """Formats everything as JSON."""
    plan, measured = evaluation.plan, evaluation.measured
    weights = [(name, item) for name in plan.names for item in ablations(measured, plan, name)]
    without = [AblationShape(name, item.key, _table(item.means)) for name, item in weights]
    return dumps(
        EvaluationOutput(
            schema_version=SCHEMA_VERSION,
            cases=len(measured),
            repositories=dict(sorted(Counter(item.case.repository for item in measured).items())),
            part=evaluation.part,
            of_other_part=evaluation.of_other_part,
            interrupted=evaluation.interrupted,
            budgets=plan.budgets,
            left_out=[item.shape() for item in evaluation.left_out],
            profiles={name: _table(profile_means(measured, plan, name)) for name in plan.names},
            differences=[
                GainShape(item.before, item.after, _table(item.means)) for item in profile_differences(measured, plan)
            ],
            ablations=without if plan.ablate else UNSET,
            queries=[item.shape() for item in measured],
        )
    )


def text_report(evaluation: Evaluation, *, verbose: bool = False) -> str:
    """Formats a table for each figure, gains and losses of queries, and the effect of each weight."""
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
    repositories = Counter(item.case.repository for item in evaluation.measured)
    count, where = len(evaluation.measured), len(repositories)
    of = f" of {where:,} repositories" if where > 1 else f" of {visible(next(iter(repositories)))}" if where else ""
    cut = " (interrupted: cases measured until then)" if evaluation.interrupted else ""
    yield f"{_count_cases(count)} measured{of}{cut}"
    if evaluation.of_other_part:
        other = "training" if evaluation.part == "held_out" else "held-out"
        yield f"not among them: {_count_cases(evaluation.of_other_part)} of the {other} part (--part all)"
    if evaluation.left_out:
        yield f"{_count_cases(len(evaluation.left_out))} cannot be measured:"
        for item in evaluation.left_out:
            yield f"    {visible(item.name)}: {visible(item.error.message)}"
            if item.error.hint:
                yield f"        hint: {visible(item.error.hint)}"


def _count_cases(count: int) -> str:
    return f"{count:,} case" + ("" if count == 1 else "s")


def _tables(evaluation: Evaluation) -> list[str]:
    plan, lines = evaluation.plan, []
    means = {name: profile_means(evaluation.measured, plan, name) for name in plan.names}
    gains = profile_differences(evaluation.measured, plan)
    for metric in METRICS:
        lines.append(f"{TITLES[metric]:<{_NAME}}" + "".join(f"{budget:>{_CELL - 1},} " for budget in plan.budgets))
        for name in plan.names:
            lines += _rows(name, [item for item in means[name] if item.metric == metric])
        for gain in gains:
            title = "difference" if len(gains) == 1 else f"{gain.after} less {gain.before}"
            lines += _rows(title, [item for item in gain.means if item.metric == metric], signed=True)
        lines.append("")
    return lines[:-1]


def _rows(name: str, means: Sequence[Mean], *, signed: bool = False) -> list[str]:
    """Formats a row with intervals by case, and one by repository if there are several."""
    title = clip(visible(name), _NAME - 1)
    rows = [f"{title:<{_NAME}}" + "".join(f"{_format_mean(item.by_case, signed=signed):>{_CELL}}" for item in means)]
    if means[0].by_repository is not None:
        cells = "".join(f"{_ends(item.by_repository, signed=signed):>{_CELL}}" for item in means)
        rows.append(f"{'  by repository':<{_NAME}}" + cells)
    return rows


def _query_lines(evaluation: Evaluation, name: str, budget: int, *, verbose: bool) -> list[str]:
    first = evaluation.plan.names[0]
    items = query_differences(evaluation.measured, first, name, "recall", budget)
    better = [item for item in items if item.gain > 0]
    worse = [item for item in reversed(items) if item.gain < 0]
    same = len(items) - len(better) - len(worse)
    head = f"{name} against {first}, recall at {budget:,} by query: "
    lines = [head + f"{len(better):,} better, {same:,} equal, {len(worse):,} worse"]
    most = len(items) if verbose else EXTREMES
    several = len({item.case.case.repository for item in items}) > 1
    for some in (better[:most], worse[:most]):
        lines += [_query_line(item, several=several) for item in some]
    return lines


def _query_line(item: QueryDifference, *, several: bool) -> str:
    case = item.case.case
    where = f"  {visible(case.repository)}" if several and case.repository not in case.name else ""
    head = f"  {item.gain:+.2f}  {item.was:.2f} -> {item.now:.2f}"
    about = clip(visible(case.about.partition("\n")[0]), ABOUT_CELLS)
    return f"{head}  {visible(case.name)}{where}  {about}"


def _ablation_lines(evaluation: Evaluation, name: str) -> list[str]:
    items, budgets = ablations(evaluation.measured, evaluation.plan, name), evaluation.plan.budgets
    if not items:
        return [f"{visible(name)} has no weight that can be set to 0"]
    width = max(len(item.key) for item in items) + 2
    lines = [f"{visible(name)} without a weight: recall gained or lost"]
    lines.append(" " * width + "".join(f"{budget:>{_CELL - 1},} " for budget in budgets))
    recalls = {item.key: [mean.by_case for mean in item.means if mean.metric == "recall"] for item in items}
    # weights first whose removal costs most
    for key in sorted(recalls, key=lambda key: (sum(recall.mean for recall in recalls[key]), key)):
        shown = "".join(f"{_format_mean(recall, signed=True):>{_CELL}}" for recall in recalls[key])
        lines.append(f"{key:<{width}}" + shown)
    return lines


def _legend(evaluation: Evaluation) -> Iterator[str]:
    repositories = len({item.case.repository for item in evaluation.measured})
    yield "Means; [low, high] holds 95 % of the means of resampled cases."
    if evaluation.plan.names[1:] or evaluation.plan.ablate:
        yield f"{BEYOND} beyond noise: the interval of the difference does not contain 0."
    if repositories == 1:
        yield "They apply to further cases of this repository, not to other repositories."
    elif repositories < 6:
        yield f"Intervals of {repositories} repositories are rough."


def _format_mean(item: Interval, *, signed: bool) -> str:
    mean = _number(item.mean, signed=signed)
    return f"{mean} {_ends(item, signed=signed)}" if item.low is not None else f"{mean} "


def _ends(item: Interval | None, *, signed: bool) -> str:
    if item is None or item.low is None or item.high is None:
        return ""
    mark = BEYOND if signed and item.beyond_noise else " "
    return f"[{_number(item.low, signed=signed)}, {_number(item.high, signed=signed)}]{mark}"


def _number(value: float, *, signed: bool) -> str:
    """Formats two decimals, without the 0 before them; "+.00" is a little more than nothing."""
    mark = "+" if value > NOTHING else "-" if value < -NOTHING else ""
    return (mark if signed else "") + f"{abs(value):.2f}".removeprefix("0")


def _table(means: Sequence[Mean]) -> MeansShape:
    out: MeansShape = {}
    for item in means:
        out.setdefault(item.metric, {})[str(item.budget)] = item.shape()
    return out
