import sqlite3
import threading
from random import Random

import pytest
from secateur.errors import IndexingError
from secateur.index.store import records as store_module
from secateur.index.store.folder import FILE_NAME, folder_of, remove, replacing, size_of
from secateur.index.store.records import KEPT_RUNS, KEPT_VERSIONS, SWEEP_EVERY, Store
from secateur.sources.files import path_bytes

HOSTILE_PATH = path_bytes("ä\udcff\n\x1b[31m';--.py")


@pytest.fixture(params=["disk", "memory"])
def store(request, tmp_path):
    with Store.open(tmp_path / "index" if request.param == "disk" else None) as opened:
        yield opened


def filled(folder, files=400):
    with Store.open(folder) as store, store.writing():
        for number in range(files):
            path, digest = b"%d.py" % number, b"digest %d" % number
            store.put(path, digest, "v1", b"record %d " % number * 40, 1)
            store.remember([(path, "token", digest)], 1)
        store.put_blobs("history", {"commit": b"commits" * 500})
    return folder / FILE_NAME


def test_records_come_back_in_the_order_asked_for_and_none_for_those_that_are_not_there(store):
    with store.writing():
        store.put(b"a.py", b"1", "v1", b"first", 1)
        store.put(HOSTILE_PATH, b"2", "v1", b"", 1)
    wanted = [(HOSTILE_PATH, b"2"), (b"gone.py", b"1"), (b"a.py", b"1"), (b"a.py", b"2")]
    assert list(store.records(wanted, "v1")) == [b"", None, b"first", None]
    assert list(store.records(wanted, "v2")) == [None, None, None, None]
    assert store.list_known("v1") == {(b"a.py", b"1"), (HOSTILE_PATH, b"2")}


def test_a_later_record_of_the_same_content_replaces_the_former(store):
    with store.writing():
        store.put(b"a.py", b"1", "v1", b"old", 1)
        store.put(b"a.py", b"1", "v1", b"new", 2)
    assert list(store.records([(b"a.py", b"1")], "v1")) == [b"new"]


def test_contents_of_a_path_beyond_the_limit_go_those_written_longest_ago_first(store):
    with store.writing():
        store.put(b"other.py", b"1", "v1", b"stays", 1)
        for generation in range(1, KEPT_VERSIONS + 3):
            store.put(b"a.py", b"%d" % generation, "v1", b"x", generation)
    assert {digest for path, digest in store.list_known("v1") if path == b"a.py"} == {
        b"%d" % n for n in range(3, KEPT_VERSIONS + 3)
    }
    assert (b"other.py", b"1") in store.list_known("v1")


def test_what_a_file_looked_like_is_remembered_with_its_content(store):
    with store.writing():
        store.remember([(b"a.py", "size 3", b"1"), (b"b.py", "size 3", b"2")], 1)
    with store.writing():
        store.remember([(b"a.py", "size 3", b"9")], 2)
    assert store.load_looks() == {(b"a.py", "size 3"): b"9", (b"b.py", "size 3"): b"2"}


def test_looks_of_a_path_beyond_the_limit_go(store):
    for generation in range(1, KEPT_VERSIONS + 3):
        with store.writing():
            store.remember([(b"a.py", f"look {generation}", b"1")], generation)
    assert set(store.load_looks()) == {(b"a.py", f"look {n}") for n in range(3, KEPT_VERSIONS + 3)}


def test_generations_grow_with_every_run_that_writes(store):
    assert store.generation() == 1
    with store.writing():
        store.remember([(b"a.py", "t", b"1")], store.generation())
    assert store.generation() == 2


def test_blobs_of_a_kind_come_back(store):
    with store.writing():
        store.put_blobs("history", {"c1": b"one", "c3": b""})
        store.put_blobs("other", {"c1": b"stays"})
    asked = (("history", "c1"), ("history", "c2"), ("history", "c3"), ("other", "c1"))
    assert [store.get_blob(kind, name) for kind, name in asked] == [b"one", None, b"", b"stays"]


def test_of_a_kind_no_more_values_are_kept_than_asked_for_the_latest(store):
    with store.writing():
        store.put_blobs("other", {"a": b"stays"})
        store.put_blobs("vectors", {"a": b"1", "b": b"2", "c": b"3"}, most=3)
        store.remember([(b"a.py", "t", b"1")], store.generation())
        store.put_blobs("vectors", {"d": b"4", "a": b"5"}, most=3)
    assert [store.get_blob("vectors", name) is not None for name in "abcd"] == [True, True, False, True]
    assert store.get_blob("other", "a") == b"stays"


def test_what_was_written_last_stays_also_within_one_run(store):
    for name in "dcbaz":
        with store.writing():
            store.put_blobs("history", {name: b"1"}, most=2)
    assert [name for name in "abcdz" if store.get_blob("history", name)] == ["a", "z"]


def test_a_transaction_is_all_or_nothing(store):
    with pytest.raises(KeyboardInterrupt), store.writing():
        store.put(b"a.py", b"1", "v1", b"x", 1)
        raise KeyboardInterrupt
    assert store.list_known("v1") == set()
    with store.writing():
        store.put(b"a.py", b"1", "v1", b"x", 1)
    assert store.list_known("v1") == {(b"a.py", b"1")}


def test_what_was_written_is_there_the_next_time(tmp_path):
    filled(tmp_path, files=3)
    with Store.open(tmp_path) as store:
        assert len(store.list_known("v1")) == 3
        assert store.get_blob("history", "commit") == b"commits" * 500


def test_the_folder_is_for_the_user_alone(tmp_path):
    with Store.open(tmp_path / "deep" / "index"):
        assert (tmp_path / "deep" / "index").stat().st_mode & 0o077 == 0


def test_readers_do_not_wait_for_a_writer_and_see_what_was_committed(tmp_path):
    with Store.open(tmp_path) as writer, Store.open(tmp_path) as reader:
        with writer.writing():
            writer.put(b"a.py", b"1", "v1", b"x", 1)
            assert reader.list_known("v1") == set()
        assert reader.list_known("v1") == {(b"a.py", b"1")}


def test_a_writer_waits_for_another(tmp_path):
    with Store.open(tmp_path) as first, Store.open(tmp_path) as second:
        started = threading.Event()

        def write() -> None:
            started.set()
            with second.writing():
                second.put(b"b.py", b"2", "v1", b"y", 1)

        with first.writing():
            thread = threading.Thread(target=write)
            thread.start()
            started.wait(10)
            first.put(b"a.py", b"1", "v1", b"x", 1)
        thread.join(20)
        assert first.list_known("v1") == {(b"a.py", b"1"), (b"b.py", b"2")}


def test_a_writer_that_waited_too_long_says_who_is_in_its_way(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "BUSY_SECONDS", 0.0)
    with (
        Store.open(tmp_path) as first,
        Store.open(tmp_path) as second,
        first.writing(),
        pytest.raises(IndexingError, match="held by another process"),
        second.writing(),
    ):
        pass


# --- forgetting -------------------------------------------------------------------------------------------------------


def run(store, files, fingerprint="v1"):
    """One writing run over all the files there are: path -> content."""
    generation = store.generation()
    known = store.list_known(fingerprint)
    with store.writing():
        for path, digest in files.items():
            if (path, digest) not in known:
                store.put(path, digest, fingerprint, b"record " * 300, generation)
                store.remember([(path, f"look of {digest!r}", digest)], generation)
        store.remember([(b"edited.py", f"look {generation}", b"%d" % generation)], generation)
        store.put(b"edited.py", b"%d" % generation, fingerprint, b"x", generation)
    present = [*files.items(), (b"edited.py", b"%d" % generation)]
    store.sweep(present, fingerprint)


def test_what_no_run_used_for_long_is_forgotten_and_what_is_in_use_never(store):
    run(store, {b"stays.py": b"1", b"gone.py": b"2"})
    for _ in range(KEPT_RUNS - 1):
        run(store, {b"stays.py": b"1"})
    assert (b"gone.py", b"2") in store.list_known("v1"), "a branch that was left lately is not read again"
    for _ in range(SWEEP_EVERY + 1):
        run(store, {b"stays.py": b"1"})
    assert (b"gone.py", b"2") not in store.list_known("v1")
    assert {path for path, _ in store.load_looks()} == {b"stays.py", b"edited.py"}
    for _ in range(2 * KEPT_RUNS):
        run(store, {b"stays.py": b"1"})
    assert (b"stays.py", b"1") in store.list_known("v1")
    assert (b"stays.py", "look of b'1'") in store.load_looks()


def test_records_of_a_version_no_longer_used_are_forgotten_though_their_files_are_there(store):
    run(store, {b"a.py": b"1"}, "v1")
    for _ in range(KEPT_RUNS + SWEEP_EVERY):
        run(store, {b"a.py": b"1"}, "v2")
    assert store.list_known("v1") == set()
    assert (b"a.py", b"1") in store.list_known("v2")


def test_ever_new_files_do_not_make_the_index_grow_without_end(tmp_path):
    sizes = []
    with Store.open(tmp_path) as store:
        for number in range(4 * KEPT_RUNS):
            run(store, {b"file %d.py" % number: b"1"})
            if number % KEPT_RUNS == KEPT_RUNS - 1:
                sizes.append(size_of(tmp_path))
                assert len(store.list_known("v1")) <= KEPT_RUNS + SWEEP_EVERY + KEPT_VERSIONS
    assert sizes[-1] <= sizes[1] * 1.1
    with Store.open(tmp_path), sqlite3.connect(tmp_path / FILE_NAME) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA freelist_count").fetchone()[0] < 10 * SWEEP_EVERY
    database.close()


def test_what_was_set_aside_goes_with_the_next_sweep(tmp_path):
    (tmp_path / FILE_NAME).write_text("no database")
    with Store.open(tmp_path) as store:
        assert (tmp_path / f"{FILE_NAME}.broken").exists()
        for _ in range(SWEEP_EVERY):
            run(store, {b"a.py": b"1"})
    assert not (tmp_path / f"{FILE_NAME}.broken").exists()


def test_unfinished_files_of_writers_that_died_go_and_those_of_the_living_stay(tmp_path):
    (tmp_path / "state.arrays.x1y2.part").write_bytes(b"half")
    with replacing(tmp_path / "other.arrays") as file:
        file.write(b"whole")
        with Store.open(tmp_path):
            assert [path.name.rpartition(".")[0].rpartition(".")[0] for path in tmp_path.glob("*.part")] == [
                "other.arrays"
            ]
    assert (tmp_path / "other.arrays").read_bytes() == b"whole"
    assert not list(tmp_path.glob("*.part"))


def test_an_index_can_be_removed_and_begins_anew(tmp_path):
    folder = folder_of(tmp_path, tmp_path / "shop")
    filled(folder, files=3)
    (folder / "state.arrays").write_bytes(b"x" * 1000)
    size = size_of(folder)
    assert size > 1000
    assert remove(folder) == size
    assert not folder.exists()
    assert remove(folder) == 0
    filled(folder, files=1)


def test_who_has_it_open_while_it_is_removed_does_not_harm_the_next(tmp_path):
    path = filled(tmp_path, files=3)
    first = Store.open(tmp_path)
    with first.writing():
        first.put(b"late.py", b"1", "v1", b"x", 1)
    remove(tmp_path)
    with Store.open(tmp_path) as second:
        with second.writing():
            second.put(b"new.py", b"1", "v1", b"y", 1)
        assert (b"late.py", b"1") in first.list_known("v1")
        first.close()
        assert path.with_name(f"{FILE_NAME}-wal").exists(), "the log of the new one"
        with Store.open(tmp_path) as third:
            assert third.list_known("v1") == {(b"new.py", b"1")}


def test_two_repositories_of_one_name_have_two_folders(tmp_path):
    assert len({folder_of(tmp_path, tmp_path / place / "shop") for place in "ab"}) == 2
    assert folder_of(tmp_path, tmp_path / "my shop: 订单").name.startswith("my_shop____-")


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [b"", b"no database", b"\0" * 5000, b"SQLite format 3\0" + b"\xff" * 4000],
    ids=["empty", "text", "zeros", "broken head"],
)
def test_a_file_that_is_no_database_is_set_aside(tmp_path, content):
    (tmp_path / FILE_NAME).write_bytes(content)
    with Store.open(tmp_path) as store:
        assert store.list_known("v1") == set()
        with store.writing():
            store.put(b"a.py", b"1", "v1", b"x", 1)
    if content:
        assert (tmp_path / f"{FILE_NAME}.broken").read_bytes() == content


def test_a_flipped_byte_of_a_record_is_found_and_only_that_record_is_gone(tmp_path):
    path = filled(tmp_path, files=5)
    with sqlite3.connect(path) as db:
        (data,) = db.execute("SELECT data FROM record WHERE path = ?", (b"3.py",)).fetchone()
        db.execute(
            "UPDATE record SET data = ? WHERE path = ?", (data[:20] + bytes([data[20] ^ 1]) + data[21:], b"3.py")
        )
    db.close()
    with Store.open(tmp_path) as store:
        found = list(store.records([(b"%d.py" % n, b"digest %d" % n) for n in range(5)], "v1"))
    assert [record is None for record in found] == [False, False, False, True, False]


def test_a_blob_cut_short_is_none(tmp_path):
    path = filled(tmp_path, files=1)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE blob SET data = substr(data, 1, 5)")
    db.close()
    with Store.open(tmp_path) as store:
        assert store.get_blob("history", "commit") is None


def use_after_damage(folder, files):
    """Every answer is what was stored or nothing, and writing works, at once or after one error that says so."""
    with Store.open(folder) as store:
        store.load_looks()
        store.list_known("v1")
        wanted = [(b"%d.py" % number, b"digest %d" % number) for number in range(files)]
        for number, record in enumerate(store.records(wanted, "v1")):
            assert record in (None, b"record %d " % number * 40)
        assert store.get_blob("history", "commit") in (None, b"commits" * 500)
        assert store.generation() >= 1
        try:
            with store.writing():
                store.put(b"new.py", b"1", "v1", b"new", store.generation())
        except IndexingError as error:
            assert error.hint == "run again: a new one is built"
            with store.writing():
                store.put(b"new.py", b"1", "v1", b"new", 2)
        assert list(store.records([(b"new.py", b"1")], "v1")) in (
            [b"new"],
            [None],
        )  # None: a tree whose keys are out of order


@pytest.mark.parametrize("name", [FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"])
def test_a_folder_in_place_of_a_file_is_set_aside(tmp_path, name):
    filled(tmp_path, files=2)
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name / "inner").mkdir(parents=True)
    use_after_damage(tmp_path, 2)


def test_a_database_of_another_layout_is_begun_anew(tmp_path):
    path = filled(tmp_path, files=2)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 1")
    database.close()
    with Store.open(tmp_path) as store:
        assert store.list_known("v1") == set()
    use_after_damage(tmp_path, 2)


def test_who_finds_the_damage_second_keeps_what_the_first_has_begun(tmp_path):
    filled(tmp_path, files=40)
    first, second = Store.open(tmp_path), Store.open(tmp_path)
    size = (tmp_path / FILE_NAME).stat().st_size
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    assert first.list_known("v1") == set()
    with first.writing():
        first.put(b"new.py", b"1", "v1", b"y", 1)
    assert second.list_known("v1") == set(), "what it finds damaged is not what is there now"
    assert second.list_known("v1") == {(b"new.py", b"1")}
    first.close()
    second.close()
    with Store.open(tmp_path) as third:
        assert third.list_known("v1") == {(b"new.py", b"1")}


@pytest.mark.parametrize("place", range(1, 12))
def test_a_page_of_noise_never_stops_the_next_run(tmp_path, place):
    path = filled(tmp_path)
    data = bytearray(path.read_bytes())
    start = len(data) * place // 12
    data[start : start + 4096] = bytes(byte * 7 % 251 for byte in range(4096))
    path.write_bytes(data)
    use_after_damage(tmp_path, 400)


def test_a_flipped_bit_anywhere_never_stops_the_next_run(tmp_path):
    data = filled(tmp_path / "whole", files=12).read_bytes()
    random = Random(3)
    for turn in range(80):
        damaged = bytearray(data)
        damaged[random.randrange(len(data))] ^= 1 << random.randrange(8)
        folder = tmp_path / str(turn)
        folder.mkdir()
        (folder / FILE_NAME).write_bytes(damaged)
        use_after_damage(folder, 12)


def test_a_full_disk_is_an_error_that_says_so_and_keeps_what_was_there(tmp_path):
    filled(tmp_path, files=3)
    with Store.open(tmp_path) as store:
        (pages,) = store._db.execute("PRAGMA page_count").fetchone()
        store._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(IndexingError, match=r"cannot be written.*full") as caught, store.writing():
            store.put(b"big.py", b"1", "v1", b"x" * 1_000_000, 2)
        assert "SECATEUR_CACHE_DIR" in caught.value.hint
        assert len(store.list_known("v1")) == 3
    assert not (tmp_path / f"{FILE_NAME}.broken").exists()


def test_a_folder_that_cannot_be_made_is_an_error_that_names_it(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexingError, match="file") as caught:
        Store.open(tmp_path / "file" / "index")
    assert "SECATEUR_CACHE_DIR" in caught.value.hint
