"""A snapshot is what its records say: every fragment once, numbered by path and line, the same through a file and
back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from secateur.index.facts.extract import Record, digest_of, extract
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.snapshot import Snapshot
from secateur.index.facts.snapshot_arrays import build
from secateur.index.graph.code_graph import Direction
from secateur.index.store import arrayfile
from secateur.model import FragmentKind
from secateur.sources.git import HistoryCommit
from secateur.tokens import get_counter
from support.repos import SHOP

FILES = SHOP | {
    "a.py": "def f():\n    return 1\n\n\ndef f():\n    return 2\n",
    "uv.lock": "version = 1\n",
    "empty.py": "",
}


def read(files: dict[str, str]) -> list[tuple[str, bytes, Record]]:
    counter = get_counter("chars4")
    return [
        (path, digest_of(text.encode()), extract(path, text.encode(), counter, None))
        for path, text in sorted(files.items())
    ]


def snapshot(files: dict[str, str] = FILES, commits: tuple[HistoryCommit, ...] = ()) -> Snapshot:
    return build(read(files), CommitHistory.of(commits), 0, 0)


def test_fragments_are_numbered_by_path_and_line() -> None:
    shot = snapshot()
    places = [(shot.paths[file], int(line)) for file, line in zip(shot.file, shot.line_start, strict=True)]
    assert places == sorted(places)
    ids = [shot.symbol_id(row) for row in range(len(shot))]
    assert len(set(ids)) == len(ids)
    assert {"a.py::f", "a.py::f#2", "shop/refund.py::refund_total"} <= set(ids)
    assert all(shot.kind(row) in FragmentKind for row in range(len(shot)))


def test_a_symbol_is_found_by_its_id() -> None:
    shot = snapshot(FILES | {"a.py::b.py": "def f():\n    return 3\n"})
    assert [shot.row_of(shot.symbol_id(row)) for row in range(len(shot))] == list(range(len(shot)))
    for unknown in ("", "a.py", "a.py::", "a.py::g", "a.py::f#3", "::f"):
        assert shot.row_of(unknown) == -1


def test_what_is_only_counted_is_listed() -> None:
    shot = snapshot()
    assert shot.unindexed == [("uv.lock", "lockfile")]
    assert "uv.lock" not in shot.paths
    assert shot.digests["a.py"] == digest_of(FILES["a.py"].encode())


def test_through_a_file_and_back(tmp_path: Path) -> None:
    shot = snapshot()
    arrayfile.save(tmp_path / "x.arrays", shot.arrays)
    arrays = arrayfile.load(tmp_path / "x.arrays")
    assert arrays is not None
    assert arrays.keys() == shot.arrays.keys()
    for name, array in shot.arrays.items():
        assert array.dtype == arrays[name].dtype
        assert np.array_equal(array, arrays[name]), name
    assert Snapshot(arrays).paths == shot.paths


def test_nothing_at_all_is_a_snapshot_too() -> None:
    for files in ({}, {"uv.lock": "version = 1\n"}, {"empty.py": ""}):
        shot = snapshot(files)
        assert len(shot) == 0
        assert shot.body.documents == 0
        assert shot.graph.edge_count == 0
        assert shot.column("wrapping").shape == (0, 2)


def test_calls_become_edges() -> None:
    shot = snapshot()
    rows = {shot.symbol_id(row): row for row in range(len(shot))}
    reach = shot.graph.search([rows["shop/refund.py::refund_total"]], 1, (Direction.CALLS, Direction.CALLED_BY))
    assert {rows["shop/api.py::post_refund"], rows["shop/money.py::round_total"]} <= {int(node) for node in reach.nodes}
