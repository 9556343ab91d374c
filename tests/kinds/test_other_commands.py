"""A command that a package beside the engine registers is found by its name; a broken one costs itself alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from secateur.cli.main import COMMANDS
from support.cli import secateur

GREET = """
def arguments(parser):
    parser.add_argument("name")


def run(options):
    print(f"hello {options.name}")
    return 0
"""


def test_a_command_of_another_distribution_runs(distributions: Callable[..., None]) -> None:
    distributions("greetings", {"greet_command": GREET}, {}, {"greet": "greet_command"})
    assert secateur("greet", "you").out == "hello you\n"
    assert "greet" in secateur("--help").out and "a command of greetings" in secateur("--help").out
    assert secateur("greet", "you", "and", "me").code == 2


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import nothing_of_this_name\n", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("raise SystemExit(3)\n", "SystemExit: 3"),
        ("", "AttributeError"),
    ],
)
def test_one_that_cannot_be_loaded_costs_itself_alone(
    distributions: Callable[..., None], source: str, said: str
) -> None:
    distributions("greetings", {"greet_command": source}, {}, {"greet": "greet_command"})
    ran = secateur("greet", "you")
    assert ran.code == 2 and f"the command greet (greet_command) cannot be used: {said}" in ran.err
    assert secateur("sessions", "--help").code == 0
    assert secateur("--help").code == 0


@pytest.mark.parametrize(("name", "owner"), [("mcp", "secateur_agents.commands.mcp"), ("files", "a built-in kind")])
def test_one_of_our_names_is_ours(distributions: Callable[..., None], name: str, owner: str) -> None:
    distributions("greetings", {"greet_command": GREET}, {}, {name: "greet_command"})
    said = f"warning: the command {name} (greet_command) cannot be used: the name belongs to {owner}"
    assert said in " ".join(secateur("--help").out.split())
    assert "hello" not in secateur(name, "--help").out


def test_help_imports_no_package_of_commands() -> None:
    words = [sys.executable, "-X", "importtime", "-m", "secateur", "--help"]
    ran = subprocess.run(words, capture_output=True, text=True, check=True)
    assert all(name in ran.stdout for name in COMMANDS) and "importlib.metadata" in ran.stderr
    assert not any(name in ran.stderr for name in ("secateur_agents", "secateur_lab"))
