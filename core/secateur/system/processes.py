"""Starts processes that end with this one, and limits the processor time of this process.

child = Child([git, "log"], env=own_environment(), group=True, stdout=subprocess.PIPE)   # ends with this process
child.work()                      # changes whenever the child does something
child.end_group()                 # ends the child and all processes that it started
grant(30)                         # 30 more seconds of processor time; `ended_for_time(code)` tells whether they were
used
subprocess.run(isolated_python("print(1)"))   # the only way in which this program starts Python
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

if sys.platform == "win32":
    from secateur.system.windows.processes import *
else:
    from secateur.system.posix.processes import *


def isolated_python(code: str, *words: str) -> list[str]:
    """Makes the command that runs `code` in a new Python with `words` in `sys.argv[1:]`.

    That Python searches modules where this one does, but never in the working folder, which may be a hostile
    repository.
    """
    search = json.dumps([str(Path(entry).absolute()) for entry in sys.path if entry])
    boot = f"import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); {code}"
    return [sys.executable, "-I", "-c", boot, search, *words]
