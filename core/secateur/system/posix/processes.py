"""Processes on POSIX systems.

On Linux the kernel ends a child with us (`PR_SET_PDEATHSIG`): also one that computes inside a library and runs no
Python, and one that waits for a pipe nobody writes to. Elsewhere a process of ours looks by itself whether its parent
is still there (`watch_parent`).
"""

from __future__ import annotations

import sys

assert sys.platform != "win32"

import os
import resource
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

SYSTEM_FOLDERS = ("/usr/bin", "/bin")
"""Folders with the programs of the system."""

_LOOK_SECONDS = 1.0
_PROBE_SECONDS = 5.0
_CPU_TIMES = slice(10, 12)  # of /proc/PID/stat behind name and state: time in user mode, time in the kernel

_TASK_INFO = 4
_TASK_INFO_WORDS = 12
"""64-bit words of `struct proc_taskinfo` of macOS."""
_OF_WORK = slice(2, 11)
"""Its words that hold times, and counts of faults, messages, calls and switches: before them sizes, then a priority."""


class Child(subprocess.Popen[bytes]):
    """A process that ends when the thread that started it does. `group`: whoever ends it can end all that it started,
    and it has no terminal. Raises OSError or ValueError: it cannot be started."""

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
        """Ends a process of a group of its own and all that it started; one that has ended is left alone."""
        if self.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)

    def work(self) -> object:
        """Equal to what it was before only where the process did nothing meanwhile; None where the system does not
        tell: its silence counts alone."""
        return _mac_work(self.pid) if sys.platform == "darwin" else _linux_work(self.pid)


def _linux_work(pid: int) -> object:
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except (OSError, ValueError):
        return None
    return tuple(fields[_CPU_TIMES]) if state == b"S" else object()


def _mac_work(pid: int) -> object:
    """The times and counts of `proc_pidinfo`: calls of the system among them, so that one that reads has worked."""
    import ctypes

    buffer = (ctypes.c_uint64 * _TASK_INFO_WORDS)()
    try:
        size = ctypes.CDLL(None).proc_pidinfo(pid, _TASK_INFO, ctypes.c_uint64(0), buffer, ctypes.sizeof(buffer))
    except (OSError, AttributeError):
        return None
    return tuple(buffer[_OF_WORK]) if size == ctypes.sizeof(buffer) else None


@cache
def _setpriv() -> tuple[str, ...]:
    """Returns the words before a command that tie it to us; none where `setpriv` is missing or too old (BusyBox).

    Not `preexec_fn`: running Python between fork and exec can wait for a lock that another thread held.
    """
    binary = shutil.which("setpriv", path=os.pathsep.join(SYSTEM_FOLDERS))
    if binary is None:
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
    """Ends this process soon after `parent`, which started it, is gone. It is for systems whose kernel does not do
    that."""
    threading.Thread(target=_wait_for_its_end, args=(parent,), name="secateur-parent", daemon=True).start()


def _wait_for_its_end(parent: int) -> NoReturn:
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


def start_detached(command: Sequence[str], stream: IO[bytes]) -> subprocess.Popen[bytes]:
    """Starts a program that goes on without us and our terminal, with a file as all its streams. Raises OSError or
    ValueError."""
    return subprocess.Popen(command, stdin=stream, stdout=stream, stderr=stream, start_new_session=True)


def program_in(folder: str, name: str) -> str | None:
    """The path of a program in a folder, and nowhere else; None where there is none."""
    return shutil.which(name, path=folder)


def words_of(command: str) -> list[str]:
    """The words of a command as a user writes it. Raises ValueError: a quote is not closed."""
    return shlex.split(command)


def own_environment() -> dict[str, str]:
    """Variables without which no program runs."""
    return {}


def grant(seconds: int) -> None:
    """Lets this process use so much more processor time before the system ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    end = int(used.ru_utime + used.ru_stime) + seconds + 1
    with suppress(ValueError, OSError):  # a lower limit of the system holds anyway
        resource.setrlimit(resource.RLIMIT_CPU, (end, most))


def ended_for_time(code: int) -> bool:
    """Tells whether an exit code is that of a process that used up what it was granted."""
    return code == -signal.SIGXCPU
