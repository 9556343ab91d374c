"""Locks between real processes, on whatever system the tests run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from secateur.index.store.folder import SUFFIX, remove_leftovers, replacing
from secateur.system.files import one_at_a_time, remove_unless_held, try_lock
from support.processes import environment

HOLDS = """
import os, sys
from secateur.system.files import lock
handle = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
lock(handle)
print("held", flush=True)
sys.stdin.readline()
"""

ENTERS = """
import sys
from pathlib import Path
from secateur.system.files import one_at_a_time
with one_at_a_time(Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def another(program: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has come to its first line of output."""
    words = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(
        words, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline().strip() in ("held", "in")
        yield process
        process.kill()


def test_a_file_that_a_process_holds_is_held_until_the_process_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "held"
    with another(HOLDS, path) as process:
        handle = os.open(path, os.O_RDWR)
        assert not try_lock(handle)
        process.kill()
        process.wait()
        assert try_lock(handle)
        os.close(handle)


def test_a_lock_moves_nothing_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "written"
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    os.write(handle, b"one ")
    assert try_lock(handle)
    os.write(handle, b"two")
    os.close(handle)
    assert path.read_bytes() == b"one two"


def test_nothing_is_held_where_there_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        remove_unless_held(tmp_path / "none")


def test_an_unfinished_file_goes_with_its_writer_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / f"array.1{SUFFIX}"
    with another(HOLDS, path) as process:
        remove_leftovers(tmp_path)
        assert path.exists()
        process.kill()
        process.wait()
        remove_leftovers(tmp_path)
    assert not path.exists()


def test_a_file_takes_its_place_while_it_is_locked_and_others_sweep(tmp_path: Path) -> None:
    target = tmp_path / "array"
    target.write_bytes(b"before")
    with replacing(target) as file:
        file.write(b"after")
        file.flush()
        remove_leftovers(tmp_path)
        assert target.read_bytes() == b"before"
    assert target.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [target]


def test_a_folder_lets_one_process_in_and_the_next_when_that_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with another(ENTERS, folder) as first:
        words = [sys.executable, "-c", ENTERS, str(folder)]
        with subprocess.Popen(
            words, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as second:
            first.kill()
            assert second.communicate("\n", timeout=60)[0].strip() == "in"
    assert list(folder.iterdir()) == []


def test_a_folder_can_be_removed_by_who_is_alone_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with one_at_a_time(folder):
        folder.rmdir()
    with pytest.raises(FileNotFoundError), one_at_a_time(folder):
        pass
