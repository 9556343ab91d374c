"""`secateur run`: the command's exit code, its output pruned, the whole of it in the store, and nothing lost."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import secateur
from support.systems import posix

BUILD = "for n in range(3000): print('line', n, 'of build')\nprint('Error: no such file: foo.py')\nraise SystemExit(3)"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SECATEUR_STATE_DIR", str(tmp_path / "state"))
    return tmp_path / "state"


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "secateur", "run", *words], capture_output=True, text=True, check=False
    )


def test_what_is_worth_reading_is_printed_and_the_whole_is_kept() -> None:
    done = ran("--max-tokens", "100", "--", sys.executable, "-c", BUILD)
    assert done.returncode == 3
    lines = done.stdout.splitlines()
    assert "Error: no such file: foo.py" in lines and len(lines) < 10
    (digest,) = re.findall(r"; secateur recall ([0-9a-f]{12}) gives the whole", lines[-1])
    whole = secateur("recall", digest).out.splitlines()
    assert len(whole) == 3001 and whole[1500] == "line 1500 of build"


def test_short_output_and_the_exit_code_are_those_of_the_command() -> None:
    said = "import sys; print('out'); sys.stdout.flush(); print('err', file=sys.stderr); sys.exit(7)"
    done = ran("--", sys.executable, "-c", said)
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\nerr\n", "")


def test_where_pruning_fails_all_of_the_output_is_printed(state: Path) -> None:
    state.write_text("a file where the folder should be")
    done = ran("--max-tokens", "100", "--", sys.executable, "-c", BUILD)
    assert done.returncode == 3 and len(done.stdout.splitlines()) == 3001
    assert "secateur: the output is whole: cannot write" in done.stderr


def test_a_command_that_is_not_there_is_said_with_the_code_of_a_shell() -> None:
    done = ran("--", "no-such-command-anywhere")
    assert done.returncode == 127 and "cannot run no-such-command-anywhere" in done.stderr


@posix
def test_a_command_that_a_signal_ended_has_the_code_of_a_shell() -> None:
    assert ran("--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)").returncode == 137


@posix
def test_a_command_that_is_ended_from_outside_leaves_what_it_printed_so_far() -> None:
    said = (
        "import os, signal; print('first line\\n' * 40_000, flush=True); os.kill(os.getppid(), signal.SIGTERM); input()"
    )
    done = ran("--", sys.executable, "-c", said)
    assert done.returncode == -15 and done.stdout.startswith("first line\n" * 100)


def test_what_was_pruned_fits_when_it_comes_by_again() -> None:
    many = "for n in range(3000): print('ERROR', n, 'abcdef'[n % 6] * (n % 40))"
    done = ran("--max-tokens", "1000", "--", sys.executable, "-c", many)
    again = ran("--max-tokens", "1000", "--", sys.executable, "-c", f"print({done.stdout!r}, end='')")
    assert "gives the whole" in done.stdout and again.stdout == done.stdout
