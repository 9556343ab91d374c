"""What some machine lacks: tests that need it are skipped there, and say why."""

from __future__ import annotations

import os

IS_ROOT = os.geteuid() == 0
"""True where nothing can be forbidden us."""
