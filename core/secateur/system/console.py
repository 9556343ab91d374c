"""The signals that ask a program to end, and the switch that makes a console understand escape sequences."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from secateur.system.windows.console import *
else:
    from secateur.system.posix.console import *
