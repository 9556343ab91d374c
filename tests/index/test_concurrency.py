"""Several processes on one index: many readers beside a writer, writers at once, and writers that are killed."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest
from secateur import Engine
from secateur.index.store.folder import FILE_NAME, folder_of
from secateur.index.update.refresh import COMMIT_EVERY
from support.processes import SETTINGS, Question, answer_of, started, together
from support.repos import committed, git, write

FILES = 130
QUERIES = ("how is the total of step seven rounded", "step_100")


def files(count: int = FILES, version: int = 1) -> dict[str, str]:
    """Small modules in a chain of calls; every seventh is another one in each version."""
    found = {}
    for number in range(count):
        before = f"from steps.s{number - 1:03} import step_{number - 1}\n\n\n" if number else ""
        change = f"    total += {version}\n" if number % 7 == 0 else ""
        call = f"step_{number - 1}(total)" if number else "round(total)"
        found[f"steps/s{number:03}.py"] = (
            f'{before}def step_{number}(total):\n    """The total of step {number}, rounded."""\n{change}    return'
            f" {call}\n"
        )
    return found


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the tags v1 to v3, at v3; a file comes and goes."""
    root = committed(tmp_path_factory.mktemp("concurrency") / "steps", files())
    git(root, "tag", "v1")
    for version in (2, 3):
        write(root, files(version=version) | {"steps/new.py": f"def new_{version}():\n    return {version}\n"})
        if version == 3:
            (root / "steps/new.py").unlink()
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", f"Step to {version}", time=1_750_000_000 + version)
        git(root, "tag", f"v{version}")
    return root


@pytest.fixture(scope="module")
def fresh(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[Question, str]:
    """What an index that no other process ever touched answers."""
    caches = {rev: tmp_path_factory.mktemp("fresh") for rev in (None, "v1", "v2", "v3")}
    return {(rev, query): answer_of(root, cache, rev, query) for rev, cache in caches.items() for query in QUERIES}


def assert_sound(root: Path, cache: Path) -> None:
    """The database is whole, and nothing unfinished lies beside it."""
    folder = folder_of(cache, root)
    with sqlite3.connect(folder / FILE_NAME) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    database.close()
    assert not list(folder.glob("*.broken"))


def test_writers_that_begin_at_once_answer_as_if_they_were_alone(
    root: Path, fresh: dict[Question, str], tmp_path: Path
) -> None:
    asked: list[list[Question]] = [[(rev, query) for query in QUERIES] for rev in (None, "v1", "v2")]
    answers = together(root, tmp_path, asked)
    for questions, given in zip(asked, answers, strict=True):
        assert given == [fresh[question] for question in questions]
    assert_sound(root, tmp_path)
    for rev in (None, "v1", "v2"):
        with Engine.open(root, SETTINGS, rev=rev, cache_dir=tmp_path) as engine:
            assert engine.refresh().read == 0, "what each of them read is there for all"


def test_readers_beside_a_writer_answer_as_if_they_were_alone(
    root: Path, fresh: dict[Question, str], tmp_path: Path
) -> None:
    answer_of(root, tmp_path, "v1", QUERIES[0])
    writer: list[Question] = [(rev, QUERIES[0]) for rev in ("v2", "v3", None)]
    reader: list[Question] = [("v1", query) for query in QUERIES] * 2
    asked = [writer, reader, reader]
    for questions, given in zip(asked, together(root, tmp_path, asked), strict=True):
        assert given == [fresh[question] for question in questions]
    assert_sound(root, tmp_path)


def test_readers_of_files_that_a_writer_changes_see_one_state_or_the_next(tmp_path: Path) -> None:
    root = write(tmp_path / "steps", files(12))
    query = "round the total of step_7"
    contents = [f"def step_7(total):\n    return round(total, {number})\n" for number in range(4)]
    states = [answer_of(root, tmp_path / "fresh", None, query)]
    for content in contents:
        write(root, {"steps/s007.py": content})
        states.append(answer_of(root, tmp_path / "fresh", None, query))
    write(root, files(12))
    reader: list[Question] = [(None, query)] * 6
    written, *read = together(
        root, tmp_path / "cache", [[(f"write steps/s007.py={content}", query) for content in contents], reader, reader]
    )
    assert written == states[1:]
    assert {answer for answers in read for answer in answers} <= {*states, "CHANGED"}
    assert answer_of(root, tmp_path / "cache", None, query) == states[-1]


# --- killed -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["indexing, once 115", "linking 0", "open .arrays", "os.rename .arrays"])
def test_a_killed_writer_loses_nothing_it_had_committed_and_spoils_no_answer(
    root: Path, fresh: dict[Question, str], tmp_path: Path, moment: str
) -> None:
    process = started(root, tmp_path, [("v1", QUERIES[0])], kill_at=moment)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    last = [line for line in output.splitlines() if line.startswith("indexing, once")][-1]
    committed_files = int(last.removeprefix("indexing, once").split()[0]) // COMMIT_EVERY * COMMIT_EVERY
    with Engine.open(root, SETTINGS, rev="v1", cache_dir=tmp_path) as engine:
        assert engine.refresh().reused >= (FILES if moment not in last else committed_files)
    assert answer_of(root, tmp_path, "v1", QUERIES[0]) == fresh["v1", QUERIES[0]]
    assert_sound(root, tmp_path)
    assert not list(folder_of(tmp_path, root).glob("*.part"))


def test_killed_again_and_again_it_still_gets_done(root: Path, fresh: dict[Question, str], tmp_path: Path) -> None:
    for rev, moment in (("v1", "indexing, once 105"), ("v1", "open .arrays"), (None, "os.rename .delta")):
        process = started(root, tmp_path, [("v1", QUERIES[0]), (rev, QUERIES[0])], kill_at=moment)
        process.communicate(timeout=120)
        assert process.returncode == -signal.SIGKILL
    for rev in (None, "v1"):
        assert answer_of(root, tmp_path, rev, QUERIES[1]) == fresh[rev, QUERIES[1]]
    assert_sound(root, tmp_path)
