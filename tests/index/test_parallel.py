"""However many processes do it, the records are the same and come in the order asked."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from itertools import islice

import pytest
from secateur.executors import pool
from secateur.index.update import parallel
from secateur.index.update.parallel import Extractor
from secateur.tokens import get_counter
from support.processes import child_processes

FILES = [(f"m{number:03}.py", f"def f{number}(x):\n    return x + {number}\n".encode()) for number in range(60)] + [
    ("\udcff.py", b"x = 1\n"),
    ("e.py", b""),
]


def extractor(workers: int) -> Extractor:
    return Extractor(get_counter("chars4"), None, workers)


@pytest.fixture
def in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "INLINE_BYTES", 0)
    monkeypatch.setattr(parallel, "TASK_FILES", 7)


@pytest.mark.usefixtures("in_processes")
def test_same_records_in_the_same_order() -> None:
    alone = list(extractor(1).run(FILES, 10_000))
    assert [path for path, _, _ in alone] == [path for path, _ in FILES]
    assert list(extractor(2).run(FILES, 10_000)) == alone


def test_little_is_done_here() -> None:
    assert list(extractor(2).run(FILES[:3], 100)) == list(extractor(1).run(FILES[:3], 100))


@pytest.mark.usefixtures("in_processes")
def test_files_are_read_as_they_are_needed() -> None:
    taken = 0

    def files() -> Iterator[tuple[str, bytes]]:
        nonlocal taken
        for file in FILES * 20:
            taken += 1
            yield file

    running = extractor(2).run(files(), 10_000)
    assert len(list(islice(running, 5))) == 5
    assert taken <= (2 * parallel.TASKS_AHEAD + 2) * 7
    running.close()  # ends the processes; pytest would report their pipes otherwise


@pytest.mark.usefixtures("in_processes")
def test_an_interruption_ends_the_processes() -> None:
    def files() -> Iterator[tuple[str, bytes]]:
        yield from FILES
        raise KeyboardInterrupt

    before = child_processes()
    with pytest.raises(KeyboardInterrupt):
        list(extractor(2).run(files(), 10_000))
    assert child_processes() == before


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.usefixtures("in_processes")
def test_who_does_not_want_it_any_more_ends_it_in_the_middle_of_a_file(
    monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(parallel, "LARGE_FILE_BYTES", 0)
    monkeypatch.setattr(pool, "_BOOT", "import time; time.sleep(600)")  # a file that takes ten minutes

    def closing() -> None:
        raise KeyboardInterrupt

    before = child_processes()
    with pytest.raises(KeyboardInterrupt):
        list(extractor(workers).run(FILES, 10_000, waiting=closing))
    assert child_processes() == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere nothing lists our children")
@pytest.mark.usefixtures("in_processes")
def test_processes_that_are_killed_in_the_middle_change_no_record() -> None:
    killed = set()

    def files() -> Iterator[tuple[str, bytes]]:
        for number, file in enumerate(FILES * 5):
            if number == 150:
                killed.update(child_processes() - before)
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
            yield file

    before = child_processes()
    assert list(extractor(2).run(files(), 10_000)) == list(extractor(1).run(FILES * 5, 10_000))
    assert killed
    assert child_processes() == before
