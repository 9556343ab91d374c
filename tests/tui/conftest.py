"""Tests of the inspector's parts share the prepared pools of the screen tests, and their environment."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "screens"))

for _name in [name for name in os.environ if name.startswith("TEXTUAL") or name in ("NO_COLOR", "COLORTERM")]:
    del os.environ[_name]
