"""Workers that take tasks, in `executor.py`'s words; here processes of this machine.

    with closing(ProcessPool(4, os.environ)) as pool:
        for number, outcome in pool.run(tasks): ...

A process starts with its first task. One that dies is replaced, and its task is tried once more: then the outcome
is an error. Processes end with this one, also where it is killed.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from secateur.errors import SecateurError
from secateur.executors.agenda import Agenda, GivenTask
from secateur.executors.executor import Executor, Task, TaskOutcome, ended_error, unexpected
from secateur.executors.pool_worker import receive, send
from secateur.system.processes import Child, ended_for_time

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

MOST_PROCESSES = 64

ATTEMPTS = 2
"""Processes that a task may cost."""

LOOK_EVERY = 0.1
"""Seconds between two looks whether somebody still waits."""

LAST_SECONDS = 30
"""Seconds that a worker has to close what it opened when there is nothing left to do."""

_LAST_MOMENTS = 1.0
"""Seconds that a process has to end by itself, once it answers no more, before it is killed."""

_BOOT = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from secateur.system.processes import watch_parent;"
    " watch_parent(int(sys.argv[2])); from secateur.executors.pool_worker import main; main()"
)


class WorkerEnded(Exception):
    """A worker ended without an answer. `overtime`: it used up the processor time that it was granted."""

    def __init__(self, *, overtime: bool = False) -> None:
        super().__init__()
        self.overtime = overtime


class Worker(Protocol):
    """A process, here or elsewhere, that does one task at a time. Its own thread calls all but `interrupt`."""

    name: str

    def ready(self) -> bool:
        """Tells whether it can be asked; after it has ended, whether another took its place. Raises SecateurError: none
        ever will."""

    def ask(self, message: bytes) -> bytes:
        """The pickled outcome of a pickled task. Raises WorkerEnded."""

    def interrupt(self) -> None:
        """Ends what it is at."""

    def close(self, *, at_once: bool) -> None:
        """Has it close what it opened and lets go of it; `at_once`: does not wait for that."""


class WorkerPool(ABC):
    """Gives tasks to workers, each of which has a thread here."""

    def __init__(self, attempts: int) -> None:
        self._attempts = attempts
        self._agenda = Agenda()
        self._threads: list[_WorkerThread] = []
        self.hurried = False

    @property
    @abstractmethod
    def workers(self) -> int:
        """As `Executor.workers`."""

    @abstractmethod
    def _open_worker(self) -> Worker:
        """A further worker."""

    def run(self, tasks: Sequence[Task[T]]) -> Generator[tuple[int, TaskOutcome[T]]]:
        """As `Executor.run`."""
        self._start(len(tasks))
        given = [GivenTask(task) for task in tasks]
        numbers = {one.future: number for number, one in enumerate(given)}
        done: queue.SimpleQueue[Future[TaskOutcome[Any]]] = queue.SimpleQueue()
        for one in given:
            one.future.add_done_callback(done.put)
            if one.task.after is None:
                self._agenda.put(one)
            else:
                given[one.task.after].future.add_done_callback(partial(self._follow, one))
        try:
            for _ in tasks:
                future = _next(done)
                yield numbers[future], future.result()
        finally:
            self._withdraw([one for one in given if not one.future.done()])

    def submit(self, task: Task[T]) -> Future[TaskOutcome[T]]:
        """The outcome of one task, to be waited for. Tasks without a home begin in the order in which they come."""
        given = GivenTask(task)
        self._start(len(self._threads) + 1)
        self._agenda.put(given)
        return given.future

    def close(self) -> None:
        """As `Executor.close`. Workers keep what they put together of indexes; one that is at something is ended."""
        self._agenda.close()
        try:
            self._join()
        finally:
            self.hurried = True
            self._join()
            self._threads = []

    def _start(self, tasks: int) -> None:
        """Starts as many workers as there may be, and tasks for them."""
        new = []
        for number in range(len(self._threads), min(self.workers, tasks)):
            new.append(_WorkerThread(self, self._agenda, number, self._open_worker(), self._attempts))
            self._agenda.names[number] = new[-1].worker.name
        self._threads += new
        for thread in new:
            thread.start()

    def _follow(self, given: GivenTask, _: Future[TaskOutcome[Any]]) -> None:
        self._agenda.put(given)

    def _withdraw(self, given: Sequence[GivenTask]) -> None:
        for one in given:
            one.withdrawn = self.hurried = True
        for thread in self._threads:
            if thread.at in given:
                thread.worker.interrupt()

    def _join(self) -> None:
        """Waits until all workers have ended; Ctrl-C is heard meanwhile."""
        for thread in self._threads * 2:
            while thread.is_alive():
                if self.hurried or thread.at is not None:
                    thread.worker.interrupt()
                thread.join(LOOK_EVERY)


def _next(done: queue.SimpleQueue[Future[TaskOutcome[Any]]]) -> Future[TaskOutcome[Any]]:
    """The next outcome; Ctrl-C is heard meanwhile."""
    while True:
        with suppress(queue.Empty):
            return done.get(timeout=LOOK_EVERY)


class _WorkerThread(threading.Thread):
    """The thread that talks to a worker. It lives as long: a process ends with the thread that started it."""

    def __init__(self, pool: WorkerPool, agenda: Agenda, number: int, worker: Worker, attempts: int) -> None:
        super().__init__(name="secateur-pool", daemon=True)
        self.worker = worker
        self.at: GivenTask | None = None
        self._pool, self._agenda, self._number, self._attempts = pool, agenda, number, attempts

    def run(self) -> None:
        """Has the worker do task after task."""
        try:
            while not self._agenda.closed:
                if not self.worker.ready():
                    self._agenda.pause(LOOK_EVERY)
                    continue
                self._agenda.names[self._number] = self.worker.name
                self.at = self._agenda.take(self._number)
                if self.at is not None:
                    self._do(self.at)
                    self.at = None
        except SecateurError as error:
            self._agenda.fail(error)
            if self.at is not None:
                self.at.future.set_exception(error)
                self.at = None
        finally:
            self.worker.close(at_once=self._pool.hurried)

    def _do(self, given: GivenTask) -> None:
        try:
            message = pickle.dumps((given.task.function, given.task.argument))
            outcome: TaskOutcome[Any] = pickle.loads(self.worker.ask(message))
        except WorkerEnded as ended:
            given.attempts += 1
            if given.attempts < self._attempts:
                self._agenda.put(given, again=True)
                return
            outcome = TaskOutcome(None, ended_error(overtime=ended.overtime))
        except SecateurError:
            raise
        except Exception as error:  # it cannot be handed over
            outcome = TaskOutcome(None, unexpected(error))
        given.future.set_result(outcome)


class ProcessPool(WorkerPool):
    """See the module docstring.

    Args:
        workers: processes at most.
        environ: of the processes.
        attempts: processes that a task may cost.
    """

    def __init__(self, workers: int, environ: Mapping[str, str], attempts: int = ATTEMPTS) -> None:
        super().__init__(attempts)
        self._most = max(1, min(workers, MOST_PROCESSES))
        self._environ = environ

    @property
    def workers(self) -> int:
        """As `Executor.workers`."""
        return self._most

    def _open_worker(self) -> Worker:
        return _Process(self._environ)


class _Process:
    """A process of this machine, as `Worker`."""

    name = ""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None

    def ready(self) -> bool:
        return True

    def ask(self, message: bytes) -> bytes:
        answer, code = None, 0
        with suppress(OSError, ValueError):
            process = self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            send(process.stdin, message)
            answer = receive(process.stdout)
        if answer is None:
            if self._process is not None:
                with suppress(subprocess.TimeoutExpired):  # one that has closed its side is about to end
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
        with suppress(OSError), process:  # what was still to be sent to it cannot be
            pass
        self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close(at_once=True)  # it ended between two tasks, which is not the fault of the next
        if self._process is None:
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


@contextmanager
def executor_for(jobs: int | Executor, pieces: int, environ: Mapping[str, str]) -> Iterator[Executor | None]:
    """Yields who does so many pieces of work; None: this process does them.

    Args:
        jobs: processes of this machine at most, or the executor that is asked for.
        environ: of the processes.
    """
    if not isinstance(jobs, int):
        yield jobs
    elif min(jobs, pieces) > 1 and sys.executable:
        with closing(ProcessPool(min(jobs, pieces), environ)) as pool:
            yield pool
    else:
        yield None
