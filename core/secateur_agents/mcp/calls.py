"""Runs calls on threads: a few at once, others wait in a short queue, and a cancelled call ends soon.

The engine blocks, and reports its progress often. A call is ended by an exception from that report, as soon as Ctrl-C
would end it, and nothing continues in its thread. While no call runs, work that may wait does.
"""

from __future__ import annotations

import math
import threading
from collections import Counter as Tally
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import anyio
from anyio.lowlevel import checkpoint_if_cancelled
from anyio.to_thread import run_sync
from secateur import Progress, SecateurError

T = TypeVar("T")

THREADS = 2
"""Calls that run at the same time. Python computes in one thread at a time; a second thread keeps a search from waiting
until another repository is indexed."""

MOST_WAITING = 16
"""Calls that wait for a thread; one more is refused at once."""

REPORT_SECONDS = 0.25
"""Time between two reports of progress."""

Report = Callable[[float, str], Awaitable[None]]
"""Receives progress, which only grows, and the current phase."""


class CallEnded(BaseException):
    """Ends the work of a cancelled call. Work does not catch it, just as it does not catch Ctrl-C."""


@dataclass
class _Stage:
    """The progress of a call's work: written by its thread, read by the loop."""

    stopped: threading.Event = field(default_factory=threading.Event)
    phase: str = ""
    done: int = 0
    total: int = 0
    phases: int = 0

    def report(self, phase: str, done: int, total: int) -> None:
        """The `Progress` of the work."""
        if self.stopped.is_set():
            raise CallEnded
        if phase != self.phase:
            self.phases += 1
        self.phase, self.done, self.total = phase, done, total

    @property
    def progress(self) -> float:
        """Completed phases plus a part of the present one; half if its size is unknown."""
        part = self.done / self.total if self.total else 0.5
        return self.phases - 1 + min(0.99, part)

    @property
    def words(self) -> str:
        return f"{self.phase}: {self.done:,} of {self.total:,}" if self.total else self.phase


@dataclass
class _Finished(Generic[T]):
    """The end of a call's work: its value, or the error that ended it."""

    value: T | None = None
    error: BaseException | None = None


class CallQueue:
    """See the module docstring.

    >>> answer = await calls.run(lambda progress: toolbox.search(call, roots, progress), key, report)
    """

    def __init__(self) -> None:
        self._threads = anyio.CapacityLimiter(THREADS)
        self._turns: dict[Hashable, anyio.Lock] = {}
        self._wanting: Tally[Hashable] = Tally()
        self._number = 0
        self._idle = anyio.Event()
        self._background: anyio.CancelScope | None = None

    async def run(self, work: Callable[[Progress], T], key: Hashable, report: Report | None = None) -> T:
        """Returns the value of `work`, which receives the progress function that ends it.

        Args:
            key: a resource that one call at a time uses, such as the root that it reads.

        Raises:
            SecateurError: from the work; `BUSY`: too many calls are waiting.
        """
        if self._number >= THREADS + MOST_WAITING:
            raise SecateurError(
                f"busy: {self._number} calls are under way",
                hint="wait for an answer, then call again",
                code="BUSY",
            )
        self._number += 1
        self._wanting[key] += 1
        if self._background is not None:
            self._background.cancel()
        try:
            async with self._turns.setdefault(key, anyio.Lock()):
                finished = await self._on_thread(work, report)
        finally:
            self._number -= 1
            if not self._number:
                self._idle.set()
            self._wanting[key] -= 1
            if not self._wanting[key]:
                del self._wanting[key], self._turns[key]
        if finished.error is not None:
            raise finished.error
        return finished.value  # type: ignore[return-value]

    async def use_idle_time(self, work: Callable[[Progress], None]) -> None:
        """Runs `work` after every call until it ends or the next call comes, which ends it as a cancelled call ends.
        Never returns."""
        while True:
            await self._idle.wait()
            self._idle = anyio.Event()
            if self._number or self._background is not None:
                continue
            with anyio.CancelScope() as self._background:
                await self._on_thread(work, None)  # what fails here fails again in a call, which says so
            self._background = None

    async def _on_thread(self, work: Callable[[Progress], T], report: Report | None) -> _Finished[T]:
        stage = _Stage()

        def finish() -> _Finished[T]:
            try:
                return _Finished(work(stage.report))
            except CallEnded:
                return _Finished()  # the call was cancelled, so nothing reads it
            except Exception as error:
                return _Finished(error=error)

        async def stop_when_cancelled() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                stage.stopped.set()

        async with anyio.create_task_group() as beside:
            beside.start_soon(stop_when_cancelled)
            if report is not None:
                beside.start_soon(_report_progress, stage, report)
            finished = await run_sync(finish, limiter=self._threads)  # waits also if cancelled: it ends soon
            beside.cancel_scope.cancel()
        await checkpoint_if_cancelled()  # a thread that ended because its call was cancelled has no value
        return finished


async def _report_progress(stage: _Stage, report: Report) -> None:
    """Reports progress periodically; it never decreases."""
    reported = -math.inf
    while True:
        await anyio.sleep(REPORT_SECONDS)
        if stage.phases and (now := stage.progress) > reported:
            reported = now
            await report(now, stage.words)
