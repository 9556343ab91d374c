"""Processes of this machine that take tasks, in `executor.py`'s words.

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
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from secateur.executors.agenda import Agenda, Answers, GivenTask
from secateur.executors.executor import Task, TaskOutcome, ended_error, unexpected
from secateur.executors.messages import receive, send
from secateur.system.processes import Child

T = TypeVar("T")

MOST_PROCESSES = 64

ATTEMPTS = 2
"""Processes that a task may cost."""

LOOK_EVERY = 0.1
"""Seconds between two looks whether somebody still waits."""

LAST_SECONDS = 30
"""Seconds that a process has to close what it opened when there is nothing left to do."""

_BOOT = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from secateur.system.processes import watch_parent;"
    " watch_parent(int(sys.argv[2])); from secateur.executors.pool_worker import main; main()"
)


class ProcessPool:
    """See the module docstring.

    Args:
        workers: processes at most.
        environ: of the processes.
    """

    def __init__(self, workers: int, environ: Mapping[str, str]) -> None:
        self._most = max(1, min(workers, MOST_PROCESSES))
        self._environ = environ
        self._agenda = Agenda()
        self._crew: list[_PoolProcess] = []

    @property
    def workers(self) -> int:
        """As `Executor.workers`."""
        return self._most

    def run(self, tasks: Sequence[Task[T]]) -> Generator[tuple[int, TaskOutcome[T]]]:
        """As `Executor.run`."""
        answers: Answers = queue.SimpleQueue()
        while len(self._crew) < min(self._most, len(tasks)):
            self._crew.append(_PoolProcess(self._agenda, len(self._crew), self._environ))
        given = self._agenda.put(tasks, answers)
        try:
            for _ in tasks:
                yield _next(answers)
        finally:
            left = self._agenda.withdraw(given)
            for one in self._crew if left else ():
                one.drop(left)

    def close(self) -> None:
        """As `Executor.close`. Processes end by themselves, and keep what they put together of indexes; one that is at
        something is ended."""
        self._agenda.close()
        try:
            for one in self._crew:
                one.finish()
            for one in self._crew:
                one.join()
        finally:
            for one in self._crew:
                one.end()
            for one in self._crew:
                one.join()
            self._crew = []


def processes_for(jobs: int, pieces: int) -> int:
    """The processes that so many pieces of work are given to, where `jobs` may be used; 1: none is started."""
    return max(1, min(jobs, pieces, MOST_PROCESSES)) if sys.executable else 1


def _next(answers: Answers) -> tuple[int, TaskOutcome[Any]]:
    """The next answer; Ctrl-C is heard meanwhile."""
    while True:
        with suppress(queue.Empty):
            return answers.get(timeout=LOOK_EVERY)


def _unpacked(answer: bytes) -> TaskOutcome[Any]:
    try:
        outcome: TaskOutcome[Any] = pickle.loads(answer)
    except Exception as error:
        return TaskOutcome(None, unexpected(error))
    return outcome


class _PoolProcess:
    """One process, and the thread that talks to it: which lives as long, for a process ends with the thread that
    started it."""

    def __init__(self, agenda: Agenda, number: int, environ: Mapping[str, str]) -> None:
        self._agenda = agenda
        self._number = number
        self._environ = environ
        self._process: subprocess.Popen[bytes] | None = None
        self._changing = threading.Lock()
        self._at: GivenTask | None = None
        self._hurried = False
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="secateur-pool", daemon=True)
        self._thread.start()

    def drop(self, withdrawn: Sequence[GivenTask]) -> None:
        """End the process if it is at one of these tasks, and do not wait for it at the end."""
        self._hurried = True
        at = self._at
        if at is not None and at in withdrawn:
            self._end()

    def finish(self) -> None:
        """Nothing comes any more: what it still is at, nobody waits for."""
        if self._at is not None:
            self.end()

    def end(self) -> None:
        """End the process, whatever it is at; no other is started."""
        self._closed = self._hurried = True
        self._end()

    def join(self) -> None:
        """Wait until the process has ended; Ctrl-C is heard meanwhile."""
        while self._thread.is_alive():
            self._thread.join(LOOK_EVERY)

    def _serve(self) -> None:
        while (given := self._agenda.take(self._number)) is not None:
            self._at = given
            outcome = self._outcome(given)
            self._at = None
            self._agenda.done(given, outcome)
        with self._changing:
            process = self._process
        if process is not None and process.stdin is not None and not self._hurried:
            with suppress(OSError):
                process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(LAST_SECONDS)
        self._end()

    def _outcome(self, given: GivenTask) -> TaskOutcome[Any]:
        try:
            message = pickle.dumps((given.task.function, given.task.argument))
        except Exception as error:
            return TaskOutcome(None, unexpected(error))
        for _ in range(ATTEMPTS):
            answer = None if given.withdrawn else self._ask(message)
            if answer is not None:
                return _unpacked(answer)
            self._end()
        return TaskOutcome(None, ended_error())

    def _ask(self, message: bytes) -> bytes | None:
        """The answer; None where the process died."""
        try:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            send(process.stdin, message)
            return receive(process.stdout)
        except (OSError, ValueError):
            return None

    def _end(self) -> None:
        with self._changing:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError), process:
                pass

    def _running(self) -> subprocess.Popen[bytes]:
        with self._changing:
            if self._closed:
                raise BrokenPipeError
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
