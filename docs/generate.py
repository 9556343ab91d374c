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
from secateur.errors import SecateurError
from secateur.render.page import SENTENCES
from secateur.settings import PROFILES, Key
from secateur.settings import keys as setting_keys
from secateur.sources.named import folder_of
from secateur_tui.actions import ACTIONS, key_name

DOCS = Path(__file__).resolve().parent
ARGUMENTS = ("| argument | meaning |", "|---|---|")

PICTURES = {
    "inspector": (
        *("sample:orders", "--query", "where is the refund total rounded?", "--set", "budget=1000"),
        *("--size", "116x35", "--keys", "down " * 9 + "i"),
    ),
    "conversation": (
        *("examples/session.jsonl", "--bench", "conversation"),
        *("--set", "conversation_prune.safe_zone_tokens=7000", "--keys", "B " * 4 + "down " * 18 + "i"),
    ),
    "log": (
        *("examples/ci.log", "--bench", "log", "--set", "log.max_tokens=500"),
        *("--size", "116x35", "--keys", "end up up i"),
    ),
    "window": (
        *("examples/session.jsonl", "--bench", "conversation", "--size", "116x35"),
        *("--set", "conversation_prune.safe_zone_tokens=7000", "--keys", "T"),
    ),
    "pull-request": (
        *("pull.diff", "--bench", "diff", "--set", "chunking.max_chunk_tokens=2000"),
        *("--size", "116x35", "--keys", "end up i"),
    ),
}
"""Picture -> what it shows: the arguments of `docs/shot.py`. The cursor is on something
that was cut, and the page beside it says why. `pull.diff` is what the last six commits of sample:orders changed."""

REPLAYS = {"demo": "pictures/demo.replay.jsonl"}
"""Animated picture -> the recording that it shows."""

SERVED = {
    "served": (
        *("sample:orders", "--query", "where is the refund total rounded?", "--budget", "1000"),
        *("--first", "others: Money", "--first", "0.28–0.53", "--first", "+11 keeps", "--keys", "l"),
        *("--until", "worth against budget", "--until", "7,501"),
    )
}
"""Picture of the page in a browser -> what it shows: the arguments of `docs/served.py`."""

REPORTS = {"report": ("search", "where is the refund total rounded?", "sample:orders", "--budget", "1000", "--report")}
"""Picture of a report -> the command that writes it."""

REPORT = """
import sys
from secateur.cli.main import main
from secateur.render.report import looks
looks.DARK = sys.argv[1]
sys.exit(main(sys.argv[2:]))
"""
"""Writes a report in a theme: a file that is sent alone cannot ask for its reader's, so the command has one."""

LOOKS = {"": "secateur-dark", "-light": "secateur-light"}
"""End of a picture's name -> the theme it is taken in. A page shows the one that the reader's setting asks for."""


def pages() -> dict[str, str]:
    """Path below docs/ -> text. Prose stands in the pages themselves."""
    answers = {
        f"reference/schemas/{name}.schema.json": json.dumps(schema, indent=1) + "\n"
        for name, schema in schemas().items()
    }
    return {
        "reference/configuration.md": page("reference/configuration.md", settings=settings(), profiles=profiles()),
        "reference/commands.md": page("reference/commands.md", commands=commands()),
        "reference/keys.md": page("reference/keys.md", keys=actions()),
        "reference/errors.md": page("reference/errors.md", errors=errors(), reasons=reasons()),
        "inside/architecture.md": page("inside/architecture.md", house=house()),
        "inside/kind-example.md": page(
            "inside/kind-example.md",
            pyproject=fenced("toml", DOCS / "examples/todo/pyproject.toml"),
            kind=fenced("python", DOCS / "examples/todo/todo_kind.py"),
            screen=fenced("text", DOCS.parent / "tests/screens/goldens/todo_why_80x24.txt"),
        ),
        **answers,
    }


def pictures() -> list[str]:
    """The files of `pictures/`."""
    return [f"{name}{look}.svg" for name in (*PICTURES, *REPLAYS, *SERVED, *REPORTS) for look in LOOKS]


def picture(file: str, output: Path) -> None:
    """Take one of `pictures` with no settings but the defaults."""
    name = file.removesuffix(".svg").removesuffix("-light")
    look = LOOKS["-light" if file.endswith("-light.svg") else ""]
    theme = ("--set", f"ui.theme={look}")
    with tempfile.TemporaryDirectory() as folder:
        own = {"SECATEUR_CACHE_DIR": f"{folder}/cache", "SECATEUR_CONFIG_DIR": f"{folder}/config"}
        words = [sys.executable, DOCS / "shot.py", *PICTURES.get(name, ()), *theme, "--output", output]
        if name in REPLAYS:
            words = [sys.executable, "-m", "secateur.cli.main", "replay", REPLAYS[name], *theme, "--svg", output]
        if name in SERVED:
            words = [sys.executable, DOCS / "served.py", *SERVED[name], "--theme", look, "--output", output]
        if name in REPORTS:
            output.unlink(missing_ok=True)  # a report is never written over a file
            words = [sys.executable, "-c", REPORT, look, *REPORTS[name], output, "--quiet"]
        place = DOCS
        if "pull.diff" in words:
            place = Path(folder)
            sample = folder_of("sample:orders", place / "cache")
            diff = subprocess.run(["git", "-C", sample, "diff", "HEAD~6", "HEAD"], capture_output=True, check=True)
            (place / "pull.diff").write_bytes(diff.stdout)
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | own
        shown = subprocess.PIPE if name in REPORTS else None  # its report for people
        subprocess.run(words, cwd=place, env=environment, check=True, stdout=shown)


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
                first = _first_sentence(ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "")
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


def errors() -> list[str]:
    """Every code of an error with its exit code and what it says, as the sources have it."""
    rows: dict[str, tuple[int, str]] = {}
    known = {kind.__name__: kind for kind in (SecateurError, *_below(SecateurError))}
    for name, kind in known.items():
        if "default_code" in vars(kind) and name != "SecateurError":
            rows.setdefault(kind.default_code, (kind.exit_code, _first_sentence(kind.__doc__ or "")))
    for file in sorted(file for folder in ("core", "tui") for file in (DOCS.parent / folder).rglob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        constants = {
            node.targets[0].id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        }
        for node in ast.walk(tree):
            given = [word.value for word in node.keywords if word.arg == "code"] if isinstance(node, ast.Call) else []
            for value in (part for argument in given for part in ast.walk(argument)):
                code = constants.get(value.id) if isinstance(value, ast.Name) else getattr(value, "value", None)
                if not (isinstance(code, str) and re.fullmatch(r"[A-Z_]{4,}", code)):
                    continue
                kind = known.get(node.func.id if isinstance(node.func, ast.Name) else "", SecateurError)
                said = _template(node.args[0]) if node.args else ""
                if len(re.findall("[a-z]{2,}", said)) > 1 and not rows.get(code, (0, ""))[1]:
                    rows[code] = (kind.exit_code, f"`{said}`")
                rows.setdefault(code, (kind.exit_code, ""))
    lines = ["| code | exit code | what it says |", "|---|---|---|"]
    return [
        *lines,
        *(
            f"| `{code}` | {exit_code} | {said or 'see its message'} |"
            for code, (exit_code, said) in sorted(rows.items())
        ),
    ]


def reasons() -> list[str]:
    """Every reason of a decision with its sentence, as `secateur config --reasons` prints it."""
    said = [f"| `{reason.label}` | {_cell(text)} |" for reason, text in SENTENCES.items()]
    return ["| reason | its sentence |", "|---|---|", *said]


def _cell(text: str) -> str:
    """A text in a table of Markdown."""
    return text.replace("|", "\\|")


def _below(kind: type) -> list[type]:
    """All subclasses of a class."""
    return [found for child in kind.__subclasses__() for found in (child, *_below(child))]


def _template(node: ast.AST) -> str:
    """The text of a message in the sources, with `…` for what is put into it."""
    if isinstance(node, ast.Constant):
        return _cell(str(node.value)).replace("\n", " ")
    if isinstance(node, ast.JoinedStr):
        return "".join("…" if isinstance(part, ast.FormattedValue) else _template(part) for part in node.values)
    return _template(node.left) + _template(node.right) if isinstance(node, ast.BinOp) else ""


def _first_sentence(text: str) -> str:
    """The first sentence of a docstring."""
    return re.split(r"(?<=[.])\s", " ".join(text.partition("\n\n")[0].split()))[0]


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
    for name in sys.argv[1:] or pictures():
        picture(name, DOCS / "pictures" / name)
