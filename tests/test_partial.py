"""A partial answer is the same whatever is indexed and by however many processes, says what it was made from, and gives
way to the answer that waits."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur import Engine, Settings
from secateur.cli.common import ProgressBar
from secateur.index.update import refresh
from secateur.model import Selection
from secateur.progress import FIRST
from secateur.retrieval.named_symbols import FirstFiles
from secateur.settings import with_values
from secateur.sources.open import open_source
from support.cli import secateur
from support.engine_answers import answered, printed
from support.memory_source import MemorySource
from support.repos import QUERY, SHOP, committed, git, handlers, write

FILES = SHOP | handlers(8, 12)
SETTINGS = Settings()
REFUND = "shop/refund.py::refund_total"


@pytest.fixture(autouse=True)
def small_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secateur.engine.PARTIAL_BYTES", 1024)


def partial_of(root: Path, cache: Path, settings: Settings = SETTINGS) -> str:
    with Engine.open(root, settings, cache_dir=cache) as engine:
        selection = engine.search(QUERY, partial=True)
        assert selection.pool.partial
        return printed(engine, selection, "json")


def whole_of(root: Path, cache: Path) -> str:
    with Engine.open(root, SETTINGS, cache_dir=cache) as engine:
        return answered(engine, QUERY, "json", use_cache=False).text


def read_paths(selection: Selection) -> set[str]:
    return set(selection.pool.path)


# --- what is chosen ---------------------------------------------------------------------------------------------------


def test_a_partial_answer_says_from_how_much_it_was_made(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    with Engine.open(root, SETTINGS, cache_dir=tmp_path / "cache") as engine:
        selection = engine.search(QUERY, partial=True)
        part = engine.report(selection).to_dict()["partial"]
        sizes = {path: len(text) for path, text in FILES.items()}
        assert read_paths(selection) == set(SHOP)
        assert part == {
            "files": len(SHOP),
            "of": len(FILES),
            "bytes": sum(sizes[path] for path in SHOP),
            "of_bytes": sum(sizes.values()),
        }
        assert selection.warnings[0].code == "partial"
        made = f"made from {len(SHOP)} of {len(FILES)} files"
        for form in ("text", "json"):
            assert made in printed(engine, selection, form)
        for form in ("markdown", "xml"):  # a pack holds no warnings: the command says them beside it
            assert made not in printed(engine, selection, form)
        assert "partial" not in engine.report(engine.search(QUERY)).to_dict()
    shutil.rmtree(tmp_path / "cache")
    for form in ("markdown", "xml"):
        words = ("search", QUERY, root, "--partial", "--format", form)
        told = secateur(*words, "--set", f"graph_rag.cache_dir={tmp_path / form}")
        assert made in told.err and made not in told.out


def test_the_bytes_that_are_chosen_are_bounded_and_the_best_come_first(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    choose, source = FirstFiles(QUERY, Settings().relevance), open_source(root)
    assert choose(source, 200) == {"shop/refund.py"}
    assert choose(source, 10) == frozenset()
    assert choose(source, 1_000_000) == set(SHOP)  # no word of the query is in the others


def test_a_file_that_the_query_names_comes_first() -> None:
    files = {f"pkg/a{number}.py": "def parse(text):\n    return parse(text)\n" for number in range(9)}
    files |= {"deep/down/b.py": "x = 1\n" * 40}
    for written in ("deep/down/b.py", "b.py", "/usr/lib/site-packages/deep/down/b.py"):
        found = FirstFiles(f"parse fails in {written}", Settings().relevance)(MemorySource(files), 250)
        assert "deep/down/b.py" in found


def test_tests_and_documents_stand_back_unless_they_are_asked_for() -> None:
    files = {"shop/tax.py": "def tax(rate): return rate\n", "tests/test_tax.py": "def test_tax(): tax(1)\n"}
    source = MemorySource(files)
    assert FirstFiles("how is the tax rate read", Settings().relevance)(source, 30) == {"shop/tax.py"}
    assert FirstFiles("test of tax", Settings().relevance)(source, 30) == {"tests/test_tax.py"}


def test_lines_of_the_issue_form_are_not_looked_for_in_a_partial_answer(tmp_path: Path) -> None:
    form = "Describe the handle tool call that you made\n"
    root = write(tmp_path / "shop", FILES | {".github/ISSUE_TEMPLATE/bug.md": form})
    settings = with_values(SETTINGS, {"relevance.issue_forms": True})
    with Engine.open(root, settings, cache_dir=tmp_path / "cache") as engine:
        selection = engine.search(f"refund total is not rounded\n\n{form}", partial=True)
        assert "issue_form" in {notice.code for notice in selection.warnings}


@given(
    st.dictionaries(
        st.text("abc/.", min_size=1, max_size=8).map(lambda name: "d/" + name.strip("/.") + ".py"),
        st.text("refund total\n\x00é", max_size=60),
        max_size=8,
    ),
    st.text("refundtal ./\n\"'", max_size=40),
    st.integers(0, 200),
)
def test_whatever_is_chosen_is_there_and_fits(files: dict[str, str], query: str, most: int) -> None:
    source = MemorySource(files)
    found = FirstFiles(query, Settings().relevance)(source, most)
    assert found <= {entry.path for entry in source.entries()}
    assert sum(entry.size for entry in source.entries() if entry.path in found) <= most
    backwards = MemorySource(dict(reversed(files.items())))
    assert found == FirstFiles(query, Settings().relevance)(backwards, most)


# --- the same whatever happens ----------------------------------------------------------------------------------------


def test_it_is_the_same_whatever_was_read_before_and_by_however_many_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = committed(tmp_path / "shop", FILES)
    true = partial_of(root, tmp_path / "0")
    assert partial_of(root, tmp_path / "0") == true

    def stop(phase: str, done: int, _total: int) -> None:
        if phase == FIRST and done >= 3:
            raise KeyboardInterrupt

    with Engine.open(root, SETTINGS, cache_dir=tmp_path / "1") as engine, pytest.raises(KeyboardInterrupt):
        engine.refresh(stop)
    assert partial_of(root, tmp_path / "1") == true
    monkeypatch.setattr("secateur.index.update.parallel.INLINE_BYTES", 0)
    for workers in (1, 3):
        settings = with_values(SETTINGS, {"index.workers": workers})
        assert partial_of(root, tmp_path / f"workers {workers}", settings) == true


def test_it_is_the_same_under_every_hash_seed(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    program = (
        "import sys; import secateur.engine; from secateur.cli.main import main\n"
        "secateur.engine.PARTIAL_BYTES = 1024\n"
        f"sys.exit(main(['search', {QUERY!r}, {str(root)!r}, '--partial', '--format', 'json']))"
    )
    told = set()
    for seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": seed, "SECATEUR_CACHE_DIR": str(tmp_path / seed)}
        done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, check=True)
        told.add(done.stdout)
    assert len(told) == 1
    assert b'"partial"' in told.pop()


def test_a_question_in_the_middle_of_indexing_gets_the_same_answer_and_disturbs_nothing(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", FILES)
    true = partial_of(root, tmp_path / "0")
    found = []
    with Engine.open(root, SETTINGS, cache_dir=tmp_path / "1") as engine:

        def ask(phase: str, done: int, _total: int) -> None:
            if phase in ("listing", FIRST, "linking", "saving") and done in (0, 5):
                pool = engine.retrieve_partial(QUERY)
                if pool is not None:
                    found.append(printed(engine, engine.select(pool), "json"))

        status = engine.refresh(ask)
        assert len(found) >= 2
        assert set(found) == {true}
        assert status.files == len(FILES)
        assert engine.retrieve_partial(QUERY) is None
        assert answered(engine, QUERY, "json", use_cache=False).text == whole_of(root, tmp_path / "2")


# --- what follows -----------------------------------------------------------------------------------------------------


def test_the_answer_that_follows_is_that_of_who_waited(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", FILES)
    waited = whole_of(root, tmp_path / "waited")
    partial_of(root, tmp_path / "asked")
    assert whole_of(root, tmp_path / "asked") == waited
    with Engine.open(root, SETTINGS, cache_dir=tmp_path / "one") as engine:
        engine.search(QUERY, partial=True)
        assert answered(engine, QUERY, "json").text == waited
        assert not engine.search(QUERY, partial=True).pool.partial


def test_what_was_read_is_not_read_again_and_the_phase_still_says_that_it_is_the_first_time(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    partial_of(root, tmp_path / "cache")
    assert not list((tmp_path / "cache").rglob("*.arrays"))  # no other process finds a part in place of the whole
    phases = set()
    with Engine.open(root, SETTINGS, cache_dir=tmp_path / "cache") as engine:
        status = engine.refresh(lambda phase, _done, _total: phases.add(phase))
    assert (status.reused, status.read) == (len(SHOP), len(FILES) - len(SHOP))
    assert FIRST in phases


def test_a_kill_loses_nothing_of_what_it_read(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    program = (
        "import os, sys; import secateur.engine; secateur.engine.PARTIAL_BYTES = 1024\n"
        "engine = secateur.Engine.open(sys.argv[1], secateur.Settings())\n"
        f"engine.retrieve_partial({QUERY!r}); os._exit(9)"
    )
    env = os.environ | {"SECATEUR_CACHE_DIR": str(tmp_path / "cache")}
    assert subprocess.run([sys.executable, "-c", program, str(root)], env=env, check=False).returncode == 9
    with Engine.open(root, SETTINGS, cache_dir=tmp_path / "cache") as engine:
        assert engine.refresh().reused == len(SHOP)
    assert whole_of(root, tmp_path / "cache") == whole_of(root, tmp_path / "other")


def test_ctrl_c_while_a_partial_answer_is_made_keeps_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, cache = write(tmp_path / "shop", FILES), tmp_path / "cache"
    monkeypatch.setattr(refresh, "COMMIT_EVERY", 1)

    def stop(phase: str, done: int, _total: int) -> None:
        if phase == FIRST and done == 2:
            raise KeyboardInterrupt

    with Engine.open(root, SETTINGS, cache_dir=cache) as engine, pytest.raises(KeyboardInterrupt):
        engine.search(QUERY, partial=True, progress=stop)
    with Engine.open(root, SETTINGS, cache_dir=cache) as engine:
        assert engine.refresh().reused == 2


class _Torn(MemorySource):
    """Files of which one can be listed and not be read."""

    def read(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
        return ((path, None if path == "shop/money.py" else data) for path, data in super().read(paths))


def test_a_file_that_cannot_be_read_costs_itself() -> None:
    with Engine.of(_Torn(FILES), SETTINGS) as engine:
        selection = engine.search("where does shop/money.py round the refund total?", partial=True)
        assert engine.report(selection).to_dict()["partial"]["files"] == len(SHOP) - 1
        assert REFUND in selection.pool.symbol_id


def test_an_index_that_cannot_be_written_is_answered_from_memory_and_waits(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    (tmp_path / "cache").write_text("no folder")
    with Engine.open(root, SETTINGS, cache_dir=tmp_path / "cache") as engine:
        selection = engine.search(QUERY, partial=True)
        assert {"partial", "index_not_kept"} <= {notice.code for notice in selection.warnings}


def test_nothing_partial_is_given_where_the_whole_is_as_near(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(tmp_path / "shop", FILES)
    for number, (most, query) in enumerate(
        [
            (750 * 1024, QUERY),  # the repository is smaller than a part
            (1024, "zzyzx qwfpgj"),  # nothing to begin with
            (1024, ""),
        ]
    ):
        monkeypatch.setattr("secateur.engine.PARTIAL_BYTES", most)
        with Engine.open(root, SETTINGS, cache_dir=tmp_path / str(number)) as engine:
            assert not engine.search(query, partial=True).pool.partial


def test_a_part_is_read_of_a_branch_that_differs_in_much(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    whole_of(root, tmp_path / "cache")
    write(root, handlers(8, 12))
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Tools")
    assert partial_of(root, tmp_path / "cache") == partial_of(root, tmp_path / "other")


# --- the command line -------------------------------------------------------------------------------------------------


def test_the_command_prints_a_partial_answer_keeps_none_and_goes_on_from_there(tmp_path: Path) -> None:
    root = write(tmp_path / "shop", FILES)
    words = "search", QUERY, root
    first = secateur(*words, "--partial", "--verbose")
    assert first.code == 0
    assert "! partial: A partial answer, made from 4 of 12 files" in first.out
    assert "without --partial reads the rest" in first.err
    assert "without --partial" not in secateur(*words, "--partial", "--quiet").err
    explained = secateur(*words, "--partial", "--explain", "--format", "json").json
    assert explained["partial"]["files"] == 4
    assert "partial" not in secateur(*words).out  # no answer of before is taken for it
    assert "partial" not in secateur(*words, "--partial").out


def test_a_scenario_holds_the_whole_answer(tmp_path: Path) -> None:
    root, saved = write(tmp_path / "shop", FILES), tmp_path / "shop" / "refund.scenario.toml"
    words = "search", QUERY, root
    assert secateur(*words, "--partial", "--save", saved).code == 0
    assert "partial" not in saved.read_text()
    assert secateur("check", saved).code == 0
    other = tmp_path / "shop" / "whole.scenario.toml"
    secateur(*words, "--save", other)
    assert other.read_text() == saved.read_text()


def test_a_long_first_reading_says_what_can_be_asked_meanwhile_where_the_line_has_room(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("secateur.cli.common.on_terminal", lambda _stream: True)
    for columns, phase, total, said in (
        (120, FIRST, 2_000, True),
        (60, FIRST, 2_000, False),
        (120, FIRST, 20, False),
        (120, "reading", 2_000, False),
    ):
        monkeypatch.setenv("COLUMNS", str(columns))
        bar = ProgressBar(Namespace(quiet=False), meanwhile="--partial answers now")
        bar(phase, 5, total)
        assert ("; --partial answers now" in capsys.readouterr().err) == said
