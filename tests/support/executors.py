"""An executor without processes, whose workers lose what they kept as workers that die do."""

from __future__ import annotations

import pickle
import random
from collections.abc import Generator, Sequence
from typing import Any, TypeVar

from secateur.executors.executor import Task, TaskOutcome, close_kept
from secateur.executors.pool_worker import answer_task

T = TypeVar("T")


class ForgetfulExecutor:
    """Runs tasks in this process, as pickles, in any order that is allowed.

    Args:
        chance: that all that was kept is lost before a task.
    """

    def __init__(self, workers: int, chance: float, seed: int = 0) -> None:
        self._workers, self._chance, self._random = workers, chance, random.Random(seed)
        self.ran: list[str] = []

    @property
    def workers(self) -> int:
        return self._workers

    def run(self, tasks: Sequence[Task[T]]) -> Generator[tuple[int, TaskOutcome[T]]]:
        waiting = set(range(len(tasks)))
        while waiting:
            ready = sorted(number for number in waiting if tasks[number].after not in waiting)
            number = self._random.choice(ready)
            waiting.remove(number)
            if self._random.random() < self._chance:
                close_kept()
            outcome: Any = pickle.loads(answer_task(pickle.dumps((tasks[number].function, tasks[number].argument))))
            self.ran.append(tasks[number].function.__name__)
            yield number, outcome

    def close(self) -> None:
        close_kept()
