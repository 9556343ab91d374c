"""The shards of a search where workers have them: each round of messages is one round of tasks.

A worker keeps the work on its shards between two rounds. One that has lost it, or never had it because another died,
does it again from the beginning, with the same replies: results follow from the files, the question and the replies
alone.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from secateur.executors.executor import Executor, Task
from secateur.executors.kept import kept
from secateur.index.elsewhere.members import MembersHere, members_here
from secateur.index.elsewhere.places import MemberPlace, ShardPlace, WorkspacePlace
from secateur.index.elsewhere.shards import ShardsOfStore
from secateur.index.open_workspace import lines_in
from secateur.index.store.shard_store import MISSING
from secateur.retrieval.rounds import Answering, Rounds
from secateur.retrieval.shards import ShardWork

if TYPE_CHECKING:
    from secateur.index.elsewhere.workspace import WorkspaceElsewhere

T = TypeVar("T")

KEPT_WORK = 4
"""Questions of which a worker keeps the work between rounds: those that are asked at once."""


@dataclass(frozen=True, slots=True)
class SearchedPlace:
    """The shards of a workspace: where its repositories are, and the file of the store with the shared figures."""

    place: WorkspacePlace
    facts: str


@dataclass(frozen=True, slots=True)
class RoundTask:
    """One round of the work on some shards.

    Attributes:
        name: of the work, the same in all of its rounds.
        number: of the round, from 0: as many replies came before.
        replies: of all rounds before, or only of the last: then a worker that does not know the others says so
            (`None`). Of a round one for each shard, or one for all that was said as one (`UnitedMessage`).
    """

    searched: SearchedPlace
    shards: tuple[ShardPlace, ...]
    work: ShardWork[Any]
    argument: Any
    name: str
    number: int
    replies: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class RoundOutcome:
    """The messages of the shards of a task in a round, each its own or all as one; or their results."""

    said: tuple[Any, ...]
    over: bool


class ShardsElsewhere:
    """See the module docstring, and `Shards`."""

    def __init__(
        self, executor: Executor, searched: SearchedPlace, shards: Sequence[ShardPlace], missing: Callable[[], None]
    ) -> None:
        """`missing`: is called where one of the shards is not in the store any more."""
        self._executor, self._searched, self._missing = executor, searched, missing
        self._lots = _lots(shards, executor.workers)

    def asked(self, work: ShardWork[T], argument: Any, answering: Mapping[type, Answering] | None = None) -> list[T]:
        """As `Shards.asked`."""
        answering, name = answering or {}, os.urandom(8).hex()
        history: list[list[tuple[Any, ...]]] = [[] for _ in self._lots]
        while True:
            outcomes = self._round(work, argument, name, history)
            said = [one for outcome in outcomes for one in outcome.said]
            if outcomes[0].over:
                return said
            kind = type(said[0])
            replies = iter(answering.get(kind, kind.answered)(said))
            for before, outcome in zip(history, outcomes, strict=True):
                before.append(tuple(islice(replies, len(outcome.said))))

    def _round(
        self, work: ShardWork[Any], argument: Any, name: str, history: Sequence[Sequence[tuple[Any, ...]]]
    ) -> list[RoundOutcome]:
        found: dict[int, RoundOutcome] = {}
        for whole in (False, True):  # the second time for those alone that know nothing of it
            tasks, numbers = [], []
            for number, (lot, before) in enumerate(zip(self._lots, history, strict=True)):
                if number not in found:
                    replies = tuple(before if whole else before[-1:])
                    round_ = RoundTask(self._searched, lot, work, argument, name, len(before), replies)
                    tasks.append(Task(round_of_shards, round_, f"shards {number}"))
                    numbers.append(number)
            with closing(self._executor.run(tasks)) as outcomes:
                for place, outcome in outcomes:
                    if outcome.error is not None and outcome.error.code == MISSING:
                        self._missing()
                    said = outcome.got()
                    if said is not None:
                        found[numbers[place]] = said
            if len(found) == len(self._lots):
                break
        return [found[number] for number in range(len(self._lots))]


def shards_elsewhere(workspace: WorkspaceElsewhere) -> ShardsElsewhere:
    """The shards of a workspace that workers read, as of its last `load`."""
    shards = workspace.shards
    searched = SearchedPlace(workspace.place, shards.facts_file)
    return ShardsElsewhere(workspace.executor, searched, shards.places, workspace.forget)


def _lots(shards: Sequence[ShardPlace], workers: int) -> list[tuple[ShardPlace, ...]]:
    """Shards next to each other, in as many lots as there are workers, with about as many fragments each."""
    total, lots, done = sum(one.fragments for one in shards) or 1, dict[int, list[ShardPlace]](), 0
    for one in shards:
        middle = done + one.fragments / 2
        lots.setdefault(min(workers - 1, int(middle * workers / total)), []).append(one)
        done += one.fragments
    return [tuple(lot) for lot in lots.values()]


# --- in a worker ------------------------------------------------------------------------------------------------------


class ShardsAtWork:
    """The shards that this worker has mapped, and the work on them that is under way."""

    def __init__(self, searched: SearchedPlace, members: MembersHere) -> None:
        self.shards = ShardsOfStore(members.store, (), searched.facts)
        self.under_way: OrderedDict[str, dict[tuple[ShardPlace, ...], _Work]] = OrderedDict()
        self._searched = searched

    def lines(self, shards: Sequence[ShardPlace], path: str) -> list[str]:
        """Lines of a file by its path. Raises RepositoryError: it changed since."""
        name = path.partition("/")[0]
        members = members_here(self._searched.place)
        holding = [place for place in shards if any(member.name == name for member in place.members)]
        members.make_room(1)
        members.opened(MemberPlace(next(member for member in holding[0].members if member.name == name)))
        return lines_in([self.shards.opened(place) for place in holding], members, path)

    def close(self) -> None:
        """Let go of the shards."""
        self.under_way.clear()


class _Work:
    """The work on some shards between two rounds."""

    def __init__(self, generators: Sequence[Rounds[Any]]) -> None:
        self.generators, self.number = generators, 0
        self._said: Sequence[Any] = ()

    def sent(self, replies: Sequence[Any]) -> RoundOutcome:
        """The next messages, or the results; `replies` as of `RoundTask`, none in the first round."""
        said: list[Any] = []
        ended = 0
        for one, reply in zip(self.generators, self._each(replies), strict=True):
            try:
                said.append(one.send(reply))
            except StopIteration as end:
                said.append(end.value)
                ended += 1
        assert ended in (0, len(said)), "all shards say as many messages"
        self.number, self._said = self.number + 1, said
        united = len(said) > 1 and not ended and hasattr(said[0], "united")
        return RoundOutcome((said[0].united(said),) if united else tuple(said), ended > 0)

    def _each(self, replies: Sequence[Any]) -> Sequence[Any]:
        if not self._said:
            return [None] * len(self.generators)
        return self._said[0].shared(self._said, replies[0]) if len(replies) < len(self._said) else replies


def round_of_shards(task: RoundTask) -> RoundOutcome | None:
    """The messages of the shards of a task in a round; None where the replies before are not known."""
    here = kept("shards", task.searched, lambda: ShardsAtWork(task.searched, members_here(task.searched.place)))
    under_way = here.under_way.setdefault(task.name, {})
    known = under_way.pop(task.shards, None)
    if known is not None and known.number == task.number:
        outcome = known.sent(task.replies[-1])
    elif len(task.replies) == task.number:
        known = _Work([_generator(here, task, place) for place in task.shards])
        for replies in ((), *task.replies):
            outcome = known.sent(replies)
    else:
        return None
    if not outcome.over:
        under_way[task.shards] = known
    while len(here.under_way) > KEPT_WORK:
        here.under_way.popitem(last=False)
    return outcome


def _generator(here: ShardsAtWork, task: RoundTask, place: ShardPlace) -> Rounds[Any]:
    generator: Rounds[Any] = task.work(
        task.argument, here.shards.opened(place), lambda path: here.lines(task.shards, path)
    )
    return generator
