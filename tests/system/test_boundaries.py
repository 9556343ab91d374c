"""What only some systems offer is behind `secateur.system`.

That nothing else imports a module, or uses a part of `os`, that some system lacks is an import contract and a run of
mypy for each system (`tasks.py check`); here is what neither sees.
"""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest
from secateur.system.processes import isolated_python
from support.processes import environment

ROOT = Path(__file__).parents[2]
SYSTEM = ROOT / "core" / "secateur" / "system"

KEYWORDS = {"start_new_session", "preexec_fn", "process_group", "dir_fd", "src_dir_fd", "dst_dir_fd"}
"""Arguments that some system ignores or refuses."""
ATTRIBUTES = {"st_uid", "st_gid", "umask", "lchmod", "fchmod", "chown", "NamedTemporaryFile"}
"""Names of owners, modes and open files, which are asked for in one place."""

PYTHON = re.compile(r"(.*[/\\\\])?(python|pypy)[\d.]*(\.exe)?( .*)?")
STARTS = {"executable", "_base_executable", "ProcessPoolExecutor", "create_subprocess_shell", "popen", "getoutput"}
"""Names that start Python, or a program from one text."""


def holds_any(file: Path, words: set[str]) -> bool:
    """True if a file may be about one of the words; most files are not, and parsing them all takes seconds."""
    text = file.read_text(encoding="utf-8")
    return any(word in text for word in words)


def test_nothing_else_uses_what_some_system_lacks() -> None:
    found = []
    for package in (ROOT / "core", ROOT / "tui"):
        for file in package.rglob("*.py"):
            if file.is_relative_to(SYSTEM) or not holds_any(file, KEYWORDS | ATTRIBUTES):
                continue
            for node in ast.walk(ast.parse(file.read_bytes())):
                words = set()
                if isinstance(node, ast.Call):
                    words = {keyword.arg for keyword in node.keywords} & KEYWORDS
                elif isinstance(node, ast.Attribute):
                    words = {node.attr} & ATTRIBUTES
                found += [f"{file.relative_to(ROOT).as_posix()}: {word}" for word in words]
    assert found == []


def python_starts(tree: ast.AST) -> list[str]:
    """What starts Python in a file: `sys.executable`, except where a file asks whether there is one; a list of words
    that begins with a name of Python; and whatever starts programs in a way that this does not see."""
    asked = {
        id(operand)
        for node in ast.walk(tree)
        if isinstance(node, ast.BoolOp | ast.UnaryOp)
        for operand in (node.values if isinstance(node, ast.BoolOp) else [node.operand])
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            starts = node.attr in STARTS or ast.unparse(node) == "os.system"
            found += [node.attr] if starts and id(node) not in asked else []
        elif isinstance(node, ast.List | ast.Tuple) and node.elts and isinstance(node.elts[0], ast.Constant):
            found += [str(node.elts[0].value)] if PYTHON.fullmatch(str(node.elts[0].value)) else []
        elif isinstance(node, ast.ImportFrom):
            found += [alias.name for alias in node.names if alias.name in STARTS]
    return found


def test_python_starts_isolated_from_the_working_folder() -> None:
    files = [*(ROOT / "core").rglob("*.py"), *(ROOT / "tui").rglob("*.py"), ROOT / "tools" / "github_action.py"]
    words = STARTS | {"system(", "python", "pypy"}
    starts = {
        file.relative_to(ROOT).as_posix(): python_starts(ast.parse(file.read_bytes()))
        for file in files
        if holds_any(file, words)
    }
    assert {file: words for file, words in starts.items() if words} == {
        "core/secateur/system/processes.py": ["executable"]
    }, "use isolated_python"


@pytest.mark.parametrize(
    "code",
    [
        "subprocess.run([sys.executable, '-m', 'secateur'])",
        "subprocess.run(['python3', 'a.py'])",
        "subprocess.run(('/usr/bin/python3.11 -m secateur',))",
        "from sys import executable",
        "concurrent.futures.ProcessPoolExecutor()",
    ],
)
def test_another_start_of_python_is_noticed(code: str) -> None:
    assert python_starts(ast.parse(code))
    assert not python_starts(ast.parse("if a or not sys.executable and sys.executable: pass"))


def test_a_module_in_the_working_folder_is_not_imported(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("print('ran')")
    command = isolated_python("import msgspec; print(sys.argv[1:])", "two words", "")
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.stdout == "['two words', '']\n"
