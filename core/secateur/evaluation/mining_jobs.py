"""Draws cases from the histories of several repositories, in this process or by an executor's workers."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from secateur.evaluation.mining import Mined, mine, opened_history
from secateur.executors.executor import Executor, Task, TaskOutcome, carried_out
from secateur.executors.pool import executor_for
from secateur.settings import Settings


@dataclass(frozen=True, slots=True)
class MiningTask:
    """The history of one repository up to a commit, and the most cases that are drawn from it."""

    root: Path
    rev: str
    most: int
    settings: Settings


def mined_by(
    jobs: int | Executor, tasks: Sequence[MiningTask], environ: Mapping[str, str]
) -> Generator[tuple[int, TaskOutcome[Mined]]]:
    """The outcome of each task, with its number, as it comes; an error costs that repository alone. `jobs` as of
    `measured_by`."""
    with executor_for(jobs, len(tasks), environ) as executor:
        if executor is None:
            yield from ((number, carried_out(_mined, task)) for number, task in enumerate(tasks))
            return
        with closing(executor.run([Task(_mined, task, str(task.root)) for task in tasks])) as outcomes:
            yield from outcomes


def _mined(task: MiningTask) -> Mined:
    return mine(opened_history(task.root, task.settings), task.most, task.rev)
