"""What commands read and write besides standard output: bounded, whole or not at all, and no more readable than it
was."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from secateur.errors import SecateurError
from secateur.kinds import environment
from secateur.kinds.environment import Environment
from secateur.output_files import write_output
from support.cli import secateur

MESSAGES = '[{"role": "user", "content": "Hello."}]'


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "talk.json"
    path.write_text(MESSAGES, "utf-8")
    return path


def test_a_source_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(environment, "LARGEST", 10)
    (tmp_path / "more").write_bytes(b"x" * 11)
    (tmp_path / "just").write_bytes(b"x" * 10)
    assert Environment().bytes_of(str(tmp_path / "just"), "transcript") == b"x" * 10
    for name in (str(tmp_path / "more"), "/dev/zero"):
        with pytest.raises(SecateurError, match="larger than 10 bytes") as error:
            Environment().bytes_of(name, "transcript")
        assert (error.value.code, error.value.hint) == ("TOO_LARGE", "no transcript is that large: check the path")


def test_what_cannot_be_read_says_whether_it_is_there(tmp_path: Path) -> None:
    for command in (("conversation",), ("envelope", "--model", "gpt-4o"), ("files", tmp_path, "--conversation")):
        for name, code in ((tmp_path / "none", "NO_SUCH_FILE"), (tmp_path, "UNREADABLE")):
            ran = secateur(*command, name, "--format", "json")
            assert (ran.code, ran.json["error"]["code"]) == (1, code)


def test_a_private_file_that_is_pruned_in_place_stays_private(transcript: Path) -> None:
    transcript.chmod(0o600)
    assert secateur("conversation", transcript, "--out", transcript, "--quiet").code == 0
    assert transcript.stat().st_mode & 0o777 == 0o600


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_output(tmp_path / "pipe", "text")
    assert os.read(reader, 100) == b"text"
    assert (tmp_path / "pipe").is_fifo()
    os.close(reader)


def test_a_missing_folder_is_named_before_anything_is_read(tmp_path: Path) -> None:
    ran = secateur("search", "x", tmp_path / "missing", "--save", tmp_path / "none" / "x.scenario.toml")
    assert ran.code == 1 and ran.err.startswith("error: cannot write "), ran.err
    assert ran.err.endswith(f": there is no folder {tmp_path / 'none'}\nhint: make it first, or choose another place\n")


@pytest.mark.parametrize("out", ["folder", "none/out.json", "a" * 300])
def test_what_cannot_be_written_leaves_nothing_behind(transcript: Path, tmp_path: Path, out: str) -> None:
    (tmp_path / "folder").mkdir()
    before = sorted(path.name for path in tmp_path.rglob("*"))
    ran = secateur("conversation", transcript, "--out", tmp_path / out, "--format", "json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "OUTPUT")
    assert sorted(path.name for path in tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--safe-zone", "-1"), ("--group-size", "0"), ("--keep-last", "many"), ("--strategy", "sumarize")],
)
def test_errors_speak_of_the_flag_that_was_typed(transcript: Path, flag: str, value: str) -> None:
    ran = secateur("conversation", transcript, flag, value)
    assert ran.code == 2
    assert f"{flag} {value} is not allowed" in ran.err and f"{flag} takes" in ran.err
