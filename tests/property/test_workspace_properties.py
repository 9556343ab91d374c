"""Several repositories answer byte for byte like one index over the same files."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from secateur import Settings
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.joined import joined
from secateur.index.facts.merged import MemberSize, grouped
from secateur.index.facts.snapshot_arrays import build
from secateur.settings import with_profile, with_values
from support.shards import Shards, ToldSource, as_bytes
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
    EVERY | {"relevance.history_commits": 1, "relevance.pool": "all", "graph_rag.top_k": 5},
    {},
    {"embedding.model": "none"},
    {"graph_rag.anchors": "embedding"},
    {"relevance.pool": "all", "relevance.pool_cap": 50, "graph_rag.top_k": 5},
    {"graph_rag.max_depth": 1, "graph_rag.hub_limit": 1, "relevance.query_kind": "off"},
    EVERY | {"graph_rag.only": ("*/src/**", "one/**"), "graph_rag.top_k": 5},
    {"relevance.history_commits": 1},
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


@pytest.mark.parametrize("profile", ["spec", "recommended"])
@settings(max_examples=60, deadline=None)
@given(workspaces, st.one_of(st.just(TRACE), st.sampled_from(QUERIES)), st.sampled_from(CHANGES), st.integers(0, 9))
@example(SMALL, "round_total", EVERY, 0)
@example(SMALL | {"empty": ToldSource({})}, "who calls `parse_header`?", CHANGES[6], 0)
@example(SMALL | {"empty": ToldSource({})}, "who calls `parse_header`?", EVERY, 1)
@example(LARGE, TRACE, EVERY, 0)
@example(LARGE, TRACE, EVERY, 1)
@example(LARGE, TRACE, CHANGES[1], 2)
@example(LARGE, TRACE, CHANGES[-2], 3)
@example(LARGE, "round total", CHANGES[6] | {"graph_rag.max_depth": 4, "graph_rag.hub_limit": 2}, 4)
@example(LARGE, "who calls `round_total`?", EVERY | {"graph_rag.hub_limit": 2}, 5)
@example(LARGE, "order refund total", {"relevance.pool": "all", "relevance.pool_cap": 50, "graph_rag.top_k": 5}, 6)
def test_shards_answer_byte_for_byte_like_one_index_over_the_same_files(
    profile: str, members: dict[str, ToldSource], query: str, changes: dict[str, object], seed: int
) -> None:
    """With edges between them at random, or none."""
    shards = Shards(members, with_values(with_profile(Settings(), profile), changes), seed)
    try:
        assert as_bytes(shards.pool(shards.shards, query)) == as_bytes(shards.pool([shards.one], query))
    finally:
        shards.close()


@pytest.mark.parametrize("profile", ["spec", "recommended"])
@settings(max_examples=40, deadline=None)
@given(workspaces, st.one_of(st.just(TRACE), st.sampled_from(QUERIES)), st.sampled_from(CHANGES), st.data())
def test_repositories_merged_into_one_shard_answer_as_before(
    profile: str, members: dict[str, ToldSource], query: str, changes: dict[str, object], data: st.DataObject
) -> None:
    """Whatever is merged with what, as long as it stands next to each other."""
    seed = data.draw(st.integers(0, 9))
    shards = Shards(members, with_values(with_profile(Settings(), profile), changes), seed)
    try:
        groups: list[list[str]] = [[]]
        for shard in shards.shards:
            groups[-1].append(shard.name)
            groups += [[]] * data.draw(st.integers(0, 1))
        merged = shards.merged([group for group in groups if group])
        assert as_bytes(shards.pool(merged, query)) == as_bytes(shards.pool(shards.shards, query))
        for shard in shards.shards:
            for path in shard.paths:
                (found,) = (files for one in merged if (files := one.files_of(path)) is not None)
                assert (found.digests, found.redactions) == (shard.own.digests, shard.own.redactions)
            symbols = [shard.symbol_id(row) for row in range(len(shard))]
            assert all(sum(one.row_of(symbol) >= 0 for one in merged) == 1 for symbol in symbols)
    finally:
        shards.close()


@pytest.mark.parametrize("profile", ["spec", "recommended"])
@settings(max_examples=60, deadline=None)
@given(workspaces, st.one_of(st.just(TRACE), st.sampled_from(QUERIES)), st.sampled_from(CHANGES), st.randoms())
@example(LARGE, TRACE, EVERY, Random(0))
@example(LARGE, TRACE, CHANGES[1], Random(1))
@example(LARGE, "round total", CHANGES[6] | {"graph_rag.max_depth": 4, "graph_rag.hub_limit": 2}, Random(2))
@example(LARGE, "who calls `round_total`?", EVERY | {"graph_rag.hub_limit": 2}, Random(3))
@example(LARGE, "order refund total", CHANGES[-1], Random(4))
def test_repositories_split_into_parts_answer_as_before(
    profile: str, members: dict[str, ToldSource], query: str, changes: dict[str, object], chance: Random
) -> None:
    """Wherever a part begins."""
    shards = Shards(members, with_values(with_profile(Settings(), profile), changes), chance.randint(0, 9))
    try:
        files = {shard.name: range(1, len(shard.paths)) for shard in shards.shards}
        begins = {name: [0, *sorted(chance.sample(all_, chance.randint(0, len(all_))))] for name, all_ in files.items()}
        parts = shards.split(begins)
        assert as_bytes(shards.pool(parts, query)) == as_bytes(shards.pool(shards.shards, query))
        whole = joined(parts)
        for name, array in shards.one.arrays.items():
            assert np.array_equal(whole.arrays[name], array), name
        for shard in shards.shards:
            for path in shard.paths:
                (found,) = (files for one in parts if (files := one.files_of(path)) is not None)
                own = path.partition("/")[2]
                assert found.digests[own] == shard.own.digests[own]
            symbols = [shard.symbol_id(row) for row in range(len(shard))]
            assert all(sum(one.row_of(symbol) >= 0 for one in parts) == 1 for symbol in symbols)
    finally:
        shards.close()


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
WITHOUT_VECTORS = {"embedding.model": "none", "relevance.issue_forms": True}


@pytest.mark.parametrize("profile", ["spec", "recommended"])
@settings(max_examples=80, deadline=None)
@given(
    st.one_of(st.just(RARE), workspaces),
    st.sampled_from((*FEW, *QUERIES)),
    st.sampled_from(CHANGES),
    st.booleans(),
    st.integers(0, 9),
)
@example(LARGE | RARE, "Reader", CHANGES[1], False, 0)
@example(LARGE | RARE, TRACE, EVERY, False, 3)
def test_shards_that_hold_nothing_of_a_query_change_no_answer(
    profile: str, members: dict[str, ToldSource], query: str, changes: dict[str, object], vectors: bool, seed: int
) -> None:
    """Asked or not, with edges between them at random or none."""
    changes = changes if vectors or "graph_rag.anchors" in changes else changes | WITHOUT_VECTORS
    shards = Shards(members, with_values(with_profile(Settings(), profile), changes), seed)
    try:
        every = as_bytes(shards.pool(shards.shards, query, every=True))
        assert as_bytes(shards.pool(shards.shards, query)) == every
        symbols = tuple(shard.symbol_id(0) for shard in shards.shards if len(shard))[:1]
        pinned = replace(shards.settings, pins=symbols, boosts=symbols)
        every = as_bytes(shards.pool(shards.shards, query, every=True, settings=pinned))
        assert as_bytes(shards.pool(shards.shards, query, settings=pinned)) == every
    finally:
        shards.close()


@settings(max_examples=60, deadline=None)
@given(importing(), st.sampled_from(QUERIES), st.sampled_from(CHANGES))
def test_what_imports_lead_to_is_followed_alike(
    members: dict[str, ToldSource], query: str, changes: dict[str, object]
) -> None:
    shards = Shards(members, with_values(with_profile(Settings(), "recommended"), changes))
    try:
        assert as_bytes(shards.pool(shards.shards, query)) == as_bytes(shards.pool([shards.one], query))
        for shard in shards.shards:  # alone it has the edges that it has among others
            crossing = shard.facts.crossing
            inside = shard.graph.edge_count + len(crossing.touching(shard.begin, shard.begin + len(shard)))
            assert shard.around is None or shard.around.graph.edge_count == inside
    finally:
        shards.close()


names = st.lists(st.integers(0, 5000).map("repository-{}".format), unique=True, max_size=300).map(sorted)


@settings(max_examples=50, deadline=None)
@given(names, st.data())
def test_a_repository_that_comes_changes_few_groups(taken: list[str], data: st.DataObject) -> None:
    def groups_of(found: list[str]) -> list[list[str]]:
        groups = grouped([MemberSize(name, 10 * len(name), fixed=True) for name in found])
        assert [name for group in groups for name in group] == found
        return groups

    before = groups_of(taken)
    new = data.draw(st.integers(0, 5000).map("repository-{}".format))
    after = groups_of(sorted({*taken, new}))
    assert len([group for group in after if group not in before]) <= 2


def test_what_is_large_or_edited_stays_a_shard_of_its_own() -> None:
    sizes = [("a", 5, True), ("b", 9000, True), ("c", 5, True), ("d", 5, True), ("e", 5, False), ("f", 5, True)]
    assert grouped([MemberSize(*one) for one in sizes]) == [["a"], ["b"], ["c", "d"], ["e"], ["f"]]
    many = grouped([MemberSize(f"{number:04}", 2000, fixed=True) for number in range(100)])
    assert max(map(len, many)) == 8


@settings(max_examples=25, deadline=None)
@given(workspaces)
def test_the_one_index_is_what_all_files_together_make(members: dict[str, ToldSource]) -> None:
    """But for what it says of calls and of histories, which are those of each repository."""
    shards = Shards(members, Settings())
    try:
        records = [
            (shard.path_of(path), digest, record)
            for shard in shards.shards
            for path, digest, record in shards.records(shard.name)
        ]
        whole = build(records, CommitHistory.of(()), 0, shards.one.space.matrix.shape[1])
        for name, array in whole.arrays.items():
            if name.partition(".")[0] not in ("graph", "hotspots", "commits", "calls", "origin", "notices") and (
                name not in ("file.calls", "file.links")
            ):
                assert np.array_equal(shards.one.arrays[name], array), name
    finally:
        shards.close()
