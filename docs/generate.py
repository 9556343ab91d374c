"""Writes the pages and pictures of docs/ that are derived from the program: `python docs/generate.py`. Tests fail when
they are stale."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from secateur.cli.main import COMMANDS, command
from secateur.render.shapes import schemas
from secateur.settings import PROFILES, Key
from secateur.settings import keys as setting_keys
from secateur.settings.names import LOWERED_ONLY, RENAMED
from secateur_tui.actions import ACTIONS, key_name

DOCS = Path(__file__).resolve().parent
KEYS_BEGIN, KEYS_END = "<!-- keys -->\n", "<!-- end of keys -->\n"

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
"""Picture -> what it shows: the arguments of `python -m secateur_tui.shot`. The cursor is on something
that was cut, and the page beside it says why."""


def pages() -> dict[str, str]:
    """File name -> text."""
    answers = {f"schemas/{name}.schema.json": json.dumps(schema, indent=1) + "\n" for name, schema in schemas().items()}
    return {"configuration.md": configuration(), "commands.md": commands(), "inspector.md": inspector(), **answers}


def picture(name: str, output: Path) -> None:
    """Take one of `PICTURES` with no settings but the defaults."""
    with tempfile.TemporaryDirectory() as folder:
        own = {"SECATEUR_CACHE_DIR": f"{folder}/cache", "SECATEUR_CONFIG_DIR": f"{folder}/config"}
        words = [sys.executable, "-m", "secateur_tui.shot", *PICTURES[name], "--output", output]
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | own
        subprocess.run(words, cwd=DOCS, env=environment, check=True)


def configuration() -> str:
    """Every key with its default, what is allowed and who may set it."""
    lines = [
        "# Configuration",
        "",
        (
            "Settings come from, later ones winning: defaults; `secateur.toml` of the repository (or `[tool.secateur]`"
            " in its"
        ),
        (
            "`pyproject.toml`); `secateur.toml` in your configuration folder (`SECATEUR_CONFIG_DIR`, else the"
            " system's); `--config FILE`;"
        ),
        (
            "`--profile`, `--set KEY=VALUE` and the other flags. `secateur config` shows each key's value and origin,"
            " and where that folder is. A profile is"
        ),
        "a named table of settings and applies at the place that chose it.",
        "",
        (
            "A repository's own file is data of that repository, and may be written by whoever opens a pull request. It"
            " sets what says"
        ),
        (
            "*repository* in the column `set by`: profiles, weights, strategies, budgets and shares of them, depth,"
            " `top_k`, ignore rules, and what"
        ),
        (
            "`chunk` shows of a change; sizes of files it may lower and not raise. The same holds inside a profile that"
            " it defines. `chunk` reads the"
        ),
        (
            "repository's settings at the base of what it compares, so that a change cannot hide itself. All else"
            " counts from *you* alone: your"
        ),
        (
            "configuration folder, `--config`, `--set` and the other flags. Where a repository tries, a notice gives"
            " the line and the file to move it to."
        ),
        (
            "The notice is printed on stderr, and is among the `warnings` of the JSON of `search`, `chunk`, `files` and"
            " `conversation`. `envelope`"
        ),
        "prints the frozen shape of its spec, which has no warnings: there it is on stderr alone.",
        "",
        (
            "This page is generated (`python docs/generate.py`); `secateur config --schema` prints the same as a JSON"
            " schema."
        ),
        "",
    ]
    table = ""
    for key in setting_keys().values():
        if key.scope == "run":
            continue
        head = key.name.rpartition(".")[0]
        if head != table or not table:
            lines += [
                "",
                f"## `[{head}]`" if head else "## Top level",
                "",
                "| key | default | allowed | set by | meaning |",
                "|---|---|---|---|---|",
            ]
            table = head or "-"
        lines.append(
            f"| `{key.name.rpartition('.')[2]}` | `{_value(key.default)}` | {key.allowed()} | {_set_by(key)} |"
            f" {key.doc} |"
        )
    lines += [
        "",
        "## Profiles",
        "",
        "Keys that the built-in profiles set:",
        "",
        "| key | " + " | ".join(PROFILES) + " |",
        "|---|" + "---|" * len(PROFILES),
    ]
    flat = {name: dict(_flat(values)) for name, values in PROFILES.items()}
    for name in dict.fromkeys(key for values in flat.values() for key in values):
        lines.append(
            f"| `{name}` | "
            + " | ".join(f"`{_value(values.get(name, setting_keys()[name].default))}`" for values in flat.values())
            + " |"
        )
    lines += [
        "",
        "Your own: `[profiles.NAME.smart_pruning.priority_weights]` and so on, with any of the tables above.",
        "",
        "## Old names",
        "",
        "Each counts until the next release, with a notice that gives the new one.",
        "",
        "| old | now |",
        "|---|---|",
        *(f"| `{old}` | `{new}` |" for old, new in RENAMED.items()),
        "",
    ]
    return "\n".join(lines)


def commands() -> str:
    """Every command with its arguments and flags; those that all commands take come once."""
    parts = [
        "# Commands",
        "",
        "This page is generated (`python docs/generate.py`); `secateur COMMAND --help` says the same.",
        "",
    ]
    shared: list[str] = []
    for name, summary in COMMANDS.items():
        parser = argparse.ArgumentParser(prog=f"secateur {name}", add_help=False)
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
        parts += [
            f"## secateur {name}",
            "",
            f"{summary[0].upper()}{summary[1:]}.",
            "",
            "| argument | meaning |",
            "|---|---|",
            *own,
            "",
        ]
    parts += ["## Every command", "", "| argument | meaning |", "|---|---|", *shared, ""]
    codes = (
        "0 done (an empty result is done, with a warning); 1 the work failed; 2 the call was wrong; 3 a budget could"
        " not be met where it must;"
    )
    return "\n".join(
        [
            *parts,
            "## Exit codes",
            "",
            codes,
            "4 a check found a difference, or `--fail-on-low` that nothing answers; 130 interrupted.",
            "",
        ]
    )


def inspector() -> str:
    """The page as it is, with the table of keys between its two comments made anew."""
    page = (DOCS / "inspector.md").read_text("utf-8")
    before, _, rest = page.partition(KEYS_BEGIN)
    _, _, after = rest.partition(KEYS_END)
    rows = [
        f"| `{action.id}` | {' '.join(f'`{key_name(key)}`' for key in action.keys)} | {action.help} |"
        for action in ACTIONS
    ]
    table = "\n".join(["| action | keys | what it does |", "|---|---|---|", *rows])
    return f"{before}{KEYS_BEGIN}{table}\n{KEYS_END}{after}"


def _row(action: argparse.Action) -> str:
    value = str(action.metavar or "") or ("\\|".join(map(str, action.choices)) if action.choices else "")
    name = action.option_strings[-1] + (f" {value}" if value else "") if action.option_strings else f"{action.metavar}"
    return f"| `{name}` | {action.help} |"


def _flat(table: Any, prefix: str = "") -> list[tuple[str, Any]]:
    flat = []
    for name, value in table.items():
        flat += _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return flat


def _set_by(key: Key) -> str:
    if key.scope == "user":
        return "you"
    return f"repository (up to {key.default}), you" if key.name in LOWERED_ONLY else "repository, you"


def _value(value: Any) -> str:
    return json.dumps(list(value) if isinstance(value, tuple) else value)


if __name__ == "__main__":
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")
    for name in PICTURES:
        picture(name, DOCS / name)
