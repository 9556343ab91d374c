"""Who does what of what waits: homes, neighbours, and nobody idle."""

from __future__ import annotations

from secateur.errors import SecateurError
from secateur.executors.executor import Task
from secateur.executors.pool import Agenda, QueuedTask, preferred_worker
from support.tasks import doubled


def agenda_of(homes: str) -> Agenda:
    agenda = Agenda()
    put(agenda, homes)
    return agenda


def put(agenda: Agenda, homes: str) -> None:
    for number, home in enumerate(homes):
        agenda.put(QueuedTask(Task(doubled, number, home.strip())))


def taken(agenda: Agenda, worker: int) -> int:
    given = agenda.take(worker)
    assert given is not None
    return int(given.task.argument)


def test_a_worker_stays_with_a_home_until_it_is_done() -> None:
    agenda = agenda_of("aabba")
    assert [taken(agenda, worker) for worker in (0, 1, 0, 1, 0)] == [0, 2, 1, 3, 4]


def test_an_idle_worker_takes_a_home_over_that_nobody_is_at() -> None:
    agenda = agenda_of("abcd")
    assert [taken(agenda, 0) for _ in range(4)] == [0, 1, 2, 3]
    put(agenda, "abbcd")
    assert [taken(agenda, 1) for _ in range(3)] == [3, 2, 1]
    assert [taken(agenda, 0) for _ in range(2)] == [4, 0]


def test_an_idle_worker_helps_with_the_last_tasks_of_a_home() -> None:
    agenda = agenda_of("aaaaaaaa")
    assert [taken(agenda, worker) for worker in (0, 1, 1, 2, 0, 0, 2, 1)] == [0, 7, 6, 5, 1, 2, 4, 3]


def test_tasks_without_a_home_go_to_anybody_in_order() -> None:
    agenda = agenda_of("     ")
    assert [taken(agenda, worker) for worker in (0, 1, 2, 0, 2)] == [0, 1, 2, 3, 4]


def test_a_task_whose_worker_ended_is_next_and_one_that_is_withdrawn_goes_to_nobody() -> None:
    agenda = agenda_of("abc")
    given = agenda.take(0)
    assert given is not None
    agenda.put(given, again=True)
    assert taken(agenda, 0) == 0
    given = agenda.take(0)
    assert given is not None
    agenda.put(given)
    given.withdrawn = True
    assert taken(agenda, 0) == 2
    agenda.close()
    assert agenda.take(0) is None


def test_all_tasks_end_where_no_worker_is_left() -> None:
    agenda, given = Agenda(), [QueuedTask(Task(doubled, number)) for number in range(2)]
    agenda.put(given[0])
    error = SecateurError("lost", code="LOST")
    agenda.fail(error)
    agenda.put(given[1])
    assert [one.future.exception() for one in given] == [error] * 2


def test_homes_prefer_the_same_worker_and_one_that_goes_moves_its_own_alone() -> None:
    homes, workers = [str(number) for number in range(100)], {0: "a", 1: "b", 2: "c", 3: "d"}
    before = {home: preferred_worker(home, workers) for home in homes}
    after = {home: preferred_worker(home, {0: "a", 1: "b", 2: "c"}) for home in homes}
    assert {home for home in homes if before[home] != after[home]} == {home for home in homes if before[home] == 3}
    assert set(before.values()) == set(workers)
    agenda = Agenda()
    agenda.names = workers
    put(agenda, "abcdefgh")
    assert {taken(agenda, worker): worker for worker in range(4)} == {
        next(number for number, home in enumerate("abcdefgh") if preferred_worker(home, workers) == worker): worker
        for worker in range(4)
    }
