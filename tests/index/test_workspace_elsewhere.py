"""A workspace that workers read and search answers as one that this process searches, whatever workers lose."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from secateur.directories import cache_dir
from secateur.engine import Engine
from secateur.errors import RepositoryError, SecateurError, UsageError
from secateur.executors.executor import Task, TaskOutcome, close_kept, ended_error
from secateur.executors.pool import ProcessPool
from secateur.index.elsewhere import parts
from secateur.index.opening import on_workers, opener_of
from secateur.index.store.snapshot_store import SnapshotStore
from secateur.settings import Settings, with_profile, with_values
from secateur.sources.fetch_options import FetchOptions
from support.credentials import planted
from support.engine_answers import answered
from support.executors import ForgetfulExecutor
from support.repos import SHOP, committed, git, write

TILL = {
    "pyproject.toml": '[project]\nname = "till"\ndependencies = ["shop"]\n',
    "till/__init__.py": "",
    "till/drawer.py": (
        "from shop.money import round_total\n\n\n"
        "def open_drawer(order):\n    '''Open the drawer for a refund.'''\n"
        "    return round_total(count_coins(order))\n\n\n"
        "def count_coins(order):\n    if not order:\n"
        "        raise ValueError(f'no coins for order {order} in the drawer')\n"
        "    return len(order)\n"
    ),
    ".github/ISSUE_TEMPLATE.md": "### Which drawer is it?\n",
}
BANK = {"bank.py": "def pay_out(refund):\n    '''Pay a refund out of the bank.'''\n    return refund.total\n"}
NOWHERE: Any = {"cache_dir": None, "config_dir": None}
CREDENTIAL, LINE = planted(random.Random(1), "password")
QUERIES = (
    "where is a refund paid out in coins?",
    "count_coins",
    "who calls round_total?",
    "### Which drawer is it?\nValueError: no coins for order 7 in the drawer\nwhen the refund is rounded",
    "退款 total 在哪里",
    "zzqq",
)
FEW = QUERIES[1:3]


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a workspace to read only: two repositories at a commit, a folder, one below a git URL, and more."""
    return written(tmp_path_factory.mktemp("workspace"))


@pytest.fixture(autouse=True)
def workers_of_its_own() -> Iterator[None]:
    yield
    close_kept()


def written(folder: Path) -> Path:
    committed(folder / "shop", {"shop/__init__.py": "", **SHOP, "pyproject.toml": '[project]\nname = "shop"\n'})
    committed(folder / "till", TILL)
    write(folder / "bank", {**BANK, "secret.py": f"{LINE}  # of the refund\n"})
    committed(folder / "far", {"far.py": "def far_refund(coins):\n    return coins\n"})
    for name in ("one", "two", "three"):
        committed(folder / "small" / name, {f"{name}.py": f"def {name}_coins(refund):\n    return refund\n"})
    file = folder / "workspace.toml"
    file.write_text(
        f"""repositories = ["bank", "file://{folder / "far"}", {{path = "shop", rev = "HEAD"}},
        {{path = "till", rev = "HEAD"}}, {{path = "small/one", rev = "HEAD"}}, {{path = "small/two", rev = "HEAD"}},
        {{path = "small/three", rev = "HEAD"}}]\n"""
    )
    return file


def here(workspace: Path, settings: Settings) -> list[str]:
    with Engine.open(workspace, settings, fetching=FetchOptions()) as engine:
        return answers(engine)


@pytest.fixture(scope="module")
def expected(unchanged: Path) -> dict[str, list[str]]:
    """What one process answers, by profile."""
    return {profile: here(unchanged, with_profile(Settings(), profile)) for profile in ("spec", "recommended")}


def answers(engine: Engine, queries: Sequence[str] = QUERIES) -> list[str]:
    return [answered(engine, query, "json", use_cache=False, explain=query == QUERIES[0]).text for query in queries]


def elsewhere(
    workspace: Path, settings: Settings, executor: Any, store: str = "", queries: Sequence[str] = QUERIES
) -> list[str]:
    opener = on_workers(opener_of(workspace, None, settings.index, FetchOptions()), settings, executor, store)
    with Engine(opener, settings, **NOWHERE) as engine:
        return answers(engine, queries)


def scores(text: str) -> list[tuple[str, float]]:
    return [(item["symbol_id"], item["priority"]) for item in json.loads(text)["candidates"]]


@pytest.mark.parametrize(
    ("profile", "workers", "chance"), [("spec", 3, 0.3), ("recommended", 1, 0.0), ("recommended", 5, 1.0)]
)
def test_answers_are_those_of_one_process(
    unchanged: Path, expected: dict[str, list[str]], tmp_path: Path, profile: str, workers: int, chance: float
) -> None:
    settings = with_profile(Settings(), profile)
    executor = ForgetfulExecutor(workers, chance, seed=7)
    store = str(tmp_path / "store")
    found = elsewhere(unchanged, settings, executor, store)
    assert "join_part" in executor.ran
    assert found == expected[profile]
    assert not any(CREDENTIAL in text for text in found)
    again = ForgetfulExecutor(workers, chance / 2, seed=8)
    assert elsewhere(unchanged, settings, again, store) == found
    assert {"find_packages", "join_part"}.isdisjoint(again.ran), "what was made is kept"


def test_parts_answer_alike_whatever_workers_lose(
    unchanged: Path, expected: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = with_profile(Settings(), "recommended")
    monkeypatch.setattr(parts, "LARGEST_PART", 3)
    store = tmp_path / "store"
    found = elsewhere(unchanged, settings, ForgetfulExecutor(4, 0.0), str(store))
    assert elsewhere(unchanged, settings, ForgetfulExecutor(3, 0.5, seed=3), str(store)) == found
    for text, known in zip(found, expected["recommended"], strict=True):
        assert {symbol for symbol, _ in scores(text)} >= {symbol for symbol, _ in scores(known)[:3]}
    paths = [*store.glob("*.part")]
    assert len(paths) > 3
    for path in paths:
        path.write_bytes(b"x" * 100)
    close_kept()
    with pytest.raises(SecateurError, match="is not there, or is damaged"):
        elsewhere(unchanged, settings, ForgetfulExecutor(4, 1.0), str(store))
    assert elsewhere(unchanged, settings, ForgetfulExecutor(4, 0.0), str(store)) == found


def test_issue_forms_and_preferences_of_all_parts_count(
    unchanged: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = {"relevance.issue_forms": True, "preference.enabled": True}
    settings = with_values(with_profile(Settings(), "recommended"), changes)
    expected = [json.loads(text)["warnings"] for text in here(unchanged, settings)]
    monkeypatch.setattr(parts, "LARGEST_PART", 3)
    found = elsewhere(unchanged, settings, ForgetfulExecutor(2, 0.2), str(tmp_path / "store"))
    assert [json.loads(text)["warnings"] for text in found] == expected


def test_processes_answer_as_this_one_does(unchanged: Path, expected: dict[str, list[str]]) -> None:
    settings = with_profile(Settings(), "recommended")
    with closing(ProcessPool(2, os.environ)) as pool:
        assert elsewhere(unchanged, settings, pool) == expected["recommended"]


def test_an_edit_is_seen(tmp_path: Path) -> None:
    workspace = written(tmp_path)
    settings = Settings()
    before = elsewhere(workspace, settings, ForgetfulExecutor(2, 0.2))
    write(workspace.parent / "bank", {"more.py": "def more_coins(refund):\n    return refund\n"})
    write(workspace.parent / "till", {"till/new.py": "def new_drawer(refund):\n    return refund\n"})
    git(workspace.parent / "till", "add", ".")
    git(workspace.parent / "till", "commit", "-q", "-m", "a new drawer for a refund")
    after = elsewhere(workspace, settings, ForgetfulExecutor(2, 0.2))
    assert after != before
    assert after == here(workspace, settings)


@pytest.mark.parametrize("suffix", [".arrays", ".part", ".statistics"])
def test_what_is_damaged_in_the_store_is_named_and_made_anew(unchanged: Path, tmp_path: Path, suffix: str) -> None:
    settings, store = Settings(), tmp_path / "store"
    found = elsewhere(unchanged, settings, ForgetfulExecutor(2, 0.0), str(store), FEW)
    for path in store.glob(f"*{suffix}"):
        path.write_bytes(b"x" * 100)
    close_kept()
    try:
        assert elsewhere(unchanged, settings, ForgetfulExecutor(2, 1.0), str(store), FEW) == found
    except SecateurError as error:
        assert (error.code, "is not there, or is damaged" in error.message) == ("SNAPSHOT_MISSING", True)
        assert suffix != ".statistics"  # these are looked at before anything is asked
    assert elsewhere(unchanged, settings, ForgetfulExecutor(2, 1.0), str(store), FEW) == found


def test_a_snapshot_under_the_name_of_another_is_found_out(unchanged: Path, tmp_path: Path) -> None:
    for store in ("", str(tmp_path / "store")):  # linked, and copied
        found = elsewhere(unchanged, Settings(), ForgetfulExecutor(2, 0.0), store, FEW)
        one, other = sorted(SnapshotStore(store, cache_dir(os.environ)).folder.glob("*.arrays"))[:2]
        one.unlink()
        one.write_bytes(other.read_bytes())
        close_kept()
        for executor in (ForgetfulExecutor(2, 1.0), ForgetfulExecutor(2, 1.0)):
            with suppress(SecateurError):
                assert elsewhere(unchanged, Settings(), executor, store, FEW) == found
        assert elsewhere(unchanged, Settings(), ForgetfulExecutor(2, 1.0), store, FEW) == found


def test_passwords_in_places_are_not_shown(unchanged: Path) -> None:
    for place in ("nope://me:hunter2@host/x", "a::b://me:hunter2@host", "ftp://me:hunter2@127.0.0.1:1/x"):
        with pytest.raises(SecateurError) as raised:
            elsewhere(unchanged, Settings(), ForgetfulExecutor(1, 0.0), place)
        assert "hunter2" not in f"{raised.value.message} {raised.value.hint}"


def test_paths_mean_the_same_wherever_a_worker_was_started(
    unchanged: Path, expected: dict[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere(ForgetfulExecutor):
        def run(self, tasks: Sequence[Task[Any]]) -> Generator[tuple[int, TaskOutcome[Any]]]:
            with monkeypatch.context() as moved:
                moved.chdir("/")
                yield from super().run(tasks)

    monkeypatch.chdir(unchanged.parent)
    assert elsewhere(Path("workspace.toml"), Settings(), Elsewhere(2, 0.2)) == expected["spec"]


def test_a_store_may_be_anywhere(unchanged: Path, expected: dict[str, list[str]]) -> None:
    settings = Settings()
    found = elsewhere(unchanged, settings, ForgetfulExecutor(2, 0.3), "memory://snapshots/of/us")
    assert found == expected["spec"]
    import fsspec

    names = [path.rpartition(".")[2] for path in fsspec.filesystem("memory").ls("/snapshots/of/us", detail=False)]
    assert set(names) == {"arrays", "part", "statistics"}
    for place in ("s3x://no/such", "a::b", "http:// x"):
        with pytest.raises(UsageError, match="is no place for snapshots"):
            elsewhere(unchanged, settings, ForgetfulExecutor(1, 0.0), place)


def test_a_repository_that_cannot_be_read_ends_the_call(tmp_path: Path) -> None:
    workspace = written(tmp_path)
    settings, opener = Settings(), partial(opener_of, workspace, None, Settings().index, FetchOptions())
    found = elsewhere(workspace, settings, ForgetfulExecutor(2, 0.0))
    workspace.write_text(workspace.read_text().replace('"bank"', '"bank", "gone"'))
    with pytest.raises(RepositoryError, match=r"workspace\.toml: repository gone: .*gone"):
        elsewhere(workspace, settings, ForgetfulExecutor(2, 0.0))
    workers = on_workers(opener(partial=True), settings, ForgetfulExecutor(2, 0.3), "")
    texts = []
    for asked in (opener(partial=True), workers):
        with Engine(asked, settings, **NOWHERE) as engine:
            texts.append(answers(engine))
    assert texts[0] == texts[1]
    assert all("gone is left out: " in text for text in texts[0])
    items = [[scores(text) for text in some] for some in (texts[0], found)]
    assert items[0] == items[1], "the others answer as they do without it"
    workspace.write_text('repositories = ["gone", "away"]\n')
    with pytest.raises(RepositoryError, match="away"), Engine(opener(partial=True), settings, **NOWHERE) as engine:
        engine.refresh()


def test_a_worker_that_would_index_otherwise_is_refused(unchanged: Path) -> None:
    other = with_values(Settings(), {"tokens.counter": "estimate"})
    opener = on_workers(opener_of(unchanged, None, Settings().index), other, ForgetfulExecutor(1, 0.0), "")
    with (
        Engine(opener, Settings(), **NOWHERE) as engine,
        pytest.raises(SecateurError, match="this worker indexes otherwise"),
    ):
        engine.refresh()


def test_a_repository_over_which_workers_die_is_named(tmp_path: Path) -> None:
    workspace = written(tmp_path)

    class Deadly(ForgetfulExecutor):
        def run(self, tasks: Sequence[Task[Any]]) -> Generator[tuple[int, TaskOutcome[Any]]]:
            for number, outcome in super().run(tasks):
                dies = any(one.member.name == "shop" for one in getattr(tasks[number].argument, "members", ()))
                yield number, TaskOutcome(None, ended_error()) if dies else outcome

    with pytest.raises(SecateurError, match=r"repository shop: the processes that worked at it ended") as raised:
        elsewhere(workspace, Settings(), Deadly(2, 0.0))
    assert raised.value.code == "PROCESS_ENDED"
    opener = opener_of(workspace, None, Settings().index, FetchOptions(), partial=True)
    with Engine(on_workers(opener, Settings(), Deadly(2, 0.0), ""), Settings(), **NOWHERE) as engine:
        with suppress(SecateurError):  # its part has it too where it is not made yet
            engine.refresh()
        assert [notice.code for notice in engine._index.notices] == ["repository_left_out"]


def test_workers_read_workspaces_alone(unchanged: Path) -> None:
    opener = opener_of(unchanged.parent / "shop", None, Settings().index)
    with pytest.raises(UsageError, match="--on needs a workspace"):
        on_workers(opener, Settings(), ForgetfulExecutor(1, 0.0), "")
