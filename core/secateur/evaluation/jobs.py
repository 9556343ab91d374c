"""Measures cases in several processes: each takes the next case, and keeps its own index open."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context

from secateur.errors import SecateurError
from secateur.evaluation.cases import JudgedCase, LeftOut
from secateur.evaluation.evaluation import EvaluationPlan, MeasuredCase, measured_case, measured_cases
from secateur.evaluation.measuring import Measurer
from secateur.lifetime import watch_parent
from secateur.progress import Progress, unreported

_worker: tuple[Measurer, EvaluationPlan] | None = None
"""Of this process, where it is one of several."""


def measured_by(
    jobs: int,
    cases: Sequence[JudgedCase],
    plan: EvaluationPlan,
    environ: Mapping[str, str],
    progress: Progress = unreported,
) -> Iterator[MeasuredCase | LeftOut]:
    """The figures of each case, in the order in which they are measured; the figures do not depend on `jobs`.

    Args:
        progress: told of the index where there is one process.
    """
    if min(jobs, len(cases)) <= 1:
        yield from measured_cases(cases, plan, environ, progress)
        return
    before = set(active_children())
    pool = ProcessPoolExecutor(
        min(jobs, len(cases)), get_context("spawn"), initializer=_begin, initargs=(plan, dict(environ), os.getpid())
    )
    try:
        waiting: dict[Future[MeasuredCase | LeftOut], JudgedCase] = {pool.submit(_measure, one): one for one in cases}
        for done in as_completed(waiting):
            try:
                yield done.result()
            except BrokenProcessPool:
                yield LeftOut(waiting[done].name, _ended())
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in active_children():
            if process not in before:
                process.terminate()


def _begin(plan: EvaluationPlan, environ: dict[str, str], parent: int) -> None:
    """Prepare a process: Ctrl-C is for the one that started it, with which it ends."""
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    watch_parent(parent)
    _worker = Measurer(environ), plan


def _measure(case: JudgedCase) -> MeasuredCase | LeftOut:
    assert _worker is not None
    opened, plan = _worker
    found = measured_case(case, plan, opened)
    # as it came: what was opened for a case stays in this process
    return found if isinstance(found, LeftOut) else MeasuredCase(case.closed(), found.figures, found.without)


def _ended() -> SecateurError:
    return SecateurError(
        "the process that measured it was ended", hint="Is memory short? Measure with --jobs 1", code="ENDED"
    )
