"""Files larger than a chunk: where they are cut, and that every part is a patch."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from secateur import chunk_diff
from secateur.kinds.diff.chunks import Chunks
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.plan import FilePiece
from support.diffs import git_apply, line_diff

OLD = [f"line {number} of the file as it was" for number in range(600)]
NEW = [
    f"line {number} of the file as it is" if number % 9 == 0 or 200 < number < 260 else line
    for number, line in enumerate(OLD)
    if number % 31
]


def pieces(chunks: Chunks) -> list[FilePiece]:
    return sorted(
        (piece for chunk in chunks.plan.chunks for piece in chunk), key=lambda piece: (piece.file.number, piece.number)
    )


@pytest.mark.parametrize("limit", [200, 400, 1500])
def test_each_part_alone_applies_to_the_file_as_it_was(tmp_path: Path, limit: int) -> None:
    parts = pieces(chunk_diff(line_diff("a.txt", OLD, NEW, newline=True), limit))
    assert len(parts) > 2
    for piece in parts:
        assert piece.part
        (tmp_path / "a.txt").write_text("\n".join(OLD) + "\n")
        git_apply(tmp_path, piece.part.text, "--unidiff-zero")
        numbers = {number for number, _ in parse_diff(piece.part.text).changes[0].side(new=True)}
        assert not numbers or (min(numbers), max(numbers)) == (piece.part.place.line_start, piece.part.place.line_end)


@pytest.mark.parametrize(("old", "new"), [(OLD, NEW), (None, NEW), (OLD, None), ([], NEW), (OLD, [])])
@pytest.mark.parametrize("newline", [True, False])
def test_git_reads_every_part_and_their_counts_add_up(
    tmp_path: Path, old: list[str] | None, new: list[str] | None, newline: bool
) -> None:
    diff = line_diff("deep/a b.txt", old, new, newline=newline)
    parts = pieces(chunk_diff(diff, 500))
    assert len(parts) > 2
    said = [
        git_apply(tmp_path, piece.part.text, "--numstat", "--unidiff-zero").split("\t") for piece in parts if piece.part
    ]
    (change,) = parse_diff(diff).changes
    assert (sum(int(fields[0]) for fields in said), sum(int(fields[1]) for fields in said)) == (
        change.added,
        change.removed,
    )
    assert {fields[2] for fields in said} == {"deep/a b.txt\n"}


def test_parts_of_a_new_file_number_its_lines() -> None:
    lines = 0
    for piece in pieces(chunk_diff(line_diff("a.txt", None, OLD, newline=True), 500)):
        assert piece.part
        assert (piece.part.place.line_start, piece.part.place.line_end) == (lines + 1, lines + piece.part.rows)
        assert f"@@ -0,0 +{lines + 1},{piece.part.rows} @@\n" in piece.part.text
        lines += piece.part.rows
    assert lines == 600


def test_a_file_that_became_a_link_keeps_both_its_patches() -> None:
    link = (
        "diff --git a/a.txt b/a.txt\nnew file mode 120000\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+elsewhere\n\\ No"
        " newline at end of file\n"
    )
    parts = pieces(chunk_diff(line_diff("a.txt", OLD, None, newline=True) + link, 500))
    texts = [piece.part.text for piece in parts if piece.part]
    assert link in texts[-1]
    assert sum(text.count("new file mode 120000") for text in texts) == 1
    assert all("deleted file mode" in text for text in texts[:-1])


def test_between_hunks_before_between_lines() -> None:
    new = [f"changed {number}" if number % 50 == 25 else line for number, line in enumerate(OLD)]
    diff = line_diff("a.unknown", OLD, new, newline=True)
    (change,) = parse_diff(diff).changes
    hunks = [hunk.text for hunk in change.patches[0].hunks]
    for piece in pieces(chunk_diff(diff, 400)):
        assert piece.part
        assert "".join(hunk for hunk in hunks if hunk in piece.part.text) == piece.part.text.removeprefix(
            change.patches[0].header
        )


def test_a_combined_diff_is_cut_with_marks_for_all_parents() -> None:
    body = "".join(
        f"  both have line {number}\n- one had {number}\n -two had {number}\n++none had {number}\n"
        for number in range(120)
    )
    diff = f"diff --cc a.txt\nindex 1,2..3\n--- a/a.txt\n+++ b/a.txt\n@@@ -1,240 -1,240 +1,240 @@@ top\n{body}"
    parts = [piece.part.text for piece in pieces(chunk_diff(diff, 800)) if piece.part]
    assert len(parts) > 2
    again = [row for part in parts for row in parse_diff(part).changes[0].patches[0].hunks[0].rows()]
    assert "".join(row.text for row in again) == body
    starts = [parse_diff(part).changes[0].patches[0].hunks[0] for part in parts]
    for before, after in pairwise(starts):
        assert after.new[0] == sum(before.new)
        assert [start for start, _ in after.old] == [sum(old) for old in before.old]
