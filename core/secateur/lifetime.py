"""Ends the processes that we start when we end, even where we are killed and can tell nobody.

On Linux the kernel sees to it (`PR_SET_PDEATHSIG`): it also ends a process that computes inside a library and runs no
Python, and one that waits for a pipe nobody writes to. Elsewhere a process of ours looks by itself whether its parent
is still there.

In the same way no thread of ours keeps the process from ending (`leave`).
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import NoReturn

_DIRECTORIES = "/usr/bin:/bin"
_LOOK_SECONDS = 1.0
_PROBE_SECONDS = 5.0


def tied(command: Sequence[str]) -> list[str]:
    """Returns the command in a form that the system ends when the thread that starts it ends; unchanged where the
    system cannot do that."""
    return [*_setpriv(), *command]


def watch_parent(parent: int) -> None:
    """Ends this process soon after `parent`, which started it, is gone. It is for systems whose kernel does not do
    that."""
    threading.Thread(target=_wait_for_its_end, args=(parent,), name="secateur-parent", daemon=True).start()


def leave(code: int) -> None:
    """Ends the process with this exit code without waiting for its other threads, or taking apart what it holds.

    Python waits at its end for threads of executors, also for one inside a parser that nothing interrupts, and frees
    every object one by one. Whoever calls this has put away what must be kept; output is written out, and what was
    registered with `atexit` is done.
    """
    try:
        atexit._run_exitfuncs()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):  # there is none, or nobody reads it any more
                stream.flush()
        os._exit(code)


def _wait_for_its_end(parent: int) -> NoReturn:
    while os.getppid() == parent:
        time.sleep(_LOOK_SECONDS)
    os._exit(1)


@cache
def _setpriv() -> tuple[str, ...]:
    """Returns the words before a command that tie it to us; none where `setpriv` is missing or too old (BusyBox).

    Not `preexec_fn`: running Python between fork and exec can wait for a lock that another thread held.
    """
    binary = shutil.which("setpriv", path=_DIRECTORIES)
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
