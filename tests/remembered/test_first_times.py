"""What was said about a repository is said once."""

import json

import pytest
from secateur.remembered.store import MAX_BYTES, SAID_FILE, first_time


def test_the_first_time_is_once_for_each_repository(tmp_path):
    own, root = tmp_path / "own", tmp_path / "repository"
    assert first_time(own, root, "a") and first_time(own, root, "b")
    assert not first_time(own, root, "a")
    assert first_time(own, tmp_path / "other", "a")


@pytest.mark.parametrize(
    "data",
    [
        *(b"{", b"[]", b"\xff", b"{" + b" " * MAX_BYTES + b"}", b"[" * 90_000),
        *(json.dumps({"version": 1, "said": said}).encode() for said in (3, [1, None, "x"])),
    ],
)
def test_a_broken_file_costs_itself(tmp_path, data):
    own, root = tmp_path / "own", tmp_path / "repository"
    first_time(own, root, "a")
    (path,) = own.rglob(SAID_FILE)
    path.write_bytes(data)
    assert first_time(own, root, "a") and not first_time(own, root, "a")


def test_a_folder_that_cannot_be_written_is_told_nothing(tmp_path):
    (tmp_path / "own").write_text("")
    assert not first_time(tmp_path / "own", tmp_path, "a")
