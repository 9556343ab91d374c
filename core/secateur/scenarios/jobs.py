"""Runs many scenarios, in this process or with an executor; each result is the same wherever it was made.

Scenarios of one repository stay together, so that its index is opened once for all of them. Of each repository one
scenario is run first: it brings the index up to date while the others wait.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from secateur.errors import SecateurError
from secateur.executors.executor import Executor, tasks_by_home
from secateur.executors.kept import kept
from secateur.executors.pool import executor_for
from secateur.progress import Progress, unreported
from secateur.scenarios.check import CheckVerdict, Result, check_one
from secateur.scenarios.location import root_of
from secateur.scenarios.malformed import ScenarioError
from secateur.scenarios.running import Session, session

LEAST = 8
"""Scenarios of one repository for which a further process is worth it: opening an index costs as much as a dozen."""


def results_of(
    paths: Sequence[Path], environ: Mapping[str, str], jobs: int | Executor = 1, progress: Progress = unreported
) -> Generator[tuple[int, Result]]:
    """Results with their places among the paths, each as it comes.

    Args:
        jobs: processes of this machine, or who has others.
        progress: of indexing, where it is done in this process.
    """
    roots = [_root(path) for path in paths]
    work = len(paths) // LEAST if len(set(roots)) == 1 else len(paths)
    with executor_for(jobs, work, environ) as executor:
        if executor is not None:
            yield from _results_on(executor, paths, roots)
            return
    for root in dict.fromkeys(roots):
        with session(environ, progress) as opened:
            for number, path in enumerate(paths):
                if roots[number] == root:
                    yield number, check_one(path, opened)


def _root(path: Path) -> str:
    """The folder from which the paths of a scenario count; "" where that cannot be told, which is then its result."""
    try:
        return str(root_of(path))
    except (SecateurError, OSError, RuntimeError):
        return ""


def _results_on(executor: Executor, paths: Sequence[Path], roots: Sequence[str]) -> Generator[tuple[int, Result]]:
    tasks = tasks_by_home(_result, list(zip(paths, roots, strict=True)), roots)
    with closing(executor.run(tasks)) as outcomes:
        for number, outcome in outcomes:
            path = paths[number]
            failed = Result(path, path.as_posix(), CheckVerdict.CANNOT_RUN, error=outcome.error)
            yield number, failed if outcome.error is not None else outcome.got()


def _result(task: tuple[Path, str]) -> Result:
    """The result of a scenario, in a worker. An error keeps what reports say of it."""
    path, root = task
    result = check_one(path, kept("session", root, lambda: Session(os.environ)))
    error = result.error
    if error is not None and not isinstance(error, ScenarioError):
        result = replace(result, error=SecateurError(error.message, hint=error.hint, code=error.code))
    return result
