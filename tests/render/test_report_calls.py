"""The tree of calls on the HTML page: opens without a script, bounded, cycles marked, names harmless."""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser

from msgspec import structs
from secateur import Engine, Settings
from secateur.render.report.content import DecisionReport
from secateur.render.report.html_page import MOST_CALLS, CallTrees
from secateur.render.walk_text import CallEnd, Walk, WalkedItem
from secateur.retrieval.walk import walk_of
from secateur.settings import with_values
from support.memory_source import MemorySource
from support.repos import QUERY, SHOP, chain


class Nesting(HTMLParser):
    """Checks that every element is closed where it was opened, and collects texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def report(walk: Walk | None) -> DecisionReport:
    return DecisionReport("", "", "", "", [], [], 0, 0, 0, 0, [], {}, [], [], "", None, 0, "", walk)


def drawn(walk: Walk | None) -> Nesting:
    found = Nesting()
    found.feed(CallTrees(report(walk)).drawn())
    assert found.open == []
    return found


def walked(files: Mapping[str, str], query: str) -> Walk:
    with Engine.of(MemorySource(files), with_values(Settings(), {"embedding.model": "none"})) as engine:
        return walk_of(engine.calls(engine.search(query)), opened=2)


def end(symbol: str) -> CallEnd:
    return CallEnd(symbol, "import", 0.96, 1, "kept", True)


def item(symbol: str, callees: list[CallEnd], rank: int = 1) -> WalkedItem:
    return WalkedItem(symbol, symbol, "", 1, 1, 1, "kept", rank, [], 0, callees, 0)


def among(*items: WalkedItem) -> Walk:
    walk = walked({"a.py": "def zebra():\n    return 1\n"}, "zebra")
    return structs.replace(walk, nodes=list(items))


def test_trees_open_step_by_step() -> None:
    page = drawn(walked(SHOP, QUERY))
    assert "Who calls whom" in page.text
    assert page.seen.count("details") >= 3
    assert "refund_total shop/refund.py" in " ".join(page.text.split())
    assert "imported, certain 0.96" in page.text


def test_a_cycle_is_marked_and_not_opened_again() -> None:
    walk = among(item("a::f", [end("a::g")]), item("a::g", [end("a::f")], 2))
    page = drawn(walk)
    assert page.text.count("↻") == 2


def test_lines_are_bounded_and_the_rest_counted() -> None:
    ends = [end(f"a::f{number}") for number in range(100)]
    walk = among(*(item(f"a::f{number}", ends, number + 1) for number in range(100)))
    page = drawn(walk)
    assert page.seen.count("li") <= MOST_CALLS + 100 * 100
    assert page.seen.count("li") < 3 * MOST_CALLS
    assert "more that go out" in page.text
    assert "… and" in page.text


def test_names_that_attack_are_text() -> None:
    files = {"<script>alert(1)</script>\x1b.py": "def zebra():\n    return helper()\n\n\ndef helper():\n    return 1\n"}
    page = drawn(walked(files, "zebra helper"))
    assert "script" not in page.seen
    assert "<script>alert(1)</script>␛.py" in page.text


def test_without_calls_there_is_nothing() -> None:
    assert CallTrees(report(None)).drawn() == ""
    assert CallTrees(report(among())).drawn() == ""


def test_the_same_walk_gives_the_same_page() -> None:
    one, other = (CallTrees(report(walked(chain(), "zebra"))).drawn() for _ in range(2))
    assert one == other
