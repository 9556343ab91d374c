"""Records follow the source: read what changed, keep what did not, repair what is damaged, name equal states
equally."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from secateur.index.store.records import FILE_NAME, Store
from secateur.index.update.parallel import Extractor
from secateur.index.update.refresh import FIRST, RecordedState, record, snapshot_of, status_of
from secateur.index.update.snapshot_files import KEPT_SNAPSHOTS
from secateur.tokens import get_counter
from support.memory_source import MemorySource
from support.processes import environment
from support.repos import SHOP

EXTRACTOR = Extractor(get_counter("chars4"), None, 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "index") as opened:
        yield opened


def state(files: dict[str, str], store: Store, extractor: Extractor = EXTRACTOR) -> RecordedState:
    return record(MemorySource(files), store, extractor)


def test_a_second_look_reads_nothing(store: Store) -> None:
    first, second = state(SHOP, store), state(SHOP, store)
    assert (first.read, second.read) == (len(SHOP), 0)
    assert (first.name, first.present) == (second.name, second.present)


def test_the_name_of_a_state_is_its_content(store: Store, tmp_path: Path) -> None:
    edited = SHOP | {"shop/money.py": "def round_total(amount):\n    return amount\n"}
    renamed = {path.replace("money", "cash"): text for path, text in SHOP.items()}
    fewer = {path: text for path, text in SHOP.items() if path != "README.md"}
    names = [state(files, store).name for files in (SHOP, edited, renamed, fewer, SHOP)]
    assert len(set(names)) == 4
    assert names[0] == names[-1]
    with Store.open(tmp_path / "another") as fresh:
        assert [state(files, fresh).name for files in (fewer, SHOP)] == [names[3], names[0]]


def test_other_counters_have_other_records(store: Store) -> None:
    other = Extractor(get_counter("estimate"), None, 1)
    assert state(SHOP, store).name != state(SHOP, store, other).name
    assert state(SHOP, store).read == 0


def test_what_a_path_held_lately_is_remembered(store: Store) -> None:
    versions = [SHOP | {"a.py": f"def f():\n    return {number}\n"} for number in range(3)]
    assert [state(files, store).read for files in versions] == [len(SHOP) + 1, 1, 1]
    assert [state(files, store).read for files in versions] == [0, 0, 0]


def test_progress_is_told_from_start_to_end(store: Store) -> None:
    told: list[tuple[str, int, int]] = []
    source = MemorySource(SHOP)
    found = record(source, store, EXTRACTOR, lambda *step: told.append(step))
    snapshot_of(found, source, store, EXTRACTOR, lambda *step: told.append(step))
    assert list(dict.fromkeys(phase for phase, _, _ in told)) == ["listing", FIRST, "linking", "saving"]
    reading = [(done, total) for phase, done, total in told if phase == FIRST]
    assert reading[0] == (0, len(SHOP))
    assert reading[-1] == (len(SHOP), len(SHOP))
    assert reading == sorted(reading)


def test_a_file_that_is_gone_when_its_turn_comes_is_left_out(store: Store) -> None:
    class Vanishing(MemorySource):
        def read(self, paths):  # type: ignore[no-untyped-def]
            return ((path, None if path == "README.md" else data) for path, data in super().read(paths))

    found = record(Vanishing(SHOP), store, EXTRACTOR)
    assert "README.md" not in dict(found.present)
    assert len(found.present) == len(SHOP) - 1
    assert found.read == len(SHOP) - 1, "what went away was not read"
    status = status_of(found, snapshot_of(found, Vanishing(SHOP), store, EXTRACTOR), Vanishing(SHOP), EXTRACTOR)
    assert (status.read, status.reused) == (len(SHOP) - 1, 0), "no figure is negative"


def test_records_that_are_missing_are_made_again(store: Store) -> None:
    found, source = state(SHOP, store), MemorySource(SHOP)
    paths = snapshot_of(found, source, store, EXTRACTOR).paths
    assert store.folder
    with sqlite3.connect(store.folder / FILE_NAME) as database:
        database.execute("DELETE FROM record")
    database.close()
    for file in store.folder.glob("*.arrays"):
        file.unlink()
    assert snapshot_of(found, source, store, EXTRACTOR).paths == paths


def test_a_locale_that_cannot_spell_a_path_changes_nothing(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from secateur.index.update.refresh import record
from secateur.index.update.parallel import Extractor
from secateur.index.store.records import Store
from support.memory_source import MemorySource
from secateur.tokens import get_counter

with Store.open(Path(sys.argv[1])) as store:
    source = MemorySource({"\\u8ba2\\u5355.py": "x = 1", "\\udcff.py": "x = 2"})
    print(record(source, store, Extractor(get_counter("chars4"), None, 1)).name)
"""
    environ = {key: value for key, value in environment().items() if not key.startswith(("LC_", "LANG"))}
    environ |= {"LC_ALL": "C"}
    names = set()
    for number, utf8 in enumerate("01"):
        settings = {"PYTHONUTF8": utf8, "PYTHONCOERCECLOCALE": "0"}
        words = [sys.executable, "-c", program, str(tmp_path / str(number))]
        names.add(subprocess.run(words, env=environ | settings, check=True, capture_output=True, text=True).stdout)
    assert len(names) == 1


def test_old_snapshots_go(store: Store) -> None:
    assert store.folder
    for number in range(KEPT_SNAPSHOTS + 3):
        files = SHOP | {"a.py": f"x = {number}\n"}
        snapshot_of(state(files, store), MemorySource(files), store, EXTRACTOR)
    assert len(list(store.folder.glob("*.delta"))) == KEPT_SNAPSHOTS
    assert len(list(store.folder.glob("*.arrays"))) == 1, "what they are made from"


def test_status_adds_up(store: Store) -> None:
    source = MemorySource(SHOP | {"uv.lock": "version = 1\n"}, name="shop")
    found = record(source, store, EXTRACTOR)
    status = status_of(found, snapshot_of(found, source, store, EXTRACTOR), source, EXTRACTOR)
    assert (status.source, status.files, status.counter, status.embedding) == ("shop", len(SHOP), "chars4", "none")
    assert sum(status.languages.values()) == status.files
    assert status.skipped == {"lockfile": 1}
    assert status.lines == sum(text.count("\n") for text in SHOP.values())
    assert status.calls_resolved + status.calls_external <= status.call_sites
    assert not status.fresh


def test_an_index_that_is_not_kept_promises_no_end_of_reading() -> None:
    told: list[str] = []
    with Store.open(None) as store:
        record(MemorySource(SHOP), store, EXTRACTOR, lambda phase, _done, _total: told.append(phase))
    assert set(told) == {"listing", "reading"}
