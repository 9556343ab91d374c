"""Runs many scenarios, in this process or with an executor; the results do not depend on where they were made.

Scenarios of one repository run together, so that its index is opened once. Of each repository one scenario runs first:
it brings the index up to date while the others wait.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from secateur import Executor, Progress, SecateurError, keep_open, spread_tasks, unreported

from secateur_lab.scenarios.check import CheckVerdict, Result, check_one
from secateur_lab.scenarios.location import root_of
from secateur_lab.scenarios.malformed import ScenarioError
from secateur_lab.scenarios.running import Session, session

LEAST = 8
"""Scenarios of one repository per further process: opening an index costs as much as a dozen scenarios."""


def results_of(
    paths: Sequence[Path], environ: Mapping[str, str], jobs: int | Executor = 1, progress: Progress = unreported
) -> Generator[tuple[int, Result]]:
    """Yields results with their indexes among the paths, as they are finished.

    Args:
        jobs: processes of this machine, or an executor.
        progress: reports indexing if it runs in this process.
    """
    roots = [_root(path) for path in paths]
    work = len(paths) // LEAST if len(set(roots)) == 1 else len(paths)
    tasks = list(zip(paths, roots, strict=True))
    with spread_tasks(_result, tasks, roots, jobs, environ, work) as outcomes:
        for index, outcome in outcomes or ():
            path = paths[index]
            failed = Result(path, path.as_posix(), CheckVerdict.CANNOT_RUN, error=outcome.error)
            yield index, failed if outcome.error is not None else outcome.got()
        if outcomes is not None:
            return
    for root in dict.fromkeys(roots):
        with session(environ, progress) as opened:
            for index, path in enumerate(paths):
                if roots[index] == root:
                    yield index, check_one(path, opened)


def _root(path: Path) -> str:
    """Returns the folder to which a scenario's paths are relative; "" if it is unknown, which becomes its result."""
    try:
        return str(root_of(path))
    except (SecateurError, OSError, RuntimeError):
        return ""


def _result(task: tuple[Path, str]) -> Result:
    """Runs a scenario in a worker. An error keeps only what reports show."""
    path, root = task
    result = check_one(path, keep_open("session", root, lambda: Session(os.environ)))
    error = result.error
    if error is not None and not isinstance(error, ScenarioError):
        result = replace(result, error=SecateurError(error.message, hint=error.hint, code=error.code))
    return result
