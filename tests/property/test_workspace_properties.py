"""Several repositories answer byte for byte like one index over the same files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur import Settings
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.snapshot_arrays import build
from secateur.settings import with_profile, with_values
from support.memory_workspace import MemoryWorkspace, ToldSource, as_bytes
from support.weights import PARTS

WORDS = ("order", "refund", "total", "round", "cookie", "session", "parse", "header", "retry", "load")
FUNCTIONS = ("round_total", "parse_header", "load_session", "retry", "order_refund", "lod")
CLASSES = ("Cart", "Order", "Session", "Reader")
NAMES = ("one", "two", "one-more", "cookie", "three.js")

SAID = "cannot load session {} of the cookie because its header has no round total to refund"

QUERIES = (
    "where is the refund total rounded?",
    "parse_header",
    "Cart.total",
    "Session.lod",
    "sesion_rety",
    "who calls `round_total`?",
    "class Reader",
    "round total",
    "cannot parse header of session",
    "退款 total 在哪里",
    "one/src/order.py",
    "",
    "the of and",
    "zzzzqqq",
    "The order fails\nTraceback (most recent call last):\n"
    '  File "lib/shared.py", line 2, in shared\n  File "src/order_0.py", line 3, in round_total\n'
    '  File "tests/test_cookie.py", line 2, in test_load\n'
    f"ValueError: {SAID.format(5)}\n\n### What did you count?\nthe header in src/retry_18.py\n",
)

word = st.sampled_from(WORDS)


@st.composite
def function(draw: st.DrawFn) -> str:
    """A function, or a method of a class, that says a few words and may call another."""
    name, other = draw(st.sampled_from(FUNCTIONS)), draw(st.sampled_from(FUNCTIONS))
    said = " ".join(draw(st.lists(word, max_size=8)))
    body = f'    """{said}"""\n' if said else ""
    if draw(st.booleans()):
        body += f'    raise ValueError(f"cannot {draw(word)} {draw(word)} {{x}} of {draw(word)}")\n'
    text = f"def {name}(x):\n{body}    return {other}(x)\n"
    if draw(st.booleans()):
        lines = text.replace("(x)", "(self, x)", 1).splitlines()
        return f"class {draw(st.sampled_from(CLASSES))}:\n" + "".join(f"    {line}\n" for line in lines)
    return text


@st.composite
def repository(draw: st.DrawFn) -> ToldSource:
    """Few files in a few folders, and commits that changed them."""
    stems = draw(st.lists(word, min_size=0, max_size=5, unique=True))
    files = {}
    for stem in stems:
        folder = draw(st.sampled_from(["", "src/", "tests/test_", "docs/"]))
        if folder == "docs/":
            files[f"docs/{stem}.md"] = f"# {stem}\n\n{' '.join(draw(st.lists(word, max_size=6)))}\n"
        else:
            files[f"{folder}{stem}.py"] = "\n\n".join(draw(st.lists(function(), min_size=1, max_size=5)))
    if draw(st.booleans()):
        files[".github/ISSUE_TEMPLATE.md"] = "### What did you count?\n"
    commits = st.tuples(word, st.lists(st.sampled_from([*files, "gone.py"]), max_size=3))
    return ToldSource(files, draw(st.lists(commits, max_size=5)))


@st.composite
def importing(draw: st.DrawFn) -> dict[str, ToldSource]:
    """Repositories that import each other's packages: one declares what it needs, another has a package of the same
    name, what one inherits from another a third calls."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=4, unique=True))
    packages = {name: f"pack_{name.replace('-', '_').replace('.', '_')}" for name in names}
    found = {}
    for name in names:
        package = draw(st.sampled_from([*packages.values(), packages[name], packages[name]]))
        root, needs = draw(st.sampled_from(["", "src/"])), draw(st.sets(st.sampled_from([*packages.values()])))
        files = {"pyproject.toml": f'[project]\nname = "{package}"\ndependencies = {sorted(needs)}\n'}
        files[f"{root}{package}/__init__.py"] = draw(st.sampled_from(["", "from .code import *\n"]))
        for stem in ("code", "more"):
            lines = []
            for other in draw(st.lists(st.sampled_from([*packages.values()]), max_size=3)):
                what = draw(st.sampled_from([*FUNCTIONS, *CLASSES]))
                lines.append(
                    draw(st.sampled_from([f"from {other}.code import {what}", f"import {other}.code as code"]))
                )
            body = "\n\n".join(draw(st.lists(function(), min_size=1, max_size=5)))
            base, called = draw(st.sampled_from(CLASSES)), draw(st.sampled_from(FUNCTIONS))
            lines.append(
                f"\n\nclass Derived({base}):\n    def run(self):\n        self.{called}(1)\n        code.{called}(2)\n"
            )
            files[f"{root}{package}/{stem}.py"] = "\n".join(lines) + f"\n\n{body}\n"
        found[name] = ToldSource(files)
    return found


workspaces = st.dictionaries(st.sampled_from(NAMES), repository(), min_size=1, max_size=4)

EVERY = {f"relevance.{name}": 0.5 for name in PARTS} | {
    "relevance.penalty.duplicate": 0.5,
    "relevance.issue_forms": True,
}
"""All evidence counts."""

CHANGES = (
    EVERY,
    EVERY | {"relevance.pool": "all", "graph_rag.top_k": 5},
    {},
    {"embedding.model": "none"},
    {"graph_rag.anchors": "embedding"},
    {"relevance.pool": "all", "relevance.pool_cap": 50, "graph_rag.top_k": 5},
    {"graph_rag.max_depth": 1, "relevance.query_kind": "off"},
    EVERY | {"graph_rag.only": ("*/src/**", "one/**"), "graph_rag.top_k": 5},
)

TRACE = QUERIES[-1]

SMALL = {
    "one": ToldSource({"src/order.py": "def round_total(x):\n    return parse_header(x)\n"}),
    "two": ToldSource(
        {"order.py": "def parse_header(x):\n    return x\n", "src/order.py": "def round_total(x):\n    return x\n"}
    ),
}


def large(offset: int) -> ToldSource:
    """A repository of enough functions that something is left out everywhere: callers of each other, of equal texts,
    with messages that the trace quotes, and a history."""
    files = {}
    for number in range(offset, offset + 30):
        say = " ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, 5 + number % 4))
        files[f"{('src', 'lib', 'tests')[number % 3]}/{WORDS[number % len(WORDS)]}_{number % 20}.py"] = (
            f"def {FUNCTIONS[number % 6]}(x):\n    {say.replace(' ', ', ')}\n    return load_{number}(x)\n\n\n"
            f"def load_{number}(x):\n    # {say}\n"
            f"    if x:\n        raise ValueError(f'{SAID.format('{x}')}')\n"
            f"    return {FUNCTIONS[(number + 1) % 6]}(x)\n"
        )
    files["vendor/lib/shared.py" if offset else "lib/shared.py"] = "def shared(x):\n    return x\n"
    files[".github/ISSUE_TEMPLATE.md"] = f"### What did you count?\nthe header in form {offset}\n"
    paths = sorted(files)
    commits = [(f"{WORDS[place % 10]} {WORDS[place % 3]}", paths[place % 7 :: 5]) for place in range(12)]
    return ToldSource(files, commits)


LARGE = {"one": large(0), "two": large(17), "three.js": large(31)}


RARE = {
    "one": ToldSource(
        {"src/order.py": "def round_total(x):\n    return x\n", "tests/test_order.py": "def test_order():\n    pass\n"},
        [("cookie", ["src/order.py"])],
    ),
    "two": ToldSource({"retry.py": "class Reader:\n    def load_session(self):\n        return refund\n"}),
    "three.js": ToldSource({"docs/header.md": "# header\n\nparse\n", ".github/ISSUE_TEMPLATE.md": "### Any?\n"}),
    "cookie": ToldSource({"vendor/session.py": "def lod(x):\n    return x\n"}),
    "empty": ToldSource({}),
}
"""Repositories that have few words in common."""

FEW = (
    "Session.lod",
    "Reader",
    "refund",
    "who calls `lod`?",
    "session.py",
    "cookie",
    "sesion_rety",
    "zzzzqqq",
    "of the",
)

EXACT = tuple(query for query in QUERIES if "退款" not in query)
"""Queries without synonyms: how often one of several words occurs in a whole workspace is not known to a part."""


@pytest.mark.parametrize("profile", ["spec", "recommended"])
@settings(max_examples=15, deadline=None)
@given(workspaces, st.one_of(st.just(TRACE), st.sampled_from(EXACT)), st.sampled_from(CHANGES), st.data())
def test_parts_answer_byte_for_byte_like_the_whole(
    profile: str, members: dict[str, ToldSource], query: str, changes: dict[str, object], data: st.DataObject
) -> None:
    """Whatever is in which part, as long as no calls lead from one part into another."""
    groups: list[list[str]] = [[]]
    workspace = MemoryWorkspace(members, with_values(with_profile(Settings(), profile), changes))
    try:
        assert not len(workspace.crossing)
        for name in workspace.own:
            groups[-1].append(name)
            groups += [[]] * data.draw(st.integers(0, 1))
        parts = workspace.parts([one for one in groups if one])
        assert as_bytes(workspace.pool(query, parts)) == as_bytes(workspace.pool(query))
    finally:
        workspace.close()


@pytest.fixture(scope="module")
def large_workspace() -> Iterator[Callable[[Settings], MemoryWorkspace]]:
    """`RARE` and `LARGE` under some settings; read once for each model of vectors."""
    read: dict[str, MemoryWorkspace] = {}

    def under(settings: Settings) -> MemoryWorkspace:
        workspace = read.get(settings.embedding.model) or MemoryWorkspace(RARE | LARGE, settings)
        workspace.settings = settings
        return read.setdefault(settings.embedding.model, workspace)

    yield under
    for workspace in read.values():
        workspace.close()


@pytest.mark.parametrize("number", range(len(CHANGES)))
@pytest.mark.parametrize("profile", ["spec", "recommended"])
def test_large_parts_answer_like_the_whole(
    profile: str, number: int, large_workspace: Callable[[Settings], MemoryWorkspace]
) -> None:
    """Where something is left out everywhere: each query under each of the changes, under one profile and then the
    other. Queries without a word find near copies alone here, more of them than a part tells likely anchors."""
    workspace = large_workspace(with_values(with_profile(Settings(), profile), CHANGES[number]))
    parts = workspace.parts([["cookie", "empty", "one"], ["three.js"], ["two"]])
    queries = [query for query in dict.fromkeys((*EXACT, *FEW)) if query not in ("of the", "the of and")]
    for query in queries[(number + (profile == "spec")) % 2 :: 2]:
        assert as_bytes(workspace.pool(query, parts)) == as_bytes(workspace.pool(query))


@settings(max_examples=6, deadline=None)
@given(importing(), st.sampled_from(EXACT), st.sampled_from(CHANGES), st.integers(0, 9))
def test_calls_between_parts_are_all_that_is_missing(
    members: dict[str, ToldSource], query: str, changes: dict[str, object], seed: int
) -> None:
    """Whatever does not depend on calls is as in the whole."""
    workspace = MemoryWorkspace(members, with_values(with_profile(Settings(), "recommended"), changes), seed)
    try:
        whole, parts = workspace.pool(query), workspace.pool(query, workspace.parts([[name] for name in workspace.own]))
        both = [symbol for symbol in whole.symbol_id if symbol in parts.row_of]
        rows, others = ([pool.row_of[symbol] for symbol in both] for pool in (whole, parts))
        for name in ("tokens", "cost", "hotspot"):
            assert np.array_equal(getattr(whole, name)[rows], getattr(parts, name)[others])
    finally:
        workspace.close()


@settings(max_examples=10, deadline=None)
@given(workspaces)
def test_the_joined_snapshot_is_what_all_files_together_make(members: dict[str, ToldSource]) -> None:
    """But for what it says of calls and of histories, which are those of each repository."""
    workspace = MemoryWorkspace(members, Settings())
    try:
        records = [
            (f"{name}/{path}", digest, record)
            for name in workspace.own
            for path, digest, record in workspace.records(name)
        ]
        whole = build(records, CommitHistory.of(()), 0, workspace.whole.space.matrix.shape[1])
        for name, array in whole.arrays.items():
            if name.partition(".")[0] not in ("graph", "hotspots", "commits", "calls", "origin", "notices") and (
                name not in ("file.calls", "file.links")
            ):
                assert np.array_equal(workspace.whole.arrays[name], array), name
    finally:
        workspace.close()
