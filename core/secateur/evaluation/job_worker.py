"""A process that measures cases: each comes in with its plan on standard input, its figures go out on standard output,
until the input ends. Both are pickles between processes of one program, behind their length."""

from __future__ import annotations

import os
import pickle
import signal
import sys

from secateur.errors import SecateurError
from secateur.evaluation.cases import JudgedCase, LeftOut
from secateur.evaluation.evaluation import MeasuredCase, measured_case
from secateur.evaluation.measuring import measurer
from secateur.index.update.worker import receive, send


def main() -> None:
    """Serve until the input ends. Ctrl-C goes to every process of the terminal; the parent decides what it means."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads are slower on matrices of our size
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what a kind prints is no answer
    with measurer(os.environ) as opened:
        while (message := receive(source)) is not None:
            case, plan = pickle.loads(message)
            try:
                found = measured_case(case, plan, opened)
            except Exception as error:  # costs this case alone
                found = LeftOut(case.name, SecateurError(f"{type(error).__name__}: {error}", code="UNEXPECTED"))
            send(sink, pickle.dumps(_as_it_came(case, found)))


def _as_it_came(case: JudgedCase, found: MeasuredCase | LeftOut) -> MeasuredCase | LeftOut:
    """An answer without what was opened for it; of an error what reports say."""
    if isinstance(found, MeasuredCase):
        return MeasuredCase(case.closed(), found.figures, found.without)
    error = found.error
    return LeftOut(found.name, SecateurError(error.message, hint=error.hint, code=error.code))
