"""Who does what of what waits: homes, neighbours, and nobody idle."""

from __future__ import annotations

import queue

from secateur.executors.agenda import Agenda, Answers
from secateur.executors.executor import Task, TaskOutcome, tasks_by_home
from support.tasks import doubled


def agenda_of(homes: str, *, first_alone: bool = False) -> tuple[Agenda, Answers]:
    agenda, answers = Agenda(), queue.SimpleQueue()
    tasks = [Task(doubled, number, home.strip()) for number, home in enumerate(homes)]
    agenda.put(tasks_by_home(doubled, range(len(homes)), list(homes)) if first_alone else tasks, answers)
    return agenda, answers


def taken(agenda: Agenda, worker: int) -> int:
    given = agenda.take(worker)
    assert given is not None
    agenda.done(given, TaskOutcome(None))
    return given.number


def test_a_worker_stays_with_a_home_until_it_is_done() -> None:
    agenda, _ = agenda_of("aabba")
    assert [taken(agenda, worker) for worker in (0, 1, 0, 1, 0)] == [0, 2, 1, 3, 4]


def test_an_idle_worker_takes_a_home_over_of_one_that_has_several() -> None:
    agenda, answers = agenda_of("abcd")
    assert [taken(agenda, 0) for _ in range(4)] == [0, 1, 2, 3]
    agenda.put([Task(doubled, 0, home) for home in "abcd"], answers)
    assert [taken(agenda, 1) for _ in range(3)] == [3, 2, 1]
    agenda.put([Task(doubled, 0, home) for home in "abcd"], answers)
    assert [taken(agenda, 0) for _ in range(2)] == [0, 0]


def test_an_idle_worker_takes_the_second_half_of_the_longest() -> None:
    agenda, _ = agenda_of("aaaaaaaa")
    assert [taken(agenda, worker) for worker in (0, 1, 1, 2, 0, 0, 2, 1)] == [0, 5, 6, 3, 1, 2, 4, 7]


def test_tasks_without_a_home_go_to_anybody_in_order() -> None:
    agenda, _ = agenda_of("     ")
    assert [taken(agenda, worker) for worker in (0, 1, 2, 0, 2)] == [0, 1, 2, 3, 4]


def test_the_first_of_a_home_is_over_before_the_others_begin() -> None:
    agenda, answers = agenda_of("aaab", first_alone=True)
    first, other = agenda.take(0), agenda.take(1)
    assert first is not None
    assert other is not None
    assert (first.number, other.number) == (0, 3)
    agenda.done(first, TaskOutcome(None))
    assert [taken(agenda, worker) for worker in (1, 0)] == [2, 1]
    assert [answers.get_nowait()[0] for _ in range(3)] == [0, 2, 1]


def test_what_is_withdrawn_is_handed_to_nobody() -> None:
    agenda, answers = Agenda(), queue.SimpleQueue()
    given = agenda.put([Task(doubled, 0, "a"), Task(doubled, 1, "b"), Task(doubled, 2, "a", 0)], answers)
    under_way = agenda.take(0)
    assert under_way is given[0]
    assert agenda.withdraw(given) == given
    agenda.done(under_way, TaskOutcome(None))
    assert answers.empty()
    agenda.close()
    assert agenda.take(0) is None
