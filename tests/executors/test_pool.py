"""The pool: every outcome once, homes kept, processes that die replaced, nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from secateur.errors import RepositoryError, SecateurError
from secateur.executors.executor import TaskOutcome
from secateur.executors.pool import ProcessPool, spread_tasks
from support import tasks as work
from support.processes import environment


@pytest.fixture
def pool() -> Iterator[ProcessPool]:
    with closing(ProcessPool(2, os.environ)) as opened:
        yield opened


def outcomes(
    pool: ProcessPool, function: Callable[[Any], Any], items: Sequence[Any], homes: Sequence[str] = ()
) -> list[TaskOutcome[Any]]:
    """Outcomes in the order of the items, each of which has one."""
    found = list(pool.map(function, items, homes))
    assert sorted(number for number, _ in found) == list(range(len(items)))
    return [outcome for _, outcome in sorted(found, key=lambda pair: pair[0])]


def gone(pid: int) -> bool:
    """Waits for the end of a process that is not ours to wait for. The test hangs, and fails, where it does not end."""
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with suppress(OSError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True


def test_every_task_has_one_outcome_and_processes_serve_several_runs(pool: ProcessPool) -> None:
    assert [one.value for one in outcomes(pool, work.doubled, range(40))] == [2 * number for number in range(40)]
    seen = {
        one.value for _ in range(3) for one in outcomes(pool, work.process_of, range(9), [str(n) for n in range(9)])
    }
    assert 1 <= len(seen) <= pool.workers
    assert outcomes(pool, work.doubled, []) == []


def test_tasks_of_one_home_go_to_one_process_in_order(pool: ProcessPool, tmp_path: Path) -> None:
    first = outcomes(pool, work.process_of, [0], ["a"])
    assert [outcomes(pool, work.process_of, [0], ["a"]) for _ in range(5)] == [first] * 5
    file = tmp_path / "log"
    file.write_text("")
    items = [(str(file), f"{n}\n") for n in range(8)]
    before = [one.value for one in outcomes(pool, work.noted, items, ["here"] * 8)]
    assert before[0] == ""
    assert all((one or "").startswith("0\n") for one in before[1:]), "the others wait for the first of a home"


def test_an_error_costs_its_task_and_keeps_what_reports_say(pool: ProcessPool) -> None:
    functions: list[tuple[Callable[..., Any], Any]] = [
        (work.refused, "x"),
        (work.failing, 0),
        (work.unsendable, 0),
        (work.doubled, lambda: None),
        (work.doubled, 1),
    ]
    refused, failed, unsendable, unpicklable, done = outcomes(pool, work.call, functions)
    assert isinstance(refused.error, RepositoryError)
    assert refused.error.to_dict() == {"code": "NOWHERE", "message": "no such thing: x", "hint": "look elsewhere"}
    with pytest.raises(RepositoryError):
        refused.got()
    for one, said in (
        (failed, "unexpected KeyError: 'a word'"),
        (unsendable, "cannot be handed over"),
        (unpicklable, "unexpected"),
    ):
        assert one.error is not None
        assert one.error.code == "UNEXPECTED"
        assert said in one.error.message
    assert done.got() == 2


def test_an_idle_process_helps_with_another_home(pool: ProcessPool, tmp_path: Path) -> None:
    """The first of a home is stuck for ever where nobody else takes the items of the other home."""
    marker = tmp_path / "marker"
    with closing(pool.map(work.call, [(work.stuck, str(marker)), *[(work.doubled, 1)] * 9], "a" + "b" * 9)) as running:
        assert [next(running)[1].value for _ in range(9)] == [2] * 9


def test_what_a_task_prints_is_no_outcome(pool: ProcessPool) -> None:
    assert [one.got() for one in outcomes(pool, work.printing, ["words\n"] * 3)] == ["words\n"] * 3


@pytest.mark.parametrize(("left", "code"), [("xx", ""), ("x", "PROCESS_ENDED"), ("", "PROCESS_ENDED")])
def test_a_process_that_dies_is_replaced_and_its_task_tried_once_more(
    pool: ProcessPool, tmp_path: Path, left: str, code: str
) -> None:
    marker = tmp_path / "marker"
    marker.write_text(left)
    items: list[Any] = [(work.doubled, number) for number in range(9)]
    items.insert(4, (work.dying, str(marker)))
    found = outcomes(pool, work.call, items, ["home"] * 10)
    error = found.pop(4).error
    assert (error.code if error else "") == code
    assert [one.value for one in found] == [2 * number for number in range(9)]


def test_closing_a_run_ends_what_is_under_way_and_the_pool_goes_on(pool: ProcessPool, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    running = pool.map(work.call, [(work.doubled, 1), (work.stuck, str(marker)), (work.doubled, 3)], "abb")
    assert next(running) == (0, TaskOutcome(2))
    while not (marker.exists() and marker.read_text()):
        pass
    running.close()
    assert gone(int(marker.read_text()))
    assert outcomes(pool, work.doubled, [4, 4], "ab") == [TaskOutcome(8)] * 2


def test_processes_end_with_their_parent(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    program = (
        "import os, sys; from secateur.executors.pool import ProcessPool;"
        " from support.tasks import killing_parent;"
        " list(ProcessPool(1, os.environ).map(killing_parent, [sys.argv[1]]))"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(marker)], env=environment(), timeout=60)
    assert ran.returncode == -9
    assert gone(int(marker.read_text()))


def test_what_is_kept_serves_the_next_task_and_is_closed_at_the_end(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("")
    with closing(ProcessPool(1, os.environ)) as pool:
        one, same, other = outcomes(pool, work.opening, [(str(file), key) for key in "aab"])
        assert one.value == same.value
        assert file.read_text().count("closed") == 1
        assert other.error is None
    assert file.read_text().count("closed") == 2


def test_no_more_processes_than_there_is_work() -> None:
    found = []
    for jobs, tasks, pieces in ((1, 9, None), (4, 2, None), (4, 0, None), (4, 9, 1)):
        homes = [str(number) for number in range(tasks)]
        with spread_tasks(work.process_of, homes, homes, jobs, os.environ, pieces) as outcomes:
            found.append(None if outcomes is None else len({outcome.got() for _, outcome in outcomes}) <= 2)
    assert found == [None, True, None, None]
    assert ProcessPool(1_000, os.environ).workers == 64


def test_an_error_of_another_module_is_told_by_what_it_says() -> None:
    class OfAnother(SecateurError):
        def __init__(self) -> None:
            super().__init__("said", hint="do", code="OTHER")

    def raises(_: Any) -> None:
        raise OfAnother

    error = TaskOutcome.of(raises, 0).error
    assert type(error) is SecateurError
    assert error.to_dict() == {"code": "OTHER", "message": "said", "hint": "do"}
