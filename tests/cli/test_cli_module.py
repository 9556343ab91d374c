"""The command line as a module: `python -m secateur`."""

import subprocess
import sys

from secateur import __version__


def test_the_module_is_the_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "secateur", "--version"], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout) == (0, f"secateur {__version__}\n")
    wrong = subprocess.run(
        [sys.executable, "-m", "secateur", "serch"], capture_output=True, text=True, check=False, timeout=60
    )
    assert wrong.returncode == 2
    assert "__main__" not in wrong.stderr
