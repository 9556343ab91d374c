"""What a pack says and holds."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace
from secateur.errors import UsageError
from secateur.model import Notice, Selection
from secateur.render.layouts import (
    LAST_LINE,
    LAYOUTS,
    Item,
    PackCosts,
    body,
    gives_notices,
    ingredients,
    render_message,
    render_pack,
)
from secateur.selection import select
from secateur.settings import Settings
from secateur.tokens import COUNTERS, get_counter
from support.packs import selection_of
from support.pools import Row, kept, pool_of

WHOLE = "def total(self):\n    return sum(self.lines)\n"
DECLARATION = "def refund(self):"
ROWS = [("orders/cart.py", "Cart.total", "python", 10, False), ("orders/refund.py", "refund", "python", 5, True)]

MARKDOWN = """\
# Context for `where is the total?`

````python orders/cart.py
@@5-14 Cart
def total(self):
    return sum(self.lines)
@@40-49 Cart signature
def refund(self): ```
````

```python orders/tax.py
@@10-19
def total(self):
    return sum(self.lines)
```
"""


def two_files(form: str = "markdown") -> Selection:
    """Rows of two files; one of them ranks between those of the other."""
    rows = [
        ("orders/cart.py", "Cart.refund", "python", 40, True),
        ("orders/tax.py", "tax", "python", 10, False),
        ("orders/cart.py", "Cart.total", "python", 5, False),
    ]
    return selection_of(rows, query="where is the <total>?" if form == "xml" else "where is the total?", form=form)


def test_a_file_stands_once_where_its_best_row_would_and_its_rows_by_line() -> None:
    assert render_pack(two_files(), lambda _: WHOLE, lambda _: DECLARATION + " ```\n") == MARKDOWN


def test_xml_has_an_element_for_a_file() -> None:
    root = ElementTree.fromstring(render_pack(two_files("xml"), lambda _: WHOLE, lambda _: DECLARATION))
    assert root.get("query") == "where is the <total>?"
    assert [(one.get("path"), one.get("language")) for one in root] == [
        ("orders/cart.py", "python"),
        ("orders/tax.py", "python"),
    ]
    assert [fragment.attrib for fragment in root[0]] == [
        {"lines": "5-14", "kind": "function", "name": "Cart.total"},
        {"lines": "40-49", "kind": "function", "name": "Cart.refund", "form": "signature"},
    ]
    assert (root[0][0].text or "").lstrip() == WHOLE
    assert (root[0][1].text or "").strip() == DECLARATION


@pytest.mark.parametrize("form", ["markdown", "xml"])
def test_warnings_are_no_part_of_a_pack(form: str) -> None:
    warned = selection_of(ROWS, warnings=[Notice("skipped", "2 files were skipped")], form=form)
    assert "skipped" not in render_pack(warned, lambda _: WHOLE, lambda _: DECLARATION)


def cut(budget: int, form: str = "markdown", names: Sequence[str] = ("Cart.total", "refund")) -> str:
    """The last line of the pack of a small row, where larger ones with these names are left out."""
    dropped = [Row(name, tokens=9_000, relevance=0.4 - place / 100) for place, name in enumerate(names)]
    pool = replace(pool_of([Row("kept"), *dropped], last_line=LAST_LINE), format=form)
    selection = select(pool, Settings(budget=budget))
    assert kept(selection) == ["kept"]
    lines = render_pack(selection, lambda _: WHOLE, str).strip().removesuffix("</context>").strip()
    return lines.split("\n")[-1]


def test_the_last_line_counts_what_was_left_out_and_names_the_best() -> None:
    assert cut(500) == "2 candidates left out, best first: `Cart.total`, `refund`; a larger budget holds more."
    assert cut(500, names=["refund"]) == "1 candidate left out, best first: `refund`; a larger budget holds more."
    assert cut(500, names=["x_" * 60, "refund"]) == "2 candidates left out; a larger budget holds more."
    assert cut(199) == "```", "a small budget is for code"
    line = ElementTree.fromstring(cut(500, "xml"))
    assert (line.tag, line.get("best")) == ("left-out", "Cart.total, refund")
    assert line.text == "2 candidates; a larger budget holds more"


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("form", ["markdown", "xml"])
@pytest.mark.parametrize("name", ["a", '`]]>"<', "订单" * 40, "Cart.total_of_the_order" * 9])
def test_the_last_line_takes_no_more_than_its_tokens(counter: str, form: str, name: str) -> None:
    count = get_counter(counter).count
    layout = LAYOUTS[form]
    assert count(layout.last_line(1_234_567_890, [])) <= LAST_LINE
    pool = pool_of([Row("kept"), *(Row(f"{name}{row}", tokens=9_000) for row in range(3))], last_line=LAST_LINE)
    selection = select(replace(pool, format=form, counter=counter), Settings(budget=500))
    whole = render_pack(selection, lambda _: WHOLE, str)
    without = render_pack(replace(selection, pool=replace(selection.pool, last_line=0)), lambda _: WHOLE, str)
    assert 0 < count(whole) - count(without) <= LAST_LINE
    if form == "xml":
        ElementTree.fromstring(whole)


def test_nothing_is_said_where_nothing_was_left_out() -> None:
    pool = pool_of([Row("kept"), Row("other")], last_line=LAST_LINE)
    assert "left out" not in render_pack(select(pool, Settings(budget=500)), lambda _: WHOLE, str)
    excluded = Settings(budget=500, excludes=("other.py::other",))
    assert "left out" not in render_pack(select(pool, excluded), lambda _: WHOLE, str), "no budget would hold it"


@pytest.mark.parametrize("text", ["a]]>b\n", "]]>]]>\n", "x[y[0]]>z\n"])
def test_cdata_gives_the_text_back(text: str) -> None:
    root = ElementTree.fromstring(render_pack(selection_of(ROWS[:1], form="xml"), lambda _: text, lambda _: ""))
    assert (root[0][0].text or "").lstrip() == text


def test_a_fence_is_longer_than_any_run_inside() -> None:
    pack = render_pack(selection_of(ROWS[:1]), lambda _: "text ````` more", lambda _: "")
    assert "\n``````python orders/cart.py\n@@10-19 Cart\ntext ````` more\n``````\n" in pack


def test_only_what_goes_out_is_read() -> None:
    def refuse(row: int) -> str:
        raise AssertionError(f"row {row} was read")

    selection = select(pool_of([Row("big", tokens=500), Row("huge", tokens=900)]), Settings(budget=100))
    assert render_pack(selection, refuse, refuse).startswith("> The budget of 100 tokens is too small")


@pytest.mark.parametrize(
    ("selection", "code"),
    [
        (select(pool_of([]), Settings(budget=100)), "no_match"),
        (select(pool_of([Row("a")]), Settings(budget=0)), "zero_budget"),
        (select(pool_of([Row("a")]), Settings(budget=10)), "budget_too_small"),
        (select(pool_of([Row("a")]), Settings(budget=1000, excludes=("a.py::a",))), "nothing_eligible"),
    ],
)
def test_an_empty_pack_says_which_kind_of_empty_it_is(selection: Selection, code: str) -> None:
    as_xml = replace(selection, pool=replace(selection.pool, format="xml"))
    root = ElementTree.fromstring(render_pack(as_xml, str, str))
    assert [warning.get("code") for warning in root] == [code]


@pytest.mark.parametrize(
    ("form", "budget", "text"),
    [
        ("markdown", 4, ""),
        ("markdown", 5, "budget_too_small\n"),
        ("markdown", 9, "> budget\\_too\\_small\n"),
        ("xml", 4, ""),
        ("xml", 5, "budget_too_small\n"),
        ("xml", 8, '<context warning="budget_too_small"/>\n'),
        ("xml", 20, '<context warning="budget_too_small"/>\n'),
        ("xml", 21, '<context>\n<warning code="budget_too_small">budget_too_small</warning>\n</context>\n'),
    ],
)
def test_the_code_of_a_warning_goes_out_where_its_words_have_no_room(form: str, budget: int, text: str) -> None:
    pool = replace(pool_of([Row("a", tokens=500)]), format=form)
    selection = select(pool, Settings(budget=budget))
    assert render_message(selection, get_counter("o200k_base")) == text
    assert gives_notices(text, selection.warnings, form) == bool(text)


def test_an_unknown_format_names_the_choices() -> None:
    with pytest.raises(UsageError) as caught:
        render_pack(selection_of(ROWS, form="html"), str, str)
    assert "'html'" in caught.value.message and "markdown or xml" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("\n\n    indented\n\n\n", "    indented\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("\tif x:\n\t\ty", "\tif x:\n\t\ty\n"),
        ("a\x1bb", "a␛b\n"),
    ],
)
def test_body(text: str, expected: str) -> None:
    assert body(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("", (0, 0)), ("``", (0, 0)), ("``` `````", (5, 0)), ("a]]>]]>", (0, 2))]
)
def test_ingredients(text: str, expected: tuple[int, int]) -> None:
    assert ingredients(text) == expected


def test_a_huge_run_of_backticks_is_charged_and_still_bounded() -> None:
    text = "`" * 20_000
    counter = get_counter("o200k_base")
    costs = PackCosts(counter)
    run, ends = (np.array([number], dtype=np.int64) for number in ingredients(text))
    wrapper = costs.wrappers(costs.headings([Item(1, 10, "function", "f")]), ends)
    around = costs.files(["a.py"], ["python"], run)
    pack = render_pack(selection_of([("a.py", "f", "python", 1, False)], query=""), lambda _: text, str)
    assert counter.count(pack) <= counter.count(body(text)) + int(wrapper[0] + around[0])
