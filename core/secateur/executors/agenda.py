"""Tasks that wait, and who of several workers does which: each asks for its next one when it is idle.

Tasks of one home are a share, which goes to one worker, in order. A worker without any takes one that nobody has, else
one of whoever has several, else the second half of the longest: neighbours are alike, and what is open for one serves
the next.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from secateur.executors.executor import Task, TaskOutcome

Answers = queue.SimpleQueue[tuple[int, TaskOutcome[Any]]]


@dataclass(eq=False)
class GivenTask:
    """A task that waits or is worked at, and where its outcome goes."""

    number: int
    task: Task[Any]
    answers: Answers
    withdrawn: bool = False
    followers: list[GivenTask] = field(default_factory=list)  # that begin when it is over
    over: bool = False


@dataclass(eq=False)
class _Share:
    home: str
    tasks: deque[GivenTask]
    owner: int | None = None


class Agenda:
    """See the module docstring. Workers are numbers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._shares: list[_Share] = []
        self._owners: dict[str, int] = {}
        self._last: dict[int, str] = {}  # the home that a worker was at last
        self._closed = False

    def put(self, tasks: Sequence[Task[Any]], answers: Answers) -> list[GivenTask]:
        """Takes on tasks, whose outcomes go to `answers`."""
        given = [GivenTask(number, task, answers) for number, task in enumerate(tasks)]
        with self._changed:
            for one in given:
                if one.task.after is None:
                    self._add(one)
                else:
                    given[one.task.after].followers.append(one)
            self._changed.notify_all()
        return given

    def take(self, worker: int) -> GivenTask | None:
        """The next task of a worker, once there is one; None: there will be none."""
        with self._changed:
            while not self._closed:
                share = self._share_of(worker)
                if share is not None:
                    given = share.tasks.popleft()
                    if not share.tasks:
                        self._shares.remove(share)
                    self._last[worker] = share.home
                    return given
                self._changed.wait()
        return None

    def done(self, given: GivenTask, outcome: TaskOutcome[Any]) -> None:
        """Hands over an outcome; what was to begin after it may."""
        with self._changed:
            if not given.withdrawn:
                given.answers.put((given.number, outcome))
                for one in given.followers:
                    self._add(one)
                self._changed.notify_all()
            given.over = True

    def withdraw(self, given: Sequence[GivenTask]) -> list[GivenTask]:
        """Nobody waits for these tasks any more. Returns those that are not over."""
        with self._changed:
            left = [one for one in given if not one.over]
            for one in left:
                one.withdrawn = True
            for share in self._shares:
                share.tasks = deque(one for one in share.tasks if not one.withdrawn)
            self._shares = [share for share in self._shares if share.tasks]
        return left

    def close(self) -> None:
        """Hands out nothing any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _add(self, given: GivenTask) -> None:
        home = given.task.home
        owner = self._owners.get(home) if home else None
        share = next((share for share in self._shares if share.home == home and share.owner == owner), None)
        if share is None:
            share = _Share(home, deque(), owner)
            self._shares.append(share)
        share.tasks.append(given)

    def _share_of(self, worker: int) -> _Share | None:
        """The share that a worker's next task is of."""
        own = [share for share in self._shares if share.owner == worker]
        if own:
            return next((share for share in own if share.home == self._last.get(worker)), own[0])
        free = next((share for share in self._shares if share.owner is None), None)
        if free is not None:
            if free.home:
                free.owner = self._owners[free.home] = worker
            return free
        if not self._shares:
            return None
        counts = Counter(share.owner for share in self._shares)
        busiest = max(counts, key=lambda owner: counts[owner])
        if counts[busiest] > 1:
            found = next(share for share in reversed(self._shares) if share.owner == busiest)
            found.owner = self._owners[found.home] = worker
            return found
        longest = max(self._shares, key=lambda share: len(share.tasks))
        if len(longest.tasks) < 2:
            return None
        keeps = (len(longest.tasks) + 1) // 2
        half = _Share(longest.home, deque(list(longest.tasks)[keeps:]), worker)
        longest.tasks = deque(list(longest.tasks)[:keeps])
        self._shares.append(half)
        return half
