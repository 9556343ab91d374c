"""What a pack says and holds."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from secateur.errors import UsageError
from secateur.model import Notice, Selection
from secateur.render import Item, PackCosts, body, ingredients, render_pack
from secateur.selection import select
from secateur.settings import Settings
from secateur.tokens import get_counter
from support.packs import selection_of
from support.pools import Row, pool_of

WHOLE = "def total(self):\n    return sum(self.lines)\n"
DECLARATION = "def refund(self):"
ROWS = [("orders/cart.py", "Cart.total", "python", 10, False), ("orders/refund.py", "refund", "python", 5, True)]

MARKDOWN = """\
# Context for `where is the total?`

```python orders/cart.py:10-19 Cart
def total(self):
    return sum(self.lines)
```

```python orders/refund.py:5-14 signature
def refund(self):
```
"""


def test_markdown_names_each_item_and_fences_it() -> None:
    selection = selection_of(ROWS, query="where is the total?", warnings=[Notice("skipped", "2 files were skipped")])
    assert render_pack(selection, lambda _: WHOLE, lambda _: DECLARATION) == MARKDOWN


def test_xml_says_the_same() -> None:
    selection = selection_of(ROWS, query="a < b", warnings=[Notice("skipped", "2 files & more")])
    root = ElementTree.fromstring(render_pack(selection, lambda _: WHOLE, lambda _: DECLARATION, "xml"))
    assert root.get("query") == "a < b"
    assert root.find("warning") is None
    whole, shortened = root.findall("fragment")
    assert whole.attrib == {
        "path": "orders/cart.py",
        "lines": "10-19",
        "kind": "function",
        "name": "Cart.total",
        "language": "python",
    }
    assert (whole.text or "").lstrip() == WHOLE
    assert (shortened.text or "").strip() == DECLARATION
    assert shortened.get("form") == "signature"


BY_FILE = """\
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


def by_file() -> Selection:
    """Rows of two files; one of them ranks between those of the other."""
    rows = [
        ("orders/cart.py", "Cart.refund", "python", 40, True),
        ("orders/tax.py", "tax", "python", 10, False),
        ("orders/cart.py", "Cart.total", "python", 5, False),
    ]
    selection = selection_of(rows, query="where is the total?")
    return replace(selection, pool=replace(selection.pool, heading=np.zeros(len(rows), dtype=np.int64)))


def test_a_file_stands_once_where_its_best_row_would_and_its_rows_by_line() -> None:
    assert render_pack(by_file(), lambda _: WHOLE, lambda _: DECLARATION + " ```\n") == BY_FILE


def test_xml_has_an_element_for_a_file() -> None:
    root = ElementTree.fromstring(render_pack(by_file(), lambda _: WHOLE, lambda _: DECLARATION, "xml"))
    assert [(one.get("path"), one.get("language")) for one in root] == [
        ("orders/cart.py", "python"),
        ("orders/tax.py", "python"),
    ]
    assert [fragment.attrib for fragment in root[0]] == [
        {"lines": "5-14", "kind": "function", "name": "Cart.total"},
        {"lines": "40-49", "kind": "function", "name": "Cart.refund", "form": "signature"},
    ]
    assert (root[0][0].text or "").lstrip() == WHOLE


@pytest.mark.parametrize("text", ["a]]>b\n", "]]>]]>\n", "x[y[0]]>z\n"])
def test_cdata_gives_the_text_back(text: str) -> None:
    root = ElementTree.fromstring(render_pack(selection_of(ROWS[:1]), lambda _: text, lambda _: "", "xml"))
    assert (root[0].text or "").lstrip() == text


def test_a_fence_is_longer_than_any_run_inside() -> None:
    pack = render_pack(selection_of(ROWS[:1]), lambda _: "text ````` more", lambda _: "")
    assert "\n``````python orders/cart.py:10-19 Cart\ntext ````` more\n``````\n" in pack


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
def test_an_empty_pack_says_which_kind_of_empty_it_is(selection: object, code: str) -> None:
    root = ElementTree.fromstring(render_pack(selection, str, str, "xml"))  # type: ignore[arg-type]
    assert [warning.get("code") for warning in root] == [code]


def test_an_unknown_format_names_the_choices() -> None:
    with pytest.raises(UsageError) as caught:
        render_pack(selection_of(ROWS), str, str, "html")
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


@pytest.mark.parametrize("shares", [False, True])
def test_a_huge_run_of_backticks_is_charged_and_still_bounded(shares: bool) -> None:
    text = "`" * 20_000
    counter = get_counter("o200k_base")
    costs = PackCosts(counter, by_file=shares)
    run, ends = (np.array([number], dtype=np.int64) for number in ingredients(text))
    wrapper = costs.wrappers(costs.headings([Item("a.py", 1, 10, "function", "f")]), ["python"], run, ends)
    around = costs.shared(["a.py"], ["python"], run)
    selection = selection_of([("a.py", "f", "python", 1, False)], query="")
    if shares:
        selection = replace(selection, pool=replace(selection.pool, heading=around))
    pack = render_pack(selection, lambda _: text, str)
    assert counter.count(pack) <= counter.count(body(text)) + int(wrapper[0] + around[0])
