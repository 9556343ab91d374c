"""What the benchmarks of speed share: the cost of a command with all its processes, copies of repositories, tables.

Processor time (user + system) is what to compare: time by the clock depends on what else the machine does.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

SECATEUR = (sys.executable, "-m", "secateur.cli.main")
"""The command line of the secateur that is imported here."""

LOOK_EVERY = 0.05
"""Seconds between two looks at the memory of a command's processes."""

PAGE = os.sysconf("SC_PAGESIZE")


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took."""

    cpu: float  # seconds, user and system, of all its processes
    wall: float  # seconds
    # bytes: most that its processes held at once, looked at every LOOK_EVERY; what two of them share counts twice
    peak: int
    output: bytes


def run(
    words: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    input: bytes = b"",
) -> Cost:
    """Run a command to its end.

    Raises:
        RuntimeError: it failed; with the end of what it said.
    """
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink, tempfile.TemporaryFile() as errors:
        source.write(input)
        source.seek(0)
        start = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in words],
            cwd=cwd,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": ""} | dict(environment or {}),  # as installed: compiled once
            stdin=source,
            stdout=sink,
            stderr=errors,
        )
        watch = _Watch(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = watch.end()
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(
                f"{' '.join(map(str, words))[:300]} failed with {process.returncode}:"
                f" {errors.read()[-1500:].decode(errors='replace')}"
            )
        sink.seek(0)
        return Cost(usage.ru_utime + usage.ru_stime, wall, peak, sink.read())


class _Watch:
    """Looks at a process and its descendants until told to end."""

    def __init__(self, pid: int) -> None:
        self._peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, args=(pid,), daemon=True)
        self._thread.start()

    def end(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._peak

    def _look(self, pid: int) -> None:
        while not self._ended.wait(LOOK_EVERY):
            self._peak = max(self._peak, sum(map(_resident, _family(pid))))


def _family(pid: int) -> Iterator[int]:
    """A process and its descendants."""
    yield pid
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


def _resident(pid: int) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    return 0


def resident_now() -> int:
    """Bytes this process holds."""
    return _resident(os.getpid())


Spent = tuple[float, float]
"""Seconds of the processor, children included, and by the clock."""


def processor_now() -> float:
    """Seconds of this process and of the children it waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def spent(work: Callable[[], object]) -> Spent:
    """What a piece of work in this process takes."""
    processor, clock = processor_now(), time.perf_counter()
    work()
    return processor_now() - processor, time.perf_counter() - clock


def middle(costs: Sequence[Cost]) -> Cost:
    """Medians, each figure for itself."""
    return Cost(
        median(cost.cpu for cost in costs),
        median(cost.wall for cost in costs),
        round(median(cost.peak for cost in costs)),
        costs[-1].output,
    )


def folder_bytes(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@contextmanager
def copy_of(repository: Path) -> Iterator[Path]:
    """A clone of the repository's commit that may be edited and written into; its objects are borrowed, not copied.

    Raises:
        RuntimeError: not a git repository.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder) / repository.name
        run(["git", "clone", "--quiet", "--shared", repository.absolute(), place])
        yield place


@contextmanager
def empty_cache() -> Iterator[Path]:
    """A folder for caches, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="bench-cache-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def tracked(repository: Path) -> list[Path]:
    """Files that git lists and that are there, links aside."""
    names = run(["git", "ls-files", "-z"], cwd=repository).output.decode(errors="surrogateescape").split("\0")
    return [path for name in names if name and (path := repository / name).is_file() and not path.is_symlink()]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The k of cost ~ size^k by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def quantiles(seconds: Sequence[Spent]) -> str:
    """Processor: median and 95th percentile; clock: median."""
    processor, clock = zip(*seconds, strict=True)
    return (
        f"{np.median(processor) * 1e3:,.1f} / {np.percentile(processor, 95) * 1e3:,.1f} ms"
        f" ({np.median(clock) * 1e3:,.1f} by the clock)"
    )


def megabytes(size: float) -> str:
    return f"{size / 1e6:,.0f} MB"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
