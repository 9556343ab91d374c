"""Extracts the records of files: a few files in this process, many files in several. The bytes are the same.

Parsing holds the interpreter's lock, so threads do not help. A process may die over a file: a parser crashes, memory
runs out, or the file takes too much processor time. The process is then replaced, and the file is read as plain text
and marked. A large file is always read in a process of its own, because only a process can be ended at any moment.

The task of a process that extracts files.

A file that takes too much processor time ends the process, and the parent then has it read as plain text. The limit is
processor time and not elapsed time, so that a busy machine does not change a record.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from secateur.executors.executor import OVERTIME, TaskOutcome
from secateur.index.facts.extract import encode, extract_many, fingerprint, make_unindexed_record
from secateur.languages.syntax.file_flags import UNREADABLE_TEXT
from secateur.redaction import Scanning
from secateur.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Future

    from secateur.index.facts.embedding.vectors import Embedder
    from secateur.tokens import Counter
import gc
from functools import cache

from secateur.index.facts.embedding import open_embedder
from secateur.index.facts.embedding.vectors import Embedder
from secateur.settings import Embedding
from secateur.system.processes import grant
from secateur.tokens import Counter, get_counter

FILE_SECONDS = 30  # the most processor time for one file; the largest files that are indexed take two seconds


class ExtractTask(Struct, frozen=True):
    """Has a process extract some files.

    Attributes:
        files: (path, content) of each.
        problem: why their syntax must not be read; "" if it may.
    """

    counter: str
    with_vectors: bool
    scanning: Scanning
    files: Sequence[tuple[str, bytes]]
    problem: str = ""


def extract_files(task: ExtractTask) -> list[bytes]:
    """Makes the encoded record of each file."""
    counter, embedder = _open_tools(task.counter, task.with_vectors)
    records = extract_many(
        task.files, counter, embedder, task.problem, task.scanning, before_each=lambda: grant(FILE_SECONDS)
    )
    # one search for cyclic garbage, among the objects that this task has made: `_open_tools` switches all others off,
    # because there is hardly any
    gc.collect(0)
    return [encode(record) for record in records]


@cache
def _open_tools(counter_name: str, with_vectors: bool) -> tuple[Counter, Embedder | None]:
    counter, embedder = get_counter(counter_name), open_embedder(Embedding(), {}) if with_vectors else None
    counter.load()
    # there is hardly any cyclic garbage, and searching for it all the time takes 5 % of the work
    gc.freeze()
    gc.disable()
    return counter, embedder


INLINE_BYTES = 2_000_000  # the most text that this process reads itself: it is done before others would have started

# Larger files are never read in this process: it could not be interrupted while a parser runs, and would not survive a
# crash. One step of a parser, in which no other thread runs, took up to 1.1 s for 190 kB, so about half of that for
# this size.
LARGE_FILE_BYTES = 100_000

# The size of one task: large enough to make sending it cheap, and small enough that no process waits long for the last
# one.
TASK_FILES = 48
TASK_BYTES = 250_000

TASKS_AHEAD = 3  # Tasks that wait or run for each process. This bounds the memory of files that are read ahead.
LOOK_EVERY = 0.25  # seconds between two checks whether the work is still wanted
CRASHED = "parser_crashed"  # the problem of a file over which a process died
TIMED_OUT = "parse_timeout"  # the problem of a file that took too much processor time

File = tuple[str, bytes]
Extracted = tuple[str, bytes, bytes]  # path, content, encoded record


class Extractor(Struct, frozen=True):
    """Turns files into records, with a token counter, an embedder and processes."""

    counter: Counter
    embedder: Embedder | None
    workers: int  # processes; 0 = one per core
    scanning: Scanning = field(default_factory=Scanning)  # finds credentials, which no record holds

    @classmethod
    def of(cls, settings: Settings, counter: Counter, embedder: Embedder | None, cache_dir: Path) -> Extractor:
        """Makes the extractor that the settings describe. `cache_dir`: the user's cache folder."""
        return cls(counter, embedder, settings.index.workers, Scanning.of(settings.redaction, cache_dir))

    @property
    def version(self) -> str:
        """The versions of everything that a record depends on, except its file."""
        made_with = fingerprint(self.counter.name, self.embedder.id if self.embedder else "none")
        return f"{made_with}|{self.scanning.id}"

    def run(
        self, files: Iterable[File], total_bytes: int, waiting: Callable[[], None] = lambda: None
    ) -> Iterator[Extracted]:
        """Yields the records of all files, in their order.

        Args:
            files: is read lazily.
            total_bytes: the size of all files, which decides whether processes are used.
            waiting: is called several times a second while processes work; an error that it raises ends them.
        """
        workers = self.workers or os.cpu_count() or 1
        inline = total_bytes <= INLINE_BYTES or workers == 1 or not sys.executable
        processes = _Processes(self, 1 if inline else workers, waiting)
        under_way: deque[tuple[list[File], Future[TaskOutcome[list[bytes]]]]] = deque()
        try:
            if inline:
                for task in _tasks(files):
                    if len(task[0][1]) > LARGE_FILE_BYTES and sys.executable:
                        yield from processes.finish(task, processes.submit(task))
                    else:
                        records = zip(task, self.extract_here(task), strict=True)
                        yield from ((path, data, record) for (path, data), record in records)
                return
            for task in _tasks(files):
                under_way.append((task, processes.submit(task)))
                if len(under_way) >= workers * TASKS_AHEAD:
                    yield from processes.finish(*under_way.popleft())
            while under_way:
                yield from processes.finish(*under_way.popleft())
        finally:
            processes.pool.close(at_once=True)

    def extract_here(self, files: Sequence[File]) -> list[bytes]:
        """Makes the records of files in this process."""
        records = extract_many(files, self.counter, self.embedder, scanning=self.scanning)
        return [encode(record) for record in records]


class _Processes:
    """Processes that extract files. `waiting`: see `Extractor.run`."""

    def __init__(self, extractor: Extractor, processes: int, waiting: Callable[[], None]) -> None:
        from secateur.executors.pool import ProcessPool  # takes a while to load, and most runs read nothing

        self._extractor = extractor
        self._waiting = waiting
        self.pool = ProcessPool(processes, os.environ, attempts=1)
        self._usable = True

    def submit(self, files: Sequence[File], problem: str = "") -> Future[TaskOutcome[list[bytes]]]:
        """Sends files to a process. `problem`: why their syntax must not be read."""
        from secateur.index.update.parallel import ExtractTask, extract_files

        own = self._extractor
        return self.pool.submit(
            extract_files, ExtractTask(own.counter.name, own.embedder is not None, own.scanning, files, problem)
        )

    def finish(self, files: Sequence[File], future: Future[TaskOutcome[list[bytes]]]) -> Iterator[Extracted]:
        """Yields the records of files that were sent to a process. If the process died, each file is sent alone, to
        find the one that it died over."""
        if (records := self._wait(future).value) is None and self._usable:
            self._usable = self._wait(self.submit([])).error is None
        if records is None and self._usable:
            singles = [self.submit([file]) for file in files]
            records = [self._finish_one(file, single) for file, single in zip(files, singles, strict=True)]
        elif records is None:  # no process works here, not even without a file, so it is not the fault of the files
            records = self._extractor.extract_here(files)
        for (path, data), record in zip(files, records, strict=True):
            yield path, data, record

    def _finish_one(self, file: File, future: Future[TaskOutcome[list[bytes]]]) -> bytes:
        """Returns the record of one file. A file that a process dies over is read again as plain text; if the process
        dies again, the file is not indexed."""
        outcome = self._wait(future)
        if outcome.error is not None:
            outcome = self._wait(self.submit([file], TIMED_OUT if outcome.error.code == OVERTIME else CRASHED))
        return outcome.value[0] if outcome.value is not None else encode(make_unindexed_record(UNREADABLE_TEXT))

    def _wait(self, future: Future[TaskOutcome[list[bytes]]]) -> TaskOutcome[list[bytes]]:
        from concurrent.futures import wait

        while not wait([future], LOOK_EVERY).done:
            self._waiting()
        return future.result()


def _tasks(files: Iterable[File]) -> Iterator[list[File]]:
    task: list[File] = []
    size = 0
    for file in files:
        if len(file[1]) > LARGE_FILE_BYTES:
            if task:
                yield task
            yield [file]
            task, size = [], 0
            continue
        task.append(file)
        size += len(file[1])
        if len(task) >= TASK_FILES or size >= TASK_BYTES:
            yield task
            task, size = [], 0
    if task:
        yield task
