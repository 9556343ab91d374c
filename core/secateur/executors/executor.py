"""The interface of executors, to whoever has work that splits.

A task is a function of a module and its argument, both pickled between processes of one program: of one version of it,
on one machine or on several that trust each other. Whoever gives tasks needs no order, and may be told twice of none:

    for number, outcome in executor.run([Task(measured, case, home=case.repository) for case in cases]):
        figures[number] = outcome.value if outcome.error is None else left_out(outcome.error)

A function keeps nothing that an answer depends on: whatever ran it before, or died over it, its value follows from its
argument. What it opened it may keep for the next task, as a cache (`executors/kept.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from secateur.errors import SecateurError

T = TypeVar("T")

PROCESS_ENDED = "PROCESS_ENDED"
"""Code of the error of a task over which workers ended."""

OVERTIME = "PROCESS_OVERTIME"
"""Code of the error of a task over which a worker used up the processor time that it was granted."""


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """A piece of work.

    Attributes:
        function: of a module, which workers import by name.
        home: tasks of one home go to one worker as long as it lives and others are not idle: what was opened for one
            of them is open for the next; "" for any worker.
        after: number of an earlier task of the same run that is over before this begins, however it ends.
    """

    function: Callable[[Any], T]
    argument: Any
    home: str = ""
    after: int | None = None


@dataclass(frozen=True, slots=True)
class TaskOutcome(Generic[T]):
    """The result of a task: a value, or the error that it raised.

    Attributes:
        value: None where there is an error.
        error: what the function raised, as a `SecateurError`; with the code PROCESS_ENDED where workers died over it.
    """

    value: T | None
    error: SecateurError | None = None

    def got(self) -> T:
        """The value. Raises the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Executor(Protocol):
    """Processes that take tasks."""

    @property
    def workers(self) -> int:
        """The number of tasks that are worked at together, at least 1."""

    def run(self, tasks: Sequence[Task[T]]) -> Generator[tuple[int, TaskOutcome[T]]]:
        """Runs tasks: outcomes with the numbers of their tasks, each as it comes, each once.

        A worker that dies costs time: its tasks are given to others. Closing the generator ends what is under way.
        """

    def close(self) -> None:
        """Let go of the workers; of those that were started for this, none is left."""


def tasks_by_home(function: Callable[[Any], T], arguments: Sequence[Any], homes: Sequence[str]) -> list[Task[T]]:
    """Tasks of which the first of each home is over before the others of it begin: it brings up to date what all of
    them read, while nobody else does."""
    first: dict[str, int] = {}
    tasks = []
    for number, (argument, home) in enumerate(zip(arguments, homes, strict=True)):
        tasks.append(Task(function, argument, home, first.get(home)))
        first.setdefault(home, number)
    return tasks


def carried_out(function: Callable[[Any], T], argument: Any) -> TaskOutcome[T]:
    """The outcome of a function in this process. Whatever it raises but an order to end is its outcome."""
    try:
        return TaskOutcome(function(argument))
    except SecateurError as error:
        return TaskOutcome(None, _sendable(error))
    except Exception as error:  # costs this task alone
        return TaskOutcome(None, unexpected(error))


def unexpected(error: Exception) -> SecateurError:
    """An error that is none of ours, as one."""
    return SecateurError(
        f"unexpected {type(error).__name__}: {error}",
        hint="run it alone with --debug and report what it prints",
        code="UNEXPECTED",
    )


def ended_error(*, overtime: bool = False) -> SecateurError:
    """The error of a task over which worker after worker ended. Whoever gave the task names it."""
    return SecateurError(
        "the processes that worked at it ended without an answer",
        hint="run it alone; the system may be short of memory",
        code=OVERTIME if overtime else PROCESS_ENDED,
    )


def _sendable(error: SecateurError) -> SecateurError:
    """The error with what reports say of it, of a class that any process knows how to make."""
    kind = type(error)
    ours = kind.__module__ == SecateurError.__module__ and kind.__init__ is SecateurError.__init__
    return (kind if ours else SecateurError)(error.message, hint=error.hint, code=error.code)
