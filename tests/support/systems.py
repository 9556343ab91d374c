"""What some system lacks: tests that need it are skipped there, and say why."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, shells, modes or terminals of POSIX systems")
"""Marks a test, or with `pytestmark` a module, of what POSIX systems alone have."""

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
"""True where nothing can be forbidden us."""


def mkfifo(path: Path | str | bytes) -> None:
    """Makes a named pipe; skips the test where no folder can hold one."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no folder holds a pipe on this system")
    os.mkfifo(path)
