"""A process that runs scenarios: paths come in on standard input, results go out on standard output, until the input
ends. Both are pickles between processes of one program, behind their length."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from dataclasses import replace
from pathlib import Path

from secateur.errors import SecateurError
from secateur.index.update.worker import receive, send
from secateur.scenarios.check import CheckVerdict, Result, check_one
from secateur.scenarios.location import root_of
from secateur.scenarios.malformed import ScenarioError
from secateur.scenarios.running import Session


def main() -> None:
    """Serve until the input ends. Ctrl-C goes to every process of the terminal; the parent decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads are slower on matrices of our size
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what a kind prints is no result
    opened, root = Session(os.environ), Path()
    try:
        while (message := receive(source)) is not None:
            for path in pickle.loads(message):
                try:
                    here = root_of(path)
                except (SecateurError, OSError, RuntimeError):
                    here = root
                if here != root:
                    opened.close()
                    root = here
                send(sink, _packed(check_one(path, opened)))
    finally:
        opened.close()


def _packed(result: Result) -> bytes:
    """A result as bytes. An error keeps what reports say of it."""
    error = result.error
    if error is not None and not isinstance(error, ScenarioError):
        result = replace(result, error=SecateurError(error.message, hint=error.hint, code=error.code))
    try:
        return pickle.dumps(result)
    except Exception as error:
        failed = SecateurError(f"its result cannot be handed over: {error}", code="UNEXPECTED")
        return pickle.dumps(Result(result.path, result.name, CheckVerdict.CANNOT_RUN, result.kind, error=failed))
