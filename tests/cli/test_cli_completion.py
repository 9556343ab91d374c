"""What shells complete, asked of real ones where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from secateur.cli.main import COMMANDS
from secateur.settings import keys
from secateur.tokens import COUNTERS
from support.cli import secateur
from support.json_shapes import violations
from support.processes import environment

BASH = """
source "$HOME/completion.bash"
COMP_LINE="$1" COMP_POINT=${#1} COMP_TYPE=9
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
_python_argcomplete secateur
printf '%s\\n' "${COMPREPLY[@]}"
"""

ZSH = """
autoload -U compinit && compinit -u -D
source "$HOME/completion.zsh"
_describe() { print -l -- ${(P)2} }
BUFFER="$1" CURSOR=${#1} words=(${(z)1})
_python_argcomplete
"""

FISH = """
source "$HOME/completion.fish"
complete -C "$argv[1]"
"""

HEAVY = ("tree_sitter", "tiktoken", "networkx", "textual", "secateur.engine", "mcp")


@pytest.fixture
def places(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that finds `secateur`, and a folder with files to be in."""
    program = tmp_path / "bin" / "secateur"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m secateur.cli.main "$@"\n')
    program.chmod(0o755)
    work = tmp_path / "work"
    (work / "source").mkdir(parents=True)
    (work / "some file.py").write_text("")
    (work / "session.jsonl").write_text("")
    (work / "secateur.toml").write_text("[profiles.mine]\n")
    home = {"HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir()
    for shell in ("bash", "zsh", "fish"):
        (tmp_path / "home" / f"completion.{shell}").write_text(secateur("completion", shell).out)
    return environment() | home | {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}", "PWD": str(work)}


def asked(shell: str, line: str, places: dict[str, str]) -> list[str]:
    """The words that a shell offers at the end of a line, without what is said of them."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    words = {
        "bash": ["bash", "--norc", "-c", BASH, "bash", line],
        "zsh": ["zsh", "-f", "-c", ZSH, "zsh", line],
        "fish": ["fish", "--no-config", "-c", FISH, line],
    }[shell]
    done = subprocess.run(words, env=places, cwd=places["PWD"], capture_output=True, text=True, check=True)
    separator = {"bash": "\n", "zsh": ":", "fish": "\t"}[shell]
    lines = (line.replace("\\:", "\0").partition(separator)[0] for line in done.stdout.splitlines())
    return [line.replace("\0", ":").rstrip() for line in lines if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_flags_and_values(shell: str, places: dict[str, str]) -> None:
    assert asked(shell, "secateur sea", places) == ["search"]
    assert set(asked(shell, "secateur ", places)) == set(COMMANDS)
    assert "--budget" in asked(shell, "secateur search q --b", places)
    assert asked(shell, "secateur index --form", places) == ["--format"]
    assert set(asked(shell, "secateur search q --format ", places)) >= {"text", "json", "markdown"}
    assert asked(shell, "secateur search q --strategy rel", places) == ["relevance"]
    assert sorted(asked(shell, "secateur completion ", places)) == ["bash", "fish", "zsh"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_what_is_only_known_now(shell: str, places: dict[str, str]) -> None:
    assert set(asked(shell, "secateur search q --profile ", places)) == {"spec", "recommended", "mine"}
    assert set(asked(shell, "secateur files . --counter ", places)) == set(COUNTERS)
    assert asked(shell, "secateur inspect --session ", places) == ["latest", "with"]
    assert "search" in asked(shell, "secateur demo ", places)


def test_settings_are_completed_up_to_their_value(places: dict[str, str]) -> None:
    assert set(asked("bash", "secateur config --set ", places)) == {f"{name}=" for name in keys()}
    assert asked("bash", "secateur config --set graph_rag.max_d", places) == ["graph_rag.max_depth="]
    strategies = asked("bash", "secateur config --set smart_pruning.strategy=", places)
    assert set(strategies) == set(keys()["smart_pruning.strategy"].choices)
    assert asked("bash", "secateur config --set preference.enabled=t", places) == ["true"]


def test_files_are_offered_where_files_are_expected_and_samples_where_they_are(places: dict[str, str]) -> None:
    assert set(asked("bash", "secateur search q s", places)) == {
        "source/",
        "some\\ file.py",
        "session.jsonl",
        "secateur.toml",
        "sample:orders",
        "sample:boards",
        "sample:courier",
    }
    assert asked("bash", "secateur search q sample:ord", places) == ["orders"]
    assert asked("bash", "secateur conversation sess", places) == ["session.jsonl"]
    assert asked("bash", "secateur config --config secat", places) == ["secateur.toml"]
    assert asked("bash", "secateur search s", places) == []
    assert asked("bash", "secateur search q --budget s", places) == []


def test_a_name_that_could_not_be_shown_is_not_offered(places: dict[str, str]) -> None:
    (Path(places["PWD"]) / "session\x1b[2J").write_text("")
    (Path(places["PWD"]) / "session$(id)").write_text("")
    assert set(asked("bash", "secateur conversation sess", places)) == {"session.jsonl", "session\\$\\(id\\)"}


@pytest.mark.parametrize("line", ["secateur search q --set ", "secateur inspect --session ", "secateur demo "])
def test_nothing_of_the_engine_is_loaded(line: str, places: dict[str, str]) -> None:
    out = Path(places["PWD"]) / "out"
    call = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(out),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    words = [sys.executable, "-X", "importtime", "-m", "secateur.cli.main"]
    done = subprocess.run(words, env=places | call, capture_output=True, text=True, check=True)
    loaded = {text.rpartition("|")[2].strip() for text in done.stderr.splitlines()}
    assert "argcomplete" in loaded
    assert loaded & set(HEAVY) == set()
    assert out.read_text()


@pytest.mark.parametrize("point", ["", "x", "-1", "100000"])
def test_a_request_that_makes_no_sense_ends_without_words(point: str, places: dict[str, str]) -> None:
    call = {"_ARGCOMPLETE": "1", "COMP_LINE": "secateur search 'q", "COMP_POINT": point}
    done = subprocess.run(
        [sys.executable, "-m", "secateur.cli.main"], env=places | call, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_shell_that_is_not_known_is_a_wrong_call() -> None:
    done = secateur("completion", "bahs")
    assert (done.code, done.out) == (2, "")
    assert "one of bash, zsh, fish" in done.err
    assert "bash" in done.err.partition("hint")[2]


def test_the_script_is_a_field_of_the_json() -> None:
    found = secateur("completion", "fish", "--format", "json").json
    assert violations("completion", found) == []
    assert found["shell"] == "fish"
    assert found["script"] == secateur("completion", "fish").out
