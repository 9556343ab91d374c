"""One repository, one answer: whatever it is read through, whatever was indexed before, however often something was
interrupted or damaged."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace
from secateur import Engine, Settings, select
from secateur.errors import RepositoryError, UsageError
from secateur.index.update import refresh
from secateur.model import Pool, State
from secateur.settings import with_profile, with_values
from support.engine_answers import answer_text, answered, printed
from support.memory_source import MemorySource
from support.repos import QUERY, SHOP, committed, git, handlers, write

FILES = SHOP | handlers(4, 6)
PAGE = 4096
"""Bytes of a page of SQLite."""


def answer_of(root: Path, cache: Path, settings: Settings | None = None) -> str:
    with Engine.open(root, settings, cache_dir=cache) as engine:
        return answer_text(engine, QUERY)


def in_memory(files: dict[str, str]) -> str:
    with Engine.of(MemorySource(files)) as engine:
        return answer_text(engine, QUERY)


def columns(pool: Pool) -> list[tuple[object, ...]]:
    """What is known of every candidate but its history."""
    parts = [column.tolist() for column in pool.parts["relevance"].values()]
    rows = zip(
        pool.symbol_id,
        pool.tokens.tolist(),
        pool.cost.tolist(),
        pool.relevance.tolist(),
        pool.distance.tolist(),
        pool.predecessor_edge,
        *parts,
        strict=True,
    )
    return list(rows)


# --- sources ----------------------------------------------------------------------------------------------------------


def test_worktree_commit_and_memory_give_the_same_candidates(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", FILES)
    with Engine.open(root, cache_dir=tmp_path / "1") as engine:
        worktree = engine.retrieve(QUERY)
    (root / "shop/money.py").write_text("nothing the commit knows of")
    with Engine.open(root, rev="HEAD", cache_dir=tmp_path / "2") as engine:
        commit = engine.retrieve(QUERY)
        assert "round_total" in engine.content(commit, commit.row_of["shop/money.py::round_total"])
    with Engine.of(MemorySource(FILES)) as engine:
        memory = engine.retrieve(QUERY)
    assert columns(worktree) == columns(commit) == columns(memory)
    assert worktree.hotspot.tolist() == commit.hotspot.tolist()
    assert worktree.hotspot.max() > 0
    assert memory.hotspot.max() == 0  # files in memory have no history


def test_the_library_use_of_the_readme(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
        pool = engine.retrieve(QUERY)
        selection = select(pool, Settings(budget=4000))
        pack = engine.render(selection)
        assert engine.counter().count(pack) <= 4000
        assert "def refund_total(parts):" in pack
        for decision in selection.decisions:
            assert decision.rank
            assert decision.state.glyph
            assert sum(decision.terms.values()) == pytest.approx(decision.priority)


def test_other_settings_of_one_engine_do_not_stick() -> None:
    with Engine.of(MemorySource(FILES)) as engine:
        before = answered(engine, QUERY, use_cache=False).text
        for change in (
            {"embedding.model": "none"},
            {"tokens.counter": "chars4"},
            {"graph_rag.max_depth": 4},
            {"relevance.pool": "all"},
        ):
            engine.search(QUERY, with_values(Settings(), change))
        assert answered(engine, QUERY, use_cache=False).text == before


def test_a_file_edited_after_it_was_indexed_is_never_quoted_wrongly(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
        pool = engine.retrieve(QUERY)
        row = pool.row_of["shop/refund.py::refund_total"]
        (root / "shop/refund.py").write_text("# one line more\n" + FILES["shop/refund.py"])
        with pytest.raises(RepositoryError, match=r"shop/refund\.py: changed since it was indexed"):
            engine.content(pool, row)
        engine.refresh()
        with pytest.raises(RepositoryError, match="changed"):  # the old pool's line numbers are still the old ones
            engine.content(pool, row)
        again = engine.retrieve(QUERY)
        assert engine.content(again, again.row_of["shop/refund.py::refund_total"]).startswith("def refund_total")
        (root / "shop/money.py").unlink()
        with pytest.raises(RepositoryError, match=r"shop/money\.py: gone"):
            engine.signature(again, again.row_of["shop/money.py::round_total"])


def test_components_hold_every_fragment() -> None:
    with Engine.of(MemorySource(SHOP)) as engine:
        assert sum(engine.components()) == engine.status().fragments


# --- the same bytes ---------------------------------------------------------------------------------------------------


def test_same_bytes_in_other_processes_with_other_hash_seeds_and_more_workers(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", FILES)
    program = (
        "import sys, secateur.index.update.parallel as parallel; parallel.INLINE_BYTES = 0\n"
        "from secateur.cli.main import main\n"
        "if __name__ == '__main__': sys.exit(main(sys.argv[1:]))\n"
    )
    outputs = []
    for seed, workers in (("0", "1"), ("4242", "2")):
        words = [
            "search",
            QUERY,
            str(root),
            "--format",
            "json",
            "--explain",
            "--no-cache",
            "--set",
            f"index.workers={workers}",
        ]
        env = os.environ | {"PYTHONHASHSEED": seed, "SECATEUR_CACHE_DIR": str(tmp_path / seed)}
        outputs.append(
            subprocess.run([sys.executable, "-c", program, *words], env=env, check=True, capture_output=True).stdout
        )
    with Engine.open(root, cache_dir=tmp_path / "here") as engine:
        assert outputs[0] == outputs[1] == answered(engine, QUERY, "json", explain=True).text.encode()


def test_same_answer_wherever_the_repository_and_whenever_its_files_were_written(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a" / "shop", FILES), write(tmp_path / "b" / "shop", dict(reversed(FILES.items())))
    for path in two.rglob("*.py"):
        os.utime(path, (1, 1))
    assert answer_of(one, tmp_path / "cache") == answer_of(two, tmp_path / "cache") == in_memory(FILES)


# --- what was indexed before does not matter --------------------------------------------------------------------------


def test_only_what_changed_is_read(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
        first = engine.refresh()
        assert (first.read, first.reused, first.fresh) == (len(FILES), 0, False)
        assert engine.refresh().fresh
        (root / "shop/money.py").write_text("def round_total(amount):\n    return round(amount)\n")
        (root / "shop/new.py").write_text("def new():\n    pass\n")
        (root / "README.md").unlink()
        third = engine.refresh()
        assert (third.read, third.files) == (2, len(FILES))
        os.utime(root / "shop/api.py", (1, 1))  # looks new, is not
        assert engine.refresh().snapshot == third.snapshot


def test_going_back_to_a_branch_parses_nothing(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", FILES)
    main = answer_of(root, tmp_path / "cache")
    git(root, "checkout", "-q", "-b", "side")
    write(root, {"shop/money.py": "def round_total(amount):\n    return amount // 1\n"})
    git(root, "mv", "shop/api.py", "shop/http.py")
    git(root, "commit", "-q", "-a", "-m", "Side")
    side = answer_of(root, tmp_path / "cache")
    assert side == answer_of(root, tmp_path / "fresh") != main
    git(root, "checkout", "-q", "main")
    assert answer_of(root, tmp_path / "cache") == main
    with Engine.open(root, rev="side", cache_dir=tmp_path / "cache") as engine:
        assert answer_text(engine, QUERY) == side
    with sqlite3.connect(_folder(tmp_path / "cache") / "index.sqlite") as db:
        assert db.execute("SELECT count(*), count(DISTINCT used) FROM record").fetchone() == (
            len(FILES) + 2,
            2,
        )  # main, then two files of side
    db.close()


# --- damage -----------------------------------------------------------------------------------------------------------


def _folder(cache: Path) -> Path:
    (folder,) = (cache / "index").iterdir()
    return folder


def _flip(path: Path, place: float) -> None:
    data = bytearray(path.read_bytes())
    data[int(len(data) * place)] ^= 0xFF
    path.write_bytes(data)


def _flip_snapshot(cache: Path) -> None:
    (path,) = _folder(cache).glob("*.arrays")
    _flip(path, 0.6)


def _cut_snapshot(cache: Path) -> None:
    (path,) = _folder(cache).glob("*.arrays")
    path.write_bytes(path.read_bytes()[:-100])


def _empty_snapshot(cache: Path) -> None:
    (path,) = _folder(cache).glob("*.arrays")
    path.write_bytes(b"")


def _flip_record(cache: Path) -> None:
    _without_snapshots(cache)
    with sqlite3.connect(_folder(cache) / "index.sqlite") as db:
        path, data = db.execute("SELECT path, data FROM record ORDER BY length(data) DESC LIMIT 1").fetchone()
        db.execute("UPDATE record SET data = ? WHERE path = ?", (data[:50] + b"\xff" + data[51:], path))
    db.close()


def _truncated_record(cache: Path) -> None:
    _without_snapshots(cache)
    with sqlite3.connect(_folder(cache) / "index.sqlite") as db:
        db.execute("UPDATE record SET data = substr(data, 1, 5)")
    db.close()


def _no_records(cache: Path) -> None:
    _without_snapshots(cache)
    with sqlite3.connect(_folder(cache) / "index.sqlite") as db:
        db.execute("DELETE FROM record")
    db.close()


def _not_a_database(cache: Path) -> None:
    _without_snapshots(cache)
    (_folder(cache) / "index.sqlite").write_bytes(b"SQLite, they said" * 500)


def _broken_pages(cache: Path, pages: slice = slice(1, None)) -> None:
    _without_snapshots(cache)
    path = _folder(cache) / "index.sqlite"
    data = bytearray(path.read_bytes())
    for start in range(0, len(data), PAGE)[pages]:  # the first page still says that it is a database
        data[start : start + PAGE // 2] = b"\xa5" * (PAGE // 2)
    path.write_bytes(data)


def _broken_page(cache: Path) -> None:
    _broken_pages(cache, slice(5, 6))


def _without_snapshots(cache: Path) -> None:
    for path in _folder(cache).glob("*.arrays"):
        path.unlink()


DAMAGE = [
    _flip_snapshot,
    _cut_snapshot,
    _empty_snapshot,
    _flip_record,
    _truncated_record,
    _no_records,
    _not_a_database,
    _broken_pages,
    _broken_page,
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_found_out_and_rebuilt(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    root, cache = write(tmp_path / "shop", FILES), tmp_path / "cache"
    true = answer_of(root, cache)
    damage(cache)
    assert answer_of(root, cache) == true
    assert answer_of(root, cache) == true


def test_an_index_of_another_version_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, cache = write(tmp_path / "shop", FILES), tmp_path / "cache"
    with Engine.open(root, cache_dir=cache) as engine:
        true = answered(engine, QUERY, "json", dropped=None).text
    monkeypatch.setattr(refresh, "SNAPSHOT_VERSION", "another")
    with Engine.open(root, cache_dir=cache) as engine:
        assert answered(engine, QUERY, "json", dropped=None).text == true
        assert len(list(_folder(cache).glob("*.arrays"))) == 2


# --- interruptions and neighbours -------------------------------------------------------------------------------------


def test_ctrl_c_keeps_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, cache = write(tmp_path / "shop", FILES), tmp_path / "cache"
    monkeypatch.setattr(refresh, "COMMIT_EVERY", 2)

    def interrupt(phase: str, done: int, _total: int) -> None:
        if phase == refresh.FIRST and done >= 4:
            raise KeyboardInterrupt

    with Engine.open(root, cache_dir=cache) as engine, pytest.raises(KeyboardInterrupt):
        engine.refresh(interrupt)
    with Engine.open(root, cache_dir=cache) as engine:
        status = engine.refresh()
        assert (status.reused, status.read) == (4, len(FILES) - 4)
    assert answer_of(root, cache) == in_memory(FILES)


def test_ctrl_c_while_a_snapshot_is_made_leaves_nothing_half_done(tmp_path: Path) -> None:
    root, cache = write(tmp_path / "shop", FILES), tmp_path / "cache"

    def interrupt(phase: str, _done: int, _total: int) -> None:
        if phase == "saving":
            raise KeyboardInterrupt

    with Engine.open(root, cache_dir=cache) as engine:
        with pytest.raises(KeyboardInterrupt):
            engine.refresh(interrupt)
        assert engine.refresh().fresh  # the same engine goes on
    assert [path.name for path in _folder(cache).iterdir() if path.suffix == ".part"] == []
    assert answer_of(root, cache) == in_memory(FILES)


def test_many_engines_may_write_at_once(tmp_path: Path) -> None:
    root, cache = write(tmp_path / "shop", FILES), tmp_path / "cache"
    with ThreadPoolExecutor(4) as pool:
        answers = set(pool.map(lambda _: answer_of(root, cache), range(8)))
    assert answers == {in_memory(FILES)}


def test_a_history_that_breaks_off_is_said_by_every_answer_and_read_again_once_it_is_whole(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", FILES)
    first = git(root, "rev-parse", "HEAD").strip()
    write(root, {"shop/money.py": FILES["shop/money.py"] + "\n"})
    git(root, "commit", "-q", "-a", "-m", "Second")
    missing = root / ".git" / "objects" / first[:2] / first[2:]
    kept = missing.rename(tmp_path / "kept")
    for _ in range(2):  # read, and from the file the arrays were saved in
        with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
            assert [notice.code for notice in engine.retrieve(QUERY).warnings].count("history_incomplete") == 1
            assert "only a part of the history" in " ".join(engine.status().notices)
    kept.rename(missing)
    write(root, {"new.py": "x = 1\n"})
    with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
        assert "history_incomplete" not in [notice.code for notice in engine.retrieve(QUERY).warnings]
        assert engine.status().notices == ()


def test_a_format_that_does_not_exist_is_not_taken_for_text() -> None:
    with Engine.of(MemorySource(FILES)) as engine, pytest.raises(UsageError, match="pdf"):
        printed(engine, engine.search(QUERY), "pdf")


def test_one_engine_may_be_asked_from_several_threads(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    queries = [QUERY, "post refund", "handleToolCall", "shop"]
    with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
        alone = [answered(engine, query, use_cache=False).text for query in queries]
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda query: answered(engine, query, use_cache=False).text, queries * 3))
    assert together == alone * 3


# --- budget -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["spec", "recommended"])
@pytest.mark.parametrize("counter", ["o200k_base", "cl100k_base", "estimate", "chars4"])
def test_no_format_exceeds_the_budget_by_any_counter(orders: Path, profile: str, counter: str) -> None:
    from secateur.settings import with_profile

    settings = with_values(with_profile(Settings(), profile), {"tokens.counter": counter})
    with Engine.open(orders, settings) as engine:
        for form in ("markdown", "xml"):
            pool = engine.retrieve(QUERY, format=form)
            for budget in (60, 333, 1500, 4000):
                selection = engine.select(pool, replace(settings, budget=budget))
                if selection.kept_rows:
                    assert engine.counter().count(engine.render(selection)) <= budget


def test_declarations_of_what_did_not_fit(orders: Path) -> None:
    with Engine.open(orders) as engine:
        settings = with_values(engine.settings, {"smart_pruning.signature_share": 0.3, "budget": 1500})
        selection = engine.search(QUERY, settings)
        report = engine.report(selection).to_dict()
    shortened = [row for row in report["candidates"] if row["decision"]["state"] == "shortened"]
    assert shortened
    assert selection.counts(State.SHORTENED)[0] == len(shortened)
    for row in shortened:
        whole = (orders / row["file_path"]).read_text().splitlines()[row["line_start"] - 1 : row["line_end"]]
        assert row["content"]
        assert len(row["content"].splitlines()) < len(whole)
        assert set(row["content"].splitlines()) <= set(whole)
    assert report["token_count"] <= 1500
    json.dumps(report)


def test_what_is_retrieved_again_under_other_weights_costs_what_a_first_retrieval_finds(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    profiles = [with_profile(Settings(), name) for name in ("spec", "recommended")]
    with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
        again = [engine.retrieve(QUERY, settings, use_cache=False) for settings in (*profiles, *profiles)]
    for settings, pool in zip((*profiles, *profiles), again, strict=True):
        with Engine.open(root, cache_dir=tmp_path / "cache") as engine:
            first = engine.retrieve(QUERY, settings, use_cache=False)
        assert pool.symbol_id == first.symbol_id
        assert pool.cost.tolist() == first.cost.tolist()


def test_an_engine_that_moves_reads_the_commit_it_was_moved_to(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    write(root, {"shop/refund.py": "def refund_later():\n    return 0\n"})
    git(root, "commit", "-qam", "Later", time=1_760_000_000)
    with Engine.open(root, rev="HEAD", cache_dir=tmp_path / "cache") as engine:
        assert "shop/refund.py::refund_later" in engine.retrieve(QUERY).row_of
        engine.move(root, "HEAD~1")
        assert "shop/refund.py::refund_total" in engine.retrieve(QUERY).row_of
        engine.move(root, None)
        assert "shop/refund.py::refund_later" in engine.retrieve(QUERY).row_of


def test_a_commit_is_listed_once_while_its_revision_stays_and_anew_where_it_moves(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    write(root, {"a.py": "def alpha():\n    return 1\n"})
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Begin")
    with Engine.open(root, rev="main", cache_dir=tmp_path / "cache") as engine:
        engine.refresh()
        source = engine._index.source
        assert engine.refresh().read == 0 and engine._index.source is source
        write(root, {"b.py": "def beta():\n    return 2\n"})
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "Go on")
        assert engine.refresh().files == 2 and engine._index.source is not source
        git(root, "update-ref", "-d", "refs/heads/main")
        with pytest.raises(RepositoryError, match="main"):
            engine.refresh()
