"""Processes on Windows. Each child is in a job, a group of processes with common limits. The job ends when its last
handle is closed, so a child and all that it started end with this process."""

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
"""The folders of the system's programs."""

_NEEDED = ("SYSTEMROOT", "WINDIR", "TEMP", "TMP")

_SET_QUOTA, _TERMINATE = 0x100, 0x1
_ENDED_BY_US = 1
_NOT_ENOUGH_QUOTA = 1816
"""The exit code of a process that the system ended because of its processor time."""

_TICKS = 10_000_000
"""A second, in the time unit of jobs."""


class Child(subprocess.Popen[bytes]):
    """A process without a window that ends with this one, and so do the processes that it starts. `group`: Ctrl-C in
    our console does not reach it. Raises OSError or ValueError: it cannot be started."""

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
        with suppress(OSError), as_os_error():  # an error means that it has ended already
            process = win32api.OpenProcess(_SET_QUOTA | _TERMINATE, False, self.pid)
            win32job.AssignProcessToJobObject(self._job, process)

    def end_group(self) -> None:
        """Ends the process and all that it started, unless it has ended already."""
        import win32job

        if self.poll() is None:
            with suppress(OSError), as_os_error():
                win32job.TerminateJobObject(self._job, _ENDED_BY_US)
            with suppress(OSError):
                self.kill()  # in case it could not be put into the job

    def work(self) -> object:
        """Returns a value that changes whenever the process, or one that it started, does something; None if the system
        does not tell."""
        import win32job

        with suppress(OSError), as_os_error():
            return win32job.QueryInformationJobObject(self._job, win32job.JobObjectBasicAndIoAccountingInformation)
        return None


def _new_job() -> Any:
    """Makes a job, which closes itself when nothing refers to it. Raises OSError."""
    import win32job

    with as_os_error():
        return win32job.CreateJobObject(None, "")


def _limit(job: Any, flag: int, *, seconds: float = 0.0) -> None:
    """Sets the limit of a job. Raises OSError."""
    import win32job

    with as_os_error():
        limits = win32job.QueryInformationJobObject(job, win32job.JobObjectExtendedLimitInformation)
        limits["BasicLimitInformation"] |= {"LimitFlags": flag, "PerProcessUserTimeLimit": int(seconds * _TICKS)}
        win32job.SetInformationJobObject(job, win32job.JobObjectExtendedLimitInformation, limits)


def watch_parent(parent: int) -> None:
    """Does nothing: the system ends this process with its parent."""


def start_detached(command: Sequence[str], stream: IO[bytes]) -> subprocess.Popen[bytes]:
    """Starts a program that outlives this process and its console, with a file for all its streams. Raises OSError or
    ValueError."""
    flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    return subprocess.Popen(command, stdin=stream, stdout=stream, stderr=stream, creationflags=flags)


def program_in(folder: str, name: str) -> str | None:
    """Returns the path of a program in this folder alone; None if it is not there.

    `shutil.which` would look in the working folder first. Batch files do not count: a shell reads their arguments.
    """
    path = Path(folder, f"{name}.exe")
    return str(path) if path.is_file() else None


def words_of(command: str) -> list[str]:
    """Splits a command that a user wrote into words. A backslash is part of a path. Raises ValueError: a quote is not
    closed."""
    words = shlex.shlex(command, posix=True)
    words.whitespace_split, words.commenters, words.escape, words.quotes = True, "", "", '"'
    return list(words)


def own_environment() -> dict[str, str]:
    """Returns the environment variables that every program needs."""
    return {name: os.environ[name] for name in _NEEDED if name in os.environ}


@cache
def _own_job() -> Any:
    """Puts this process into a job of its own. Raises OSError."""
    import win32api
    import win32job

    job = _new_job()
    with as_os_error():
        win32job.AssignProcessToJobObject(job, win32api.GetCurrentProcess())
    return job


def grant(seconds: int) -> None:
    """Lets this process use this many more seconds of processor time before the system ends it."""
    import win32job

    used = os.times()
    with suppress(OSError):  # without a job there is no limit
        _limit(_own_job(), win32job.JOB_OBJECT_LIMIT_PROCESS_TIME, seconds=used.user + seconds + 1)


def ended_for_time(code: int) -> bool:
    """Tells from an exit code whether a process used up its granted time."""
    return code == _NOT_ENOUGH_QUOTA
