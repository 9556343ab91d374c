"""The bound `select` relies on: for any text and any rows, the rendered pack holds no more tokens than overhead and
costs say."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from msgspec.structs import replace
from secateur.model import Notice, Selection, State
from secateur.render.layouts import Item, PackCosts, body, ingredients, render_pack
from secateur.tokens import get_counter
from support.packs import selection_of

SNIPPETS = [
    "\n",
    "\n\n",
    "  ",
    "\t",
    "    ",
    "`",
    "```",
    "````",
    "]]>",
    "]]",
    ">",
    "/",
    "//",
    "}\n",
    ")",
    "'s",
    "订单",
    "、",
    "é",
    "e\u0301",
    "😀",
    "\x1b[31m",
]
SNIPPETS += [
    "\r\n",
    "\r",
    "\u202e",
    "\ud800",
    "\ufffe",
    "\xa0",
    "\u3000",
    "\u2028",
    "def f(x):",
    "return",
    "A",
    "aB",
    "9",
    "1234",
    "#",
    "&",
    "<",
    '"',
    "~~~",
    "\\",
]
hostile = st.one_of(st.lists(st.sampled_from(SNIPPETS), max_size=25).map("".join), st.text(max_size=40))
LANGUAGES = st.sampled_from(["python", "csharp", "text", "c++", "Objective-C", "", "`\n"])
paths = st.one_of(hostile, st.sampled_from(["orders/cart.py", "a b_"]))  # rows of one file are the rule
rows = st.lists(st.tuples(hostile, paths, hostile, LANGUAGES, st.integers(1, 200_000), st.booleans()), max_size=6)


def bound_of(selection: Selection, texts: list[str], counter_name: str = "o200k_base") -> int:
    """overhead + cost of every row + heading of every file, from what an index stores: three numbers a fragment."""
    pool, counter = selection.pool, get_counter(counter_name)
    costs = PackCosts(counter, pool.format)
    columns = zip(pool.line_start.tolist(), pool.line_end.tolist(), pool.kind, pool.qualname, strict=True)
    stored = np.array([ingredients(text) for text in texts], dtype=np.int64).reshape(-1, 2)
    wrappers = costs.wrappers(costs.headings(Item(*values) for values in columns), stored[:, 1])
    shortened = selection.state == State.SHORTENED
    total = wrappers + np.where(shortened, costs.signature_mark, 0) + counter.count_many(map(body, texts))
    around = costs.files(pool.path, pool.language, stored[:, 0])
    headings = sum(dict(zip(pool.path, around.tolist(), strict=True)).values())
    return costs.overhead(pool.query) + int(total.sum()) + int(headings)


@pytest.mark.parametrize("counter", ["o200k_base", "cl100k_base", "estimate", "chars4"])
@pytest.mark.parametrize("form", ["markdown", "xml"])
@budgeted(max_examples=12, deadline=None)
@given(rows=rows, query=hostile, warnings=st.lists(st.builds(Notice, st.just("code"), hostile), max_size=2))
def test_the_pack_never_exceeds_overhead_and_costs(
    form: str, counter: str, rows: list[tuple[str, str, str, str, int, bool]], query: str, warnings: list[Notice]
) -> None:
    selection = selection_of(
        [(path, name, language, line, shortened) for _, path, name, language, line, shortened in rows],
        query=query,
        warnings=warnings,
        form=form,
    )
    texts = [text for text, *_ in rows]
    pack = render_pack(selection, texts.__getitem__, texts.__getitem__)
    if rows:
        assert get_counter(counter).count(pack) <= bound_of(selection, texts, counter)
    if form == "xml":
        ElementTree.fromstring(pack)


@given(text=hostile)
def test_a_body_is_stable_and_harmless(text: str) -> None:
    once = body(text)
    assert body(once) == once
    assert not once or once.endswith("\n")
    assert "\x1b" not in once and "\r" not in once and "\u202e" not in once
    once.encode()


@given(text=hostile, start=st.integers(0, 30), size=st.integers(0, 30))
def test_no_part_of_a_text_needs_more_than_the_whole(text: str, start: int, size: int) -> None:
    whole, part = ingredients(text), ingredients(text[start : start + size])
    assert all(mine <= all_ for mine, all_ in zip(part, whole, strict=True))


@budgeted(max_examples=8, deadline=None)
@given(rows=rows.filter(len))
def test_the_default_bound_is_tight(rows: list[tuple[str, str, str, str, int, bool]]) -> None:
    """Two tokens a fragment at most: what is charged and not used is lost to other fragments."""
    selection = selection_of(
        [(path, name, language, line, False) for _, path, name, language, line, _ in rows], query="q"
    )
    texts = [text for text, *_ in rows]
    used = get_counter("o200k_base").count(render_pack(selection, texts.__getitem__, texts.__getitem__))
    assert bound_of(selection, texts) - used <= 2 * len(rows) + 1


def test_real_bodies_waste_nothing() -> None:
    texts = [
        "def total(self):\n    return 1\n",
        "// comment\nfunc f() {}\n",
        "\n\n    indented()\n\n\n",
        "订单处理逻辑 }\n",
        "x = [\n    1,\n]",
    ]
    selection = selection_of(
        [(f"src/a{i}.py", "Cart.total", "python", 100 * i + 1, False) for i in range(len(texts))], query="refund total"
    )
    of_one_file = replace(selection, pool=replace(selection.pool, path=["src/a.py"] * len(texts)))
    for asked in (selection, of_one_file):
        pack = render_pack(asked, texts.__getitem__, texts.__getitem__)
        assert bound_of(asked, texts) == get_counter("o200k_base").count(pack)
