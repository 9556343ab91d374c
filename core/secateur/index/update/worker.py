"""The task of a process that extracts files.

A file that takes too much processor time ends the process, in whatever code it is; the parent then reads that file as
plain text. Processor time, not time on the wall: a busy machine changes no record.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from secateur.index.facts.embedding import Embedder, open_embedder
from secateur.index.facts.extract import encode, extract
from secateur.redaction import Scanning
from secateur.settings import Embedding
from secateur.system.processes import grant
from secateur.tokens import Counter, get_counter

FILE_SECONDS = 30
"""Processor time that one file is granted; the largest that are indexed take two seconds."""


@dataclass(frozen=True, slots=True)
class ExtractTask:
    """The task of extracting some files.

    Attributes:
        files: paths and contents.
        problem: why their syntax must not be read; "" if it may.
    """

    counter: str
    with_vectors: bool
    scanning: Scanning
    files: Sequence[tuple[str, bytes]]
    problem: str = ""


def extract_files(task: ExtractTask) -> list[bytes]:
    """The encoded record of each file."""
    counter, embedder = _open_tools(task.counter, task.with_vectors)
    records = []
    for path, data in task.files:
        grant(FILE_SECONDS)
        records.append(encode(extract(path, data, counter, embedder, task.problem, scanning=task.scanning)))
    gc.collect(0)
    return records


@cache
def _open_tools(counter_name: str, with_vectors: bool) -> tuple[Counter, Embedder | None]:
    counter, embedder = get_counter(counter_name), open_embedder(Embedding(), {}) if with_vectors else None
    counter.load()
    # Hardly anything here is garbage in cycles, and looking for it all the time takes a twentieth of the work: what
    # there is after a task is looked for among the task's own objects.
    gc.freeze()
    gc.disable()
    return counter, embedder
