"""A cache that cannot be written, for whatever reason, costs the next run its speed and this one a warning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from secateur import Engine, directories
from secateur.index.store.folder import FILE_NAME, folder_of
from secateur.system.files import NOWHERE
from support.cli import secateur
from support.processes import SETTINGS, environment
from support.repos import QUERY, SHOP, committed, write
from support.systems import IS_ROOT

COMMANDS = (["search", QUERY], ["status"], ["index"], ["inspect", "--query", QUERY], ["status", "--check"])
CHEAP = ["--counter", "chars4", "--set", "embedding.model=none"]


def never_there(_folder: Path) -> Path:
    return Path(os.devnull) / "cache"


def a_file(folder: Path) -> Path:
    (folder / "cache").write_text("not a folder")
    return folder / "cache"


def a_system_folder(_folder: Path) -> Path:
    return Path("/proc/cache")


def a_folder_with_a_file_for_each_repository(folder: Path) -> Path:
    (folder / "cache").mkdir()
    (folder / "cache" / "index").write_text("")
    return folder / "cache"


PLACES: list[Callable[[Path], Path]] = [never_there, a_file, a_system_folder, a_folder_with_a_file_for_each_repository]


@pytest.mark.parametrize("place", PLACES, ids=[place.__name__ for place in PLACES])
def test_every_command_answers_and_warns_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: Callable[[Path], Path]
) -> None:
    root = committed(tmp_path / "shop", SHOP)
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(place(tmp_path)))
    for command, *words in COMMANDS:
        path = [root] if command != "search" else []
        ran = secateur(command, *path, *words, *([root] if not path else []), *CHEAP)
        if "--check" in words:
            assert (ran.code, "not indexed yet" in ran.out) == (4, True)
            continue
        assert ran.code == 0, ran.err
        assert ran.out.count("cannot be written") == 1
        assert ran.out.count("SECATEUR_CACHE_DIR") == 1
        assert "refund_total" in ran.out or "4 files" in ran.out


def test_the_answer_is_that_of_a_cache_that_can_be_written(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    with Engine.open(root, SETTINGS, cache_dir=tmp_path / "cache") as engine:
        expected = engine.report(engine.search(QUERY)).to_dict()
    with Engine.open(root, SETTINGS, cache_dir=never_there(tmp_path)) as engine:
        found = engine.report(engine.search(QUERY)).to_dict()
    more = [warning["code"] for warning in found.pop("warnings") if warning not in expected["warnings"]]
    assert more == ["index_not_kept"]
    assert found["candidates"] == expected["candidates"]
    assert found["graph"] == expected["graph"]


def test_what_can_be_read_is_not_read_again(tmp_path: Path) -> None:
    """As on a read-only disk: the database opens, and nothing can be written."""
    root, cache = committed(tmp_path / "shop", SHOP), tmp_path / "cache"
    with Engine.open(root, SETTINGS, cache_dir=cache) as engine:
        engine.search(QUERY)
    (root / "shop" / "new.py").write_text("def new_total():\n    return 1\n")
    opened = Engine.open(root, SETTINGS, cache_dir=cache)
    opened._index.store._db.execute("PRAGMA query_only = 1")
    with opened as engine:
        status = engine.refresh()
        assert "new_total" in engine.render(engine.search("new total"))
    assert (status.read, status.reused) == (1, 4)
    assert len(status.notices) == 1
    assert "cannot be written" in status.notices[0]
    with Engine.open(root, SETTINGS, cache_dir=cache) as engine:
        assert engine.refresh().read == 1  # nothing was kept


FILLS = """
import json, os, resource, signal, sys
from pathlib import Path
from support.processes import SETTINGS
from secateur import Engine
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]),) * 2)
with Engine.open(sys.argv[1], SETTINGS, cache_dir=Path(sys.argv[2])) as engine:
    selection = engine.search("where is the refund total rounded?")
kept = [selection.pool.symbol_id[row] for row in selection.kept_rows]
os.write(1, json.dumps(kept + [notice.code for notice in selection.warnings]).encode())
"""


@pytest.mark.parametrize("room", [0, 4096, 60_000])
def test_a_disk_that_fills_up_at_any_moment_costs_no_answer(tmp_path: Path, room: int) -> None:
    """No file grows beyond `room` bytes: the database cannot be made, or its log, or the arrays beside it."""
    root = committed(
        tmp_path / "shop", {**SHOP, **{f"more/m{number}.py": "def f():\n    return 1\n" * 300 for number in range(4)}}
    )
    words = [sys.executable, "-B", "-c", FILLS, str(root), str(tmp_path / "cache"), str(room)]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "shop/refund.py::refund_total" in json.loads(done.stdout)
    assert json.loads(done.stdout).count("index_not_kept") == 1


@pytest.mark.skipif(not IS_ROOT, reason="only root can be somebody else")
def test_somebody_without_a_home_gets_an_answer_and_nothing_is_left_behind(tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    root = write(tmp_path / "shop", SHOP)
    env = {
        key: value
        for key, value in environment().items()
        if key not in ("HOME", "XDG_CACHE_HOME", "SECATEUR_CACHE_DIR", "SECATEUR_CONFIG_DIR")
    }
    words = [sys.executable, "-m", "secateur.cli.main", "search", QUERY, str(root), *CHEAP]
    done = subprocess.run(
        words,
        env=env,
        user=54321,
        group=54321,
        extra_groups=[],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if done.returncode and "secateur" not in done.stderr:
        pytest.skip("the environment of these tests is closed to others")
    assert done.returncode == 0, done.stderr
    assert "refund_total" in done.stdout
    assert [path.name for path in root.iterdir() if path.name not in ("shop", "README.md")] == []


@pytest.mark.skipif(not IS_ROOT, reason="only root can be somebody else")
@pytest.mark.parametrize(
    "words", ["search x", "inspect --plain --query x", "status", "index", "files --query x", "log"]
)
def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path, words: str) -> None:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    done = subprocess.run(
        [sys.executable, "-m", "secateur.cli.main", *words.split(), "closed/app.log" if words == "log" else "closed"],
        env=environment() | {"SECATEUR_CACHE_DIR": "/nowhere", "SECATEUR_CONFIG_DIR": "/nowhere"},
        user=54321,
        group=54321,
        extra_groups=[],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if "secateur" in done.stderr and "No module" in done.stderr:
        pytest.skip("the environment of these tests is closed to others")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: cannot read ") and "closed" in done.stderr


def test_a_place_that_nobody_can_name_is_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert directories.cache_dir({"SECATEUR_CACHE_DIR": "~nobody-of-this-name/x"}) == NOWHERE
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert directories.cache_dir({}).is_absolute()


def test_the_file_of_the_index_may_be_anything(tmp_path: Path) -> None:
    root, cache = write(tmp_path / "shop", SHOP), tmp_path / "cache"
    folder_of(cache, root).mkdir(parents=True)
    (folder_of(cache, root) / FILE_NAME).symlink_to("/proc/self/nothing")
    with Engine.open(root, SETTINGS, cache_dir=cache) as engine:
        assert engine.refresh().files == 4
