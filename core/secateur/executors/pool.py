"""A pool of workers, which is an `Executor`, and its agenda. Here the workers are processes of this machine.

    with closing(ProcessPool(4, os.environ)) as pool:
        for number, outcome in pool.run(tasks): ...

A process starts with its first task. A process that dies is replaced, and its task is tried once more; if that fails
too, the outcome is an error. All processes end when this one ends, even if it is killed.

A home belongs to the worker that took its first task, because files that are open for one task serve the next. A worker
without tasks of its own homes begins a new home, preferably one that prefers this worker. If all homes have begun, it
takes over a home that no worker is busy with, or helps with the last tasks of another worker's home.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

from secateur.errors import SecateurError
from secateur.executors.executor import Executor, Task, TaskOutcome, ended_error, tasks_by_home, wrap_unexpected
from secateur.executors.pool_worker import receive, send
from secateur.system.processes import Child, ended_for_time, isolated_python


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


T = TypeVar("T")

MOST_PROCESSES = 64

ATTEMPTS = 2  # the most processes that a task is tried on
LOOK_EVERY = 0.1  # seconds between two checks whether the answer is still wanted
LAST_SECONDS = 30  # seconds that a worker has at the end to close its files
_LAST_MOMENTS = 1.0  # seconds that a process which does not answer any more has to end by itself, before it is killed
_BOOT = (
    "from secateur.system.processes import watch_parent; watch_parent(int(sys.argv[1]));"
    " from secateur.executors.pool_worker import main; main()"
)


class WorkerEnded(Exception):
    """A worker ended without an answer. `overtime`: it used up its processor time."""

    def __init__(self, *, overtime: bool = False) -> None:
        super().__init__()
        self.overtime = overtime


class Worker(Protocol):
    """A process, here or on another machine, that does one task at a time. Only `interrupt` may be called by a thread
    other than its own."""

    name: str

    def ready(self) -> bool:
        """Tells whether the worker can take a task. A worker that has ended may be replaced by another. Raises
        SecateurError: there will be no other."""

    def ask(self, message: bytes) -> bytes:
        """Runs a pickled task and returns its pickled outcome. Raises WorkerEnded."""

    def interrupt(self) -> None:
        """Ends the task that it is running."""

    def close(self, *, at_once: bool) -> None:
        """Makes the worker close its files, and ends the connection. `at_once`: does not wait for the files."""


class WorkerPool(ABC):
    """Gives tasks to workers. Each worker has a thread here."""

    def __init__(self, attempts: int) -> None:
        self._attempts = attempts
        self._agenda = Agenda()
        self._threads: list[_WorkerThread] = []
        self.hurried = False

    @property
    @abstractmethod
    def workers(self) -> int:
        """See `Executor.workers`."""

    @abstractmethod
    def _open_worker(self) -> Worker:
        """Opens one more worker."""

    def run(self, tasks: Sequence[Task[T]]) -> Generator[tuple[int, TaskOutcome[T]]]:
        """See `Executor.run`."""
        self._start(len(tasks))
        queued = [QueuedTask(task) for task in tasks]
        positions = {entry.future: position for position, entry in enumerate(queued)}
        done: queue.SimpleQueue[Future[TaskOutcome[Any]]] = queue.SimpleQueue()
        for entry in queued:
            entry.future.add_done_callback(done.put)
            if entry.task.after is None:
                self._agenda.put(entry)
            else:
                queued[entry.task.after].future.add_done_callback(partial(self._put_after, entry))
        try:
            for _ in tasks:
                future = _wait_for_next(done)
                yield positions[future], future.result()
        finally:
            self._withdraw([entry for entry in queued if not entry.future.done()])

    def submit(self, task: Task[T]) -> Future[TaskOutcome[T]]:
        """Queues one task, and returns the future of its outcome. Tasks without a home begin in their order."""
        entry = QueuedTask(task)
        self._start(len(self._threads) + 1)
        self._agenda.put(entry)
        return entry.future

    def close(self) -> None:
        """See `Executor.close`. Idle workers save their indexes; a worker with a task is ended."""
        self._agenda.close()
        try:
            self._join()
        finally:
            self.hurried = True
            self._join()
            self._threads = []

    def _start(self, tasks: int) -> None:
        """Starts workers until there is one for each task, or the limit is reached."""
        new = []
        for worker_number in range(len(self._threads), min(self.workers, tasks)):
            new.append(_WorkerThread(self, self._agenda, worker_number, self._open_worker(), self._attempts))
            self._agenda.names[worker_number] = new[-1].worker.name
        self._threads += new
        for thread in new:
            thread.start()

    def _put_after(self, entry: QueuedTask, _: Future[TaskOutcome[Any]]) -> None:
        self._agenda.put(entry)

    def _withdraw(self, entries: Sequence[QueuedTask]) -> None:
        for entry in entries:
            entry.withdrawn = self.hurried = True
        for thread in self._threads:
            if thread.running in entries:
                thread.worker.interrupt()

    def _join(self) -> None:
        """Waits until all workers have ended, in short steps so that Ctrl-C is noticed."""
        for thread in self._threads * 2:
            while thread.is_alive():
                if self.hurried or thread.running is not None:
                    thread.worker.interrupt()
                thread.join(LOOK_EVERY)


def _wait_for_next(done: queue.SimpleQueue[Future[TaskOutcome[Any]]]) -> Future[TaskOutcome[Any]]:
    """Waits for the next outcome, in short steps so that Ctrl-C is noticed."""
    while True:
        with suppress(queue.Empty):
            return done.get(timeout=LOOK_EVERY)


class _WorkerThread(threading.Thread):
    """The thread of a worker. It lives as long as the worker, because a process ends with the thread that started
    it."""

    def __init__(self, pool: WorkerPool, agenda: Agenda, worker_number: int, worker: Worker, attempts: int) -> None:
        super().__init__(name="secateur-pool", daemon=True)
        self.worker = worker
        self.running: QueuedTask | None = None
        self._pool, self._agenda, self._worker_number, self._attempts = pool, agenda, worker_number, attempts

    def run(self) -> None:
        """Gives the worker one task after the other."""
        try:
            while not self._agenda.closed:
                if not self.worker.ready():
                    self._agenda.pause(LOOK_EVERY)
                    continue
                self._agenda.names[self._worker_number] = self.worker.name
                self.running = self._agenda.take(self._worker_number)
                if self.running is not None:
                    self._do(self.running)
                    self.running = None
        except SecateurError as error:
            self._agenda.fail(error)
            if self.running is not None:
                self.running.future.set_exception(error)
                self.running = None
        finally:
            self.worker.close(at_once=self._pool.hurried)

    def _do(self, entry: QueuedTask) -> None:
        try:
            message = pickle.dumps((entry.task.function, entry.task.argument))
            outcome: TaskOutcome[Any] = pickle.loads(self.worker.ask(message))
        except WorkerEnded as ended:
            entry.attempts += 1
            if entry.attempts < self._attempts:
                self._agenda.put(entry, again=True)
                return
            outcome = TaskOutcome(None, ended_error(overtime=ended.overtime))
        except SecateurError:
            raise
        except Exception as error:  # the task or its outcome cannot be pickled
            outcome = TaskOutcome(None, wrap_unexpected(error))
        entry.future.set_result(outcome)


class ProcessPool(WorkerPool):
    """See the module docstring.

    Args:
        workers: the most processes.
        environ: the environment variables of the processes.
        attempts: the most processes that a task is tried on.
    """

    def __init__(self, workers: int, environ: Mapping[str, str], attempts: int = ATTEMPTS) -> None:
        super().__init__(attempts)
        self._most = max(1, min(workers, MOST_PROCESSES))
        self._environ = environ

    @property
    def workers(self) -> int:
        """See `Executor.workers`."""
        return self._most

    def _open_worker(self) -> Worker:
        return _Process(self._environ)


class _Process:
    """A process of this machine."""

    name = ""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None

    def ready(self) -> bool:
        return True

    def ask(self, message: bytes) -> bytes:
        answer, code = None, 0
        with suppress(OSError, ValueError):
            process = self._start()
            assert process.stdin is not None
            assert process.stdout is not None
            send(process.stdin, message)
            answer = receive(process.stdout)
        if answer is None:
            if self._process is not None:
                with suppress(subprocess.TimeoutExpired):  # a process that has closed its output is about to end
                    code = self._process.wait(_LAST_MOMENTS)
            self.close(at_once=True)
            raise WorkerEnded(overtime=ended_for_time(code))
        return answer

    def interrupt(self) -> None:
        process = self._process
        if process is not None:
            process.kill()

    def close(self, *, at_once: bool) -> None:
        process = self._process
        if process is None:
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

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close(at_once=True)  # it ended between two tasks, so the next task does not lose an attempt
        if self._process is None:
            self._process = Child(
                isolated_python(_BOOT, str(os.getpid())),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=dict(self._environ),
            )
        return self._process


@contextmanager
def spread_tasks(
    function: Callable[[Any], T],
    arguments: Sequence[Any],
    homes: Sequence[str],
    jobs: int | Executor,
    environ: Mapping[str, str],
    pieces: int | None = None,
) -> Iterator[Iterator[tuple[int, TaskOutcome[T]]] | None]:
    """Yields the outcomes of tasks that other processes do, as of `Executor.run`; None if this process should do them.

    Args:
        function, arguments, homes: see `tasks_by_home`.
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
    with opened as executor, closing(executor.run(tasks_by_home(function, arguments, homes))) as outcomes:
        yield outcomes
