"""Writes the pages and pictures of docs/ that are derived from the program: `python docs/generate.py`. Tests fail when
they are stale."""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from secateur.cli.command_parser import CommandParser
from secateur.cli.main import COMMANDS, command
from secateur.cli.schemas import schemas
from secateur.settings import PROFILES, Key
from secateur.settings import keys as setting_keys
from secateur_tui.actions import ACTIONS, key_name

DOCS = Path(__file__).resolve().parent
ARGUMENTS = ("| argument | meaning |", "|---|---|")

PICTURES = {
    "inspector.svg": (
        "sample:orders",
        *("--query", "where is the refund total rounded?", "--set", "budget=1000", "--size", "116x35"),
        *("--keys", "down " * 9 + "i"),
    ),
    "conversation.svg": (
        *("examples/session.jsonl", "--bench", "conversation"),
        *("--set", "conversation_prune.safe_zone_tokens=7000", "--keys", "B " * 4 + "down " * 18 + "i"),
    ),
}
"""Picture -> what it shows: the arguments of `docs/shot.py`. The cursor is on something
that was cut, and the page beside it says why."""


REPLAYS = {"demo.svg": "examples/search.replay.jsonl"}
"""Animated picture -> the recording that it shows."""


def pages() -> dict[str, str]:
    """File name -> text. Prose stands in the pages themselves."""
    answers = {f"schemas/{name}.schema.json": json.dumps(schema, indent=1) + "\n" for name, schema in schemas().items()}
    return {
        "configuration.md": page("configuration.md", settings=settings(), profiles=profiles()),
        "commands.md": page("commands.md", commands=commands()),
        "inspector.md": page("inspector.md", keys=actions()),
        "architecture.md": page("architecture.md", house=house()),
        "kind-example.md": page(
            "kind-example.md",
            pyproject=fenced("toml", DOCS / "examples/todo/pyproject.toml"),
            kind=fenced("python", DOCS / "examples/todo/todo_kind.py"),
            screen=fenced("text", DOCS.parent / "tests/screens/goldens/todo_why_80x24.txt"),
        ),
        **answers,
    }


def picture(name: str, output: Path) -> None:
    """Take one of `PICTURES` or `REPLAYS` with no settings but the defaults."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"SECATEUR_CACHE_DIR": f"{folder}/cache", "SECATEUR_CONFIG_DIR": f"{folder}/config"}
        words = [sys.executable, DOCS / "shot.py", *PICTURES.get(name, ()), "--output", output]
        if name in REPLAYS:
            words = [sys.executable, "-m", "secateur.cli.main", "replay", REPLAYS[name], "--svg", output]
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | own
        subprocess.run(words, cwd=DOCS, env=environment, check=True)


def page(name: str, **tables: list[str]) -> str:
    """A page as it is, with what stands between `<!-- table -->` and `<!-- end of table -->` made anew."""
    text = (DOCS / name).read_text("utf-8")
    for table, lines in tables.items():
        before, begin, rest = text.partition(f"<!-- {table} -->\n")
        _, end, after = rest.partition(f"<!-- end of {table} -->\n")
        assert begin and end, f"{name}: no place for {table}"
        text = "".join((before, begin, *(f"{line}\n" for line in lines), end, after))
    return text


def fenced(language: str, file: Path) -> list[str]:
    """The text of a file as a block."""
    return [f"```{language}", *file.read_text("utf-8").splitlines(), "```"]


def house() -> list[str]:
    """The layers of the import contracts, top to bottom, each module with the first sentence of its docstring."""
    contracts = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    lines: list[str] = []
    for package, name in (("tui/secateur_tui", "The files of the inspector"), ("core", "The folders of")):
        (contract,) = (contract for contract in contracts if contract["name"].startswith(name))
        lines += ["", f"**`{package}/`**", "", "| layer | module | what it holds |", "|---|---|---|"]
        for number, layer in enumerate(contract["layers"], start=1):
            for module in layer.split(" | "):
                path = DOCS.parent / package / module.replace(".", "/")
                file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
                said = (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n\n")[0]
                first = re.split(r"(?<=[.])\s", " ".join(said.split()))[0]
                shown = path.relative_to(DOCS.parent / package).as_posix() + ("/" if path.is_dir() else ".py")
                lines.append(f"| {number} | `{shown}` | {first} |")
    return [*lines, ""]


def settings() -> list[str]:
    """Every key with its default, what is allowed and who may set it, by table."""
    lines: list[str] = []
    table = None
    for key in setting_keys().values():
        if key.scope == "run":
            continue
        head, _, name = key.name.rpartition(".")
        if head != table:
            lines += ["", f"## `[{head}]`" if head else "## Top level", ""]
            lines += ["| key | default | allowed | set by | meaning |", "|---|---|---|---|---|"]
            table = head
        lines.append(f"| `{name}` | `{_value(key.default)}` | {key.allowed()} | {_set_by(key)} | {key.doc} |")
    return [*lines, ""]


def profiles() -> list[str]:
    """Keys that the built-in profiles set."""
    flat = {name: dict(_flat(values)) for name, values in PROFILES.items()}
    lines = ["| key | " + " | ".join(PROFILES) + " |", "|---|" + "---|" * len(PROFILES)]
    for name in dict.fromkeys(key for values in flat.values() for key in values):
        values = [f"`{_value(values.get(name, setting_keys()[name].default))}`" for values in flat.values()]
        lines.append(f"| `{name}` | " + " | ".join(values) + " |")
    return lines


def commands() -> list[str]:
    """Every command with its arguments and flags; those that all commands take come once."""
    parts: list[str] = []
    shared: list[str] = []
    for name, summary in COMMANDS.items():
        parser = CommandParser(prog=f"secateur {name}", add_help=False)
        command(name)[0](parser)
        own, common = [], []
        for group in parser._action_groups:
            rows = common if group.title == "every command" else own
            rows += [
                _row(action)
                for action in group._group_actions
                if action.dest != "format" or group.title != "every command"
            ]
            own += [_row(action) for action in group._group_actions if action.dest == "format"]
        shared = shared or common
        parts += [f"## secateur {name}", "", f"{summary[0].upper()}{summary[1:]}.", "", *ARGUMENTS, *own, ""]
    return [*parts, "## Every command", "", *ARGUMENTS, *shared, ""]


def actions() -> list[str]:
    """Every action of the inspector with its keys."""
    rows = [
        f"| `{action.id}` | {' '.join(f'`{key_name(key)}`' for key in action.keys)} | {action.help} |"
        for action in ACTIONS
    ]
    return ["| action | keys | what it does |", "|---|---|---|", *rows]


def _row(action: argparse.Action) -> str:
    value = str(action.metavar or "") or ("\\|".join(map(str, action.choices)) if action.choices else "")
    name = action.option_strings[-1] + (f" {value}" if value else "") if action.option_strings else f"{action.metavar}"
    said = argparse.HelpFormatter("")._expand_help(action)  # as the help prints it
    return f"| `{name}` | {said} |"


def _flat(table: Any, prefix: str = "") -> list[tuple[str, Any]]:
    flat = []
    for name, value in table.items():
        flat += _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return flat


def _set_by(key: Key) -> str:
    if key.scope == "user":
        return "you"
    return f"repository (up to {key.default}), you" if key.lowered_only else "repository, you"


def _value(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
    for name in (*PICTURES, *REPLAYS):
        picture(name, DOCS / name)
