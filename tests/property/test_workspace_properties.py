"""Several repositories make the arrays of one index over the same files."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur import Settings
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.snapshot_arrays import build
from support.memory_workspace import MemoryWorkspace, ToldSource

WORDS = ("order", "refund", "total", "round", "cookie", "session", "parse", "header", "retry", "load")
FUNCTIONS = ("round_total", "parse_header", "load_session", "retry", "order_refund", "lod")
CLASSES = ("Cart", "Order", "Session", "Reader")
NAMES = ("one", "two", "one-more", "cookie", "three.js")

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


workspaces = st.dictionaries(st.sampled_from(NAMES), repository(), min_size=1, max_size=4)


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
