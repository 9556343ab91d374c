"""Runs of pytest as a user would start them, with the plugin as its entry point gives it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUERY = "where is the refund total rounded"
MONEY = '''\
def refund_total(lines):
    """Refund total, rounded."""
    return round(sum(lines), 2)


def greet():
    return "hello"
'''
CONFIGURATION = "[pytest]\naddopts = --strict-markers --strict-config -p no:cacheprovider\nfilterwarnings = error\n"
OTHER_PLUGINS = ("asyncio", "anyio", "cov", "hypothesispytest", "platformdirs", "xdist", "syrupy")
"""Turned off where a run does not name them: each costs a tenth of a second, and has opinions of its own."""

ON_CI = ("CI", "BUILD_NUMBER")
"""Variables by which pytest tells that it runs on a CI server."""


def install_plugin(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Writes the metadata that an installer writes of the project's entry points for pytest, and makes it found."""
    entries = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    metadata = folder / "plugin_of_secateur-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin-of-secateur\nVersion: 1.0\n", "utf-8")
    lines = "".join(f"{name} = {module}\n" for name, module in entries.items())
    (metadata / "entry_points.txt").write_text(f"[pytest11]\n{lines}", "utf-8")
    patch.syspath_prepend(folder)
    source = [str(ROOT / "core"), str(ROOT / "tui")]
    patch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *source, os.environ.get("PYTHONPATH", "")]))


Runs = Callable[..., pytest.RunResult]
"""`run(WORDS..., plugins=())`: pytest beside these plugins, in the folder where the test is."""


def words_of(words: tuple[str, ...], plugins: tuple[str, ...]) -> list[str]:
    """The arguments of a run of pytest beside these plugins."""
    return [*(word for name in OTHER_PLUGINS if name not in plugins for word in ("-p", f"no:{name}")), *words]


def run_apart(*words: str, plugins: tuple[str, ...] = ()) -> pytest.RunResult:
    """`pytest WORDS...` in a process of its own."""
    command = [sys.executable, "-m", "pytest", *words_of(words, plugins)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    return pytest.RunResult(done.returncode, done.stdout.splitlines(), done.stderr.splitlines(), 0)
