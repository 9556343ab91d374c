"""A recorded history comes back commit for commit, on any machine, however many ask for it at once."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from secateur.errors import RepositoryError
from secateur.sources import samples
from secateur.sources.open import open_source
from secateur.sources.samples import materialise, sample_names

RECORD = Path(__file__).parents[2] / "sample_repos" / "record.py"
AUTHORS = (("Mei Lin 林", "mei@example.com"), ("Tomás", "tomas@example.com"))
STEPS: tuple[dict[str, str | None], ...] = (
    {"README.md": "# Demo\n", "src/a.py": "one\ntwo\nthree\n", "run.sh": "#!/bin/sh\n", 'odd "name"\\x.txt': "x\n"},
    {"src/a.py": "zero\none\nTWO\nthree\nfour", "src/empty.py": ""},
    {"README.md": None, "docs/README.md": "# Demo\n\n订单\n", "src/a.py": "one\r\nfour\u2028\n"},
    {"src/a.py": "one\n", "src/empty.py": "now\n\n\n", 'odd "name"\\x.txt': "data 3\nabc\n"},
)


def git(root: Path, *arguments: str, step: int = 0) -> str:
    name, mail = AUTHORS[step % len(AUTHORS)]
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        env |= {
            f"GIT_{role}_NAME": name,
            f"GIT_{role}_EMAIL": mail,
            f"GIT_{role}_DATE": f"{1718000000 + step * 3600} +0800",
        }
    return subprocess.run(
        ["git", *arguments], cwd=root, env=env, check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("original")
    git(root, "init", "-q", "-b", "main", "--template=")
    for number, step in enumerate(STEPS):
        for path, text in step.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                (root / path).unlink()
            else:
                (root / path).write_bytes(text.encode())
        if number >= 1:
            (root / "run.sh").chmod(0o755)  # a change of mode alone
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"Step {number}\n\nWhy: because.\n", step=number)
    return root


def record(repository: Path, name: str, into: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(RECORD), str(repository), name, "--into", str(into)], capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def shipped(original: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shipped")
    done = record(original, "demo", folder)
    assert done.returncode == 0, done.stderr
    return folder


def tree(root: Path) -> dict[str, bytes]:
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.relative_to(root).parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


def test_commit_ids_files_and_modes_come_back(original: Path, shipped: Path, tmp_path: Path) -> None:
    one = materialise("demo", tmp_path / "one", samples=shipped)
    two = materialise("demo", tmp_path / "two", samples=shipped)
    assert git(one, "rev-list", "HEAD") == git(two, "rev-list", "HEAD") == git(original, "rev-list", "HEAD")
    assert tree(one) == tree(original) == tree(shipped / "demo")
    assert (one / "run.sh").stat().st_mode & stat.S_IXUSR
    assert git(one, "status", "--porcelain") == ""
    assert git(one, "fsck", "--strict") == ""
    source = open_source(one)
    assert source.describe() == f"demo @ {git(original, 'rev-parse', 'HEAD')[:7]}"
    assert len(list(source.history())) == len(STEPS)


def test_the_copy_is_made_once_and_left_to_the_user(shipped: Path, tmp_path: Path) -> None:
    root = materialise("demo", tmp_path, samples=shipped)
    (root / "src" / "a.py").write_text("edited\n")
    assert materialise("demo", tmp_path, samples=shipped) == root
    assert (root / "src" / "a.py").read_text() == "edited\n"
    assert [path.name for path in (tmp_path / "samples").iterdir()] == [root.parent.name]


def test_a_new_history_makes_a_new_copy(shipped: Path, tmp_path: Path) -> None:
    upgraded = tmp_path / "upgraded"
    upgraded.mkdir()
    *lines, last = (shipped / "demo.history.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (upgraded / "demo.history.jsonl").write_text("".join(lines), encoding="utf-8")
    assert materialise("demo", tmp_path, samples=upgraded) != materialise("demo", tmp_path, samples=shipped)
    assert json.loads(last)["message"] == "Step 3\n\nWhy: because.\n"


def test_many_may_ask_at_once(shipped: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        roots = set(pool.map(lambda _: materialise("demo", tmp_path, samples=shipped), range(8)))
    assert len(roots) == 1
    assert [path.name for path in (tmp_path / "samples").iterdir()] == [roots.pop().parent.name]


def test_without_git_the_files_are_there(original: Path, shipped: Path, tmp_path: Path) -> None:
    root = materialise("demo", tmp_path, samples=shipped, environ={"PATH": ""})
    assert tree(root) == tree(original)
    assert not (root / ".git").exists()
    assert materialise("demo", tmp_path, samples=shipped) != root


def test_errors_say_what_to_do(shipped: Path, tmp_path: Path) -> None:
    with pytest.raises(RepositoryError, match="no sample named 'nope'") as error:
        materialise("nope", tmp_path, samples=shipped)
    assert "demo" in error.value.hint
    (tmp_path / "file").write_text("x")
    with pytest.raises(RepositoryError, match="cannot write"):
        materialise("demo", tmp_path / "file", samples=shipped)


def test_a_folder_inside_a_sample_can_be_meant(orders: Path, own_directories: Path) -> None:
    cache = own_directories / "cache"
    assert samples.path_of("sample:orders", cache) == samples.path_of("sample:orders/", cache) == orders
    assert samples.path_of("sample:orders/orders/", cache) == orders / "orders"
    assert samples.path_of("orders/orders", cache) == Path("orders/orders")


@pytest.mark.parametrize("inside", ["nowhere", "README.md", "..", "orders/../..", "or\0ders", "x" * 5000])
def test_a_folder_that_a_sample_does_not_have_is_said(own_directories: Path, inside: str) -> None:
    with pytest.raises(RepositoryError, match="in the sample orders") as caught:
        samples.path_of(f"sample:orders/{inside}", own_directories / "cache")
    assert caught.value.hint == "Folders at its top: docs, orders, tests."


@pytest.mark.parametrize("name", ["nope", "", "/orders", "nope/orders"])
def test_an_unknown_sample_gets_the_list(own_directories: Path, name: str) -> None:
    with pytest.raises(RepositoryError, match="no sample named") as caught:
        samples.path_of(f"sample:{name}", own_directories / "cache")
    assert "boards, courier, orders" in caught.value.hint


def test_what_cannot_be_recorded_is_refused(original: Path, tmp_path: Path) -> None:
    assert "not a sample name" in record(original, "../x", tmp_path).stderr
    git(tmp_path, "clone", "-q", str(original), "copy")
    copy = tmp_path / "copy"
    (copy / "link").symlink_to("run.sh")
    git(copy, "add", ".")
    git(copy, "commit", "-q", "-m", "link")
    assert "link is no plain file" in record(copy, "copy", tmp_path).stderr
    git(copy, "checkout", "-q", "-b", "side", "HEAD~2")
    git(copy, "merge", "-q", "--no-ff", "-m", "merge", "main~1")
    assert "not linear" in record(copy, "copy", tmp_path).stderr
    assert not (tmp_path / "copy.history.jsonl").exists()


@pytest.mark.parametrize("name", sample_names())
def test_shipped_files_are_what_their_history_ends_in(name: str, tmp_path: Path) -> None:
    assert tree(materialise(name, tmp_path)) == tree(samples.folder() / name)
