"""Where a repository that is too large for one shard is cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import build
from secateur.index.facts.split import Division, cuts
from secateur.sources.files import path_bytes


def begun(files: dict[str, int], largest: int) -> list[str]:
    """The files that parts begin with, of files with so many fragments."""
    paths = sorted(files, key=path_bytes)
    return [paths[cut] for cut in cuts(paths, np.array([files[path] for path in paths], dtype=np.int64), largest)]


@pytest.mark.parametrize(
    ("files", "largest", "begins"),
    [
        ({"a/x.py": 50, "b/x.py": 50}, 100, ["a/x.py"]),
        ({"a/x.py": 51, "b/x.py": 50}, 100, ["a/x.py", "b/x.py"]),
        # where two folders of the root meet, although two deeper ones meet nearer the middle
        ({"a/x.py": 30, "b/c/x.py": 30, "b/d/x.py": 60}, 100, ["a/x.py", "b/c/x.py"]),
        # deeper in a folder that is too large alone
        ({"a/b/x.py": 30, "a/c/x.py": 60, "a/d/x.py": 60}, 100, ["a/b/x.py", "a/d/x.py"]),
        ({"a/b/x.py": 30, "a/c/x.py": 60, "a/d/x.py": 60, "b/x.py": 90}, 100, ["a/b/x.py", "a/d/x.py", "b/x.py"]),
        # little is no part of its own
        ({"README.md": 1, "src/a/x.py": 80, "src/b/x.py": 80}, 100, ["README.md", "src/b/x.py"]),
        # files of one folder where there is no other way, and none is cut
        ({"a/1.py": 40, "a/2.py": 40, "a/3.py": 40}, 100, ["a/1.py", "a/2.py"]),
        ({"a/1.py": 10, "a/2.py": 400, "a/3.py": 0}, 100, ["a/1.py", "a/2.py"]),
        ({"a/2.py": 400}, 100, ["a/2.py"]),
        ({"a-b/x.py": 90, "a.py": 90, "a/x.py": 90}, 100, ["a-b/x.py", "a.py", "a/x.py"]),
    ],
)
def test_a_repository_is_cut_where_folders_meet(files: dict[str, int], largest: int, begins: list[str]) -> None:
    assert begun(files, largest) == begins


def test_an_edit_moves_no_cut_as_long_as_other_places_are_further_from_the_middle() -> None:
    files = {f"{folder}/{inner}/{name}.py": 7 for folder in "abcdefgh" for inner in "klmn" for name in "xyz"}
    before = begun(files, 100)
    assert len(before) == 8
    assert begun(files | {"b/k/x.py": 9, "b/new.py": 3}, 100) == before
    assert {path[0] for path in set(begun(files | {"b/k/x.py": 60}, 100)) - set(before)} == {"b"}


folders = st.lists(st.sampled_from("abc"), max_size=3)
trees = st.dictionaries(st.builds("/".join, st.builds(list.__add__, folders, st.just(["x"]))), st.integers(0, 9))


@given(trees.filter(any), st.integers(1, 40))
def test_parts_are_as_small_as_files_allow_and_have_fragments(files: dict[str, int], largest: int) -> None:
    paths = sorted(files, key=path_bytes)
    fragments = np.array([files[path] for path in paths])
    begins = cuts(paths, fragments, largest)
    assert begins[0] == 0
    for begin, end in pairwise([*begins, len(paths)]):
        some = fragments[begin:end]
        assert some.sum() > 0 or not fragments.any()
        assert some.sum() <= largest or np.count_nonzero(some) == 1


def test_of_a_whole_that_is_one_part_nothing_is_another() -> None:
    snapshot = build([], CommitHistory.of(()), 0, 0)
    division = Division.of(snapshot, 100)
    assert division.begins == [0]
    part = Snapshot(division.part(0))
    for name, array in snapshot.arrays.items():
        assert np.array_equal(part.arrays[name], array), name
    assert part.arrays.keys() == snapshot.arrays.keys()
    assert len(division.between(0)) == 0
