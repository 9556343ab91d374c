"""A process that extracts files: tasks come in on standard input, records go out on standard output, until the input ends.

Not a `multiprocessing` worker: those import the program's main module again, which breaks scripts without a guard and runs code
twice. Messages are msgpack behind their length in eight bytes.
"""

from __future__ import annotations

import signal
import sys
from typing import IO

import msgspec

from secateur.index.extract import encode, extract

LENGTH_BYTES = 8

Task = list[tuple[bytes, bytes]]  # path as bytes, content
_TASKS = msgspec.msgpack.Decoder(Task)


def main(counter_name: str, with_vectors: bool) -> None:
    """Serve until the input ends. Ctrl-C goes to every process of the terminal; the parent decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from secateur.index.embedding import open_embedder
    from secateur.repository.files import path_text
    from secateur.settings import Embedding
    from secateur.tokens import get_counter

    source, sink = sys.stdin.buffer, sys.stdout.buffer
    counter, embedder = get_counter(counter_name), open_embedder(Embedding(), {}) if with_vectors else None
    while (message := receive(source)) is not None:
        send(sink, msgspec.msgpack.encode([encode(extract(path_text(path), data, counter, embedder)) for path, data in _TASKS.decode(message)]))


def send(stream: IO[bytes], message: bytes) -> None:
    """Write one message. Raises OSError when the other side is gone."""
    stream.write(len(message).to_bytes(LENGTH_BYTES, "little"))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Read one message; None when the other side is gone."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "little")
    message = stream.read(size)
    return message if len(message) == size else None
