"""The store of what was taken out of conversations: who may read it, how long it keeps, and what is never written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from secateur.errors import SecateurError, UsageError
from secateur_agents import Store, store
from secateur_agents.savings import NAME
from support.systems import IS_ROOT

DIGEST, OTHER = "0123456789ab", "abcdef012345"
DAY = 86_400.0


def test_a_folder_that_cannot_be_made_is_named_with_the_code_of_outputs(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(SecateurError, match=r"cannot write .*taken") as caught:
        Store.at(tmp_path / "taken" / "originals").keep({DIGEST: "one"})
    assert caught.value.code == "OUTPUT" and caught.value.hint


def test_only_the_user_reads_what_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "originals"
    Store.at(folder).keep({DIGEST: "one\ntwo\n"})
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [(path.name, stat.S_IMODE(path.stat().st_mode)) for path in folder.iterdir()] == [
        (f"{DIGEST}.original", 0o600)
    ]


def test_credentials_are_replaced_before_anything_is_written(tmp_path: Path) -> None:
    key = "AKIA" + "QYLPMN5HFIQR7XYA"
    kept = Store.at(tmp_path)
    kept.keep({DIGEST: f"export AWS_ACCESS_KEY_ID={key}\nls\n"})
    assert key not in (tmp_path / f"{DIGEST}.original").read_text()
    assert "[redacted: " in kept.recall(DIGEST) and kept.recall(DIGEST, "2") == "ls\n"


def test_what_is_older_than_a_week_is_gone(tmp_path: Path) -> None:
    now = [0.0]
    kept = Store.at(tmp_path, clock=lambda: now[0])
    kept.keep({DIGEST: "old"})
    now[0] = 5 * DAY
    kept.keep({OTHER: "new"})
    assert kept.recall(DIGEST) == "old"
    now[0] = 8 * DAY
    with pytest.raises(SecateurError, match="nothing is kept under 0123456789ab"):
        kept.recall(DIGEST)
    kept.keep({OTHER: "new"})
    assert {path.name for path in tmp_path.iterdir()} == {f"{OTHER}.original", NAME}


def test_the_oldest_go_beyond_the_most_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_BYTES", 25)
    now = [0.0]
    kept = Store.at(tmp_path, clock=lambda: now[0])
    for number in range(5):
        now[0] = number
        kept.keep({f"{number:012x}": "0123456789"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{number:012x}.original" for number in (3, 4)]


def test_a_file_that_others_may_read_is_no_original(tmp_path: Path) -> None:
    (tmp_path / DIGEST).write_text("an object of git, or a container")
    os.utime(tmp_path / DIGEST, (0, 0))
    Store.at(tmp_path, clock=lambda: 8 * DAY).keep({OTHER: "new"})
    assert (tmp_path / DIGEST).exists()


def test_files_of_the_user_stay_and_originals_of_an_earlier_release_are_given_back_and_age(tmp_path: Path) -> None:
    others = ["notes.md", "0123456789abc", "0123456789ab.txt", ".0123456789ab", "0123456789AB", "savings.jsonl"]
    old = [DIGEST, f"{DIGEST}.a1b2c3_4.original"]  # the second was left by a process that was killed
    for name in (*others, *old):
        (tmp_path / name).write_text("mine\n")
        (tmp_path / name).chmod(0o600)
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "fedcba987654.original").mkdir()
    os.utime(tmp_path / "fedcba987654.original", (0, 0))
    (tmp_path / "0011223344ff").symlink_to("notes.md")
    assert Store.at(tmp_path, clock=lambda: 1.0).recall(DIGEST) == "mine\n"
    kept = Store.at(tmp_path, clock=lambda: 8 * DAY)
    kept.keep({OTHER: "new"})
    stays = [*others, NAME, f"{OTHER}.original", "fedcba987654.original", "0011223344ff"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(stays)


@pytest.mark.skipif(not IS_ROOT, reason="only root can give files away")
def test_originals_of_another_user_stay(tmp_path: Path) -> None:
    for name, number in ((DIGEST, 4711), (f"{DIGEST}.original", 4711), ("001122334455", os.geteuid())):
        (tmp_path / name).write_text("kept")
        (tmp_path / name).chmod(0o600)
        os.utime(tmp_path / name, (0, 0))
        os.chown(tmp_path / name, number, -1)
    Store.at(tmp_path, clock=lambda: 8 * DAY).keep({OTHER: "new"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [DIGEST, f"{DIGEST}.original", f"{OTHER}.original"]


@pytest.mark.parametrize("name", [".git", ".git/HEAD"])
def test_a_folder_in_a_repository_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("of a work tree, or of a repository")
    with pytest.raises(UsageError, match="lies in the repository"):
        Store.at(tmp_path / "deep" / "originals")


def test_an_empty_folder_that_a_sandbox_shows_is_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert Store.at(tmp_path / "originals").folder == tmp_path / "originals"


@pytest.mark.parametrize("digest", ["", "../../etc/passwd", "0123", "0123456789AB", "x" * 200])
def test_what_is_no_digest_reads_nothing(tmp_path: Path, digest: str) -> None:
    with pytest.raises(UsageError, match="is not a digest"):
        Store.at(tmp_path).recall(digest)


@pytest.mark.parametrize(
    ("lines", "expected"), [("", "a\nb\nc"), ("2", "b\n"), ("2-", "b\nc"), ("1-2", "a\nb\n"), ("3-90", "c")]
)
def test_lines_of_what_is_kept(tmp_path: Path, lines: str, expected: str) -> None:
    kept = Store.at(tmp_path)
    kept.keep({DIGEST: "a\nb\nc"})
    assert kept.recall(DIGEST, lines) == expected


@pytest.mark.parametrize("lines", ["0", "4", "3-2", "x", "1-2-3", "-2"])
def test_lines_that_are_not_there_are_an_error(tmp_path: Path, lines: str) -> None:
    kept = Store.at(tmp_path)
    kept.keep({DIGEST: "a\nb\nc"})
    with pytest.raises(UsageError, match="lines"):
        kept.recall(DIGEST, lines)
