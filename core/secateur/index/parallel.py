"""Extraction of many files: in this process when it is little, in a pool of processes when it is much. Same bytes either way.

Parsing holds the interpreter's lock, so threads do not help. Workers ignore Ctrl-C: the parent gets it, stops handing out work and
keeps what has arrived.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from secateur.index.extract import encode, extract, fingerprint

if TYPE_CHECKING:
    from secateur.index.embedding import Embedder
    from secateur.tokens import Counter

INLINE_BYTES = 2_000_000
"""Up to this much text one process is done before a pool has started."""

TASK_FILES = 48
TASK_BYTES = 1_000_000
"""Size of one task: large enough that handing it over costs nothing, small enough that the last one does not keep others waiting."""

TASKS_AHEAD = 3
"""Tasks per worker that wait or run: bounds the memory taken by files read ahead."""

File = tuple[str, bytes]
Extracted = tuple[str, bytes, bytes]  # path, content, encoded record

_worker: tuple[Counter, Embedder | None] | None = None


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
        if total_bytes <= INLINE_BYTES or processes == 1:
            for path, data in files:
                yield path, data, encode(extract(path, data, self.counter, self.embedder))
            return
        context = multiprocessing.get_context("spawn")
        start = (self.counter.name, self.embedder is not None)
        pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_start_worker, initargs=start)
        waiting: deque[tuple[list[File], Future[list[bytes]]]] = deque()
        try:
            for task in _tasks(files):
                waiting.append((task, pool.submit(_run, task)))
                if len(waiting) >= processes * TASKS_AHEAD:
                    yield from _finished(*waiting.popleft())
            while waiting:
                yield from _finished(*waiting.popleft())
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


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


def _start_worker(counter: str, with_vectors: bool) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from secateur.index.embedding import open_embedder
    from secateur.settings import Embedding
    from secateur.tokens import get_counter

    _worker = get_counter(counter), open_embedder(Embedding(), {}) if with_vectors else None


def _run(task: list[File]) -> list[bytes]:
    assert _worker is not None
    return [encode(extract(path, data, *_worker)) for path, data in task]
