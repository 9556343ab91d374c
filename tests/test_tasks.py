"""What the commands of `tasks.py` rest on: the list of slow tests, the locked versions, the workflows, the one
version."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import secateur
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from support.slow import TESTS, slow_tests

ROOT = TESTS.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_every_line_of_the_slow_list_is_a_test() -> None:
    lines = slow_tests()
    assert lines == sorted(set(lines))
    for file in {line.partition("::")[0] for line in lines}:
        assert (TESTS / file).is_file(), f"slow.txt names {file}, which is gone"
    for line in lines:
        file, _, name = line.partition("::")
        defined = f"def {name.partition('[')[0]}("
        assert not name or defined in _text_of(file), f"slow.txt names {line}, which is gone"


@cache
def _text_of(file: str) -> str:
    return (TESTS / file).read_text(encoding="utf-8")


def test_the_lock_holds_every_dependency_within_its_range_and_no_address() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert "://" not in text and " @ " not in text
    locked: dict[str, list[str]] = {}
    for line in text.splitlines():
        (pin,) = Requirement(line).specifier
        assert pin.operator == "==", line
        locked.setdefault(canonicalize_name(Requirement(line).name), []).append(pin.version)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [*project["project"]["optional-dependencies"].values(), *project["dependency-groups"].values()]
    wanted = [
        Requirement(line)
        for group in (project["project"]["dependencies"], *groups)
        for line in group
        if isinstance(line, str)
    ]
    for requirement in wanted:
        versions = locked.get(canonicalize_name(requirement.name), [])
        assert versions and all(requirement.specifier.contains(version) for version in versions), (
            f"{requirement}: run python3 tasks.py lock"
        )


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_tasks_that_there_are_and_actions_by_their_commit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    known = set(
        re.findall(r"^    python3 tasks\.py (\w+) ", (ROOT / "tasks.py").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert set(re.findall(r"tasks\.py (\w+)", text)) <= known
    for action in re.findall(r"uses: (\S+)", text):
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action


def test_a_tag_that_is_not_the_version_builds_nothing(tmp_path: Path) -> None:
    words = [sys.executable, ROOT / "tasks.py", "wheel", "--out", tmp_path / "dist", "--tag", "v999.0"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "v999.0" in done.stderr and secateur.__version__ in done.stderr
    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--help",), 0), (("tests",), 2)])
def test_an_unknown_task_says_what_there_is(words: tuple[str, ...], code: int) -> None:
    done = subprocess.run([sys.executable, ROOT / "tasks.py", *words], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "tasks.py explore" in done.stdout
