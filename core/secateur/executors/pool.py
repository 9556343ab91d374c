"""A pool of processes of this machine, which is an `Executor`.

    with closing(ProcessPool(4, os.environ)) as pool:
        for number, outcome in pool.map(measured, cases): ...

A process starts with its first item. A process that dies is replaced, and its item is tried once more; if that fails
too, the outcome is an error. All processes end when this one ends, even if it is killed.

A home belongs to the worker that took its first item. A worker without items of its own homes takes a new home, or else
helps with the last items of another worker's home.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from secateur.executors.executor import (
    Executor,
    TaskOutcome,
    ended_error,
    firsts_of_homes,
    receive,
    send,
    wrap_unexpected,
)
from secateur.system.processes import Child, ended_for_time, isolated_python

T = TypeVar("T")

MOST_PROCESSES = 64

ATTEMPTS = 2  # the most processes that a task is tried on
LOOK_EVERY = 0.1  # seconds between two checks whether the answer is still wanted
LAST_SECONDS = 30  # seconds that a worker has at the end to close its files
_LAST_MOMENTS = 1.0  # seconds that a process which does not answer any more has to end by itself, before it is killed
_BOOT = (
    "from secateur.system.processes import watch_parent; watch_parent(int(sys.argv[1]));"
    " from secateur.executors.executor import main; main()"
)


@dataclass(eq=False)
class _Entry:
    """An item that waits or runs. `after`: it begins when this one has its outcome; `withdrawn`: its outcome is not
    wanted."""

    function: Callable[[Any], Any]
    argument: Any
    home: str = ""
    after: _Entry | None = None
    future: Future[TaskOutcome[Any]] = field(default_factory=Future)
    attempts: int = 0
    withdrawn: bool = False


class ProcessPool:
    """See the module docstring.

    Args:
        workers: the most processes.
        environ: the environment variables of the processes.
        attempts: the most processes that an item is tried on.
    """

    def __init__(self, workers: int, environ: Mapping[str, str], attempts: int = ATTEMPTS) -> None:
        self._most = max(1, min(workers, MOST_PROCESSES))
        self._environ, self.attempts = environ, attempts
        self._workers: list[_Worker] = []
        self._changed = threading.Condition()
        self._waiting: list[_Entry] = []
        self._owners: dict[str, _Worker] = {}
        self.closed = self.hurried = False  # hurried: processes end without closing their files

    @property
    def workers(self) -> int:
        """See `Executor.workers`."""
        return self._most

    def map(
        self, function: Callable[[Any], T], items: Sequence[Any], homes: Sequence[str] = ()
    ) -> Generator[tuple[int, TaskOutcome[T]]]:
        """See `Executor.map`."""
        entries = [_Entry(function, item, home) for item, home in zip(items, homes or [""] * len(items), strict=True)]
        done: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number, first in enumerate(firsts_of_homes(len(items), homes)):
            entries[number].after = entries[first] if first is not None else None
            entries[number].future.add_done_callback(lambda _, number=number: done.put(number))  # type: ignore[misc]
        self._put(entries)
        try:
            for _ in entries:
                number = wait_for_next(done)
                yield number, entries[number].future.result()
        finally:
            pending = [entry for entry in entries if not entry.future.done()]
            for entry in pending:
                entry.withdrawn = self.hurried = True
            for worker in self._workers:
                if worker.running in pending:
                    worker.interrupt()

    def submit(self, function: Callable[[Any], T], argument: Any) -> Future[TaskOutcome[T]]:
        """Queues one call, and returns the future of its outcome. Calls begin in their order."""
        entry = _Entry(function, argument)
        self._put([entry])
        return entry.future

    def close(self, *, at_once: bool = False) -> None:
        """See `Executor.close`. Idle workers save their indexes, unless it is `at_once`; a busy worker is ended."""
        self.hurried |= at_once
        with self._changed:
            self.closed = True
            self._changed.notify_all()
        try:
            self._join()
        finally:
            self.hurried = True
            self._join()
            self._workers = []

    def _put(self, entries: Sequence[_Entry]) -> None:
        with self._changed:
            self._waiting += entries
            self._changed.notify_all()
        busy = sum(worker.running is not None for worker in self._workers)
        for _ in range(len(self._workers), min(self._most, busy + len(self._waiting))):
            self._workers.append(_Worker(self, self._environ))
            self._workers[-1].start()

    def take(self, worker: _Worker) -> _Entry | None:
        """Waits for the next entry of a worker; returns None if the pool is closed."""
        with self._changed:
            while not self.closed:
                self._waiting = [entry for entry in self._waiting if not entry.withdrawn]
                ready = [entry for entry in self._waiting if entry.after is None or entry.after.future.done()]
                if ready:
                    owners = [self._owners.get(entry.home) for entry in ready]
                    own = [entry for entry, owner in zip(ready, owners, strict=True) if owner is worker]
                    new = [entry for entry, owner in zip(ready, owners, strict=True) if owner is None]
                    entry = (own or new or ready[-1:])[0]
                    self._waiting.remove(entry)
                    if entry.home:
                        self._owners.setdefault(entry.home, worker)
                    return entry
                self._changed.wait()
        return None

    def finish(self, entry: _Entry, outcome: TaskOutcome[Any] | None) -> None:
        """Hands over an outcome; None: the entry is tried again, before all others."""
        if outcome is not None:
            entry.future.set_result(outcome)
        with self._changed:
            if outcome is None:
                self._waiting.insert(0, entry)
            self._changed.notify_all()

    def _join(self) -> None:
        """Waits until all workers have ended, in short steps so that Ctrl-C is noticed."""
        for worker in self._workers * 2:
            while worker.is_alive():
                if self.hurried or worker.running is not None:
                    worker.interrupt()
                worker.join(LOOK_EVERY)


def wait_for_next(done: queue.SimpleQueue[T], look: Callable[[], object] = lambda: None) -> T:
    """Waits for the next value, in short steps so that Ctrl-C is noticed. `look` is called between two steps."""
    while True:
        with suppress(queue.Empty):
            return done.get(timeout=LOOK_EVERY)
        look()


class _Worker(threading.Thread):
    """A process, and the thread that gives it one entry after the other. The thread lives as long as the process,
    because a process ends with the thread that started it. Only `interrupt` may be called by another thread."""

    def __init__(self, pool: ProcessPool, environ: Mapping[str, str]) -> None:
        super().__init__(name="secateur-pool", daemon=True)
        self.running: _Entry | None = None
        self._pool, self._environ = pool, environ
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        try:
            while (entry := self._pool.take(self)) is not None:
                self.running = entry
                outcome = self._call(entry)
                self.running = None
                self._pool.finish(entry, outcome)
        finally:
            self._end(at_once=self._pool.hurried)

    def interrupt(self) -> None:
        """Ends the call that is running."""
        if (process := self._process) is not None:
            process.kill()

    def _call(self, entry: _Entry) -> TaskOutcome[Any] | None:
        """Returns the outcome of an entry; None if the process ended over it and it is tried again."""
        try:
            message, answer = pickle.dumps((entry.function, entry.argument)), None
            with suppress(OSError, ValueError):
                if self._process is not None and self._process.poll() is not None:
                    self._end(at_once=True)  # it ended between two tasks, so the next task does not lose an attempt
                if self._process is None:
                    self._process = Child(
                        isolated_python(_BOOT, str(os.getpid())),
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        env=dict(self._environ),
                    )
                process = self._process
                assert process.stdin is not None
                assert process.stdout is not None
                send(process.stdin, message)
                answer = receive(process.stdout)
            if answer is not None:
                outcome: TaskOutcome[Any] = pickle.loads(answer)
                return outcome
        except Exception as error:  # the item or its outcome cannot be pickled
            return TaskOutcome(None, wrap_unexpected(error))
        code = 0
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):  # a process that has closed its output is about to end
                code = self._process.wait(_LAST_MOMENTS)
        self._end(at_once=True)
        entry.attempts += 1
        if entry.attempts < self._pool.attempts:
            return None
        return TaskOutcome(None, ended_error(overtime=ended_for_time(code)))

    def _end(self, *, at_once: bool) -> None:
        if (process := self._process) is None:
            return
        if not at_once and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(LAST_SECONDS)
        process.kill()
        with suppress(OSError), process:  # closing flushes bytes that nobody reads any more, which is an error
            pass
        self._process = None


@contextmanager
def spread_tasks(
    function: Callable[[Any], T],
    arguments: Sequence[Any],
    homes: Sequence[str],
    jobs: int | Executor,
    environ: Mapping[str, str],
    pieces: int | None = None,
) -> Iterator[Iterator[tuple[int, TaskOutcome[T]]] | None]:
    """Yields the outcomes of tasks that other processes do, as of `Executor.map`; None if this process should do them.

    Args:
        function, arguments, homes: see `Executor.map`.
        jobs: the most processes of this machine, or the executor to use.
        environ: the environment variables of the processes.
        pieces: the most processes that are worth it; None: one a task.
    """
    if isinstance(jobs, int):
        most = min(jobs, len(arguments) if pieces is None else pieces)
        if most < 2 or not sys.executable:
            yield None
            return
        opened: AbstractContextManager[Executor] = closing(ProcessPool(most, environ))
    else:
        opened = nullcontext(jobs)
    with opened as executor, closing(executor.map(function, arguments, homes)) as outcomes:
        yield outcomes
