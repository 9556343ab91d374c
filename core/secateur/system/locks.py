"""Files that one process at a time holds, and folders in which one process at a time works.

The system lets go of the locks of a process that dies: no clock and no process number has to be trusted.

    handle = open_lock(path)          # makes it
    lock(handle)                      # waits
    try_lock(handle)                  # False: another process holds it
    is_held(path)
    remove_unless_held(path)
    with one_at_a_time(folder): ...
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from secateur.system.windows.locks import is_held, lock, one_at_a_time, open_lock, remove_unless_held, try_lock
else:
    from secateur.system.posix.locks import is_held, lock, one_at_a_time, open_lock, remove_unless_held, try_lock

__all__ = ["is_held", "lock", "one_at_a_time", "open_lock", "remove_unless_held", "try_lock"]
