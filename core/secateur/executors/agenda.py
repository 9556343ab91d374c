"""Tasks that wait, and which of them a worker does next.

A home belongs to the worker that began with it: what is open for one task serves the next. A worker without tasks of
its own begins with another home, if possible one that prefers it. When all homes have begun, it takes over one that
nobody is at, or helps with the last tasks of one.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from secateur.errors import SecateurError
from secateur.executors.executor import Task, TaskOutcome


@dataclass(eq=False)
class GivenTask:
    """A task that waits or is worked at. `attempts`: workers that ended over it; `withdrawn`: nobody waits for it."""

    task: Task[Any]
    future: Future[TaskOutcome[Any]] = field(default_factory=Future)
    attempts: int = 0
    withdrawn: bool = False
    preferred: int | None = None  # the worker that its home prefers


class Agenda:
    """See the module docstring. Workers are numbers; `names` gives them the names by which homes prefer them."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.closed = False
        self._changed = threading.Condition()
        self._waiting: list[GivenTask] = []
        self._owners: dict[str, int] = {}
        self._last: dict[int, str] = {}  # the home that a worker was at last
        self._failure: SecateurError | None = None

    def put(self, given: GivenTask, *, again: bool = False) -> None:
        """Takes on a task. `again`: it comes back from a worker that ended, and is next."""
        home = given.task.home
        given.preferred = preferred_worker(home, self.names) if home and self.names else None
        with self._changed:
            if self._failure is None:
                self._waiting.insert(0 if again else len(self._waiting), given)
            else:
                given.future.set_exception(self._failure)
            self._changed.notify_all()

    def take(self, worker: int) -> GivenTask | None:
        """Waits for the next task of a worker; None: there will be none."""
        with self._changed:
            while not self.closed:
                self._waiting = [given for given in self._waiting if not given.withdrawn]
                if self._waiting:
                    given = self._next(worker)
                    self._waiting.remove(given)
                    self._last[worker] = given.task.home
                    return given
                self._changed.wait()
        return None

    def pause(self, seconds: float) -> None:
        """Waits so long, or until something changes."""
        with self._changed:
            if not self.closed:
                self._changed.wait(seconds)

    def fail(self, error: SecateurError) -> None:
        """Ends all tasks with an error: no worker is left."""
        with self._changed:
            self._failure = error
            waiting, self._waiting = self._waiting, []
        for given in waiting:
            given.future.set_exception(error)

    def close(self) -> None:
        """Hands out nothing any more."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def _next(self, worker: int) -> GivenTask:
        last = self._last.get(worker, "")

        def rank(given: GivenTask) -> int:
            home = given.task.home
            owner = self._owners.get(home)
            if owner is None:
                return 2 if given.preferred in (worker, None) else 3
            if owner == worker:
                return 0 if home == last else 1
            return 4

        given = min(self._waiting, key=rank)
        if rank(given) == 4:  # all homes have begun: the last task is the farthest from what its owner is at
            others = [home for number, home in self._last.items() if number != worker]
            again = [given for given in self._waiting if given.task.home == last]
            left = [given for given in self._waiting if given.task.home not in others]
            given = (again or left or self._waiting)[-1]
            if given.task.home in others:
                return given
        if given.task.home:
            self._owners[given.task.home] = worker
        return given


def preferred_worker(home: str, names: Mapping[int, str]) -> int:
    """The worker that a home prefers, in each command the same; one that comes or goes moves few homes."""

    def rank(number: int) -> bytes:
        return blake2b(f"{home}\0{names[number]}".encode("utf-8", "surrogatepass")).digest()

    return min(names, key=rank)
