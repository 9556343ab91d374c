"""Measures cases in this process, or with an executor: in several processes, each with its own open index.

One case of each repository is measured first: it brings the index up to date while the others wait. The figures do not
depend on the number of processes. A process that dies only costs time.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace

from secateur import Executor, Progress, keep_open, spread_tasks, unreported

from secateur_lab.evaluation.cases import JudgedCase, LeftOut
from secateur_lab.evaluation.evaluation import EvaluationPlan, MeasuredCase, measure_case, measure_cases
from secateur_lab.evaluation.measuring import Measurer


def measure_with(
    jobs: int | Executor,
    cases: Sequence[JudgedCase],
    plan: EvaluationPlan,
    environ: Mapping[str, str],
    progress: Progress = unreported,
) -> Generator[MeasuredCase | LeftOut]:
    """Yields the figures of each case as they are measured.

    Args:
        jobs: processes of this machine, or an executor.
        progress: reports indexing if there is one process.
    """
    carried = replace(plan, choices=[choice.carried() for choice in plan.choices])
    tasks, homes = [(case.closed(), carried) for case in cases], [str(case.root) for case in cases]
    with spread_tasks(_measure, tasks, homes, jobs, environ) as outcomes:
        if outcomes is None:
            yield from measure_cases(cases, plan, environ, progress)
            return
        for index, outcome in outcomes:
            yield LeftOut(cases[index].name, outcome.error) if outcome.error is not None else outcome.got()


def _measure(task: tuple[JudgedCase, EvaluationPlan]) -> MeasuredCase:
    """Measures a case in a worker; returns it without what was opened for it. Raises SecateurError."""
    case, plan = task
    measured = measure_case(case, plan, keep_open("measurer", None, lambda: Measurer(os.environ)))
    if isinstance(measured, LeftOut):
        raise measured.error
    return MeasuredCase(case.closed(), measured.figures, measured.without)
