"""The task of a process that extracts files.

A file that takes too much processor time ends the process, and the parent then has it read as plain text. The limit is
processor time and not elapsed time, so that a busy machine does not change a record.
"""

import gc
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from secateur.index.facts.embedding import open_embedder
from secateur.index.facts.embedding.vectors import Embedder
from secateur.index.facts.extract import encode, extract_many
from secateur.redaction import Scanning
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
