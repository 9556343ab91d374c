"""The end of the program, for which no thread of ours is waited."""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress


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
