"""Tests of the inspector's parts share the prepared pools of the screen tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "screens"))
