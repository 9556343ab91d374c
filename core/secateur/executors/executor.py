"""The interface of executors, which run tasks in other processes.

A task is a function of a module and its argument. Both are pickled between processes that run the same version of this
program, on one machine or on several that trust each other. Outcomes come in any order, one for each task:

    for number, outcome in executor.run([Task(measured, case, home=case.repository) for case in cases]):
        figures[number] = outcome.value if outcome.error is None else left_out(outcome.error)

The value of a task depends on its argument alone, not on earlier tasks of the same process. A function may keep open
files for the next task, as a cache: `keep_open`; the worker that runs it calls `close_kept` at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from secateur.errors import SecateurError

T = TypeVar("T")

PROCESS_ENDED = "PROCESS_ENDED"  # the code of the error for a task over which workers ended
OVERTIME = "PROCESS_OVERTIME"  # the code of the error for a task that used up the processor time of a worker


class Task(Struct, Generic[T], frozen=True):
    """A piece of work.

    Attributes:
        function: a function of a module, which workers import by name.
        home: tasks with the same home go to the same worker, while it lives and no other is idle, so that the files of
            one task are open for the next; "" for any worker.
        after: the number of an earlier task of the same run that must end before this one begins.
    """

    function: Callable[[Any], T]
    argument: Any
    home: str = ""
    after: int | None = None


class TaskOutcome(Struct, Generic[T], frozen=True):
    """The result of a task: a value or an error.

    Attributes:
        value: the value; None if there is an error.
        error: the error of the function as a `SecateurError`; with the code PROCESS_ENDED if workers died over it.
    """

    value: T | None
    error: SecateurError | None = None

    @classmethod
    def of(cls, function: Callable[[Any], T], argument: Any) -> TaskOutcome[T]:
        """Calls a function in this process, and returns its value or its error."""
        try:
            return cls(function(argument))
        except SecateurError as error:
            return cls(None, _make_sendable(error))
        except Exception as error:  # costs this task alone
            return cls(None, wrap_unexpected(error))

    def got(self) -> T:
        """Returns the value, or raises the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Executor(Protocol):
    """Runs tasks in processes."""

    @property
    def workers(self) -> int:
        """The number of tasks that run at the same time, at least 1."""

    def run(self, tasks: Sequence[Task[T]]) -> Generator[tuple[int, TaskOutcome[T]]]:
        """Runs tasks, and yields each outcome once with the number of its task, as soon as it comes.

        The task of a worker that dies is given to another. Closing the generator ends the running tasks.
        """

    def close(self) -> None:
        """Ends the workers that this executor started, and leaves all others running."""


def tasks_by_home(function: Callable[[Any], T], arguments: Sequence[Any], homes: Sequence[str]) -> list[Task[T]]:
    """Makes tasks that wait for the first task of their home, which alone brings the index of the home up to date."""
    first: dict[str, int] = {}
    tasks = []
    for position, (argument, home) in enumerate(zip(arguments, homes, strict=True)):
        tasks.append(Task(function, argument, home, first.get(home)))
        first.setdefault(home, position)
    return tasks


def wrap_unexpected(error: Exception) -> SecateurError:
    """Makes a SecateurError of any other error."""
    return SecateurError(
        f"unexpected {type(error).__name__}: {error}",
        hint="run it alone with --debug and report what it prints",
        code="UNEXPECTED",
    )


def ended_error(*, overtime: bool = False) -> SecateurError:
    """Makes the error for a task over which several workers ended. The caller adds the name of the task."""
    return SecateurError(
        "the processes that worked at it ended without an answer",
        hint="run it alone; the system may be short of memory",
        code=OVERTIME if overtime else PROCESS_ENDED,
    )


def _make_sendable(error: SecateurError) -> SecateurError:
    """Copies message, hint and code of an error into a class that every process can unpickle."""
    kind = type(error)
    ours = kind.__module__ == SecateurError.__module__ and kind.__init__ is SecateurError.__init__
    return (kind if ours else SecateurError)(error.message, hint=error.hint, code=error.code)


class Closable(Protocol):
    """Something that has to be closed."""

    def close(self) -> None:
        """Closes its files."""


C = TypeVar("C", bound=Closable)

_KEPT: dict[str, tuple[Hashable, Any]] = {}


def keep_open(kind: str, of: Hashable, opening: Callable[[], C]) -> C:
    """Returns the kept thing of a kind if it was opened for the same `of`; else closes it and opens another."""
    known = _KEPT.get(kind)
    if known is None or known[0] != of:
        if known is not None:
            del _KEPT[kind]
            known[1].close()
        _KEPT[kind] = of, opening()
    thing: C = _KEPT[kind][1]
    return thing


def close_kept() -> None:
    """Closes everything that is kept."""
    while _KEPT:
        _, (_, thing) = _KEPT.popitem()
        thing.close()
