"""What JSON says of the parts of a file that is too large for one chunk."""

from __future__ import annotations

from itertools import pairwise

from secateur.kinds.diff.chunks import chunk_diff
from support.diffs import line_diff

LINES = [f"value_{number:03} = {number}" for number in range(200)]
LIMIT = 300


def test_each_part_says_which_lines_of_which_side_it_holds() -> None:
    chunks = chunk_diff(line_diff("a.py", [], LINES, newline=True), LIMIT, counter="chars4")
    told = [file.to_dict() for chunk in chunks for file in chunk.files]
    assert len(told) > 2
    assert {entry["path"] for entry in told} == {"a.py"}
    parts = [entry["part"] for entry in told]
    assert [list(part) for part in parts] == [["number", "of", "line_start", "line_end", "side", "inside"]] * len(parts)
    assert [(part["number"], part["of"], part["side"]) for part in parts] == [
        (number, len(parts), "new") for number in range(1, len(parts) + 1)
    ]
    assert (parts[0]["line_start"], parts[-1]["line_end"]) == (1, len(LINES))
    assert all(part["line_end"] + 1 == following["line_start"] for part, following in pairwise(parts))


def test_a_deleted_file_is_told_by_its_old_lines() -> None:
    diff = line_diff("a.py", LINES, [], newline=True).replace("+++ b/a.py", "+++ /dev/null")
    parts = [
        part
        for chunk in chunk_diff(diff, LIMIT, counter="chars4")
        for file in chunk.files
        if (part := file.to_dict()["part"])
    ]
    assert [part["side"] for part in parts] == ["old"] * len(parts)
    assert len(parts) > 1


def test_a_whole_file_has_no_part() -> None:
    (chunk,) = chunk_diff(line_diff("a.py", [], LINES[:3], newline=True), LIMIT, counter="chars4")
    assert [file.to_dict() for file in chunk.files] == [
        {"path": "a.py", "part": None, "token_count": chunk.files[0].tokens}
    ]
