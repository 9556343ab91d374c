"""Extraction of many files: in this process when it is little, in several processes when it is much. Same bytes either
way.

Parsing holds the interpreter's lock, so threads do not help; here they only wait for processes. A process that dies
over a file (a parser's crash, the system short of memory, more processor time than a file is granted) is replaced, and
that file is read as plain text and says so. Large files are read in a process even when they are few: only a process
can be ended whatever it is doing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from secateur.executors.messages import receive, send
from secateur.index.facts.extract import encode, extract, fingerprint, unindexed
from secateur.languages.syntax.file_flags import UNREADABLE_TEXT
from secateur.redaction import Scanning
from secateur.settings import Settings
from secateur.sources.files import path_bytes
from secateur.system.processes import Child, ended_for_time

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

_LAST_MOMENTS = 1.0
"""Seconds that a process has to end by itself, once it answers no more, before it is killed."""

_BOOT = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from secateur.system.processes import watch_parent;"
    " watch_parent(int(sys.argv[4]));from secateur.index.update.worker import main;"
    " main(sys.argv[2], sys.argv[3]=='1', sys.argv[5])"
)

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
        processes = self.workers or os.cpu_count() or 1
        inline = total_bytes <= INLINE_BYTES or processes == 1 or not sys.executable
        crew = _Crew(self)
        from concurrent.futures import ThreadPoolExecutor  # takes a while, and most runs read nothing

        threads = ThreadPoolExecutor(1 if inline else processes, thread_name_prefix="secateur-extract")
        under_way: deque[tuple[list[File], Future[list[bytes]]]] = deque()
        try:
            if inline:
                for path, data in files:
                    if len(data) <= LARGE_FILE_BYTES or not sys.executable:
                        yield path, data, self.one(path, data)
                    else:
                        yield from _finished([(path, data)], threads.submit(crew.run, [(path, data)]), waiting)
                return
            for task in _tasks(files):
                under_way.append((task, threads.submit(crew.run, task)))
                if len(under_way) >= processes * TASKS_AHEAD:
                    yield from _finished(*under_way.popleft(), waiting)
            while under_way:
                yield from _finished(*under_way.popleft(), waiting)
        finally:
            crew.stop()
            threads.shutdown(wait=True, cancel_futures=True)
            crew.close()

    def one(self, path: str, data: bytes) -> bytes:
        """The record of one file, made in this process."""
        return encode(extract(path, data, self.counter, self.embedder, scanning=self.scanning))


class _Stopped(Exception):
    """The crew was sent home before this was done; nobody waits for the result."""


class _Crew:
    """One process per thread, started when the thread first needs it, replaced when it dies, until the crew is
    stopped."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._mine = threading.local()
        self._all: list[subprocess.Popen[bytes]] = []
        self._starting = threading.Lock()
        self._stopped = False
        self._usable = True

    def run(self, task: list[File]) -> list[bytes]:
        """Records of a task. After a death its files are tried one by one, to find the one that killed.

        That one is read again as plain text, by another process: it may be the words and not the syntax that kill.
        """
        records = self._ask(task) if self._usable else None
        if records is not None:
            return records
        self._usable = self._usable and self._ask([]) is not None
        if not self._usable:  # it is not the files: processes cannot be had here, or not with this counter
            return [self._extractor.one(path, data) for path, data in task]
        return [self._alone(path, data) for path, data in task]

    def _alone(self, path: str, data: bytes) -> bytes:
        problem = ""
        for _ in range(2):
            single = self._ask([(path, data)], problem)
            if single is not None:
                return single[0]
            problem = TIMED_OUT if self._overtime() else CRASHED
        return encode(unindexed(UNREADABLE_TEXT))

    def stop(self) -> None:
        """End all processes, whatever they are at; none is started any more, so threads that wait for one come back at
        once."""
        with self._starting:
            self._stopped = True
        for process in self._all:
            process.kill()

    def close(self) -> None:
        """Let go of the ended processes; only when no thread talks to them any more."""
        for process in self._all:
            with suppress(OSError), process:  # what was still to be sent to it cannot be
                pass

    def _overtime(self) -> bool:
        """Tells whether this thread's last process was ended for the time it took."""
        return ended_for_time(self._mine.ended)

    def _ask(self, task: list[File], problem: str = "") -> list[bytes] | None:
        try:
            process = self._process()
        except OSError:  # no more processes, or no memory for one
            return None
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            send(process.stdin, msgspec.msgpack.encode([(path_bytes(path), data, problem) for path, data in task]))
            answer = receive(process.stdout)
        except (OSError, ValueError):
            answer = None
        if answer is None:
            self._mine.ended = _end_of(process)
            self._mine.process = None
            return None
        return msgspec.msgpack.decode(answer, type=list[bytes])

    def _process(self) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] | None = getattr(self._mine, "process", None)
        if process is not None:
            return process
        with self._starting:
            if self._stopped:
                raise _Stopped
            # The child gets our own search path, never the folder it starts in: that may be a hostile repository.
            search = json.dumps([str(Path(entry).absolute()) for entry in sys.path if entry])
            given = [
                search,
                self._extractor.counter.name,
                str(int(self._extractor.embedder is not None)),
                str(os.getpid()),
                json.dumps(asdict(self._extractor.scanning)),
            ]
            process = Child(
                [sys.executable, "-I", "-c", _BOOT, *given],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=os.sep,
            )
            self._mine.process = process
            self._all.append(process)
        return process


def _end_of(process: subprocess.Popen[bytes]) -> int:
    """The exit code of a process that does not answer. One that has closed its side is about to; none is waited for for
    long."""
    try:
        return process.wait(_LAST_MOMENTS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _finished(task: list[File], future: Future[list[bytes]], waiting: Callable[[], None]) -> Iterator[Extracted]:
    from concurrent.futures import wait

    while not wait([future], LOOK_EVERY).done:
        waiting()
    for (path, data), encoded in zip(task, future.result(), strict=True):
        yield path, data, encoded


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
