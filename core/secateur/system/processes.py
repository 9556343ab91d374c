"""Processes that we start, so that none outlives us, and this process as the system bounds and ends it.

child = Child([git, "log"], env=own_environment(), group=True, stdout=subprocess.PIPE)   # ends with us
child.work()                      # equal to what it was before only where it did nothing meanwhile
child.end_group()                 # it, and all that it started
grant(30)                         # so many seconds of the processor from now; `ended_for_time(code)` afterwards
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from secateur.system.windows.processes import (
        SYSTEM_FOLDERS,
        Child,
        ended_for_time,
        grant,
        own_environment,
        program_in,
        start_detached,
        watch_parent,
        words_of,
    )
else:
    from secateur.system.posix.processes import (
        SYSTEM_FOLDERS,
        Child,
        ended_for_time,
        grant,
        own_environment,
        program_in,
        start_detached,
        watch_parent,
        words_of,
    )

__all__ = [
    "SYSTEM_FOLDERS",
    "Child",
    "ended_for_time",
    "grant",
    "own_environment",
    "program_in",
    "start_detached",
    "watch_parent",
    "words_of",
]
