"""Packs of real code: what the headings of files cost, what is said of them, and that one call is one decision."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from msgspec import structs
from secateur import count_tokens
from secateur.engine import Engine
from secateur.kinds.search.kind import Search
from secateur.model import LEAST_SAYING, Reason, Selection, State
from secateur.render.layouts import LAST_LINE
from secateur.render.search_json import search_ledger
from secateur.render.text import why
from secateur.selection import select
from secateur.settings import Settings, load, with_values
from secateur.sources.samples import materialise
from support.cli import secateur
from support.engine_answers import printed
from support.pools import Row, kept, pool_of

QUERY = "where is the refund total rounded?"
ROWS = [
    Row("A", path="a.py", line=1, tokens=100, relevance=0.9, heading=20),
    Row("B", path="b.py", line=1, tokens=100, relevance=0.8, heading=30),
    Row("C", path="a.py", line=30, tokens=100, relevance=0.7, heading=20),
]


def decided(budget: int, **changed: object) -> Selection:
    return select(pool_of(ROWS), with_values(Settings(), {"budget": budget, **changed}))


@pytest.mark.parametrize(
    ("budget", "out"),
    [(119, ""), (120, "A"), (219, "A"), (220, "AC"), (249, "AC"), (250, "AB"), (349, "AB"), (350, "ABC")],
)
def test_the_first_of_a_file_pays_for_its_heading(budget: int, out: str) -> None:
    selection = decided(budget)
    assert "".join(kept(selection)) == out
    assert selection.used <= budget


def test_what_did_not_fit_says_what_it_would_have_taken_at_its_turn() -> None:
    """B needs its heading, and C does not: A has paid for it."""
    selection = decided(349)
    assert [why(selection, one) for one in selection.decisions][2] == "needs 100, only 99 left then"
    other = decided(249)
    assert [why(other, one) for one in other.decisions][1] == "needs 130, only 129 left then"
    nothing = decided(119)
    assert [why(nothing, one) for one in nothing.decisions] == [
        f"needs {tokens}, more than the whole budget of 119" for tokens in (120, 130, 120)
    ]
    assert "smallest needs 120" in nothing.warnings[0].message


def test_a_declaration_pays_for_what_follows_it() -> None:
    rows = [replace(ROWS[0], sig=10), replace(ROWS[2], tokens=40)]
    selection = select(
        pool_of(rows), with_values(Settings(budget=140), {"smart_pruning.signature_share": 0.5, "pins": ()})
    )
    # 70 are set aside: C goes out whole first, then the declaration of A, without a heading. The better row pays.
    assert [Reason(int(reason)) for reason in selection.reason] == [Reason.SIGNATURE, Reason.FITS]
    assert selection.used == 70


@pytest.mark.parametrize("form", ["markdown", "xml"])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"smart_pruning.signature_share": 0.3},
        {"tokens.counter": "chars4"},
    ],
)
def test_no_pack_is_over_its_budget(orders: Path, form: str, changed: dict[str, object]) -> None:
    settings = with_values(load(None, profile="recommended").settings, changed)
    with Engine.open(orders, settings) as engine:
        pool = engine.retrieve(QUERY, format=form)
        for budget in (0, 60, 333, 1500, 4000):
            selection = engine.select(pool, structs.replace(settings, budget=budget))
            if not selection.kept_rows:
                continue
            tokens = engine.counter().count(engine.render(selection))
            assert tokens <= selection.used + selection.last_line <= budget
            if form == "markdown" and not changed:
                assert tokens >= selection.used, "this code has no long fences: nothing is charged too much"


def test_everything_goes_out_under_its_own_file(orders: Path) -> None:
    settings = load(None, profile="recommended").settings
    with Engine.open(orders, settings) as engine:
        together = engine.search(QUERY, structs.replace(settings, budget=1500))
        pack = engine.render(together)
        blocks = [block.split("\n") for block in pack.split("\n\n```")[1:]]
        paths = [block[0].partition(" ")[2] for block in blocks]
        assert len(set(paths)) == len(paths) < len(together.kept_rows)
        assert paths == list(dict.fromkeys(together.pool.path[row] for row in together.kept_rows))
        for row in together.kept_rows:
            block = blocks[paths.index(together.pool.path[row])]
            lines = f"@@{together.pool.line_start[row]}-{together.pool.line_end[row]}"
            heading = next(place for place, line in enumerate(block) if line.partition(" ")[0] == lines)
            sent = engine.sent(together, row).strip("\n").split("\n")
            assert block[heading + 1 : heading + 1 + len(sent)] == sent
        entries = search_ledger(together, lambda: engine.pack_tokens(together)).entries
        assert [entries[row].position for row in together.pack_rows] == [*range(1, len(together.pack_rows) + 1)]


def test_the_program_shares_headings_and_explains(orders: Path) -> None:
    query = ("search", QUERY, str(orders), "--profile", "recommended", "--budget", "700")
    told = json.loads(secateur(*query, "--format", "json", "--explain").out)
    assert told["token_count"] <= 700
    assert sum(entry["after"] for entry in told["ledger"]["entries"]) == told["token_count"]
    turned = next(one for one in told["dropped"] if one["what_if"] and one["what_if"]["budget"])
    budget = str(turned["what_if"]["budget"])
    again = json.loads(secateur(*query[:-1], budget, "--format", "json").out)
    assert turned["symbol_id"] in {
        one["symbol_id"] for one in again["candidates"] if one["decision"]["state"] == State.KEPT.label
    }
    pack = secateur(*query, "--format", "markdown").out
    assert pack.count("orders/services/refunds.py") == 1


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Engine]]:
    """An open engine on each sample."""
    with ExitStack() as opened:
        engines = {}
        for name in ("orders", "boards", "courier"):
            folder = tmp_path_factory.mktemp(name)
            engines[name] = opened.enter_context(Engine.open(materialise(name, folder), cache_dir=folder))
        yield engines


def parts_of(pack: str) -> set[tuple[str, str]]:
    """(path, lines) of every part of a pack."""
    if pack.startswith("<"):
        files = ElementTree.fromstring(pack).findall("file")
        return {(file.get("path", ""), part.get("lines", "")) for file in files for part in file}
    blocks = re.split(r"(?m)^`{3,}\w+ (?=\S+\n)", pack)[1:]
    marks = [(block.partition("\n")[0], re.findall(r"(?m)^@@(\d+-\d+)(?: .*)?$", block)) for block in blocks]
    return {(path, lines) for path, every in marks for lines in every}


@given(data=st.data())
@budgeted(max_examples=12, deadline=None)
def test_every_format_holds_what_its_report_says_is_kept(samples: Mapping[str, Engine], data: st.DataObject) -> None:
    """Text and JSON are decided for the Markdown pack; XML decides for itself, and counts itself."""
    engine = samples[data.draw(st.sampled_from([*samples]))]
    query = data.draw(
        st.sampled_from([QUERY, "how are concurrent edits of a card merged?", "retry policy", "Cart.total"])
    )
    settings = load(None, profile=data.draw(st.sampled_from(["spec", "recommended"]))).settings
    settings = structs.replace(settings, budget=data.draw(st.integers(100, 9_000)))
    told = {}
    for form in Search.formats:
        selection = engine.search(query, settings, format=form, use_cache=False)
        report, page = engine.report(selection).to_dict(), printed(engine, selection, "text")
        kept = {(one["file_path"], one["line_range"]) for one in report["candidates"]}
        pack = engine.render(selection)
        assert not kept or parts_of(pack) == kept
        assert len(re.findall(r"(?m)^ +\d+ [●◐] ", page)) == len(kept)
        assert report["token_count"] == (engine.counter().count(pack) if kept else 0) <= settings.budget
        assert f"budget  {report['token_count']:,} of" in page
        dropped = sum(entry["figures"]["items"] for entry in report["ledger"]["entries"] if entry["id"] == "not-listed")
        said = re.search(r"([\d,]+) candidates?(?: left out)?(?:, best first: [^\n]+)?; a larger budget", pack)
        if kept and settings.budget >= LEAST_SAYING + LAST_LINE and len(selection.left_out):
            assert said and int(said[1].replace(",", "")) == len(report["dropped"]) + dropped
        told[form] = kept, report["token_count"], report.get("format")
    assert told["text"] == told["json"] == told["markdown"]
    assert (told["markdown"][2], told["xml"][2]) == (None, "xml")


def test_xml_says_on_stderr_and_in_its_report_that_it_decides_for_itself(orders: Path, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    ran = secateur("search", QUERY, orders, "--format", "xml", "--budget", 1500, "--report", file)
    assert "counted as XML" in ran.err
    report = json.loads(file.read_text())
    assert report["format"] == "xml" and report["token_count"] == count_tokens(ran.out)
    assert parts_of(ran.out) == {(one["file_path"], one["line_range"]) for one in report["candidates"]}
