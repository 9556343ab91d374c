"""A process of a pool: reads tasks from standard input and writes outcomes to standard output, until the input ends.

A task or outcome is a pickle, with its length before it. This is not a `multiprocessing` worker, because those import
the main module again, which breaks scripts without a guard and runs code twice.
"""

import os
import pickle
import signal
import sys
from typing import IO

from secateur.errors import SecateurError
from secateur.executors.executor import TaskOutcome, close_kept, wrap_unexpected

LENGTH_BYTES = 8


def main() -> None:
    """Runs tasks until the input ends. Ignores Ctrl-C, which reaches every process of the terminal: the parent decides
    what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads are slower on matrices of our size
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # prints must not mix with outcomes
    try:
        while (message := receive(source)) is not None:
            send(sink, answer_task(message))
    finally:
        close_kept()


def answer_task(message: bytes) -> bytes:
    """Runs a pickled task and returns its pickled outcome."""
    try:
        function, argument = pickle.loads(message)
    except Exception as error:
        return pickle.dumps(TaskOutcome(None, wrap_unexpected(error)))
    outcome = TaskOutcome.of(function, argument)
    try:
        return pickle.dumps(outcome)
    except Exception as error:
        return pickle.dumps(
            TaskOutcome(None, SecateurError(f"its result cannot be handed over: {error}", code="UNEXPECTED"))
        )


def send(stream: IO[bytes], message: bytes) -> None:
    """Writes one message. Raises OSError if the other side is gone."""
    stream.write(len(message).to_bytes(LENGTH_BYTES, "little"))
    stream.write(message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """Reads one message; None if the other side is gone."""
    head = stream.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "little")
    message = stream.read(size)
    return message if len(message) == size else None
