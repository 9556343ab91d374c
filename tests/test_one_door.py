"""What is printed or written passes `without_recognised`: nothing writes past the functions that call it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

WRITERS = {
    "core/secateur/cli/output.py": "the door of the standard streams",
    "core/secateur/output_files.py": "the door of files that a user asked for",
    "core/secateur/remembered/store.py": "the door of what is remembered",
    "core/secateur/retrieval/cache.py": "the door of answers that are kept; and a random key",
    "core/secateur/index/store/folder.py": "arrays and records, which are made of texts with markers",
    "core/secateur/index/store/arrayfile.py": "arrays, which are made of texts with markers",
    "core/secateur_agents/store.py": "originals, whose credentials it replaces itself",
    "core/secateur_agents/savings.py": "sizes, and the name of a session",
    "core/secateur_agents/proxy/agents.py": "the address of its own server, in a private folder of the run",
    "core/secateur_agents/proxy/record.py": "requests, whose credentials it replaces itself; read by their user alone",
    "core/secateur_agents/commands/run.py": "the output of a command, which is its own",
    "core/secateur/executors/executor.py": "messages between processes",
    "core/secateur/kinds/diff/temporary_objects.py": "objects for git, in a temporary folder",
    "core/secateur/cli/interruption.py": "one line of ours, before anything is imported",
    "core/secateur/sources/git.py": "an empty repository that borrows objects, in a temporary folder",
    "core/secateur/sources/clones.py": "the record of a clone; its address holds no credential",
    "core/secateur/sources/samples.py": "our own samples",
    "core/secateur/sources/process.py": "the input of git",
    "core/secateur/kinds/conversation/kind.py": "makes a transcript: `write` returns it",
    "core/secateur/kinds/conversation/decisions.py": "makes a transcript: `write` returns it",
    "tui/secateur_tui/parts/editors.py": "the null device, for an editor",
    "tui/secateur_tui/serving.py": "the address of its own server",
}
"""Modules that write, and why they may."""

NAMES = {"write", "write_text", "write_bytes", "writelines", "fdopen", "print"}


def _writes(tree: ast.Module) -> list[int]:
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in NAMES or (name == "open" and any(_is_write_mode(one) for one in (*node.args, *_values(node)))):
            found.append(node.lineno)
    return found


def _values(node: ast.Call) -> list[ast.expr]:
    return [keyword.value for keyword in node.keywords if keyword.arg == "mode"]


def _is_write_mode(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and set(node.value) <= set("wxabt+r")
        and (bool(set(node.value) & set("wxa+")))
    )


@pytest.mark.parametrize("folder", ["core", "tui"])
def test_nothing_writes_past_the_door(folder: str):
    past = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if name not in WRITERS:
            past += [f"{name}:{line}" for line in _writes(ast.parse(path.read_text("utf-8")))]
    assert not past, "write through secateur.output_files, secateur.cli.output or secateur.remembered.store"


def test_the_list_of_writers_names_no_module_that_writes_nothing():
    for name in WRITERS:
        assert _writes(ast.parse((ROOT / name).read_text("utf-8"))), name


@pytest.mark.parametrize(
    "name",
    [name for name, reason in WRITERS.items() if reason.startswith("the door")]
    + ["core/secateur/terminal.py", "core/secateur_agents/mcp/server.py"],
)
def test_a_door_takes_out_what_was_recognised(name: str):
    text = (ROOT / name).read_text("utf-8")
    assert "without_recognised(" in text or "outgoing(" in text
