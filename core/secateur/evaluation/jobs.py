"""Measures cases in this process, or with an executor: in several, each of which keeps its own index open.

One case of each repository is measured first: it brings the index up to date while nobody else does. The figures do
not depend on the number of processes. A process that dies costs time.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from secateur.evaluation.cases import JudgedCase, LeftOut
from secateur.evaluation.evaluation import EvaluationPlan, MeasuredCase, measured_case, measured_cases
from secateur.evaluation.measuring import Measurer
from secateur.executors.executor import Executor, tasks_by_home
from secateur.executors.kept import kept
from secateur.executors.pool import executor_for
from secateur.progress import Progress, unreported


def measured_by(
    jobs: int | Executor,
    cases: Sequence[JudgedCase],
    plan: EvaluationPlan,
    environ: Mapping[str, str],
    progress: Progress = unreported,
) -> Generator[MeasuredCase | LeftOut]:
    """The figures of each case, as they are measured.

    Args:
        jobs: processes of this machine, or who has others.
        progress: told of the index where there is one process.
    """
    with executor_for(jobs, len(cases), environ) as executor:
        if executor is None:
            yield from measured_cases(cases, plan, environ, progress)
        else:
            yield from _measured_on(executor, cases, plan)


def _measured_on(
    executor: Executor, cases: Sequence[JudgedCase], plan: EvaluationPlan
) -> Generator[MeasuredCase | LeftOut]:
    plan = replace(plan, choices=[choice.carried() for choice in plan.choices])
    tasks = tasks_by_home(_measured, [(case.closed(), plan) for case in cases], [str(case.root) for case in cases])
    with closing(executor.run(tasks)) as outcomes:
        for number, outcome in outcomes:
            yield LeftOut(cases[number].name, outcome.error) if outcome.error is not None else outcome.got()


def _measured(task: tuple[JudgedCase, EvaluationPlan]) -> MeasuredCase:
    """The figures of a case, in a worker; as they came: without what was opened for them. Raises SecateurError."""
    case, plan = task
    found = measured_case(case, plan, kept("measurer", None, lambda: Measurer(os.environ)))
    if isinstance(found, LeftOut):
        raise found.error
    return MeasuredCase(case.closed(), found.figures, found.without)
