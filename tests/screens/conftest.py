"""Textual reads the environment when it is imported: what would change the screens is taken away before."""

import os

for _name in [name for name in os.environ if name.startswith("TEXTUAL") or name in ("NO_COLOR", "COLORTERM")]:
    del os.environ[_name]
