"""Measures cases in several processes: each takes the next case, and keeps its own index open.

The figures do not depend on the number of processes. A process that dies costs the case that it was at.
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
from secateur.lifetime import tied
from secateur.progress import Progress, unreported

MOST_JOBS = 64

LOOK_EVERY = 0.1
"""Seconds between two looks whether somebody still waits for the figures."""

_BOOT = (
    "import json,sys; sys.path[:]=json.loads(sys.argv[1]); from secateur.lifetime import watch_parent;"
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
    waiting, answers = deque(cases), Answers()
    workers = [_MeasuringProcess(waiting, answers, plan, environ) for _ in range(jobs)]
    threads = [threading.Thread(target=one.run, name="secateur-evaluate", daemon=True) for one in workers]
    for thread in threads:
        thread.start()
    try:
        for _ in cases:
            yield _next(answers)
    finally:
        waiting.clear()
        for one in workers:
            one.stop()
        for thread in threads:
            thread.join()


def _next(answers: Answers) -> MeasuredCase | LeftOut:
    """The next answer; Ctrl-C is heard meanwhile."""
    while True:
        with suppress(queue.Empty):
            return answers.get(timeout=LOOK_EVERY)


@dataclass
class _MeasuringProcess:
    """One process, and the thread that talks to it."""

    waiting: deque[JudgedCase]
    answers: Answers
    plan: EvaluationPlan
    environ: Mapping[str, str]
    _process: subprocess.Popen[bytes] | None = None
    _starting: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def run(self) -> None:
        """Have cases measured until none is left."""
        while not self._stopped:
            try:
                case = self.waiting.popleft()
            except IndexError:
                break
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
                self._process = subprocess.Popen(
                    tied([sys.executable, "-I", "-c", _BOOT, search, str(os.getpid())]),
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
