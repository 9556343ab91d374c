"""Runs calls on threads: a few at once, others wait in a short queue, and a cancelled or overlong call ends soon.

The engine blocks, and reports its progress often. A call is ended by an exception from that report, as soon as Ctrl-C
would end it, and nothing continues in its thread. A call whose work does not report is answered all the same; its
thread, and what it reads, stay taken until it ends. While no call runs, background work runs.
"""

import math
import threading
from collections.abc import Awaitable, Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar
from weakref import WeakValueDictionary

import anyio
from anyio import CapacityLimiter, from_thread, to_thread
from secateur import Progress, SecateurError

T = TypeVar("T")

# Calls that run at the same time. Python computes in one thread at a time; a second thread keeps a search from waiting
# until another repository is indexed.
THREADS = 2

MOST_WAITING = 16  # calls that wait for a thread; one more is refused at once

# Longest time for a call, with its wait for a thread: many times that of the first index of a large repository, which
# the next call continues.
CALL_SECONDS = 300.0

ENDING_SECONDS = 1.0  # longest time that an ended call waits for its thread
REPORT_SECONDS = 0.25  # time between two reports of progress
Report = Callable[[float, str], Awaitable[None]]  # receives progress, which only grows, and the current phase


class CallEnded(BaseException):
    """Ends the work of a cancelled call. Work does not catch it, just as it does not catch Ctrl-C."""


@dataclass(eq=False)
class _Stage:
    stopped: threading.Event = field(default_factory=threading.Event)
    phase: str = ""
    done: int = 0
    total: int = 0
    phases: int = 0

    def report(self, phase: str, done: int, total: int) -> None:
        if self.stopped.is_set():
            raise CallEnded
        if phase != self.phase:
            self.phases += 1
        self.phase, self.done, self.total = phase, done, total


class CallQueue:
    """See the module docstring.

    >>> answer = await calls.run(lambda progress: toolbox.search(call, roots, progress), key, report)
    """

    def __init__(self) -> None:
        self._threads = CapacityLimiter(THREADS)
        self._turns: WeakValueDictionary[Hashable, CapacityLimiter] = WeakValueDictionary()
        self._number = 0
        self._idle = anyio.Event()
        self._background: anyio.CancelScope | None = None

    async def run(self, work: Callable[[Progress], T], key: Hashable, report: Report | None = None) -> T:
        """Returns the value of `work`, which receives the progress function that ends it.

        Args:
            key: a resource that one call at a time uses, such as the root that it reads.

        Raises:
            SecateurError: from the work; `BUSY`: too many calls are waiting; `CALL_TIMEOUT`: it took CALL_SECONDS.
        """
        if self._number >= THREADS + MOST_WAITING:
            raise SecateurError(
                f"busy: {self._number} calls are under way", hint="wait for an answer, then call again", code="BUSY"
            )
        self._number += 1
        if self._background is not None:
            self._background.cancel()
        try:
            with anyio.move_on_after(CALL_SECONDS):
                turn = self._turns[key] = self._turns.get(key) or CapacityLimiter(1)
                return await self._on_thread(work, report, turn, self._threads)
        finally:
            self._number -= 1
            if not self._number:
                self._idle.set()
        raise SecateurError(
            f"the call was ended after {CALL_SECONDS:,.0f} seconds",
            hint="ask for less, or call again: what was indexed is kept",
            code="CALL_TIMEOUT",
        )

    async def use_idle_time(self, work: Callable[[Progress], None]) -> None:
        """Runs `work` after every call until it ends or the next call comes, which ends it as a cancelled call ends.
        Never returns."""
        while True:
            await self._idle.wait()
            self._idle = anyio.Event()
            if self._number or self._background is not None:
                continue
            with anyio.CancelScope() as self._background, suppress(Exception):  # a call fails too, and says so
                await self._on_thread(work, None, self._threads)
            self._background = None

    async def _on_thread(self, work: Callable[[Progress], T], report: Report | None, *limits: CapacityLimiter) -> T:
        """Runs work on a thread that holds `limits` until it ends, which may be after its call was cancelled."""
        stage, ended, failure = _Stage(), anyio.Event(), None
        claim = threading.Lock()  # taken by the thread that begins, or by a call that ends before
        held: list[CapacityLimiter] = []

        def end() -> None:
            for limit in held:
                limit.release_on_behalf_of(stage)
            ended.set()

        def run() -> T | None:
            if not claim.acquire(blocking=False):
                return None
            try:
                return work(stage.report)
            except CallEnded:
                return None  # the call was cancelled, so nothing reads it
            finally:
                with suppress(RuntimeError):  # the server has ended
                    from_thread.run_sync(end)

        async with anyio.create_task_group() as beside:
            if report is not None:
                beside.start_soon(_report_progress, stage, report)
            try:
                for limit in limits:
                    await limit.acquire_on_behalf_of(stage)
                    held.append(limit)
                value = await to_thread.run_sync(run, abandon_on_cancel=True, limiter=CapacityLimiter(1))
            except Exception as error:
                failure = error
            finally:
                stage.stopped.set()
                if claim.acquire(blocking=False):
                    end()
                with anyio.CancelScope(shield=True), anyio.move_on_after(ENDING_SECONDS):
                    await ended.wait()
            beside.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return value  # type: ignore[return-value]


async def _report_progress(stage: _Stage, report: Report) -> None:
    reported = -math.inf
    while True:
        await anyio.sleep(REPORT_SECONDS)
        phase, done, total = stage.phase, stage.done, stage.total
        part = done / total if total else 0.5  # half of a phase whose size is unknown
        if stage.phases and (now := stage.phases - 1 + min(0.99, part)) > reported:
            reported = now
            await report(now, f"{phase}: {done:,} of {total:,}" if total else phase)
