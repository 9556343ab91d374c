"""`secateur run`: the command's exit code, its output pruned, the whole of it in the store, and nothing lost."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from secateur import count_tokens
from support.cli import secateur

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
    assert "secateur: the output is not pruned: cannot write" in done.stderr


def test_a_command_that_is_not_there_is_said_with_the_code_of_a_shell() -> None:
    done = ran("--", "no-such-command-anywhere")
    assert done.returncode == 127 and "cannot run no-such-command-anywhere" in done.stderr


def test_a_command_that_a_signal_ended_has_the_code_of_a_shell() -> None:
    assert ran("--", sys.executable, "-c", "import os; os.kill(os.getpid(), 9)").returncode == 137


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


@pytest.fixture
def running() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `secateur run` on a program that goes on until its input ends."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *words: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "secateur", "run", *words, "--", sys.executable, "-c", code]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        with process:
            process.kill()


def test_the_first_line_of_a_server_is_seen_while_it_runs(running: Callable[..., subprocess.Popen[str]]) -> None:
    process = running("import sys; print('ready on port 3000', flush=True); sys.stdin.read(); print('end')")
    assert process.stdout is not None and process.stdout.readline() == "ready on port 3000\n"
    assert process.communicate() == ("end\n", "") and process.returncode == 0


def test_where_the_limit_holds_lines_back_that_is_said_once_while_the_program_runs(
    running: Callable[..., subprocess.Popen[str]],
) -> None:
    code = BUILD.replace("raise", "import sys; sys.stdout.flush(); sys.stdin.read(); raise")
    process = running(code, "--max-tokens", "200")
    assert process.stdout is not None and process.stderr is not None
    assert process.stderr.readline().startswith("secateur: at most ")
    assert process.poll() is None and process.stdout.readline() == "line 0 of build\n"
    assert process.stdin is not None
    process.stdin.close()
    out, err = process.stdout.read(), process.stderr.read()
    assert process.wait() == 3 and err == ""
    assert out.startswith("line 1 of build\nline 2 of build\n") and out.count("line 1 of build\n") == 1
    assert "\nError: no such file: foo.py\n" in out and count_tokens(f"line 0 of build\n{out}") <= 200


def test_credentials_are_replaced_in_short_output_too_and_where_settings_are_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secateur.toml").write_text("budget = [")
    key = "AKIA" + "QYLPMN5HFIQR7XYA"
    for expected in ("", "secateur: your settings are ignored: "):
        done = ran("--", sys.executable, "-c", f"print('export AWS_ACCESS_KEY_ID={key}', end='')")
        assert done.stdout == "export AWS_ACCESS_KEY_ID=[redacted: aws-access-key #1]"
        assert done.stderr.startswith(expected) and bool(done.stderr) == bool(expected)
        monkeypatch.setenv("SECATEUR_CONFIG_DIR", str(tmp_path))
