"""Daemon threads for the engine's slow calls: one retrieves, one looks whether files have changed, one proves levers.

The calls of a thread run one after another, so the engine's database sees a single thread. A call whose awaiter was
cancelled before the call began never runs. The threads are daemons and their jobs look at `closing`, so quitting does
not wait for an index to finish.
"""

import asyncio
import contextlib
import gc
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")


# New objects above which a job's objects are frozen for good: fewer are scanned in a few milliseconds, and frozen
# objects are never collected.
MANY = 100_000


@contextlib.contextmanager
def suspend_collection() -> Iterator[None]:
    """Suspends garbage collection for jobs that create millions of objects that stay, and exempts those objects for
    good.

    A collection over a gigabyte of objects takes a second or more in which no frame is painted. Almost none of these
    objects form cycles.
    """
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MANY:
            gc.freeze()
        gc.enable()


# Thresholds of the garbage collector for a session: a frame makes some thousand objects, nearly all of which are freed
# without it.
RARER = 10_000, 20, 50


@contextlib.contextmanager
def reduce_collections() -> Iterator[None]:
    """Exempts everything that is there already, the modules above all, from garbage collection, and collects more
    rarely: looking through all of it takes as long as two frames, in the middle of a key."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*RARER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


class Courtesy:
    """Delays background proofs while keys arrive, because Python runs one thread at a time."""

    def __init__(self) -> None:
        self._free = threading.Event()
        self._free.set()
        self._timer: asyncio.TimerHandle | None = None

    def give_way(self, seconds: float) -> None:
        """Makes the work wait for this time from now on."""
        self._free.clear()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._free.set)

    def wait(self, unwanted: Callable[[], bool]) -> None:
        """Waits on the work's thread until it may go on, or is unwanted."""
        while not self._free.wait(_LOOK) and not unwanted():
            pass


_LOOK = 0.05  # seconds between two checks whether waiting work is still wanted


class Cancelled(Exception):
    """Raised inside a job whose result is no longer wanted."""


_Job = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]


class EngineThread:
    """`await thread.run(lambda: engine.retrieve(query))`."""

    def __init__(self) -> None:
        self.closing = threading.Event()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()  # None: one of the others, or the end
        self._between: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="secateur-engine", daemon=True)
        self._thread.start()

    async def run(self, call: Callable[[], T], *, between: bool = False) -> T:
        """Returns the result of `call`, or raises its exception. `between`: it need not wait for a long call that gives
        way to others between its steps."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        if between:
            self._between.put((loop, future, call))
        self._jobs.put(None if between else (loop, future, call))
        return await future

    def give_way(self) -> None:
        """Makes the calls that need not wait; a long call calls it between its steps, on this thread."""
        while not self.closing.is_set():
            try:
                job = self._between.get_nowait()
            except queue.Empty:
                return
            _do(job)

    def close(self) -> None:
        """Ends the thread after the present job; a job that reports progress ends at its next report."""
        self.closing.set()
        self._jobs.put(None)

    def wait_for_end(self, patience: float) -> bool:
        """Returns whether the thread has ended after `close`, waiting for it for `patience` seconds at most."""
        self._thread.join(patience)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while not self.closing.is_set():
            if (job := self._jobs.get()) is None:
                self.give_way()
            elif not _do(job):
                return


def _do(job: _Job) -> bool:
    loop, future, call = job
    if future.cancelled():
        return True
    try:
        outcome, error = call(), None
    except BaseException as raised:
        outcome, error = None, raised

    def deliver() -> None:
        if not future.done() and error is None:
            future.set_result(outcome)
        elif not future.done() and error is not None:
            future.set_exception(error)

    try:
        loop.call_soon_threadsafe(deliver)
    except RuntimeError:  # the loop is closed
        return False
    return True
