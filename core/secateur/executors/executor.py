"""The interface of executors, to whoever has work that splits.

A task is a function of a module and its argument, both pickled between processes of one program: of one version of it,
on one machine or on several that trust each other. Whoever gives tasks needs no order, and may be told twice of none:

    for number, outcome in executor.run([Task(measured, case, home=case.repository) for case in cases]):
        figures[number] = outcome.value if outcome.error is None else left_out(outcome.error)

A function keeps nothing that an answer depends on: whatever ran it before, or died over it, its value follows from its
argument. What it opened it may keep for the next task, as a cache.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from secateur.errors import SecateurError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Task(Generic[T]):
    """A piece of work.

    Attributes:
        function: of a module, which workers import by name.
        home: tasks of one home go to one worker as long as it lives, and another where it does not: what was opened for
            one of them is open for the next; "" for any worker.
    """

    function: Callable[[Any], T]
    argument: Any
    home: str = ""


@dataclass(frozen=True, slots=True)
class TaskOutcome(Generic[T]):
    """The result of a task: a value, or the error that it raised.

    Attributes:
        value: None where there is an error.
        error: what the function raised, as a `SecateurError`; with the code PROCESS_ENDED where workers died over it.
    """

    value: T | None
    error: SecateurError | None = None


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
