"""Holds waiting tasks, and chooses the next task of a worker.

A home belongs to the worker that took its first task, because files that are open for one task serve the next. A worker
without tasks of its own homes begins a new home, preferably one that prefers this worker. If all homes have begun, it
takes over a home that no worker is busy with, or helps with the last tasks of another worker's home.
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
class QueuedTask:
    """A task that waits or runs. `attempts`: workers that ended over it; `withdrawn`: its outcome is not wanted."""

    task: Task[Any]
    future: Future[TaskOutcome[Any]] = field(default_factory=Future)
    attempts: int = 0
    withdrawn: bool = False
    preferred: int | None = None  # the worker that its home prefers


class Agenda:
    """See the module docstring. A worker is a number; `names` holds the names by which homes prefer workers."""

    def __init__(self) -> None:
        self.names: dict[int, str] = {}
        self.closed = False
        self._changed = threading.Condition()
        self._waiting: list[QueuedTask] = []
        self._owners: dict[str, int] = {}
        self._last: dict[int, str] = {}  # the home of each worker's last task
        self._failure: SecateurError | None = None

    def put(self, entry: QueuedTask, *, again: bool = False) -> None:
        """Adds a task. `again`: its worker has ended, so it is the next."""
        home = entry.task.home
        entry.preferred = preferred_worker(home, self.names) if home and self.names else None
        with self._changed:
            if self._failure is None:
                self._waiting.insert(0 if again else len(self._waiting), entry)
            else:
                entry.future.set_exception(self._failure)
            self._changed.notify_all()

    def take(self, worker: int) -> QueuedTask | None:
        """Waits for the next task of a worker; returns None if the agenda is closed."""
        with self._changed:
            while not self.closed:
                self._waiting = [entry for entry in self._waiting if not entry.withdrawn]
                if self._waiting:
                    entry = self._choose(worker)
                    self._waiting.remove(entry)
                    self._last[worker] = entry.task.home
                    return entry
                self._changed.wait()
        return None

    def pause(self, seconds: float) -> None:
        """Waits this long, or until something changes."""
        with self._changed:
            if not self.closed:
                self._changed.wait(seconds)

    def fail(self, error: SecateurError) -> None:
        """Ends all tasks with an error, because no worker is left."""
        with self._changed:
            self._failure = error
            waiting, self._waiting = self._waiting, []
        for entry in waiting:
            entry.future.set_exception(error)

    def close(self) -> None:
        """Stops handing out tasks."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()

    def _choose(self, worker: int) -> QueuedTask:
        last = self._last.get(worker, "")

        def rank(entry: QueuedTask) -> int:
            home = entry.task.home
            owner = self._owners.get(home)
            if owner is None:
                return 2 if entry.preferred in (worker, None) else 3
            if owner == worker:
                return 0 if home == last else 1
            return 4

        entry = min(self._waiting, key=rank)
        if rank(entry) == 4:  # all homes have begun: help with the last task, which its owner would reach latest
            busy_homes = [home for other, home in self._last.items() if other != worker]
            same_home = [entry for entry in self._waiting if entry.task.home == last]
            free = [entry for entry in self._waiting if entry.task.home not in busy_homes]
            entry = (same_home or free or self._waiting)[-1]
            if entry.task.home in busy_homes:
                return entry
        if entry.task.home:
            self._owners[entry.task.home] = worker
        return entry


def preferred_worker(home: str, names: Mapping[int, str]) -> int:
    """Returns the worker that a home prefers (rendezvous hashing): the same in each command, and when a worker comes or
    goes, few homes move."""

    def rank(worker: int) -> bytes:
        return blake2b(f"{home}\0{names[worker]}".encode("utf-8", "surrogatepass")).digest()

    return min(names, key=rank)
