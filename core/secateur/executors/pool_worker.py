"""A process of a pool: tasks come in on standard input, outcomes go out on standard output, until the input ends.

Both are pickles between processes of one program, each behind its length. Not a `multiprocessing` worker: those import
the program's main module again, which breaks scripts without a guard and runs code twice.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import IO

from secateur.errors import SecateurError
from secateur.executors.executor import TaskOutcome, carried_out, unexpected
from secateur.executors.kept import let_go

LENGTH_BYTES = 8


def main() -> None:
    """Serve until the input ends. Ctrl-C goes to every process of the terminal; the parent decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads are slower on matrices of our size
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what a function prints is no outcome
    try:
        while (message := receive(source)) is not None:
            send(sink, answered(message))
    finally:
        let_go()


def answered(message: bytes) -> bytes:
    """The pickled outcome of a pickled task."""
    try:
        function, argument = pickle.loads(message)
    except Exception as error:
        return pickle.dumps(TaskOutcome(None, unexpected(error)))
    outcome = carried_out(function, argument)
    try:
        return pickle.dumps(outcome)
    except Exception as error:
        failed = SecateurError(f"its result cannot be handed over: {error}", code="UNEXPECTED")
        return pickle.dumps(TaskOutcome(None, failed))


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
