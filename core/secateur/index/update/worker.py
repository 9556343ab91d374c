"""A process that extracts files: tasks come in on standard input, records go out on standard output, until the input
ends.

Not a `multiprocessing` worker: those import the program's main module again, which breaks scripts without a guard and
runs code twice. Messages are msgpack behind their length in eight bytes. A file that takes too much processor time ends
the process, in whatever code it is; the parent then reads that file as plain text. Processor time, not time on the
wall: a busy machine changes no record.
"""

from __future__ import annotations

import gc
import signal
import sys

import msgspec

from secateur.executors.messages import receive, send
from secateur.index.facts.extract import encode, extract
from secateur.system.processes import grant

FILE_SECONDS = 30
"""Processor time that one file is granted; the largest that are indexed take two seconds."""

Task = list[tuple[bytes, bytes, str]]  # path as bytes, content, why its syntax must not be read
_TASKS = msgspec.msgpack.Decoder(Task)


def main(counter_name: str, with_vectors: bool, scanning_json: str) -> None:
    """Serve until the input ends. Ctrl-C goes to every process of the terminal; the parent decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from secateur.index.facts.embedding import open_embedder
    from secateur.redaction import Scanning
    from secateur.settings import Embedding
    from secateur.sources.files import path_text
    from secateur.tokens import get_counter

    source, sink = sys.stdin.buffer, sys.stdout.buffer
    counter, embedder = get_counter(counter_name), open_embedder(Embedding(), {}) if with_vectors else None
    counter.load()
    scanning = msgspec.json.decode(scanning_json, type=Scanning)
    # Hardly anything here is garbage in cycles, and looking for it all the time takes a twentieth of the work: what
    # there is after a task is looked for among the task's own objects.
    gc.freeze()
    gc.disable()
    while (message := receive(source)) is not None:
        records = []
        for path, data, problem in _TASKS.decode(message):
            grant(FILE_SECONDS)
            records.append(encode(extract(path_text(path), data, counter, embedder, problem, scanning=scanning)))
        send(sink, msgspec.msgpack.encode(records))
        gc.collect(0)
