"""Measures cases under settings: reads a case's input once, retrieves once per set of weights, decides per budget.

    with open_measurer(os.environ) as opened:
        settings = opened.settings(case, Choice("recommended"))
        figures = opened.measure(case, settings)

Cases of one repository share an index, which moves from commit to commit; cases in the order of their commits are
fastest. Retrievals are cached per case, so measure one case under all settings before the next. The user's cache is
used, and their configuration only as far as the call names it.

Measures judged cases under several profiles and budgets.

    plan = plan_of([Choice("spec"), Choice("recommended")], budgets=(4000, 8000))
    for measured in measure_with(1, cases, plan, os.environ): ...

A case that cannot be measured does not stop the others. In several processes, one case of each repository is measured
first: it brings the index up to date while the others wait.

Figures of one decision compared with judgements: recall, precision, nDCG. Pure.

    figures = figures_of(outcome, {"orders/money.py::Money.round": 3})
    figures.recall, figures.precision, figures.ndcg      # each in [0, 1]

A judgement is a grade: 0 does not answer, 3 answers fully. Only whole items count: the declaration of a function does
not show a model how it works.

Means with bootstrap intervals. Pure and deterministic: the random numbers have a fixed seed.

    mean_of(recalls)                          # resampled by case
    mean_of(recalls, groups=repositories)     # resampled by repository: allows for other repositories

Cases of one repository are alike, so an interval by case only applies to further cases of the same repositories.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Hashable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
import secateur
from msgspec import UNSET, Meta, UnsetType, structs
from numpy.typing import NDArray
from secateur import Count, Executor, Outcome, SecateurError, Shape, keep_open, spread_tasks

from secateur_lab.evaluation.cases import NOT_A_CASE, JudgedCase, LeftOut
from secateur_lab.scenarios.running import Session
from secateur_lab.scenarios.scenario import PartName

METRICS = ("recall", "precision", "ndcg")  # names of the figures, in the order of reports
AT = 10  # ranks that nDCG uses: the first ones that a reader sees


Fraction = Annotated[float, Meta(ge=0, le=1)]


class Figures(Shape, frozen=True):
    """The figures of one decision."""

    recall: Annotated[
        Fraction, Meta(description="Share of the grades; an item of grade 3 counts three times one of grade 1.")
    ]
    precision: Annotated[Fraction, Meta(description="Share of the whole items in the output that are judged above 0.")]
    ndcg: Annotated[Fraction, Meta(description="nDCG@10 of the whole items in the output, with the grades as gains.")]
    judged: Annotated[Count, Meta(description="Items judged above 0.")]
    found: Annotated[Count, Meta(description="Those of them that are whole in the output.")]
    leaving: Annotated[Count, Meta(description="Items that are whole in the output.")]

    def rounded(self) -> Figures:
        """Returns the figures rounded to four decimals."""
        shares = round(self.recall, 4), round(self.precision, 4), round(self.ndcg, 4)
        return Figures(*shares, self.judged, self.found, self.leaving)


def figures_of(outcome: Outcome[Any], judged: Mapping[str, int]) -> Figures | None:
    """Measures an outcome of any kind; None if no grade is above 0. Fast enough to follow a knob. `judged`: grade by
    id, from the `[judged]` table of a scenario."""
    if not any(grade > 0 for grade in judged.values()):
        return None
    return figures([id_ for id_, whole in outcome.ledger.ranked if whole], judged)


def figures(ranked: Sequence[str], judged: Mapping[str, int]) -> Figures:
    """Measures ids that are whole in the output, best first; each id once. Raises ValueError: no grade is above 0."""
    total = sum(judged.values())
    if total <= 0:
        raise ValueError("no grade is above 0")
    grades = [judged.get(id_, 0) for id_ in ranked]
    judged_count = sum(grade > 0 for grade in grades)
    return Figures(
        recall=sum(grades) / total,
        precision=judged_count / len(grades) if grades else 0.0,
        ndcg=ndcg(grades, list(judged.values())),
        judged=sum(grade > 0 for grade in judged.values()),
        found=judged_count,
        leaving=len(grades),
    )


def ndcg(grades: Sequence[int], judged: Sequence[int], at: int = AT) -> float:
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002): gain = grade, discount = log2(1 + rank).

    Args:
        grades: of a ranking, best rank first.
        judged: all grades in any order, one of them above 0. Their best order has nDCG 1.
    """
    return _gain(grades[:at]) / _gain(sorted(judged, reverse=True)[:at])


def _gain(grades: Sequence[int]) -> float:
    places = np.arange(2, len(grades) + 2, dtype=np.float64)
    return float((np.asarray(grades, dtype=np.float64) / np.log2(places)).sum())


LEVEL = 0.95  # share of the resampled means inside an interval
RESAMPLES = 2_000  # number of resamples: enough to keep the ends stable in the second decimal
SEED = 12  # Seed of the random numbers. Those of `RandomState` are the same in every version of numpy (NEP 19).
NOTHING = 1e-9  # a mean this near to 0 is 0: rounding errors of float sums
_DRAWN_AT_ONCE = 1 << 22


class Interval(Shape, frozen=True):
    """A mean with the interval that holds 95 % of the resampled means; null ends: too few things are drawn."""

    mean: float
    low: float | None
    high: float | None
    drawn: Annotated[Count, Meta(description="Cases, or repositories.")]

    @property
    def beyond_noise(self) -> bool:
        """For a difference: True if 0 is outside."""
        return self.low is not None and self.high is not None and (self.low > NOTHING or self.high < -NOTHING)

    def rounded(self) -> Interval:
        """Returns the interval rounded to four decimals."""
        low, high = (None if end is None else round(end, 4) for end in (self.low, self.high))
        return Interval(round(self.mean, 4), low, high, self.drawn)


def mean_of(values: Sequence[float], groups: Sequence[str] | None = None) -> Interval:
    """Returns the mean of some values with its percentile interval.

    Args:
        values: one per case, at least one.
        groups: the repository of each; whole repositories are then resampled, each with all of its cases.
    """
    column: NDArray[np.float64] = np.asarray(values, dtype=np.float64)
    sums: NDArray[np.float64] = column
    counts: NDArray[np.float64] = np.ones(len(column))
    if groups is not None:
        _, group_index = np.unique(np.asarray(groups), return_inverse=True)
        sums = np.bincount(group_index, weights=column).astype(np.float64)
        counts = np.bincount(group_index).astype(np.float64)
    mean, drawn = float(column.mean()), len(sums)
    if drawn < 2:
        return Interval(mean, None, None, drawn)
    random, means = np.random.RandomState(SEED), np.empty(RESAMPLES)
    step = max(1, _DRAWN_AT_ONCE // drawn)
    for first in range(0, RESAMPLES, step):
        rows = random.randint(0, drawn, (min(step, RESAMPLES - first), drawn))
        means[first : first + len(rows)] = sums[rows].sum(axis=1) / counts[rows].sum(axis=1)
    low, high = np.percentile(means, [50 * (1 - LEVEL), 50 * (1 + LEVEL)])
    return Interval(mean, float(low), float(high), drawn)


def differences(before: Sequence[float], after: Sequence[float]) -> list[float]:
    """Returns the gain of each case, for `mean_of`: paired differences have narrower intervals than two means."""
    return [new - old for old, new in zip(before, after, strict=True)]


MOST_READINGS = 8  # retrievals of a case that are kept: one per profile, while weights of the priority change

# Tables of a case's own settings that apply: they define what can be found. The choice supplies all other settings.
READ_TABLES = ("index", "tokens")


@dataclass(frozen=True)
class Choice:
    """Settings to measure: a profile, and keys on top of it."""

    profile: str | None = None  # None: the profile of the files, or the default
    changes: Mapping[str, Any] = field(default_factory=dict)  # value by dotted key
    sources: secateur.SettingsSources = field(default_factory=secateur.SettingsSources)  # everything else

    def load(self, root: Path | None, own: Mapping[str, Any] = MappingProxyType({})) -> secateur.Loaded:
        """Returns the settings for a folder; `own` is the table of a case, which wins. Raises ConfigError."""
        return structs.replace(self.sources, profile=self.profile).over("[settings]", own).load(root)

    def carried(self) -> Choice:
        """Returns the choice for a process that may not have the user's files; see `SettingsSources.carried`."""
        return replace(self, sources=self.sources.carried())


@dataclass
class Measurer:
    """See the module docstring."""

    environ: Mapping[str, str]
    progress: secateur.Progress = secateur.unreported
    _session: Session | None = None
    _case: JudgedCase | None = None
    _readings: dict[Hashable, Any] = field(default_factory=dict)

    def settings(self, case: JudgedCase, choice: Choice) -> secateur.Settings:
        """Returns the settings of a choice for the repository of a case; raises SecateurError."""
        kind, inputs = case.asked
        own = {name: case.scenario.settings[name] for name in READ_TABLES if name in case.scenario.settings}

        def loading(root: Path | None, committed: object) -> secateur.Loaded:
            return choice.load(root if committed is None else None, own)

        settings = kind.load(inputs, loading, self._environment(case)).settings
        settings = secateur.with_values(settings, dict(choice.changes)) if choice.changes else settings
        return structs.replace(settings, llm=structs.replace(settings.llm, enabled=False))

    def read(self, case: JudgedCase, settings: secateur.Settings) -> Any:
        """Reads a case's input. The caller may decide on it repeatedly and must release it. Raises SecateurError: like
        `measure`."""
        kind, inputs = case.asked
        self._open(case)
        self._case = case
        material = kind.read(inputs, settings, self._environment(case).redacting(settings))
        try:
            _check_judged(case, kind, secateur.answer_of(kind, material, inputs, settings, progress=self.progress))
        except BaseException:
            secateur.Kind.release(material)
            raise
        return material

    def measure(self, case: JudgedCase, settings: secateur.Settings) -> Figures:
        """Measures a case. Raises SecateurError: its input cannot be read, or it judges an item that does not exist."""
        figures = figures_of(self.outcome(case, settings)[1], case.judged)
        assert figures is not None  # `read_case` returns no case without grades
        return figures

    def outcome(
        self, case: JudgedCase, settings: secateur.Settings
    ) -> tuple[secateur.Kind[Any, Any], secateur.Outcome[Any]]:
        """Returns the decision that `measure` uses, valid until the next call. Raises like `measure`."""
        kind, inputs = case.asked
        is_new = case is not self._case
        if is_new:
            self._forget()
            self._open(case)
        key = kind.reading_of(inputs, settings)
        if key not in self._readings:
            self._forget(keep=MOST_READINGS - 1)
            self._readings[key] = kind.read(inputs, settings, self._environment(case).redacting(settings))
        outcome = secateur.answer_of(kind, self._readings[key], inputs, settings, progress=self.progress)
        if is_new:
            _check_judged(case, kind, outcome)
            self._case = case
        return kind, outcome

    def close(self) -> None:
        """Closes everything that was opened."""
        self._forget()
        if self._session is not None:
            self._session.close()
            self._session = None

    def _environment(self, case: JudgedCase) -> secateur.Environment:
        if self._session is None:
            self._session = Session(self.environ, self.progress)
        return structs.replace(self._session.environment(case.root), moving=True, found={})

    def _open(self, case: JudgedCase) -> None:
        if self._case is not None and (self._case.root, self._case.repository) != (case.root, case.repository):
            self.close()
        self._case = None

    def _forget(self, keep: int = 0) -> None:
        while len(self._readings) > keep:
            secateur.Kind.release(self._readings.pop(next(iter(self._readings))))


def open_measurer(environ: Mapping[str, str], progress: secateur.Progress = secateur.unreported) -> closing[Measurer]:
    """Opens a measurer that is closed at the end."""
    return closing(Measurer(environ, progress))


def _check_judged(case: JudgedCase, kind: secateur.Kind[Any, Any], outcome: secateur.Outcome[Any]) -> None:
    if missing := kind.unknown(outcome, [id_ for id_, grade in case.judged.items() if grade > 0]):
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise secateur.SecateurError(
            f"no item is called {missing[0]}{more}",
            hint="correct the ids below [judged]; `secateur search --explain` shows those of every candidate",
            code=NOT_A_CASE,
        )


BUDGETS = (4_000, 8_000, 16_000)  # budgets in tokens that are measured by default


@dataclass(frozen=True)
class EvaluationPlan:
    """The measurements of every case: profiles and budgets."""

    choices: Sequence[Choice]  # each with its own name
    names: Sequence[str]  # of the choices
    budgets: Sequence[int] = BUDGETS


class MeasuredShape(Shape, frozen=True, kw_only=True):
    """One case that was measured."""

    case: str
    repository: str
    about: str
    part: PartName | UnsetType = UNSET
    figures: Annotated[dict[str, dict[str, Figures]], Meta(description="By profile and budget.")]


@dataclass(frozen=True)
class MeasuredCase:
    """The figures of one case."""

    case: JudgedCase
    figures: Mapping[tuple[str, int], Figures]  # by name of the choice and budget

    def shape(self) -> MeasuredShape:
        """Returns the case in JSON."""
        case, figures = self.case, dict[str, dict[str, Figures]]()
        for (name, budget), values in self.figures.items():
            figures.setdefault(name, {})[str(budget)] = values.rounded()
        return MeasuredShape(
            case=case.name, repository=case.repository, about=case.about, part=case.part or UNSET, figures=figures
        )


def measure_case(case: JudgedCase, plan: EvaluationPlan, opened: Measurer) -> MeasuredCase | LeftOut:
    """Returns the figures of one case for everything in the plan."""
    figures: dict[tuple[str, int], Figures] = {}
    try:
        for name, choice in zip(plan.names, plan.choices, strict=True):
            settings = opened.settings(case, choice)
            kind, _ = case.asked
            for budget in plan.budgets:
                figures[name, budget] = opened.measure(case, kind.budget.put(settings, budget))
    except SecateurError as error:
        return LeftOut(case.name, error)
    return MeasuredCase(case, figures)


def make_plan(choices: Sequence[Choice], budgets: Sequence[int] = ()) -> EvaluationPlan:
    """Returns a plan of choices named by their profiles; the second one with a name gets `#2`."""
    names: list[str] = []
    for choice in choices:
        name = choice.profile or "settings"
        times = sum(other.partition("#")[0] == name for other in names)
        names.append(f"{name}#{times + 1}" if times else name)
    return EvaluationPlan(tuple(choices), tuple(names), tuple(dict.fromkeys(budgets)) or BUDGETS)


def measure_with(
    jobs: int | Executor, cases: Sequence[JudgedCase], plan: EvaluationPlan, environ: Mapping[str, str]
) -> Generator[MeasuredCase | LeftOut]:
    """Yields the figures of each case as they are measured. `jobs`: processes of this machine, or an executor."""
    carried = replace(plan, choices=[choice.carried() for choice in plan.choices])
    tasks, homes = [(case.closed(), carried) for case in cases], [str(case.root) for case in cases]
    with spread_tasks(_measure, tasks, homes, jobs, environ) as outcomes:
        if outcomes is None:
            with open_measurer(environ) as opened:
                yield from (measure_case(case, plan, opened) for case in cases)
            return
        for index, outcome in outcomes:
            yield LeftOut(cases[index].name, outcome.error) if outcome.error is not None else outcome.got()


def _measure(task: tuple[JudgedCase, EvaluationPlan]) -> MeasuredCase:
    case, plan = task
    measured = measure_case(case, plan, keep_open("measurer", None, lambda: Measurer(os.environ)))
    if isinstance(measured, LeftOut):
        raise measured.error
    return MeasuredCase(case.closed(), measured.figures)
