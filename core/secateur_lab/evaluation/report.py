"""The report of `secateur evaluate`, as text and as JSON: figures of many cases as means with intervals, per profile
and between profiles."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field
from secateur import SCHEMA_VERSION, Count, Shape, Version, clip, dumps, visible

from secateur_lab.evaluation.cases import CaseSet, LeftOut, LeftOutShape
from secateur_lab.evaluation.measuring import (
    METRICS,
    NOTHING,
    EvaluationPlan,
    Figures,
    Interval,
    MeasuredCase,
    MeasuredShape,
    differences,
    mean_of,
)

TITLES = {"recall": "recall", "precision": "precision", "ndcg": "nDCG@10"}

EXTREMES = 5  # queries that the text lists at each end: those that gain most and those that lose most
BEYOND = "*"  # mark of a difference beyond noise
ABOUT_CELLS = 60

_CELL = 20
_NAME = 16


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


MeansShape = Annotated[
    dict[str, dict[str, MeanShape]], Meta(description="By figure (recall, precision, ndcg) and budget.")
]


class GainShape(Shape, frozen=True):
    """The gain of one profile over another, case by case."""

    before: str = field(name="from")
    to: str
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


def profile_means(measured: Sequence[MeasuredCase], plan: EvaluationPlan, name: str) -> tuple[Mean, ...]:
    """Returns the mean figures of a profile."""
    return _means(measured, plan, lambda row, budget: row.figures[name, budget])


def profile_gains(measured: Sequence[MeasuredCase], plan: EvaluationPlan, name: str) -> tuple[Mean, ...]:
    """Returns the gain of a profile over the first one, case by case."""
    first = plan.names[0]
    return _means(measured, plan, lambda row, b: row.figures[name, b], lambda row, b: row.figures[first, b])


_Side = Callable[[MeasuredCase, int], Figures]


def _means(
    measured: Sequence[MeasuredCase], plan: EvaluationPlan, side: _Side, base: _Side | None = None
) -> tuple[Mean, ...]:
    groups, means = [row.case.repository for row in measured], []
    for metric, budget in product(METRICS, plan.budgets) if measured else ():
        values = [_value(side(row, budget), metric) for row in measured]
        if base is not None:
            values = differences([_value(base(row, budget), metric) for row in measured], values)
        by_repository = mean_of(values, groups) if len(set(groups)) > 1 else None
        means.append(Mean(metric, budget, mean_of(values), by_repository))
    return tuple(means)


def _value(figures: Figures, metric: str) -> float:
    value: float = getattr(figures, metric)
    return value


def json_report(evaluation: Evaluation) -> str:
    """Formats everything as JSON."""
    plan, measured = evaluation.plan, evaluation.measured
    first, *others = plan.names
    return dumps(
        EvaluationOutput(
            schema_version=SCHEMA_VERSION,
            cases=len(measured),
            repositories=dict(sorted(Counter(item.case.repository for item in measured).items())),
            part=evaluation.part,
            of_other_part=evaluation.of_other_part,
            interrupted=evaluation.interrupted,
            budgets=plan.budgets,
            left_out=[LeftOutShape(item.name, item.error.details) for item in evaluation.left_out],
            profiles={name: _table(profile_means(measured, plan, name)) for name in plan.names},
            differences=[GainShape(first, name, _table(profile_gains(measured, plan, name))) for name in others],
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
    first, *others = plan.names
    gains = {name: profile_gains(evaluation.measured, plan, name) for name in others}
    for metric in METRICS:
        lines.append(f"{TITLES[metric]:<{_NAME}}" + "".join(f"{budget:>{_CELL - 1},} " for budget in plan.budgets))
        for name in plan.names:
            lines += _rows(name, [item for item in means[name] if item.metric == metric])
        for name, gain in gains.items():
            title = "difference" if len(gains) == 1 else f"{name} less {first}"
            lines += _rows(title, [item for item in gain if item.metric == metric], signed=True)
        lines.append("")
    return lines[:-1]


def _rows(name: str, means: Sequence[Mean], *, signed: bool = False) -> list[str]:
    title = clip(visible(name), _NAME - 1)
    rows = [f"{title:<{_NAME}}" + "".join(f"{_format_mean(item.by_case, signed=signed):>{_CELL}}" for item in means)]
    if means[0].by_repository is not None:
        cells = "".join(f"{_ends(item.by_repository, signed=signed):>{_CELL}}" for item in means)
        rows.append(f"{'  by repository':<{_NAME}}" + cells)
    return rows


def _query_lines(evaluation: Evaluation, name: str, budget: int, *, verbose: bool) -> list[str]:
    first = evaluation.plan.names[0]
    items = []
    for row in evaluation.measured:
        was, now = (row.figures[side, budget].recall for side in (first, name))
        items.append((now - was, was, now, row.case))
    items.sort(key=lambda item: (-item[0], item[3].name))
    better = [item for item in items if item[0] > 0]
    worse = [item for item in reversed(items) if item[0] < 0]
    same = len(items) - len(better) - len(worse)
    head = f"{name} against {first}, recall at {budget:,} by query: "
    lines = [head + f"{len(better):,} better, {same:,} equal, {len(worse):,} worse"]
    most = len(items) if verbose else EXTREMES
    several = len({case.repository for *_, case in items}) > 1
    for gain, was, now, case in (*better[:most], *worse[:most]):
        where = f"  {visible(case.repository)}" if several and case.repository not in case.name else ""
        about = clip(visible(case.about.partition("\n")[0]), ABOUT_CELLS)
        lines.append(f"  {gain:+.2f}  {was:.2f} -> {now:.2f}  {visible(case.name)}{where}  {about}")
    return lines


def _legend(evaluation: Evaluation) -> Iterator[str]:
    repositories = len({item.case.repository for item in evaluation.measured})
    yield "Means; [low, high] holds 95 % of the means of resampled cases."
    if evaluation.plan.names[1:]:
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
