"""After any edits the snapshot of a workspace is, array for array, the one that is built from nothing."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from secateur import Engine, Settings
from secateur.index.facts.snapshot import Snapshot
from secateur.settings import with_values
from support.repos import git, write

PLAIN = with_values(Settings(), {"embedding.model": "none"})
MEMBERS = ("one", "one-more", "two")
NAMES = st.sampled_from(["run", "save", "Cart", "Base"])
PACKAGES = st.sampled_from(["pack_one", "pack_one_more", "pack_two"])

LINE = st.one_of(
    st.builds("from {0}.code import {1}".format, PACKAGES, NAMES),
    st.builds("import {0}.code as code".format, PACKAGES),
    st.builds("def {0}(x):\n    code.{1}(x)\n    return {2}(x)".format, NAMES, NAMES, NAMES),
    st.builds("class {0}({1}):\n    def {2}(self):\n        return self.{3}()".format, NAMES, NAMES, NAMES, NAMES),
)
TEXT = st.lists(LINE, min_size=1, max_size=5).map(lambda lines: "\n\n\n".join(lines) + "\n")
MANIFEST = st.builds('[project]\nname = "{0}"\ndependencies = ["{1}"]\n'.format, PACKAGES, PACKAGES)


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str]:
    """A path below the workspace, and its new text; "" removes the file."""
    name = draw(st.sampled_from(MEMBERS))
    package = f"pack_{name.replace('-', '_')}"
    kind = draw(st.sampled_from(["code", "code", "more", "test", "manifest"]))
    if kind == "manifest":
        return f"{name}/pyproject.toml", draw(MANIFEST)
    place = {"code": f"{package}/code.py", "more": f"{package}/more.py", "test": "tests/test_it.py"}[kind]
    return f"{name}/{place}", draw(st.one_of(TEXT, TEXT, st.just("")))


def apply(root: Path, change: tuple[str, str], number: int) -> None:
    path, text = change
    if text:
        write(root, {path: text})
    else:
        (root / path).unlink(missing_ok=True)
    if number % 2 == 0:  # some edits become commits, some stay in the folder
        for name in MEMBERS:
            git(root / name, "add", "-A", time=1_750_000_000 + number)
            git(root / name, "commit", "-q", "--allow-empty", "-m", f"Step {number}", time=1_750_000_000 + number)


def snapshot(engine: Engine) -> Snapshot:
    engine.refresh()
    found = engine._index.snapshot
    assert found is not None
    return found


def same(found: Snapshot, fresh: Snapshot) -> None:
    assert found.arrays.keys() == fresh.arrays.keys()
    for name, array in fresh.arrays.items():
        assert np.array_equal(found.arrays[name], array), name


@given(start=st.lists(changes(), min_size=3, max_size=8), steps=st.lists(changes(), min_size=1, max_size=4))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_an_edited_workspace_is_what_is_built(start: list[tuple[str, str]], steps: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        file = root / "workspace.toml"
        file.write_text(f"repositories = {list(MEMBERS)}\n")
        for name in MEMBERS:
            package = f"pack_{name.replace('-', '_')}"
            write(root / name, {f"{package}/__init__.py": "", "pyproject.toml": f'[project]\nname = "{package}"\n'})
            git(root / name, "init", "-q", "-b", "main", "--template=")
        for change in start:
            apply(root, change, 1)
        with Engine.open(file, PLAIN, cache_dir=root / "cache") as engine:
            snapshot(engine)
            for number, change in enumerate(steps, 2):
                apply(root, change, number)
                found = snapshot(engine)
                with Engine.open(file, PLAIN, cache_dir=root / f"fresh{number}") as fresh:
                    same(found, snapshot(fresh))
        with Engine.open(file, PLAIN, cache_dir=root / "cache") as again:
            same(snapshot(again), found)
