"""The interface of executors, which run a function over items in other processes.

The function is one of a module; function and items are pickled between processes that run the same version of this
program, on one machine or on several that trust each other. Outcomes come in any order, one for each item:

    for number, outcome in executor.map(measured, cases, [case.repository for case in cases]):
        figures[number] = outcome.value if outcome.error is None else left_out(outcome.error)

The value depends on the item alone, not on earlier items of the same process. A function may keep open files for the
next item, as a cache: `keep_open`; the worker that runs it calls `close_kept` at its end.

A process of a pool: reads tasks from standard input and writes outcomes to standard output, until the input ends.

A task or outcome is a pickle, with its length before it. This is not a `multiprocessing` worker, because those import
the main module again, which breaks scripts without a guard and runs code twice.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Generator, Hashable, Sequence
from typing import IO, Any, Generic, Protocol, TypeVar

from msgspec import Struct

from secateur.errors import SecateurError

T = TypeVar("T")

PROCESS_ENDED = "PROCESS_ENDED"  # the code of the error for a task over which workers ended
OVERTIME = "PROCESS_OVERTIME"  # the code of the error for a task that used up the processor time of a worker


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
        except SecateurError as error:  # every process can unpickle the classes of `secateur.errors`
            kind = type(error)
            ours = kind.__module__ == SecateurError.__module__ and kind.__init__ is SecateurError.__init__
            return cls(None, (kind if ours else SecateurError)(error.message, hint=error.hint, code=error.code))
        except Exception as error:  # costs this task alone
            return cls(None, wrap_unexpected(error))

    def got(self) -> T:
        """Returns the value, or raises the error."""
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class Executor(Protocol):
    """Runs functions in processes."""

    @property
    def workers(self) -> int:
        """The number of items that are worked at at the same time, at least 1."""

    def map(
        self, function: Callable[[Any], T], items: Sequence[Any], homes: Sequence[str] = ()
    ) -> Generator[tuple[int, TaskOutcome[T]]]:
        """Calls a function with each item, and yields each outcome once with the number of its item, as soon as it
        comes.

        Items of one home prefer the same worker, so that the files of one are open for the next; the first of them ends
        before the others begin, because it alone brings the index of the home up to date. "" is no home. The item of a
        worker that dies is given to another. Closing the generator ends the running calls.
        """

    def close(self) -> None:
        """Ends the workers that this executor started, and leaves all others running."""


def firsts_of_homes(count: int, homes: Sequence[str]) -> list[int | None]:
    """Returns for each item the number of the item that ends before it begins; None if it need not wait."""
    first: dict[str, int] = {}
    numbers = (first.setdefault(home, number) if home else number for number, home in enumerate(homes))
    waits = [earlier if earlier < number else None for number, earlier in enumerate(numbers)]
    return waits or [None] * count


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


class Closable(Protocol):
    """Something that has to be closed."""

    def close(self) -> None:
        """Closes its files."""


C = TypeVar("C", bound=Closable)

_KEPT: dict[str, tuple[Hashable, Any]] = {}


def keep_open(kind: str, of: Hashable, opening: Callable[[], C]) -> C:
    """Returns the kept thing of a kind if it was opened for the same `of`; else closes it and opens another."""
    if (known := _KEPT.get(kind)) is None or known[0] != of:
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


LENGTH_BYTES = 8


def main() -> None:
    """Runs tasks until the input ends. Ignores Ctrl-C, which reaches every process of the terminal: the parent decides
    what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads are slower on matrices of our size
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # prints must not mix with outcomes
    try:
        while (message := receive(source)) is not None:
            send(sink, answer_task(message))
    finally:
        close_kept()


def answer_task(message: bytes) -> bytes:
    """Runs a pickled task and returns its pickled outcome."""
    try:
        function, argument = pickle.loads(message)
    except Exception as error:
        return pickle.dumps(TaskOutcome(None, wrap_unexpected(error)))
    outcome = TaskOutcome.of(function, argument)
    try:
        return pickle.dumps(outcome)
    except Exception as error:
        return pickle.dumps(
            TaskOutcome(None, SecateurError(f"its result cannot be handed over: {error}", code="UNEXPECTED"))
        )


def send(stream: IO[bytes], message: bytes) -> None:
    """Writes one message. Raises OSError if the other side is gone."""
    stream.write(len(message).to_bytes(LENGTH_BYTES, "little"))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Reads one message; None if the other side is gone."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "little")
    message = stream.read(size)
    return message if len(message) == size else None
