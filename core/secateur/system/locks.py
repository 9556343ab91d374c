"""Locks files that one process at a time may hold, and folders that one process at a time may work in.

The system releases the locks of a process that dies, so neither a clock nor process numbers are needed.

    handle = open_lock(path)          # makes the file if it is missing
    lock(handle)                      # waits until it is free
    try_lock(handle)                  # False: another process holds it
    is_held(path)
    remove_unless_held(path)
    with one_at_a_time(folder): ...
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from secateur.system.windows.locks import *
else:
    from secateur.system.posix.locks import *
