"""Runs many scenarios, in this process or in several; each result is the same wherever it was made.

Scenarios of one repository stay together, so that its index is opened once for all of them. Of a repository that
several processes share one scenario is run first: it brings the index up to date while the others wait.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from secateur.errors import SecateurError
from secateur.index.update.worker import receive, send
from secateur.progress import Progress, unreported
from secateur.scenarios.check import CheckVerdict, Result, check_one
from secateur.scenarios.location import root_of
from secateur.scenarios.running import session
from secateur.system.processes import Child

ROUNDS = 4
"""Tasks for each process: the more, the more evenly they end; the fewer, the less is opened twice."""

LEAST = 8
"""Scenarios of a task: opening an index costs as much as a dozen of them."""

LOOK_EVERY = 0.1
"""Seconds between two looks whether the work is still wanted."""

LAST_SECONDS = 30
"""Seconds that a process has to close its indexes when there is nothing left to do."""

_BOOT = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from secateur.system.processes import watch_parent;"
    " watch_parent(int(sys.argv[2])); from secateur.scenarios.job_worker import main; main()"
)

Numbered = tuple[int, Path]
"""A scenario and its place among all of them."""


def results_of(
    paths: Sequence[Path], environ: Mapping[str, str], jobs: int = 1, progress: Progress = unreported
) -> Generator[tuple[int, Result]]:
    """Results with their places among the paths, each as it comes.

    Args:
        progress: of indexing, where it is done in this process.
    """
    groups = _by_repository(paths)
    jobs = min(jobs, max(1, len(paths) // LEAST), 64) if len(groups) == 1 else min(jobs, len(paths), 64)
    if jobs > 1 and sys.executable:
        yield from _in_processes(groups, environ, jobs)
        return
    for group in groups:
        with session(environ, progress) as opened:
            for number, path in group:
                yield number, check_one(path, opened)


def _by_repository(paths: Sequence[Path]) -> list[list[Numbered]]:
    groups: dict[Path | None, list[Numbered]] = {}
    for number, path in enumerate(paths):
        try:
            root = root_of(path)
        except (SecateurError, OSError, RuntimeError):  # what is wrong is that scenario's result
            root = None
        groups.setdefault(root, []).append((number, path))
    return list(groups.values())


def _in_processes(
    groups: Sequence[Sequence[Numbered]], environ: Mapping[str, str], jobs: int
) -> Generator[tuple[int, Result]]:
    schedule = _Schedule([_Group(deque(group)) for group in groups], jobs)
    results: queue.Queue[tuple[int, Result]] = queue.Queue()
    workers = [_Job(schedule, results, environ) for _ in range(jobs)]
    threads = [threading.Thread(target=one.run, name="secateur-check", daemon=True) for one in workers]
    for thread in threads:
        thread.start()
    try:
        for _ in range(sum(map(len, groups))):
            while True:
                try:
                    yield results.get(timeout=LOOK_EVERY)
                    break
                except queue.Empty:
                    continue
        for thread in threads:  # processes end by themselves, and keep what they put together of indexes
            while thread.is_alive():
                thread.join(LOOK_EVERY)
    finally:
        schedule.stop()
        for one in workers:
            one.stop()
        for thread in threads:
            thread.join()


@dataclass(eq=False)
class _Group:
    """The scenarios of one repository that are still to be run."""

    waiting: deque[Numbered]
    opened: bool = False  # its index was brought up to date
    opening: bool = False  # that is under way


@dataclass
class _Schedule:
    """Hands out tasks."""

    groups: list[_Group]
    jobs: int
    _stopped: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        total = sum(len(group.waiting) for group in self.groups)
        self._size = max(LEAST, -(-total // (self.jobs * ROUNDS)))

    def next(self, last: _Group | None) -> tuple[_Group, list[Numbered]] | None:
        """The next task, of the repository of the last one where there is more of it; None: there is nothing left."""
        with self._changed:
            while not self._stopped and any(group.waiting for group in self.groups):
                group = self._ready(last)
                if group is not None:
                    size = self._size if group.opened else 1
                    group.opening = not group.opened
                    return group, [group.waiting.popleft() for _ in range(min(size, len(group.waiting)))]
                self._changed.wait(LOOK_EVERY)
        return None

    def _ready(self, last: _Group | None) -> _Group | None:
        ready = [group for group in self.groups if group.waiting and (group.opened or not group.opening)]
        if last in ready:
            return last
        fresh = [group for group in ready if not group.opened]
        return max(fresh or ready, key=lambda group: len(group.waiting), default=None)

    def done(self, group: _Group) -> None:
        """A task is done: others may go on with the repository."""
        with self._changed:
            group.opened, group.opening = True, False
            self._changed.notify_all()

    def stop(self) -> None:
        """Hand out nothing any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()


class _Job:
    """One process, and the thread that talks to it. A process that dies costs the scenario that it was at."""

    def __init__(
        self, schedule: _Schedule, results: queue.Queue[tuple[int, Result]], environ: Mapping[str, str]
    ) -> None:
        self._schedule = schedule
        self._results = results
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None
        self._starting = threading.Lock()
        self._stopped = False

    def run(self) -> None:
        """Work until there is nothing left."""
        group: _Group | None = None
        while (task := self._schedule.next(group)) is not None:
            group, scenarios = task
            try:
                left = deque(scenarios)
                while left and not self._stopped:
                    self._work(left)
            finally:
                self._schedule.done(group)
        process = self._process
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(LAST_SECONDS)
        self.stop()

    def stop(self) -> None:
        """End the process, whatever it is at."""
        with self._starting:
            self._stopped = True
            if self._process is not None:
                self._process.kill()
                with suppress(OSError), self._process:
                    pass
                self._process = None

    def _work(self, left: deque[Numbered]) -> None:
        """Have scenarios run, until all are or the process dies."""
        try:
            process = self._running()
            if process is None:
                return
            assert process.stdin is not None
            assert process.stdout is not None
            send(process.stdin, pickle.dumps([path for _, path in left]))
            while left:
                answer = receive(process.stdout)
                if answer is None:
                    break
                number, _ = left.popleft()
                self._results.put((number, pickle.loads(answer)))
        except (OSError, ValueError):
            pass
        if left and not self._stopped:
            number, path = left.popleft()
            died = SecateurError(
                "the process that ran it ended without an answer",
                hint="run it alone; the system may be short of memory",
                code="PROCESS_ENDED",
            )
            self._results.put((number, Result(path, path.as_posix(), CheckVerdict.CANNOT_RUN, error=died)))
            with self._starting:
                if self._process is not None:
                    self._process.kill()
                    with suppress(OSError), self._process:
                        pass
                self._process = None

    def _running(self) -> subprocess.Popen[bytes] | None:
        with self._starting:
            if self._process is None and not self._stopped:
                # The child gets our own search path, never the folder it starts in: that may be a hostile repository.
                search = json.dumps([str(Path(entry).absolute()) for entry in sys.path if entry])
                self._process = Child(
                    [sys.executable, "-I", "-c", _BOOT, search, str(os.getpid())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=dict(self._environ),
                )
            return self._process
