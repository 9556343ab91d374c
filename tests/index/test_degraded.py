"""Whatever goes wrong over one file costs that file its syntax, or itself, and is said; it never costs the index."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from msgspec.structs import replace
from secateur.engine import Engine
from secateur.executors import pool
from secateur.index.facts.embedding.static import LONGEST_WORD
from secateur.index.facts.extract import DIGEST_BYTES, MOST_WORDS, Record, decode, extract, extract_many
from secateur.index.facts.history import CommitHistory
from secateur.index.facts.snapshot_arrays import build
from secateur.index.graph.resolve.calls import CallResolution, CallResolver
from secateur.index.graph.resolve.linking import link_repository
from secateur.index.update import parallel
from secateur.index.update.parallel import Extractor
from secateur.languages import languages
from secateur.languages.syntax import grammar
from secateur.languages.syntax.fragments import parse_file
from secateur.languages.traits import Grammar
from secateur.model import Base, FileFacts
from secateur.settings import Settings, with_values
from secateur.tokens import Counter, get_counter
from support.cli import secateur
from support.repos import write

GO = b"package a\n\nfunc f() { g() }\n"
COUNTER = get_counter("chars4")


class Panic(BaseException):
    """What an extension module in Rust raises: not derived from `Exception`."""


@pytest.fixture
def failing_go(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Lets the reader of Go raise the parameter."""
    reader = ModuleType("secateur.languages.failing")

    def read(*_: object) -> None:
        raise request.param

    reader.QUERY, reader.read = "(identifier) @any", read  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, reader.__name__, reader)
    failing = Grammar("tree_sitter_go", reader.__name__)
    monkeypatch.setitem(languages(), "go", replace(languages()["go"], grammar=failing))
    grammar.load.cache_clear()
    request.addfinalizer(grammar.load.cache_clear)


@pytest.mark.usefixtures("failing_go")
@pytest.mark.parametrize(
    "failing_go", [ValueError("child index"), MemoryError(), RecursionError(), Panic()], indirect=True, ids=repr
)
def test_an_error_of_a_reader_leaves_blocks_of_text() -> None:
    facts = parse_file("a.go", GO)
    assert facts.problems == ("reader_failed",)
    assert [(fragment.kind, fragment.line_start, fragment.line_end) for fragment in facts.fragments] == [
        ("block", 1, 3)
    ]
    assert parse_file("a.py", b"def f():\n    pass\n").problems == ()


@pytest.mark.usefixtures("failing_go")
@pytest.mark.parametrize("failing_go", [KeyboardInterrupt()], indirect=True)
def test_an_interruption_is_no_error_of_a_file() -> None:
    with pytest.raises(KeyboardInterrupt):
        extract("a.go", GO, COUNTER, None)


@pytest.mark.usefixtures("failing_go")
@pytest.mark.parametrize("failing_go", [ValueError()], indirect=True)
def test_status_and_search_name_what_is_read_as_text(tmp_path: Path) -> None:
    root = write(
        tmp_path / "shop",
        {"a.go": GO.decode(), "b.py": "\n\n".join(f"def total_{at}(): ..." for at in range(9)), "c.py": b"x = '\0'\n"},
    )
    drawn = random.Random(4)
    write(root, {"d.txt": " ".join("".join(drawn.choices("abcdefghij", k=LONGEST_WORD)) for _ in range(2_300))})
    write(root, {"e.txt": "\n".join(f"w{number}" for number in range(MOST_WORDS + 9))})
    status = secateur("status", root, "--format", "json").json
    assert status["problems"] == {"reader_failed": 1, "words_left_out": 2}

    def warned(query: str) -> dict[str, str]:
        answer = secateur("search", query, root, "--top-k", 5, "--format", "json").json
        return {warning["code"]: warning["message"] for warning in answer["warnings"]}

    # only where such a file is a candidate, or nothing is
    assert "a.go (reader_failed, 3 lines)" in warned("package func")["read_as_text"] == warned("qqzzy")["read_as_text"]
    said = warned("total")
    assert "read_as_text" not in said
    assert "c.py (binary)" in said["code_not_indexed"]
    assert "d.txt, e.txt" in said["words_left_out"]
    for number, found in ((7, True), (MOST_WORDS + 8, False)):
        assert bool(secateur("search", f"w{number}", root, "--format", "json").json["candidates"]) == found
    assert warned("qqzzy")["read_as_text"] in status["notices"]
    assert "a.go (reader_failed, 3 lines)" in secateur("status", root).out


class FailingCounter:
    """Raises over texts that hold a word."""

    name = "chars4"

    def count(self, text: str) -> int:
        return self.count_many([text])[0]

    def count_many(self, texts: Sequence[str]) -> list[int]:
        if any("deadly" in text for text in texts):
            raise Panic
        return [1] * len(texts)


def test_a_file_whose_words_fail_too_is_only_counted() -> None:
    counter: Counter = FailingCounter()
    assert extract("b.py", b"x = 1\n", counter, None).indexed
    record, sound = extract_many([("a.py", b"deadly = 1\n"), ("b.py", b"x = 1\n")], counter, None)
    assert record.flags == ("unreadable_text",)
    assert not record.indexed
    assert sound == extract("b.py", b"x = 1\n", counter, None)


FILES = [("a.py", b"def a(): ...\n"), ("deadly.py", b"def d(): ...\n"), ("z.py", b"def z(): ...\n")]

_ENDS = """from secateur.index.facts import extract; from secateur.index.update import parallel; first = extract._read
def read(path, data, problem, scanning):
    if path == 'deadly.py'{only}: {end}
    return first(path, data, problem, scanning)
extract._read = read
"""
_DIES = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
_SPINS = "\n        while True: pass"


@pytest.mark.parametrize(
    "boot",
    ["raise SystemExit", pool._BOOT.replace("; main()", "; import secateur.tokens as t; del t.get_counter; main()")],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_where_processes_do_not_work_files_are_read_without_them(
    monkeypatch: pytest.MonkeyPatch, workers: int, boot: str
) -> None:
    monkeypatch.setattr(pool, "_BOOT", boot)
    monkeypatch.setattr(parallel, "INLINE_BYTES", 0)
    monkeypatch.setattr(parallel, "LARGE_FILE_BYTES", 0)
    records = [decode(encoded) for _, _, encoded in Extractor(COUNTER, None, workers).run(FILES, 10_000)]
    assert [(record.facts.problems, record.indexed) for record in records] == [((), True)] * 3


def run(
    monkeypatch: pytest.MonkeyPatch, workers: int, end: str, *, only: str = " and not problem", seconds: int = 30
) -> list[Record]:
    """The records of FILES, made by processes that end over one of them. `only`: a further condition."""
    fault = _ENDS.format(end=end, only=only) + f"parallel.FILE_SECONDS = {seconds}\n"
    monkeypatch.setattr(pool, "_BOOT", pool._BOOT.replace("; main()", f"\n{fault}main()"))
    monkeypatch.setattr(parallel, "INLINE_BYTES", 0)
    monkeypatch.setattr(parallel, "LARGE_FILE_BYTES", 0)
    return [decode(encoded) for _, _, encoded in Extractor(COUNTER, None, workers).run(FILES, 10_000)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_death_costs_one_file_its_syntax(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    records = run(monkeypatch, workers, _DIES)
    assert [record.facts.problems for record in records] == [(), ("parser_crashed",), ()]
    assert records[1].facts.language == "python"
    assert [fragment.kind for fragment in records[1].facts.fragments] == ["block"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_death_costs_the_file(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    records = run(monkeypatch, workers, _DIES, only="")
    assert [record.flags for record in records] == [(), ("unreadable_text",), ()]


def test_a_file_that_takes_too_much_time_is_read_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    records = run(monkeypatch, 1, _SPINS, seconds=0)
    assert [record.facts.problems for record in records] == [(), ("parse_timeout",), ()]


def test_a_file_that_the_resolver_cannot_take_costs_its_own_edges() -> None:
    sound = parse_file("a.py", b"def f():\n    g()\n\n\ndef g(): ...\n")
    broken = replace(parse_file("b.py", b"class A: ...\n"), bases=(Base(0, None),))  # type: ignore[arg-type]
    files: list[tuple[str, FileFacts]] = [("a.py", sound), ("b.py", broken)]
    edges, _ = link_repository(files)
    assert edges.failed == (1,)
    assert len(edges) == 1
    records = [msgspec.structs.replace(extract(path, b"", COUNTER, None), facts=facts) for path, facts in files]
    whole = [fill(record) for record in records]
    snapshot = build(
        [(path, bytes(DIGEST_BYTES), record) for (path, _), record in zip(files, whole, strict=True)],
        CommitHistory.of(()),
        0,
        0,
    )
    assert [(notice.code, "b.py" in notice.message) for notice in snapshot.notices] == [("links_failed", True)]


def fill(record: Record) -> Record:
    """The record with a column entry for each of its fragments."""
    count = len(record.facts.fragments)
    empty = (bytes(8 * (count + 1)), b"", b"")
    return msgspec.structs.replace(
        record,
        tokens=bytes(4 * count),
        sig_tokens=bytes(4 * count),
        wrapping=bytes(8 * count),
        body=empty,
        names=empty,
    )


def test_a_fault_of_the_resolver_is_said_after_edits_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = CallResolver.resolve

    def resolve(self: CallResolver, number: int, gid: int, receiver: str, name: str, arguments: str) -> CallResolution:
        if name == "deadly":
            raise ValueError
        return sound(self, number, gid, receiver, name, arguments)

    monkeypatch.setattr(CallResolver, "resolve", resolve)
    root = write(
        tmp_path / "shop", {"a.py": "def f():\n    deadly()\n", "b.py": "def g():\n    h()\n\n\ndef h(): ...\n"}
    )
    settings = with_values(Settings(), {"embedding.model": "none"})
    with Engine.open(root, settings, cache_dir=tmp_path / "cache") as engine:
        assert engine.refresh().notices == ("Some calls of a.py could not be followed.",)
        (root / "b.py").write_text("def g():\n    h()\n    h()\n\n\ndef h(): ...\n")
        status = engine.refresh()
        assert (status.notices, status.edges) == (("Some calls of a.py could not be followed.",), 1)
        (root / "a.py").write_text("def f():\n    g()\n")
        assert engine.refresh().notices == ()
        (root / "b.py").write_text("def g():\n    h()\n    deadly()\n\n\ndef h(): ...\n")
        assert engine.refresh().notices == ("Some calls of b.py could not be followed.",)


def test_a_programming_language_without_a_grammar_is_named(tmp_path: Path) -> None:
    root = write(tmp_path / "repo", {"old.pl": "sub f { 1 }\n", "a.py": "def f(): pass\n", "b.erb": "x\n" * 2})
    page = "@using Shop\n<h1>Cart</h1>\n<p>@Total()</p>\n@code {\n    int Total()\n    {\n        return 1;\n    }\n}\n"
    write(root, {"Cart.razor": page, "_Imports.razor": "@using Shop\n@using Shop.Cart\n"})
    said = (
        "Not parsed, so cut by indentation, and most calls are not known: 5 lines in 3 files: Cart.razor (no grammar"
        " for razor, 2 lines), b.erb (no grammar for erb, 2 lines), old.pl (no grammar for perl, 1 lines)."
    )
    status = secateur("status", root, "--format", "json").json
    assert said in status["notices"]
    assert status["problems"] == {}


def test_files_with_markers_of_a_conflict_are_named(tmp_path: Path) -> None:
    conflict = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other\n"
    root = write(tmp_path / "repo", {"a.py": conflict, "b.md": "<<<<<<< only\n"})
    status = secateur("status", root, "--format", "json").json
    assert status["problems"]["conflict_markers"] == 1
    assert "Markers of a merge conflict are in a.py." in status["notices"]
