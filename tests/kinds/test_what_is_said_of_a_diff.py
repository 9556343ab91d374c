"""What is warned of in the text of a diff, and which names say that a file is no text."""

from __future__ import annotations

import pytest
from secateur.kinds.diff.chunks import chunk_diff
from secateur.kinds.diff.skip_rules import BINARY_SUFFIXES
from support.diffs import line_diff

FORMATS = """
    exe dll so png jpg jpeg gif bmp ico icns webp avif tif tiff psd pdf zip gz tgz bz2 xz 7z rar zst jar war ear
    class pyc pyo o a lib obj dylib pdb wasm woff woff2 ttf otf eot mp3 mp4 m4a m4v mov avi mkv webm ogg flac wav
    sqlite sqlite3 parquet npy npz onnx pkl
"""


@pytest.mark.parametrize("sign", ["\u200b", "\u202e", "\u2066"])
def test_characters_that_a_reader_does_not_see_are_named_with_their_file(sign: str) -> None:
    diff = line_diff("plain.py", ["a = 1"], ["a = 2"], newline=True) + line_diff(
        "odd.py", ["b = 1"], [f"b = {sign}2"], newline=True
    )
    (notice,) = [
        notice for notice in chunk_diff(diff, 1000, counter="chars4").warnings if notice.code == "hidden_characters"
    ]
    assert "odd.py" in notice.message and "plain.py" not in notice.message


CONFLICT = ["x = 1", "<<<<<<< HEAD", "y = 1", "=======", "y = 2", ">>>>>>> other"]


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (None, CONFLICT, ["Markers of a merge conflict are in a.py:2."]),
        (CONFLICT, [*CONFLICT[:2], "y = 3", *CONFLICT[3:]], ["Markers of a merge conflict are in a.py:2."]),
        (CONFLICT, ["x = 1", "y = 2"], []),
        (None, CONFLICT[:3], []),
        (None, CONFLICT[2:], []),
        (None, ["Title", "=======", "> <<<<<<< x"], []),
    ],
)
def test_markers_of_a_conflict_are_named(before: list[str] | None, after: list[str], says: list[str]) -> None:
    chunks = chunk_diff(line_diff("a.py", before, after, newline=True), 1000, counter="chars4")
    assert [notice.message for notice in chunks.warnings if notice.code == "conflict_markers"] == says


def test_plain_text_is_not_warned_of() -> None:
    assert not chunk_diff(line_diff("a.py", ["a = 1"], ["a = '订单'"], newline=True), 1000, counter="chars4").warnings


def test_the_extensions_of_what_is_no_text() -> None:
    assert {f".{name}" for name in FORMATS.split()} == BINARY_SUFFIXES
