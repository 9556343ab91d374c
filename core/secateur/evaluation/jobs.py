"""Measures cases in several processes: each takes the next case of its share, and keeps its own index open.

One case of each repository is measured first: it brings the index up to date while nobody else does. The figures do
not depend on the number of processes. A process that dies costs the case that it was at.
"""

from __future__ import annotations

import json
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from secateur.errors import SecateurError
from secateur.evaluation.cases import JudgedCase, LeftOut
from secateur.evaluation.evaluation import EvaluationPlan, MeasuredCase, measured_cases
from secateur.index.update.worker import receive, send
from secateur.progress import Progress, unreported
from secateur.system.processes import Child

MOST_JOBS = 64

LOOK_EVERY = 0.1
"""Seconds between two looks whether somebody still waits for the figures."""

_BOOT = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from secateur.system.processes import watch_parent;"
    " watch_parent(int(sys.argv[2])); from secateur.evaluation.job_worker import main; main()"
)

Answers = queue.Queue[MeasuredCase | LeftOut]


def measured_by(
    jobs: int,
    cases: Sequence[JudgedCase],
    plan: EvaluationPlan,
    environ: Mapping[str, str],
    progress: Progress = unreported,
) -> Generator[MeasuredCase | LeftOut]:
    """The figures of each case, as they are measured.

    Args:
        progress: told of the index where there is one process.
    """
    jobs = min(jobs, len(cases), MOST_JOBS)
    if jobs <= 1 or not sys.executable:
        yield from measured_cases(cases, plan, environ, progress)
        return
    first = {case.repository: case for case in reversed(cases)}
    opening = [case for case in cases if first[case.repository] is case]
    yield from measured_cases(opening, plan, environ, progress)
    shares, answers = _Shares([case for case in cases if first[case.repository] is not case], jobs), Answers()
    workers = [_MeasuringProcess(shares, number, answers, plan, environ) for number in range(jobs)]
    threads = [threading.Thread(target=one.run, name="secateur-evaluate", daemon=True) for one in workers]
    for thread in threads:
        thread.start()
    try:
        for _ in range(len(cases) - len(opening)):
            yield _next(answers)
    finally:
        for one in workers:
            one.stop()
        for thread in threads:
            thread.join()


def _next(answers: Answers) -> MeasuredCase | LeftOut:
    """The next answer; Ctrl-C is heard meanwhile."""
    while True:
        with suppress(queue.Empty):
            return answers.get(timeout=LOOK_EVERY)


class _Shares:
    """The cases that wait, in a share for each process: neighbours are alike, and an index goes to the next cheaply."""

    def __init__(self, cases: Sequence[JudgedCase], jobs: int) -> None:
        size = -(-len(cases) // jobs)
        self._shares = [deque(cases[number * size : (number + 1) * size]) for number in range(jobs)]
        self._taking = threading.Lock()

    def take(self, number: int) -> JudgedCase | None:
        """The next case of a process; of the largest share where its own is empty; None where all are."""
        with self._taking:
            if self._shares[number]:
                return self._shares[number].popleft()
            largest = max(self._shares, key=len)
            return largest.pop() if largest else None


@dataclass
class _MeasuringProcess:
    """One process, and the thread that talks to it."""

    shares: _Shares
    number: int
    answers: Answers
    plan: EvaluationPlan
    environ: Mapping[str, str]
    _process: subprocess.Popen[bytes] | None = None
    _starting: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def run(self) -> None:
        """Have cases measured until none is left."""
        while not self._stopped and (case := self.shares.take(self.number)) is not None:
            answer = self._answer(case)
            if answer is None:
                self._end()
                answer = _ended(case)
            self.answers.put(answer)
        self.stop()

    def stop(self) -> None:
        """End the process, whatever it is at."""
        self._stopped = True
        self._end()

    def _end(self) -> None:
        with self._starting:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError), process:
                pass

    def _answer(self, case: JudgedCase) -> MeasuredCase | LeftOut | None:
        """The figures; None where the process died."""
        try:
            process = self._running()
            if process is None:
                return None
            assert process.stdin is not None
            assert process.stdout is not None
            send(process.stdin, pickle.dumps((case, self.plan)))
            answer = receive(process.stdout)
        except (OSError, ValueError):
            return None
        if answer is None:
            return None
        found: MeasuredCase | LeftOut = pickle.loads(answer)
        return found

    def _running(self) -> subprocess.Popen[bytes] | None:
        with self._starting:
            if self._process is None and not self._stopped:
                # The child gets our own search path, never the folder it starts in: that may be a hostile repository.
                search = json.dumps([str(Path(entry).absolute()) for entry in sys.path if entry])
                self._process = Child(
                    [sys.executable, "-I", "-c", _BOOT, search, str(os.getpid())],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=dict(self.environ),
                )
            return self._process


def _ended(case: JudgedCase) -> LeftOut:
    error = SecateurError(
        "the process that measured it ended without an answer",
        hint="measure it alone; the system may be short of memory",
        code="PROCESS_ENDED",
    )
    return LeftOut(case.name, error)
