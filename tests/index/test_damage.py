"""Whatever happens to the files of an index, the next answer is that of a fresh index, or an error says what to do."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from secateur import Engine
from secateur.errors import IndexingError
from secateur.index.store.folder import FILE_NAME, folder_of
from secateur.index.store.records import Store
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import record, snapshot_of
from secateur.tokens import get_counter
from support.engine_answers import answered
from support.memory_source import MemorySource
from support.processes import SETTINGS, environment
from support.repos import QUERY, SHOP, write
from support.systems import IS_ROOT

EXTRACTOR = Extractor(get_counter("chars4"), None, 1)


# --- a damaged record, and a file that changes before it is mended ----------------------------------------------------


class Changing(MemorySource):
    """Lists one content and gives another, as a file does that is written to in between."""

    later: str | None = "def round_total(amount):\n    return 0\n"

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        for path, data in super().read(paths):
            yield path, (self.later.encode() if self.later is not None else None) if path == "shop/money.py" else data


@pytest.mark.parametrize("later", ["def round_total(amount):\n    return 0\n", None], ids=["changed", "gone"])
def test_what_changed_before_it_was_mended_is_never_saved_under_the_old_name(tmp_path: Path, later: str | None) -> None:
    source = MemorySource(SHOP)
    with Store.open(tmp_path) as store:
        found = record(source, store, EXTRACTOR)
        with sqlite3.connect(tmp_path / FILE_NAME) as database:
            database.execute("UPDATE record SET data = x'00' WHERE path = ?", (b"shop/money.py",))
        database.close()
        changing = Changing(SHOP)
        changing.later = later
        with pytest.raises(IndexingError, match=r"shop/money\.py: changed") as caught:
            snapshot_of(found, changing, store, EXTRACTOR)
        assert caught.value.hint == "run again"
        assert not list(tmp_path.glob("*.arrays"))
        assert snapshot_of(record(source, store, EXTRACTOR), source, store, EXTRACTOR).digests == dict(found.present)


def test_a_file_that_looks_unchanged_and_is_not_stops_only_one_run(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        record(MemorySource(SHOP), store, EXTRACTOR)
        with sqlite3.connect(tmp_path / FILE_NAME) as database:
            database.execute("DELETE FROM record WHERE path = ?", (b"shop/money.py",))
            database.execute("UPDATE seen SET digest = ? WHERE path = ?", (b"x" * 16, b"shop/money.py"))
            database.execute(
                "INSERT INTO record VALUES (?, ?, ?, 1, x'00')", (b"shop/money.py", b"x" * 16, EXTRACTOR.version)
            )
        database.close()
        source = MemorySource(SHOP)
        with pytest.raises(IndexingError, match="changed"):
            snapshot_of(record(source, store, EXTRACTOR), source, store, EXTRACTOR)
        again = record(source, store, EXTRACTOR)
        assert again.read == 1
        assert again.name == record(source, Store.open(None), EXTRACTOR).name
        snapshot_of(again, source, store, EXTRACTOR)


# --- damaged files under a real engine --------------------------------------------------------------------------------


class Indexed:
    """A folder of source files, its index as files to damage, and what a fresh index answers."""

    def __init__(self, base: Path) -> None:
        self.root = write(base / "shop", SHOP)
        self.base = base
        self.cache = base / "whole"
        with Engine.open(self.root, SETTINGS, cache_dir=self.cache) as engine:
            engine.refresh()
        write(
            self.root, {"shop/money.py": "def round_total(amount):\n    return round(amount, 2)\n"}
        )  # what an edit makes of a state is a file too
        with Engine.open(self.root, SETTINGS, cache_dir=self.cache) as engine:
            self.answer = answered(engine, QUERY, "json").text
            self.folder = folder_of(self.cache, self.root).relative_to(self.cache)
            shutil.copytree(self.cache, base / "open")  # with the log: nothing is written back to the database yet
        assert self.ask(base / "fresh") == self.answer

    def copy(self, name: str, *, opened: bool = False) -> Path:
        """A copy of the user's cache folder to damage, as it is when closed or while an engine has it open."""
        shutil.rmtree(self.base / name, ignore_errors=True)
        shutil.copytree(self.base / "open" if opened else self.cache, self.base / name)
        return self.base / name

    def ask(self, cache: Path) -> str:
        with Engine.open(self.root, SETTINGS, cache_dir=cache) as engine:
            return answered(engine, QUERY, "json", use_cache=False).text

    def assert_survives(self, cache: Path) -> None:
        """The answer is that of a fresh index, at once or after one error that says what to do; and so is the next."""
        with suppress(IndexingError):
            assert self.ask(cache) == self.answer
        assert self.ask(cache) == self.answer


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    return Indexed(tmp_path_factory.mktemp("damage"))


def file_of(indexed: Indexed, cache: Path, kind: str) -> Path:
    return next((cache / indexed.folder).glob(kind))


KINDS = ["index.sqlite", "index.sqlite-wal", "*.arrays", "*.delta"]


@pytest.mark.parametrize("kind", KINDS)
def test_flipped_bytes_change_no_answer(indexed: Indexed, kind: str) -> None:
    random = Random(kind)
    for flips in (1, 1, 1, 1, 1, 1, 1, 1, 40, 4000):
        cache = indexed.copy("flipped", opened=kind.endswith("-wal"))
        path = file_of(indexed, cache, kind)
        data = bytearray(path.read_bytes())
        for place in random.sample(range(len(data)), min(flips, len(data))):
            data[place] ^= random.randrange(1, 256)
        path.write_bytes(data)
        indexed.assert_survives(cache)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_cut_short_changes_no_answer(indexed: Indexed, kind: str) -> None:
    random = Random(kind)
    for share in (0.0, random.random(), random.random(), 1.0):
        cache = indexed.copy("cut", opened=kind.endswith("-wal"))
        path = file_of(indexed, cache, kind)
        with path.open("r+b") as file:
            file.truncate(max(0, int(path.stat().st_size * share) - 1))
        indexed.assert_survives(cache)


@pytest.mark.parametrize("kind", [*KINDS, "index.sqlite-shm"])
def test_a_folder_or_nothing_in_place_of_a_file_changes_no_answer(indexed: Indexed, kind: str) -> None:
    opened = kind.startswith("index.sqlite")
    cache = indexed.copy("folder", opened=opened)
    path = file_of(indexed, cache, kind)
    path.unlink()
    (path / "inner").mkdir(parents=True)
    assert indexed.ask(cache) == indexed.answer
    cache = indexed.copy("gone", opened=opened)
    file_of(indexed, cache, kind).unlink()
    indexed.assert_survives(cache)


def test_the_log_of_another_database_changes_no_answer(indexed: Indexed) -> None:
    cache, other = indexed.copy("mixed"), Indexed(indexed.base / "other")
    shutil.copy(file_of(other, other.base / "open", "index.sqlite-wal"), cache / indexed.folder)
    indexed.assert_survives(cache)


def test_damage_while_it_is_open_changes_no_answer(indexed: Indexed) -> None:
    cache = indexed.copy("live")
    with Engine.open(indexed.root, SETTINGS, cache_dir=cache) as engine:
        path = file_of(indexed, cache, "index.sqlite")
        path.write_bytes(b"\xff" * path.stat().st_size)
        for path in (cache / indexed.folder).glob("*.[ad]*"):
            path.unlink()
        with suppress(IndexingError):
            assert answered(engine, QUERY, "json", use_cache=False).text == indexed.answer
        assert answered(engine, QUERY, "json", use_cache=False).text == indexed.answer
    assert indexed.ask(cache) == indexed.answer


def test_a_flipped_byte_of_a_cached_answer_is_a_miss(indexed: Indexed) -> None:
    cache, random = indexed.copy("answers"), Random(5)
    (path,) = cache.glob("graph-context/*/*.json")
    whole = path.read_bytes()
    with Engine.open(indexed.root, SETTINGS, cache_dir=cache) as engine:
        for place in random.sample(range(len(whole)), 20):
            assert answered(engine, QUERY, "json").cached
            path.write_bytes(whole[:place] + bytes([whole[place] ^ random.randrange(1, 256)]) + whole[place + 1 :])
            answer = answered(engine, QUERY, "json")
            assert (answer.cached, answer.text) == (False, indexed.answer)


@pytest.mark.skipif(IS_ROOT and shutil.which("setpriv") is None, reason="root may write anywhere")
def test_a_cache_folder_that_cannot_be_written_is_a_warning_that_says_what_to_do(indexed: Indexed) -> None:
    cache = indexed.copy("readonly")
    for path in (cache, *cache.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    assert confined(indexed.root, cache) == "done, warned of SECATEUR_CACHE_DIR"


def test_a_full_disk_is_a_warning_that_says_so_and_spoils_no_later_answer(indexed: Indexed, tmp_path: Path) -> None:
    for size in (0, 5_000, 20_000):
        cache = tmp_path / str(size)
        assert (
            confined(indexed.root, cache, f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))")
            == "done, warned of SECATEUR_CACHE_DIR"
        )
        assert not list(cache.rglob("*.part"))
        indexed.assert_survives(cache)


AS_ANYBODY = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]
"""Takes from root what lets it write where nobody may."""


def confined(root: Path, cache: Path, limit: str = "") -> str:
    """What an engine does in a process of its own after `limit`: "done" and what a warning names, or "error"."""
    program = f"""
import os, resource, sys
from pathlib import Path
from secateur import Engine
from secateur.errors import SecateurError
from support.processes import SETTINGS
root, cache = map(Path, sys.argv[1:])
{limit}
try:
    with Engine.open(root, SETTINGS, cache_dir=cache) as engine:
        warnings = engine.search("refund", use_cache=False).warnings
        text = "".join(notice.message for notice in warnings)
    print("done, warned of SECATEUR_CACHE_DIR" if "SECATEUR_CACHE_DIR" in text else "done")
except SecateurError as error:
    print("error", error.message)
"""
    before = AS_ANYBODY if IS_ROOT and not limit else []
    ran = subprocess.run(
        [*before, sys.executable, "-B", "-c", program, str(root), str(cache)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()
