"""Starts processes that end with this one, and limits the processor time of this process.

child = Child([git, "log"], env=own_environment(), group=True, stdout=subprocess.PIPE)   # ends with this process
child.work()                      # changes whenever the child does something
child.end_group()                 # ends the child and all processes that it started
grant(30)                         # 30 more seconds of processor time; `ended_for_time(code)` tells whether they were
used
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from secateur.system.windows.processes import *
else:
    from secateur.system.posix.processes import *
