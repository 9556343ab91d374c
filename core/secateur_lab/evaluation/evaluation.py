"""Measures judged cases under several profiles and budgets, and each profile without each of its weights.

    plan = plan_of([Choice("spec"), Choice("recommended")], budgets=(4000, 8000))
    for measured in measure_with(1, cases, plan, os.environ): ...

A case that cannot be measured does not stop the others. In several processes, one case of each repository is measured
first: it brings the index up to date while the others wait.
"""

import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType
from secateur import Executor, SecateurError, Shape, keep_open, lookup, spread_tasks, with_values

from secateur_lab.evaluation.cases import JudgedCase, LeftOut
from secateur_lab.evaluation.measuring import Choice, Measurer, open_measurer
from secateur_lab.evaluation.metrics import Figures
from secateur_lab.scenarios.scenario import PartName

BUDGETS = (4_000, 8_000, 16_000)  # budgets in tokens that are measured by default


@dataclass(frozen=True)
class EvaluationPlan:
    """The measurements of every case: profiles, budgets, and whether weights are left out."""

    choices: Sequence[Choice]  # each with its own name
    names: Sequence[str]  # of the choices
    budgets: Sequence[int] = BUDGETS
    ablate: bool = False


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
    without: Mapping[tuple[str, str, int], Figures] = field(default_factory=dict)  # by name, weight and budget

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
    without: dict[tuple[str, str, int], Figures] = {}
    try:
        for name, choice in zip(plan.names, plan.choices, strict=True):
            settings = opened.settings(case, choice)
            kind, _ = case.asked
            weights = kind.weights() if plan.ablate else []
            for key in (None, *(weight for weight in weights if lookup(settings, weight))):
                tried = settings if key is None else with_values(settings, {key: 0.0})
                for budget in plan.budgets:
                    values = opened.measure(case, kind.budget.put(tried, budget))
                    if key is None:
                        figures[name, budget] = values
                    else:
                        without[name, key, budget] = values
    except SecateurError as error:
        return LeftOut(case.name, error)
    return MeasuredCase(case, figures, without)


def make_plan(choices: Sequence[Choice], budgets: Sequence[int] = (), *, ablate: bool = False) -> EvaluationPlan:
    """Returns a plan of choices named by their profiles; the second one with a name gets `#2`."""
    names: list[str] = []
    for choice in choices:
        name = choice.profile or "settings"
        times = sum(other.partition("#")[0] == name for other in names)
        names.append(f"{name}#{times + 1}" if times else name)
    return EvaluationPlan(tuple(choices), tuple(names), tuple(dict.fromkeys(budgets)) or BUDGETS, ablate)


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
    return MeasuredCase(case.closed(), measured.figures, measured.without)
