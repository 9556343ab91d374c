"""Rules for all files together: no circular imports, no two classes with one name, no folder above its budget of lines,
no small module with one user, lines of 120 columns, and docstrings that begin with what a thing is or does."""

import ast
import re
import subprocess
import tomllib
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "secateur": ROOT / "core" / "secateur",
    "secateur_agents": ROOT / "core" / "secateur_agents",
    "secateur_lab": ROOT / "core" / "secateur_lab",
    "secateur_pytest": ROOT / "core" / "secateur_pytest",
    "secateur_tui": ROOT / "tui" / "secateur_tui",
}
BUDGETS = tomllib.loads((Path(__file__).parent / "line_budgets.toml").read_text("utf-8"))
SMALL = 60
"""Lines below which a module with one user is a part of that user."""

CLAUSE = re.compile(r"(What|Whether|Where|How|Which|Who|Whose|Why|When|If|That)\b")


def sources() -> dict[str, Path]:
    """Every module of both packages with its file."""
    found = {}
    for package, folder in PACKAGES.items():
        for file in sorted(folder.rglob("*.py")):
            parts = (package, *file.relative_to(folder).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_bytes())


@pytest.fixture(scope="module", autouse=True)
def parsed():
    """What all of these read is charged to none of them (`support/slow.py`)."""
    for file in sources().values():
        tree_of(file)


def docstrings(tree: ast.AST) -> list[str]:
    """Texts that describe modules, classes, functions, fields and constants."""
    return [
        statement.value.value.strip()
        for node in ast.walk(tree)
        if isinstance(body := getattr(node, "body", None), list)
        for statement in body
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    ]


def imported(tree: ast.AST, modules: set[str]) -> set[str]:
    """Modules of ours that a file imports anywhere in it. A name taken from a package is the module of that name where
    there is one, else the package itself."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in modules else str(node.module))
    return found & modules


def circle(graph: dict[str, set[str]]) -> list[str]:
    """The modules of one circle; none where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_file_imports_one_that_imports_it():
    files = sources()
    graph = {name: imported(tree_of(file), files.keys() - {name}) for name, file in files.items()}
    assert sum(map(len, graph.values())) > 500
    assert circle(graph) == []


# What opens a connection to another machine, and what listens on this one.
OPENS = (
    "http.client",
    "urllib.request",
    "httpx",
    "httpx2",
    "requests",
    "aiohttp.client",
    "websockets",
    "ftplib",
    "smtplib",
)
LISTENS = ("socket", "socketserver", "uvicorn", "aiohttp", "textual_serve", "http.server", "asyncio.streams")


def test_two_modules_open_connections_and_three_listen():
    users: dict[tuple[str, ...], set[str]] = {OPENS: set(), LISTENS: set()}
    for module, file in sources().items():
        names = set()
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Attribute):
                assert node.attr not in ("open_connection", "create_connection", "connect_tcp"), module
        for kind, using in users.items():
            if any(name == one or name.startswith(f"{one}.") for name in names for one in kind):
                using.add(module)
    proxy = "secateur_agents.proxy.server"
    assert users[OPENS] == {"secateur.http", proxy}
    assert users[LISTENS] - users[OPENS] == {"secateur_agents.mcp.http_server", "secateur_tui.serving"}
    assert proxy in users[LISTENS], "only on 127.0.0.1"


def test_a_circle_is_found_over_several_files_and_for_type_checkers_alone():
    modules = {"a", "a.b", "a.c", "a.d"}
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import b\ndef late():\n    import a.c"
    assert imported(ast.parse(text), modules) == {"a.b", "a.c"}
    assert set(circle({"a.b": {"a.c"}, "a.c": {"a.d"}, "a.d": {"a.b"}, "a": {"a.b"}})) == {"a.b", "a.c", "a.d"}
    assert circle({"a.b": {"a.c"}, "a.c": set()}) == []


def test_no_class_has_the_name_of_another_private_or_not():
    names = [
        node.name for file in sources().values() for node in ast.walk(tree_of(file)) if isinstance(node, ast.ClassDef)
    ]
    assert len(names) > 350
    assert [name for name, number in Counter(names).items() if number > 1] == []


def test_no_module_defines_a_name_twice():
    # the linter finds functions; a constant that is defined again changes what stands above it
    for module, file in sources().items():
        names: Counter[str] = Counter()
        for node in tree_of(file).body:
            match node:
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                    names[name] += 1
                case ast.Assign(targets=targets):
                    names.update(target.id for target in targets if isinstance(target, ast.Name))
        assert [name for name, number in names.items() if number > 1] == [], module


def test_no_folder_has_more_lines_than_its_budget():
    lines: Counter[str] = Counter()
    for file in sources().values():
        package, *inner = file.relative_to(ROOT).parts[1:]
        lines["/".join((package, *inner[:-1][:1]))] += len(file.read_text("utf-8").splitlines())
    over = {folder: number for folder, number in lines.items() if number > BUDGETS["lines"].get(folder, 0)}
    assert over == {}, "another folder has to give"
    room = {folder: budget - lines[folder] for folder, budget in BUDGETS["lines"].items()}
    assert {folder: number for folder, number in room.items() if number >= 100} == {}, "lower the budget"
    assert 0 <= BUDGETS["total"] - lines.total() < 100, "the total only falls: what adds, removes as much"


def test_no_commit_raised_the_total_of_lines():
    if not (ROOT / ".git").exists():
        pytest.skip("no history here")
    words = ["log", "--first-parent", "-m", "--format=", "-p", "-U0", "--", "tests/line_budgets.toml"]
    changes = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout
    totals = [(sign, int(number)) for sign, number in re.findall(r"^([-+])total = (\d+)$", changes, re.MULTILINE)]
    pairs = zip(totals[::2], totals[1::2], strict=False)  # each commit removes a total, then adds one
    assert all(new <= old for (_, old), (_, new) in pairs)


def test_no_small_module_has_one_user():
    files = sources()
    users: dict[str, set[str]] = {name: set() for name in files}
    for name, file in files.items():
        for module in imported(tree_of(file), files.keys() - {name}):
            users[module].add(name)
    small = {
        name
        for name, file in files.items()
        if len(users[name]) == 1 and file.name != "__init__.py" and len(file.read_text("utf-8").splitlines()) < SMALL
    }
    assert small == set(BUDGETS["small_modules"])


def test_lines_end_at_column_120():
    # the linter lets pass what it cannot break: one long word, and a comment for a tool
    for file in sources().values():
        assert [line for line in file.read_text("utf-8").splitlines() if len(line) > 120] == [], file


def test_docstrings_begin_with_what_a_thing_is_or_does():
    # "Whether it fits" is half a sentence; "Tells whether it fits" is what the function does
    texts = {name: docstrings(tree_of(file)) for name, file in sources().items()}
    assert sum(map(len, texts.values())) > 2500
    assert [(name, text) for name in texts for text in texts[name] if CLAUSE.match(text)] == []


def test_docstrings_of_all_that_can_have_one_are_looked_at():
    text = "'Module'\nLIMIT = 1\n'Limit'\nclass A:\n 'A'\n x: int\n 'x'\n def f(): 'f'"
    assert docstrings(ast.parse(text)) == ["Module", "Limit", "A", "x", "f"]
