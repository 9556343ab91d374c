"""Processes on Windows. Each child is in a job, which is the system's name for a group of processes that share limits:
it ends with the last handle of the job, so with us, and takes along what it started."""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from secateur.system.windows.pywin32_errors import as_os_error

SYSTEM_FOLDERS = (os.path.join(os.environ.get("SYSTEMROOT", "C:\\Windows"), "System32"),)  # noqa: PTH118 - text
"""Folders with the programs of the system."""

_NEEDED = ("SYSTEMROOT", "WINDIR", "TEMP", "TMP")

_SET_QUOTA, _TERMINATE = 0x100, 0x1
_ENDED_BY_US = 1
_NOT_ENOUGH_QUOTA = 1816
"""Exit code of a process that the system ended for its processor time."""

_TICKS = 10_000_000
"""A second, in the unit of times of jobs."""


class Child(subprocess.Popen[bytes]):
    """A process that ends when we do, with all that it starts; it has no window. `group`: Ctrl-C in our console does
    not reach it. Raises OSError or ValueError: it cannot be started."""

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
        import win32api
        import win32job

        self._job = _new_job()
        _limit(self._job, win32job.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
        flags = subprocess.CREATE_NO_WINDOW | (subprocess.CREATE_NEW_PROCESS_GROUP if group else 0)
        super().__init__(command, stdin=stdin, stdout=stdout, stderr=stderr, env=env, cwd=cwd, creationflags=flags)
        with suppress(OSError), as_os_error():  # it has ended already
            process = win32api.OpenProcess(_SET_QUOTA | _TERMINATE, False, self.pid)
            win32job.AssignProcessToJobObject(self._job, process)

    def end_group(self) -> None:
        """Ends the process and all that it started; one that has ended is left alone."""
        import win32job

        if self.poll() is None:
            with suppress(OSError), as_os_error():
                win32job.TerminateJobObject(self._job, _ENDED_BY_US)
            with suppress(OSError):
                self.kill()  # where it is in no job

    def work(self) -> object:
        """Equal to what it was before only where the process, and what it started, did nothing meanwhile; None where
        the system does not tell: its silence counts alone."""
        import win32job

        with suppress(OSError), as_os_error():
            return win32job.QueryInformationJobObject(self._job, win32job.JobObjectBasicAndIoAccountingInformation)
        return None


def _new_job() -> Any:
    """A job, which the system closes when nothing refers to it any more. Raises OSError."""
    import win32job

    with as_os_error():
        return win32job.CreateJobObject(None, "")


def _limit(job: Any, flag: int, *, seconds: float = 0.0) -> None:
    """Sets the one limit of a job. Raises OSError."""
    import win32job

    with as_os_error():
        limits = win32job.QueryInformationJobObject(job, win32job.JobObjectExtendedLimitInformation)
        limits["BasicLimitInformation"] |= {"LimitFlags": flag, "PerProcessUserTimeLimit": int(seconds * _TICKS)}
        win32job.SetInformationJobObject(job, win32job.JobObjectExtendedLimitInformation, limits)


def watch_parent(parent: int) -> None:
    """Ends this process soon after `parent`, which started it, is gone: the system does that here."""


def start_detached(command: Sequence[str], stream: IO[bytes]) -> subprocess.Popen[bytes]:
    """Starts a program that goes on without us and our console, with a file as all its streams. Raises OSError or
    ValueError."""
    flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(command, stdin=stream, stdout=stream, stderr=stream, creationflags=flags)


def program_in(folder: str, name: str) -> str | None:
    """The path of a program in a folder, and nowhere else; None where there is none.

    Not `shutil.which`, which looks in the working folder first; and no batch file, whose arguments a shell reads.
    """
    path = Path(folder, f"{name}.exe")
    return str(path) if path.is_file() else None


def words_of(command: str) -> list[str]:
    """The words of a command as a user writes it: a backslash is part of a path. Raises ValueError: a quote is not
    closed."""
    words = shlex.shlex(command, posix=True)
    words.whitespace_split, words.commenters, words.escape, words.quotes = True, "", "", '"'
    return list(words)


def own_environment() -> dict[str, str]:
    """Variables without which no program runs."""
    return {name: os.environ[name] for name in _NEEDED if name in os.environ}


@cache
def _own_job() -> Any:
    """A job with this process alone. Raises OSError."""
    import win32api
    import win32job

    job = _new_job()
    with as_os_error():
        win32job.AssignProcessToJobObject(job, win32api.GetCurrentProcess())
    return job


def grant(seconds: int) -> None:
    """Lets this process use so much more processor time before the system ends it."""
    import win32job

    used = os.times()
    with suppress(OSError):  # without a job there is no limit
        _limit(_own_job(), win32job.JOB_OBJECT_LIMIT_PROCESS_TIME, seconds=used.user + seconds + 1)


def ended_for_time(code: int) -> bool:
    """Tells whether an exit code is that of a process that used up what it was granted."""
    return code == _NOT_ENOUGH_QUOTA
