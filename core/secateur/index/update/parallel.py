"""Extraction of many files: in this process when it is little, in several processes when it is much. Same bytes either
way.

Parsing holds the interpreter's lock, so threads do not help. A process that dies
over a file (a parser's crash, the system short of memory, more processor time than a file is granted) is replaced, and
that file is read as plain text and says so. Large files are read in a process even when they are few: only a process
can be ended whatever it is doing.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from secateur.executors.executor import OVERTIME, Task, TaskOutcome
from secateur.index.facts.extract import encode, extract, fingerprint, unindexed
from secateur.languages.syntax.file_flags import UNREADABLE_TEXT
from secateur.redaction import Scanning
from secateur.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Future

    from secateur.index.facts.embedding import Embedder
    from secateur.tokens import Counter

INLINE_BYTES = 2_000_000
"""Up to this much text one process is done before others have started."""

LARGE_FILE_BYTES = 100_000
"""Larger files are never read in this process, which could not be interrupted, nor survive, while a parser is at one.

One step of a parser, in which no other thread runs, took 1.1 s over 190 kB at worst, so about half of that at this
size."""

TASK_FILES = 48
TASK_BYTES = 1_000_000
"""Size of one task: large enough that handing it over costs nothing, small enough that the last one does not keep
others waiting."""

TASKS_AHEAD = 3
"""Tasks per process that wait or run: bounds the memory taken by files read ahead."""

LOOK_EVERY = 0.25
"""Seconds between two looks whether the work is still wanted."""

CRASHED = "parser_crashed"
"""Problem noted of a file over which a process died."""

TIMED_OUT = "parse_timeout"
"""Problem noted of a file over which a process was ended because it took too much processor time."""

File = tuple[str, bytes]
Extracted = tuple[str, bytes, bytes]  # path, content, encoded record


def _nothing() -> None:
    """Nobody wants to know."""


@dataclass(frozen=True, slots=True)
class Extractor:
    """Turns files into records: the counter, the vectors, the processes."""

    counter: Counter
    embedder: Embedder | None
    workers: int  # processes; 0 = one per core
    scanning: Scanning = field(default_factory=Scanning)  # finds credentials, which no record holds

    @classmethod
    def of(cls, settings: Settings, counter: Counter, embedder: Embedder | None, cache_dir: Path) -> Extractor:
        """The extractor that settings ask for; `cache_dir`: the user's cache folder."""
        return cls(counter, embedder, settings.index.workers, Scanning.of(settings.redaction, cache_dir))

    @property
    def version(self) -> str:
        """Names everything a record depends on but its file."""
        made_with = fingerprint(self.counter.name, self.embedder.id if self.embedder else "none")
        return f"{made_with}|{self.scanning.id}"

    def run(
        self, files: Iterable[File], total_bytes: int, waiting: Callable[[], None] = _nothing
    ) -> Iterator[Extracted]:
        """Records of all files, in the order given.

        Args:
            files: read lazily.
            total_bytes: of all files; decides how it is done.
            waiting: called several times a second while processes are at work; what it raises ends them.
        """
        number = self.workers or os.cpu_count() or 1
        inline = total_bytes <= INLINE_BYTES or number == 1 or not sys.executable
        processes = _Processes(self, 1 if inline else number, waiting)
        under_way: deque[tuple[list[File], Future[TaskOutcome[list[bytes]]]]] = deque()
        try:
            if inline:
                for path, data in files:
                    if len(data) <= LARGE_FILE_BYTES or not sys.executable:
                        yield path, data, self.one(path, data)
                    else:
                        yield from processes.finish([(path, data)], processes.submit([(path, data)]))
                return
            for task in _tasks(files):
                under_way.append((task, processes.submit(task)))
                if len(under_way) >= number * TASKS_AHEAD:
                    yield from processes.finish(*under_way.popleft())
            while under_way:
                yield from processes.finish(*under_way.popleft())
        finally:
            processes.close()

    def one(self, path: str, data: bytes) -> bytes:
        """The record of one file, made in this process."""
        return encode(extract(path, data, self.counter, self.embedder, scanning=self.scanning))


class _Processes:
    """Processes that extract files. `waiting` as of `Extractor.run`."""

    def __init__(self, extractor: Extractor, processes: int, waiting: Callable[[], None]) -> None:
        from secateur.executors.pool import ProcessPool  # takes a while, and most runs read nothing

        self._extractor = extractor
        self._waiting = waiting
        self._pool = ProcessPool(processes, os.environ, attempts=1)
        self._usable = True

    def submit(self, files: Sequence[File], problem: str = "") -> Future[TaskOutcome[list[bytes]]]:
        """Gives files to a process. `problem`: why their syntax must not be read."""
        from secateur.index.update.worker import ExtractTask, extract_files

        own = self._extractor
        task = ExtractTask(own.counter.name, own.embedder is not None, own.scanning, files, problem)
        return self._pool.submit(Task(extract_files, task))

    def finish(self, files: Sequence[File], future: Future[TaskOutcome[list[bytes]]]) -> Iterator[Extracted]:
        """The records of files that were given to a process. If it died, they are tried one by one, to find the one
        that killed."""
        records = self._wait(future).value
        if records is None and self._usable:
            self._usable = self._wait(self.submit([])).error is None
        if records is None and self._usable:
            singles = [self.submit([file]) for file in files]
            records = [self._finish_one(file, single) for file, single in zip(files, singles, strict=True)]
        elif records is None:  # it is not the files: processes cannot be had here, or not with this counter
            records = [self._extractor.one(*file) for file in files]
        for (path, data), record in zip(files, records, strict=True):
            yield path, data, record

    def close(self) -> None:
        """Ends all processes, whatever they are at."""
        self._pool.hurried = True
        self._pool.close()

    def _finish_one(self, file: File, future: Future[TaskOutcome[list[bytes]]]) -> bytes:
        """The record of one file. One that kills is read again as plain text: it may be the words and not the syntax
        that kill."""
        outcome = self._wait(future)
        if outcome.error is not None:
            outcome = self._wait(self.submit([file], TIMED_OUT if outcome.error.code == OVERTIME else CRASHED))
        return outcome.value[0] if outcome.value is not None else encode(unindexed(UNREADABLE_TEXT))

    def _wait(self, future: Future[TaskOutcome[list[bytes]]]) -> TaskOutcome[list[bytes]]:
        from concurrent.futures import wait

        while not wait([future], LOOK_EVERY).done:
            self._waiting()
        return future.result()


def _tasks(files: Iterable[File]) -> Iterator[list[File]]:
    task: list[File] = []
    size = 0
    for file in files:
        task.append(file)
        size += len(file[1])
        if len(task) >= TASK_FILES or size >= TASK_BYTES:
            yield task
            task, size = [], 0
    if task:
        yield task
