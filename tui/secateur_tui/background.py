"""Daemon threads for the engine's slow calls: one to retrieve, one to look whether files have changed, one to prove
hints.

Calls of a thread run one after another, so the engine's database sees a single thread; a call whose awaiter was
cancelled before its turn never runs. The thread is a daemon and its jobs look at `closing`: quitting does not wait for
an index to finish.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


MANY = 100_000
"""New objects from which a job's are set aside for good: fewer are looked through in a few milliseconds, and what is
set aside is never collected."""


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """For jobs that make millions of objects that stay: while they run, and of what they made, nothing is looked
    through for garbage.

    Looking through a gigabyte of objects takes a second or more in which no frame is painted. Almost nothing of it
    hangs together in circles.
    """
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MANY:
            gc.freeze()
        gc.enable()


class Cancelled(Exception):
    """Raised inside a job whose result nobody waits for any more."""


class EngineThread:
    """`await thread.run(lambda: engine.retrieve(query))`."""

    def __init__(self) -> None:
        self.closing = threading.Event()
        self._jobs: queue.SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Future[Any], Callable[[], Any]]] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._work, name="secateur-engine", daemon=True)
        self._thread.start()

    async def run(self, call: Callable[[], T]) -> T:
        """The result of `call`, or its exception."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._jobs.put((loop, future, call))
        return await future

    def close(self) -> None:
        """Let the thread end after the job at hand; jobs that report progress end at their next report."""
        self.closing.set()
        self._jobs.put((None, None, None))  # type: ignore[arg-type]

    def ended(self, patience: float) -> bool:
        """Whether the thread has come to its end after `close`, waiting for it for `patience` seconds at most."""
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while not self.closing.is_set():
            loop, future, call = self._jobs.get()
            if call is None or future.cancelled():
                continue
            try:
                outcome, error = call(), None
            except BaseException as raised:
                outcome, error = None, raised
            try:
                loop.call_soon_threadsafe(_deliver, future, outcome, error)
            except RuntimeError:
                return  # the loop is closed: the application is gone


def _deliver(future: asyncio.Future[Any], outcome: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(outcome)
    else:
        future.set_exception(error)
