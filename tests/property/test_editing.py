"""After any edits a snapshot is, array for array, the one that is built from nothing: in memory, reopened from disk,
and with a history in git."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from secateur import Engine
from secateur.index.facts.snapshot import Snapshot
from secateur.index.store.records import Store
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import record, snapshot_of
from secateur.index.update.snapshot_manager import SnapshotManager
from secateur.tokens import get_counter
from support.engine_answers import answer_text
from support.memory_source import MemorySource
from support.processes import SETTINGS
from support.repos import git, write

EXTRACTOR = Extractor(get_counter("chars4"), None, 1)

NAMES = ("run", "save", "load", "Cart", "Order", "Base")
NAME = st.sampled_from(NAMES)
FUNCTION = st.sampled_from(NAMES[:3])
CLASS = st.sampled_from(NAMES[3:])
MODULE = st.sampled_from(["a", "b", "pkg", "pkg.c", "pkg.d"])
SCRIPT = st.sampled_from(["./m", "./n", "./ui/view", "../m", "./view", "kit", "kit/part", "@/n", "made", "#own"])

PYTHON = st.one_of(
    st.builds("from {0} import {1}".format, MODULE, NAME),
    st.builds("from {0} import {1} as {2}".format, MODULE, NAME, NAME),
    st.builds("import {0}".format, MODULE),
    st.builds("from {0} import *".format, MODULE),
    st.builds("from {0} import {1} as shop".format, st.sampled_from(["pkg", "."]), st.sampled_from(["c", "d"])),
    st.builds("from {0} import shop".format, MODULE),
    st.builds("shop: {0} = {1}()".format, CLASS, CLASS),
    st.builds(
        "def {0}(x: {1}) -> {2}:\n    y = {3}()\n    {4}(x)\n    return x.{5}().{6}() + y.{6}()".format,
        FUNCTION,
        CLASS,
        CLASS,
        CLASS,
        FUNCTION,
        FUNCTION,
        FUNCTION,
    ),
    st.builds("def {0}():\n    return shop.{1}() + a.{1}() + pkg.c.{2}()".format, FUNCTION, FUNCTION, FUNCTION),
    st.builds(
        "class {0}({1}):\n    part: {2}\n\n    def {3}(self):\n        return self.{4}() + self.part.{5}() +"
        " super().{4}()".format,
        CLASS,
        st.sampled_from([*NAMES[3:], "a.Base", ""]),
        CLASS,
        FUNCTION,
        FUNCTION,
        FUNCTION,
    ),
    st.builds(
        "class {0}:\n    def __init__(self, part: {1}):\n        self.part = part\n\n    def __getitem__(self, at) ->"
        " {1}:\n        return {2}(self)".format,
        CLASS,
        CLASS,
        NAME,
    ),
)
JAVASCRIPT = st.one_of(
    st.builds("import {0} from '{1}';".format, NAME, SCRIPT),
    st.builds("import {{ {0} as {2} }} from '{1}';".format, NAME, SCRIPT, NAME),
    st.builds("export * from '{0}';".format, SCRIPT),
    st.builds("export function {0}(x) {{\n  return {1}(x) + x.{2}();\n}}".format, FUNCTION, FUNCTION, FUNCTION),
    st.builds(
        (
            "export default class {0} extends {1} {{\n  {2}() {{\n    return this.{3}() + new {4}().{3}();\n  }}\n}}"
        ).format,
        CLASS,
        CLASS,
        FUNCTION,
        FUNCTION,
        CLASS,
    ),
)
GO = st.one_of(
    st.builds("type {0} struct {{\n\t{1}\n}}".format, CLASS, CLASS),
    st.builds(
        "func (c *{0}) {1}() {2} {{\n\tc.{3}()\n\treturn {4}()\n}}".format, CLASS, FUNCTION, CLASS, FUNCTION, FUNCTION
    ),
    st.builds(
        "func {0}() {1} {{\n\tvar x {1}\n\tx.{2}()\n\treturn store.{3}()\n}}".format,
        FUNCTION,
        CLASS,
        FUNCTION,
        FUNCTION,
    ),
)
JAVA = st.builds(
    "class {0} extends {1} {{\n  {2} part;\n  {3} {4}({3} x) {{\n    part.{5}();\n    x.{5}();\n    return {6}(x);\n "
    " }}\n}}".format,
    CLASS,
    CLASS,
    CLASS,
    CLASS,
    FUNCTION,
    FUNCTION,
    FUNCTION,
)
RUST = st.one_of(
    st.builds("use crate::{0}::{1};".format, st.sampled_from(["m", "n"]), NAME),
    st.builds(
        "pub struct {0} {{ part: {1} }}\n\nimpl {0} {{\n    pub fn {2}(&self) -> {1} {{\n        self.part.{3}();\n    "
        "    {4}()\n    }}\n}}".format,
        CLASS,
        CLASS,
        FUNCTION,
        FUNCTION,
        FUNCTION,
    ),
    st.builds("pub fn {0}(x: &{1}) {{\n    x.{2}();\n    {1}::{3}();\n}}".format, FUNCTION, CLASS, FUNCTION, FUNCTION),
)
MANIFEST = st.sampled_from(
    [
        '{"name": "kit", "main": "./core.js", "imports": {"#own": "./core.js"}}',
        '{"name": "kit", "exports": {".": "./none.js", "./part": ["./core.js", "../n.js"]}}',
        '{"compilerOptions": {"paths": {"@/*": ["./*"], "made": ["kit/core", "ui/view"]}}}',
        '{"compilerOptions": {"paths": {"ma*": ["ui/view"], "@/*": ["m*"]}}}',
        '{"compilerOptions": {"baseUrl": "kit"}, "extends": "./tsconfig.base.json"}',
    ]
)
LANGUAGES = {
    ".json": (MANIFEST, ""),
    ".py": (PYTHON, ""),
    ".js": (JAVASCRIPT, ""),
    ".go": (GO, 'package store\n\nimport "example.com/shop/store"\n\n'),
    ".java": (JAVA, "package shop;\n\n"),
    ".rs": (RUST, ""),
}
PATHS = (
    "a.py",
    "b.py",
    "pkg/__init__.py",
    "pkg/c.py",
    "pkg/d.py",
    "m.js",
    "n.js",
    "ui/view.js",
    "ui/index.js",
    "store/s.go",
    "store/t.go",
    "main.go",
)
PATHS += (
    "kit/package.json",
    "kit/core.js",
    "tsconfig.json",
    "tsconfig.base.json",
    "shop/Cart.java",
    "shop/Order.java",
    "src/lib.rs",
    "src/m.rs",
    "src/n.rs",
)


def content(path: str) -> st.SearchStrategy[str]:
    pieces, head = LANGUAGES[path[path.rindex(".") :]]
    return st.lists(pieces, max_size=1 if path.endswith(".json") else 4).map(
        lambda found: head + "\n\n\n".join(found) + "\n" if found else head
    )


WRITE = st.sampled_from(PATHS).flatmap(lambda path: st.tuples(st.just("write"), st.just(path), content(path)))
STEP = st.one_of(
    WRITE, WRITE, WRITE, st.tuples(st.sampled_from(["delete", "comment"]), st.sampled_from(PATHS), st.just(""))
)
START = st.fixed_dictionaries({}, optional={path: content(path) for path in PATHS})


ALIASED = {
    "tsconfig.json": '{"compilerOptions": {"paths": {"made": ["src/first", "src/helpers"]}}}',
    "kit/package.json": '{"name": "kit", "main": "./core.js"}',
}
CALLERS = {
    path: f"import u from '{name}';\n\nexport function caller() {{\n  return u(1);\n}}\n"
    for path, name in (("app.ts", "made"), ("b.js", "kit"))
}
OTHERS = {
    f"f{number}.js": "export function q() {\n  return z() + z();\n}\n\nfunction z() {\n  return q();\n}\n"
    for number in range(8)
}
"""Enough of calls elsewhere that not everything is resolved anew."""


@pytest.mark.parametrize("path", ["src/helpers.ts", "src/first.ts", "kit/core.js"])
def test_a_file_that_only_a_manifest_names_comes_and_goes(path: str) -> None:
    before = {**ALIASED, **CALLERS, **OTHERS, "src/helpers.ts": "export default function foo(x) {\n  return x;\n}\n"}
    after = before | {path: "export default function bar(x) {\n  return x;\n}\n"}
    _assert_each_as_built(before, after, {name: text for name, text in after.items() if name != path})


METHOD_OF = "\n\ndef go():\n    return {}.run()\n"


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "import pkg\n" + METHOD_OF.format("pkg.c"), "pkg/d.py": ""},
        {"a.py": "from b import z\n" + METHOD_OF.format("z"), "b.py": "from pkg import c as z\n"},
        {"a.py": "from b import made\n" + METHOD_OF.format("made"), "b.py": "import pkg\n\nmade = pkg.c.Cart()\n"},
        {"a.py": "import pkg\n" + METHOD_OF.format("pkg.c")},
    ],
    ids=["of a package", "under another name", "in a value", "of a folder that was none"],
)
def test_a_module_is_seen_by_those_who_do_not_import_it_themselves(files: dict[str, str]) -> None:
    before = {**OTHERS, **files}
    empty = before | {"pkg/c.py": "import os\n\n\ndef other():\n    pass\n"}
    full = before | {
        "pkg/c.py": "import os\n\n\ndef run():\n    pass\n\n\nclass Cart:\n    def run(self):\n        pass\n"
    }
    _assert_each_as_built(before, empty, full, empty, full, before)


def _assert_each_as_built(*states: dict[str, str]) -> None:
    with Store.open(None) as store:
        manager = SnapshotManager(store)
        for files in states:
            with Store.open(None) as fresh:
                _assert_same(_shot(files, store, manager), _shot(files, fresh, SnapshotManager(fresh)))


@given(
    start=START, steps=st.lists(st.tuples(STEP, st.sampled_from(["", "", "save", "reopen"])), min_size=1, max_size=6)
)
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_edited_equals_built(start: dict[str, str], steps: list[tuple[tuple[str, str, str], str]]) -> None:
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder)) as store:
        files, manager = dict(start), SnapshotManager(store)
        _shot(files, store, manager)
        for (kind, path, text), then in steps:
            files = _after(files, kind, path, text)
            edited = _shot(files, store, manager)
            _ask(edited)  # so that what it has worked out is handed on
            with Store.open(None) as fresh:
                _assert_same(edited, _shot(files, fresh, SnapshotManager(fresh)))
            if then:
                manager.save()
            if then == "reopen":
                manager = SnapshotManager(store)
                _assert_same(_shot(files, store, manager), edited)


def _after(files: dict[str, str], kind: str, path: str, text: str) -> dict[str, str]:
    if kind == "write":
        return files | {path: text}
    if kind == "comment" and path in files and not path.endswith(".json"):
        return files | {path: files[path] + ("# seen\n" if path.endswith(".py") else "// seen\n")}
    return {name: known for name, known in files.items() if name != path}


def _shot(files: dict[str, str], store: Store, manager: SnapshotManager) -> Snapshot:
    source = MemorySource(files)
    return snapshot_of(record(source, store, EXTRACTOR), source, store, EXTRACTOR, None, manager)


def _ask(snapshot: Snapshot) -> tuple[object, ...]:
    match = snapshot.name_table.match(["Cart", "Order.save", "lode"], ["run", "base"])
    return (
        match.exact.tolist(),
        match.near.tolist(),
        match.suggestions,
        snapshot.qualnames,
        snapshot.space.mean.tolist(),
        snapshot.space.lengths.tolist(),
    )


def _assert_same(found: Snapshot, fresh: Snapshot, besides: Sequence[str] = ()) -> None:
    assert found.arrays.keys() == fresh.arrays.keys()
    for name, array in fresh.arrays.items():
        if name not in besides:
            assert found.arrays[name].dtype == array.dtype, name
            assert np.array_equal(found.arrays[name], array), name
    assert _ask(found) == _ask(fresh)


# --- with git ---------------------------------------------------------------------------------------------------------

GIT_STEPS = st.lists(
    st.sampled_from(["edit", "commit", "branch", "switch", "rebase", "merge", "delete", "amend"]),
    min_size=3,
    max_size=8,
)


@given(steps=GIT_STEPS)
@settings(max_examples=2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_git_does_to_a_folder_leaves_no_ghosts(steps: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder) / "repo", Path(folder) / "cache"
        write(
            root,
            {
                "a.py": "def run():\n    return save()\n",
                "b.py": "from a import run\n\n\ndef save():\n    return run()\n",
            },
        )
        git(root, "init", "-q", "-b", "main", "--template=")
        _commit(root, 0)
        with Engine.open(root, SETTINGS, cache_dir=cache) as engine:
            for number, step in enumerate(steps, 1):
                _do(root, step, number)
                answer = answer_text(engine, "run and save")
                with Engine.open(root, SETTINGS, cache_dir=Path(folder) / f"fresh{number}") as fresh:
                    assert answer == answer_text(fresh, "run and save"), step
                    assert engine._index.snapshot is not None
                    assert fresh._index.snapshot is not None
                    _assert_same(engine._index.snapshot, fresh._index.snapshot)
        with Engine.open(root, SETTINGS, cache_dir=cache) as again:
            assert answer_text(again, "run and save") == answer


def _commit(root: Path, number: int, *words: str) -> None:
    git(root, "add", "-A", time=1_750_000_000 + number)
    git(root, "commit", "-q", "--allow-empty", "-m", f"Save step {number}", *words, time=1_750_000_000 + number)


def _do(root: Path, step: str, number: int) -> None:
    """One step; what git refuses is undone."""
    branches = git(root, "branch", "--format=%(refname:short)").split()
    here = git(root, "branch", "--show-current")
    other = next((branch for branch in branches if branch != here), "main")
    if step == "edit":
        write(
            root,
            {
                f"f{number % 3}.py": (
                    f"from b import save\n\n\ndef run_{number}():\n    return save() + run_{number - 1}()\n"
                )
            },
        )
    elif step == "delete":
        (root / f"f{number % 3}.py").unlink(missing_ok=True)
    elif step in ("commit", "amend"):
        write(root, {"log.py": f"def log():\n    return {number}\n"})
        _commit(root, number, *(["--amend"] if step == "amend" else []))
    else:
        _commit(root, number)  # nothing is lost when branches change
        if step == "branch":
            git(root, "switch", "-q", "-c", f"side{number}", "HEAD~0")
        elif step == "switch":
            git(root, "switch", "-q", other)
        else:
            words = (
                ["rebase", "-q", "-X", "theirs", other]
                if step == "rebase"
                else ["merge", "-q", "--no-ff", "-X", "theirs", "-m", "Merge", other]
            )
            try:
                git(root, *words, time=1_750_000_000 + number)
            except Exception:
                git(root, step, "--abort")
