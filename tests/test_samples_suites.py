"""The sample repositories are real: their own tests pass, wherever their language runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from secateur.sources.samples import materialise, sample_names

SECONDS = 240
"""A first Go build compiles the standard library."""


@pytest.mark.parametrize("name", sample_names())
def test_the_tests_of_a_sample_pass(name: str, tmp_path: Path) -> None:
    root = materialise(name, tmp_path)
    runners = {"pyproject.toml": _python, "package.json": _node, "go.mod": _go}
    runner = next((run for marker, run in runners.items() if (root / marker).is_file()), None)
    assert runner, f"nobody knows how to run the tests of {name}"
    runner(root)


def _python(root: Path) -> None:
    out = _run(root, sys.executable, "-m", "unittest", "-v")
    assert "OK" in out


def _node(root: Path) -> None:
    node, compiler = shutil.which("node"), shutil.which("tsc")
    if not node or not compiler:
        pytest.skip(f"node and tsc are needed to run the tests of {root.name}")
    subprocess.run(
        [compiler, "-p", "tsconfig.json"], cwd=root, check=False, timeout=SECONDS
    )  # emits without @types/node, complaining
    assert "# fail 0" in _run(root, node, "--test", "dist/test")


def _go(root: Path) -> None:
    go = shutil.which("go")
    if not go:
        pytest.skip(f"go is needed to run the tests of {root.name}")
    _run(root, go, "vet", "./...")
    assert "ok" in _run(root, go, "test", "./...")


def _run(root: Path, *words: str) -> str:
    env = os.environ | {
        "GOPROXY": "off",
        "GOFLAGS": "-mod=readonly",
        "GOTOOLCHAIN": "local",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    done = subprocess.run(words, cwd=root, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
