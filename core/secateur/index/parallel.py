"""Extraction of many files: in this process when it is little, in several processes when it is much. Same bytes either way.

Parsing holds the interpreter's lock, so threads do not help; here they only wait for processes. A process that dies over a file (a
parser's crash, the system short of memory) is replaced, and that file is read as plain text and says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from secateur.index.extract import encode, extract, fingerprint
from secateur.index.worker import receive, send
from secateur.lifetime import tied
from secateur.repository.files import path_bytes

if TYPE_CHECKING:
    from secateur.index.embedding import Embedder
    from secateur.tokens import Counter

INLINE_BYTES = 2_000_000
"""Up to this much text one process is done before others have started."""

TASK_FILES = 48
TASK_BYTES = 1_000_000
"""Size of one task: large enough that handing it over costs nothing, small enough that the last one does not keep others waiting."""

TASKS_AHEAD = 3
"""Tasks per process that wait or run: bounds the memory taken by files read ahead."""

CRASHED = "parser_crashed"
"""Problem noted of a file over which a process died."""

_BOOT = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from secateur.lifetime import watch_parent; watch_parent(int(sys.argv[4]));"
    "from secateur.index.worker import main; main(sys.argv[2], sys.argv[3]=='1')"
)
_PLAIN_NAME = "file.txt"

File = tuple[str, bytes]
Extracted = tuple[str, bytes, bytes]  # path, content, encoded record


@dataclass(frozen=True, slots=True)
class Extractor:
    """How files become records: the counter, the vectors, the processes."""

    counter: Counter
    embedder: Embedder | None
    workers: int  # processes; 0 = one per core

    @property
    def version(self) -> str:
        """Names everything a record depends on but its file."""
        return fingerprint(self.counter.name, self.embedder.id if self.embedder else "none")

    def run(self, files: Iterable[File], total_bytes: int) -> Iterator[Extracted]:
        """Records of all files, in the order given; `files` is read lazily, `total_bytes` decides how it is done."""
        processes = self.workers or os.cpu_count() or 1
        if total_bytes <= INLINE_BYTES or processes == 1 or not sys.executable:
            for path, data in files:
                yield path, data, self.one(path, data)
            return
        crew = _Crew(self)
        threads = ThreadPoolExecutor(processes, thread_name_prefix="secateur-extract")
        waiting: deque[tuple[list[File], Future[list[bytes]]]] = deque()
        try:
            for task in _tasks(files):
                waiting.append((task, threads.submit(crew.run, task)))
                if len(waiting) >= processes * TASKS_AHEAD:
                    yield from _finished(*waiting.popleft())
            while waiting:
                yield from _finished(*waiting.popleft())
        finally:
            crew.stop()
            threads.shutdown(wait=True, cancel_futures=True)
            crew.close()

    def one(self, path: str, data: bytes) -> bytes:
        """The record of one file, made in this process."""
        return encode(extract(path, data, self.counter, self.embedder))

    def plain(self, path: str, data: bytes) -> bytes:
        """The record of a file no parser may touch: blocks of text, with the reason."""
        record = extract(f"{path}/{_PLAIN_NAME}", data, self.counter, self.embedder)
        return encode(msgspec.structs.replace(record, facts=replace(record.facts, problems=(*record.facts.problems, CRASHED))))


class _Stopped(Exception):
    """The crew was sent home before this was done; nobody waits for the result."""


class _Crew:
    """One process per thread, started when the thread first needs it, replaced when it dies, until the crew is stopped."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._mine = threading.local()
        self._all: list[subprocess.Popen[bytes]] = []
        self._starting = threading.Lock()
        self._stopped = False

    def run(self, task: list[File]) -> list[bytes]:
        """Records of a task. After a death its files are tried one by one, to find the one that killed."""
        records = self._ask(task)
        if records is not None:
            return records
        found = []
        for path, data in task:
            single = self._ask([(path, data)])
            found.append(single[0] if single is not None else self._extractor.plain(path, data))
        return found

    def stop(self) -> None:
        """End all processes, whatever they are at; none is started any more, so threads that wait for one come back at once."""
        with self._starting:
            self._stopped = True
        for process in self._all:
            process.kill()

    def close(self) -> None:
        """Let go of the ended processes; only when no thread talks to them any more."""
        for process in self._all:
            with suppress(OSError), process:  # what was still to be sent to it cannot be
                pass

    def _ask(self, task: list[File]) -> list[bytes] | None:
        process = self._process()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            send(process.stdin, msgspec.msgpack.encode([(path_bytes(path), data) for path, data in task]))
            answer = receive(process.stdout)
        except (OSError, ValueError):
            answer = None
        if answer is None:
            process.kill()
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
            given = [search, self._extractor.counter.name, str(int(self._extractor.embedder is not None)), str(os.getpid())]
            words = tied([sys.executable, "-I", "-c", _BOOT, *given])
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=os.sep)
            self._mine.process = process
            self._all.append(process)
        return process


def _finished(task: list[File], future: Future[list[bytes]]) -> Iterator[Extracted]:
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
