"""Starts processes that end with this one, and limits the processor time of this process.

child = Child([git, "log"], env={...}, group=True, stdout=subprocess.PIPE)   # ends with this process
child.work()                      # changes whenever the child does something
child.end_group()                 # ends the child and all processes that it started
grant(30)                         # 30 more seconds; `ended_for_time(code)` tells whether they were used
subprocess.run(isolated_python("print(1)"))   # the only way in which this program starts Python

On Linux the kernel ends a child with this process (`PR_SET_PDEATHSIG`), even one that computes inside a library or
waits for a pipe. On other systems, a process of ours checks itself whether its parent still runs (`watch_parent`).
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

ENDING = (signal.SIGTERM, signal.SIGHUP)  # the signals by which the system, or a closed terminal, asks a program to end
AWAITED = (signal.SIGINT, *ENDING)  # the signals that an event loop can wait for


def end_by(number: int) -> None:
    """Ends this process by a signal without a handler, which its parent sees."""
    os.kill(os.getpid(), number)


def hasten_end(seconds: float) -> None:
    """Makes the system end this process so many seconds after a signal that asks for an end, even if it waits for a
    terminal that takes nothing."""
    handlers = {int(number): handler for number in ENDING if callable(handler := signal.getsignal(number))}

    def begin_end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # without Python, which a blocked write may keep from running
        signal.setitimer(signal.ITIMER_REAL, seconds)
        handlers[number](number, frame)

    for number in handlers:
        signal.signal(number, begin_end)


SYSTEM_FOLDERS = ("/usr/bin", "/bin")  # the folders of the system's programs

_LOOK_SECONDS = 1.0
_PROBE_SECONDS = 5.0
_CPU_TIMES = slice(10, 12)  # fields of /proc/PID/stat after name and state: time in user mode, time in the kernel

_TASK_INFO = 4
_TASK_INFO_WORDS = 12  # the size of macOS's `struct proc_taskinfo` in 64-bit words
_OF_WORK = slice(2, 11)  # the words that hold times, and counts of faults, messages, calls and switches


class Child(subprocess.Popen[bytes]):
    """A process that ends with the thread that started it. `group`: it has no terminal, and `end_group` also ends the
    processes that it started. Raises OSError or ValueError: it cannot be started."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        group: bool = False,
    ) -> None:
        super().__init__(
            [*_setpriv(), *command],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            env=env,
            cwd=cwd,
            start_new_session=group,
        )

    def end_group(self) -> None:
        """Ends the process of a group and all that it started, unless it has ended already."""
        if self.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def work(self) -> object:
        """Returns a value that changes whenever the process does something; None if the system does not tell."""
        if sys.platform == "darwin":
            return _mac_work(self.pid)
        try:
            state, *fields = Path(f"/proc/{self.pid}/stat").read_bytes().rpartition(b")")[2].split()
        except (OSError, ValueError):
            return None
        return tuple(fields[_CPU_TIMES]) if state == b"S" else object()


def _mac_work(pid: int) -> object:
    """Returns the times and counts of `proc_pidinfo`. System calls count too, so that a process that reads has
    worked."""
    import ctypes

    buffer = (ctypes.c_uint64 * _TASK_INFO_WORDS)()
    try:
        size = ctypes.CDLL(None).proc_pidinfo(pid, _TASK_INFO, ctypes.c_uint64(0), buffer, ctypes.sizeof(buffer))
    except (OSError, AttributeError):
        return None
    return tuple(buffer[_OF_WORK]) if size == ctypes.sizeof(buffer) else None


@cache
def _setpriv() -> tuple[str, ...]:
    """Returns the words before a command that make it end with us; empty if `setpriv` is missing or too old (BusyBox).

    `preexec_fn` is not used: Python between fork and exec may wait forever for a lock that another thread held.
    """
    if (binary := shutil.which("setpriv", path=os.pathsep.join(SYSTEM_FOLDERS))) is None:
        return ()
    words = (binary, "--pdeathsig", "KILL", "--")
    try:
        done = subprocess.run(
            [*words, binary, "--version"],
            env={},
            cwd=os.sep,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_PROBE_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return words if done.returncode == 0 else ()


def watch_parent(parent: int) -> None:
    """Ends this process soon after its parent has ended, on systems whose kernel does not do that."""
    threading.Thread(target=_end_with, args=(parent,), name="secateur-parent", daemon=True).start()


def _end_with(parent: int) -> NoReturn:
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def start_detached(command: Sequence[str], stream: IO[bytes]) -> subprocess.Popen[bytes]:
    """Starts a program that outlives this process and its terminal, with a file for all its streams. Raises OSError or
    ValueError."""
    return subprocess.Popen(command, stdin=stream, stdout=stream, stderr=stream, start_new_session=True)


def grant(seconds: int) -> None:
    """Lets this process use this many more seconds of processor time before the system ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    end = int(used.ru_utime + used.ru_stime) + seconds + 1
    with suppress(ValueError, OSError):  # the system may have set a lower limit, which stays
        resource.setrlimit(resource.RLIMIT_CPU, (end, most))


def ended_for_time(code: int) -> bool:
    """Tells from an exit code whether a process used up its granted time."""
    return code == -signal.SIGXCPU


def isolated_python(code: str, *words: str) -> list[str]:
    """Makes the command that runs `code` in a new Python with `words` in `sys.argv[1:]`.

    That Python searches modules where this one does, but never in the working folder, which may be a hostile
    repository.
    """
    search = json.dumps([str(Path(entry).absolute()) for entry in sys.path if entry])
    boot = f"import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); {code}"
    return [sys.executable, "-I", "-c", boot, search, *words]
