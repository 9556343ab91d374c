"""Signals that ask a program to end, and what a console has to be told before it understands escape sequences."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from secateur.system.windows.console import AWAITED, ENDING, end_by, understand_escapes
else:
    from secateur.system.posix.console import AWAITED, ENDING, end_by, understand_escapes

__all__ = ["AWAITED", "ENDING", "end_by", "understand_escapes"]
