"""What importing loads: asked of a fresh interpreter each time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCREEN = ("textual", "rich", "secateur_tui")
HEAVY = (
    "numpy",
    "networkx",
    "tiktoken",
    "tokenizers",
    "safetensors",
    "tree_sitter",
    "rapidfuzz",
    "msgspec",
    "onnxruntime",
    "sqlite3",
)


def loaded_by(statement: str) -> set[str]:
    """Top-level names of the modules a statement leaves loaded in a fresh interpreter."""
    program = f"import sys\n{statement}\nprint(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    return set(
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
        ).stdout.split()
    )


def test_importing_secateur_loads_nothing_heavy():
    assert loaded_by("import secateur") & {*SCREEN, *HEAVY} == set()


def test_the_version_and_the_names_cost_nothing_either():
    assert loaded_by("import secateur; secateur.__version__; dir(secateur)") & {*SCREEN, *HEAVY} == set()


@pytest.mark.parametrize(
    "module", ["secateur.engine", "secateur.selection", "secateur.kinds.search.kind", "secateur.render"]
)
def test_the_engine_knows_no_screen(module):
    assert loaded_by(f"import {module}") & {*SCREEN, "networkx", "onnxruntime"} == set()


def test_trimming_an_envelope_needs_no_index_and_no_parser():
    heavy = {*SCREEN, *HEAVY} - {"numpy", "tiktoken", "msgspec"}
    assert loaded_by("import secateur; secateur.trim_context_with_budget") & heavy == set()


def test_selecting_needs_no_index_no_parser_and_no_tokenizer():
    assert (
        loaded_by("import secateur; secateur.select, secateur.priority, secateur.Settings")
        & ({*SCREEN, *HEAVY} - {"numpy", "msgspec"})
        == set()
    )


def test_benchmarks_need_no_package_that_only_tests_need() -> None:
    """They are run with the product installed and nothing else: `hypothesis` and `pytest` are not there."""
    folder = Path(__file__).parent / "benchmarks"
    code = (
        "import runpy,sys; sys.modules.update(hypothesis=None, pytest=None); [runpy.run_path(path) for path in"
        " sys.argv[1:]]"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder.parent), str(folder)])}
    subprocess.run([sys.executable, "-c", code, *map(str, sorted(folder.glob("*.py")))], check=True, env=environment)


def test_what_the_build_imports_needs_no_package() -> None:
    """The build makes the tables of tokens (`tools/carried_data.py`) before any dependency is installed."""
    assert not loaded_by("import secateur.tokens.ranks").intersection(HEAVY)
