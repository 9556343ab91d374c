"""The work under way for a screen: jobs on the engine's thread, timers, and their progress; and the messages that
widgets and threads send to a bench. Of a message that comes in floods only the latest is kept.

All background work of a screen goes through its `Jobs`. A newer job of a group takes the place of an older one, and so
does a newer timer of a name; the results of an older job are ignored.

    jobs.after("rest", 0.25, prove)            # calls `prove`, unless "rest" is set again before
    text = Derived(jobs, "text", self.paint)   # `text.at(item, slow_call)` is None until it is made
    jobs.start(self._read, "preview")          # an async method; in it: `await jobs.run(slow_call)`
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from secateur.errors import SecateurError
from secateur.kinds.knobs import Knob
from secateur.progress import Progress
from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker

from secateur_tui.background import Cancelled, EngineThread
from secateur_tui.host import Host

T = TypeVar("T")

ENGINE = "engine"  # the group of jobs that read, retrieve and decide
DEBOUNCE = "debounce"  # the timer between the last key of a question and asking it


class _Flood(Message):
    """A message that replaces older ones of its kind."""

    def can_replace(self, message: Message) -> bool:
        return type(message) is type(self)


@dataclass
class ActionClicked(Message):
    """A click on words that name an action of the registry."""

    action: str


@dataclass
class IndexProgress(_Flood):
    """The index is being built."""

    phase: str
    done: int
    total: int

    @property
    def percent(self) -> str:
        """Says how far it is, in words: "31 %"; "" where that is not known."""
        return f"{100 * self.done // self.total} %" if self.total else ""


class CursorMoved(_Flood):
    """Another item is looked at."""


@dataclass
class Report(Message):
    """A report of a thread: the screen's thread calls `take`. Of reports with one name only the latest is kept."""

    take: Callable[[], object]
    name: str = ""  # "" for one that none replaces

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, Report) and bool(self.name) and message.name == self.name


@dataclass
class SegmentChosen(Message):
    """An item was pointed at in the bar of the budget."""

    item: int


@dataclass
class KnobClicked(Message):
    """A slider was clicked where it stands for `value`, or a choice on the side of the next (1) or the one before
    (-1)."""

    knob: Knob
    value: float | None = None
    direction: int = 0


class Jobs:
    """See the module docstring.

    Attributes:
        activity: what is under way, for people; "" for nothing.
        progress: how far it is.
        error: why there is nothing on screen.
        number: of the latest job of the engine, from 1.
        derived: what is worked out beside the answer.
    """

    def __init__(self, owner: Screen[Any], host: Callable[[], Host]) -> None:
        self._owner, self._host = owner, host
        self._timers: dict[str, tuple[object, asyncio.TimerHandle]] = {}
        self._unimportant: set[str] = set()
        self.derived: list[Derived[Any]] = []
        self.activity = ""
        self.progress: IndexProgress | None = None
        self.error: SecateurError | None = None
        self.number = 0

    # --- jobs ---

    def start(self, work: Callable[[], Coroutine[None, None, None]], group: str) -> None:
        """Starts a job, an async method or a `partial` of one; one of the same group that is under way is cancelled,
        and never begins where it has not yet."""

        async def job() -> None:  # Textual describes what it is given by its repr: of a `partial` that is the answer's
            await work()

        _: Worker[None] = self._owner.run_worker(job, group=group, exclusive=True)

    def work_out(
        self,
        group: str,
        make: Callable[[], T],
        then: Callable[[T], object],
        failed: Callable[[SecateurError], object] = lambda _: None,
        *,
        between: bool = False,
        thread: EngineThread | None = None,
    ) -> None:
        """Starts a job that makes something on a thread, the engine's by default, and hands it to `then`, or an error
        to `failed`."""

        async def work() -> None:
            try:
                made = await (thread or self._host().thread).run(make, between=between)
            except SecateurError as error:
                failed(error)
            except Cancelled:
                return
            else:
                then(made)

        self.start(work, group)

    def cancel(self, group: str) -> None:
        """Cancels the job of a group."""
        self._owner.workers.cancel_group(self._owner, group)

    def runs(self, group: str) -> bool:
        """Tells whether a job of a group is under way."""
        mine = (worker for worker in self._owner.workers if worker.node is self._owner)
        return any(worker.group == group and not worker.is_finished for worker in mine)

    async def run(self, call: Callable[[], T], *, between: bool = False) -> T:
        """Returns the result of a slow call, made on the engine's thread; `between`: in the middle of a long call that
        reports by `report_giving_way`, if one is under way."""
        return await self._host().thread.run(call, between=between)

    def report(self, phase: str, done: int, total: int) -> None:
        """Reports progress from the engine's thread. Raises Cancelled once the inspector is closing."""
        if self._host().thread.closing.is_set():
            raise Cancelled
        self._owner.post_message(IndexProgress(phase, done, total))

    def report_giving_way(self, phase: str, done: int, total: int) -> None:
        """Reports like `report`, and lets calls that need not wait go first."""
        self.report(phase, done, total)
        self.give_way()

    def give_way(self) -> None:
        """Lets calls that need not wait go first, from the engine's thread. Raises Cancelled once the inspector is
        closing."""
        if self._host().thread.closing.is_set():
            raise Cancelled
        self._host().thread.give_way()

    def reporting(self, job: int) -> Progress:
        """Returns a progress function for an engine's job; it ends the job once a newer one has taken its place."""

        def report(phase: str, done: int, total: int) -> None:
            if job != self.number:
                raise Cancelled
            self.report(phase, done, total)

        return report

    def show_failure(self, group: str, error: BaseException | None) -> None:
        """Shows that a job ended with a fault of the program."""
        if group == ENGINE:
            self.activity, self.progress = "", None
            hint = "the key of Refresh reads again; please report this"
            self.error = SecateurError(f"the program failed: {type(error).__name__}: {error}", hint=hint)

    def reset(self) -> None:
        """Cancels the work for an answer that is no longer wanted, and forgets what was derived from it."""
        self.number += 1
        self.cancel(ENGINE)
        for derived in self.derived:
            derived.forget()
        self.activity, self.progress, self.error = "", None, None

    # --- timers ---

    def after(self, name: str, seconds: float, call: Callable[[], object], *, matters: bool = True) -> None:
        """Calls `call` after a rest, unless the timer of this name is set or stopped again before. With `matters` the
        screen counts as busy until then."""
        # A timer of Textual that is kept waiting for longer than its time may be skipped, and then never calls.
        self.stop(name)
        token = object()
        loop = asyncio.get_running_loop()
        handle = loop.call_later(seconds, lambda: self._owner.call_later(self._fire, name, token, call))
        self._timers[name] = token, handle
        if not matters:
            self._unimportant.add(name)

    def _fire(self, name: str, token: object, call: Callable[[], object]) -> None:
        if name in self._timers and self._timers[name][0] is token:  # it may have been stopped while this was waiting
            del self._timers[name]
            call()

    def stop(self, name: str) -> None:
        """Stops the timer of a name, if there is one."""
        _, handle = self._timers.pop(name, (None, None))
        if handle is not None:
            handle.cancel()

    def waits(self, name: str) -> bool:
        """Tells whether the timer of a name is running."""
        return name in self._timers

    # --- telling ---

    @property
    def busy(self) -> bool:
        """Tells whether anything is still under way that will change the screen."""
        waiting = any(name not in self._unimportant for name in self._timers)
        return bool(self.activity) or waiting or any(not worker.is_finished for worker in self._owner.workers)

    @property
    def at_work(self) -> bool:
        """Tells whether the engine reads, retrieves or decides for this screen, or is about to."""
        return self.waits(DEBOUNCE) or self.runs(ENGINE)

    @property
    def reading(self) -> int:
        """Number of the latest reading, from 1; 0 while one is under way or about to be."""
        return 0 if self.activity or self.waits(DEBOUNCE) else self.number


class Derived(Generic[T]):
    """A result that is worked out beside the answer, once for each key. Another key cancels what is under way.

    Args:
        then: called when it is made, or failed.
        between: see `Jobs.run`.
        thread: makes it; the engine's by default.

    Attributes:
        key: what it is of; None: nothing.
        made: the result; None while there is none.
        error: why it cannot be made.
    """

    def __init__(
        self,
        jobs: Jobs,
        group: str,
        then: Callable[[], object],
        *,
        between: bool = False,
        thread: Callable[[], EngineThread] | None = None,
    ) -> None:
        self._jobs, self._group, self._then, self._between, self._thread = jobs, group, then, between, thread
        self.key: object = None
        self.made: T | None = None
        self.error: SecateurError | None = None
        jobs.derived.append(self)

    def forget(self) -> None:
        """Drops the result, and what is under way."""
        if self.key is not None:
            self.key = self.made = self.error = None
            self._jobs.cancel(self._group)

    def at(self, key: object, make: Callable[[], T]) -> T | None:
        """Returns the result for a key; starts to make it where it is of another one."""
        if self.key != key:
            self.key, self.made, self.error = key, None, None
            thread = self._thread() if self._thread is not None else None
            self._jobs.work_out(self._group, make, self._take, self._take, between=self._between, thread=thread)
        return self.made

    def _take(self, result: T | SecateurError) -> None:
        if isinstance(result, SecateurError):
            self.error = result
        else:
            self.made = result
        self._then()
