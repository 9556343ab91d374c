"""Kinds of evidence that a table of weights can ask for: each alone puts first what it is about."""

import pytest
from secateur.engine import Engine
from secateur.model import Pool
from secateur.settings import Settings, with_values
from support.memory_source import MemorySource
from support.weights import PARTS

FILES = {
    "shop/refund.py": "from shop import money\n\n\ndef settle(order):\n    return money.rounded(order)\n\n\n"
    "def check(order):\n    if not order:\n        raise ValueError(f'cannot settle order {order} of customer')\n",
    "shop/money.py": "def rounded(order):\n    return round(order, 2)\n\n\n"
    "def order_total_of_customer_and_all_rows(rows):\n    return rows\n",
    "shop/stock.py": "def lend(item):\n    return item\n\n\ndef count(item):\n    return lend(item)\n",
    "tests/test_shop.py": "from shop import refund\n\n\ndef test_settle():\n    refund.settle(1)\n",
    ".github/ISSUE_TEMPLATE.md": "### What did you count?\n\nTell us of the item and what you lend.\n",
}


def pool_of_all(query: str, **values: float | bool | str) -> Pool:
    """The pool with no weight but those given."""
    none = {f"relevance.{name}": 0.0 for name in PARTS}
    given = {f"relevance.{name}": value for name, value in values.items()}
    settings = with_values(Settings(), none | {"relevance.pool": "all", "embedding.model": "none"} | given)
    with Engine.of(MemorySource(FILES), settings) as engine:
        return engine.retrieve(query, settings, use_cache=False)


def found(query: str, **values: float | bool | str) -> list[str]:
    """Symbols by relevance, with no weight but those given."""
    pool = pool_of_all(query, **values)
    return [symbol for symbol, share in zip(pool.symbol_id, pool.relevance, strict=True) if share > 0]


def test_a_name_that_is_spelled_out_beats_a_long_one_that_shares_more_words():
    query = "an order of customers is rounded"
    assert found(query, name=1.0)[0] == "shop/money.py::order_total_of_customer_and_all_rows"
    assert found(query, title_name=1.0, lexical=0.001)[0] == "shop/money.py::rounded"


def test_a_file_that_is_named_beats_one_that_only_stands_in_a_trace():
    trace = 'An order in money.py fails\n  File "shop/refund.py", line 5, in settle\n'
    assert found(trace, named_file=1.0, lexical=0.0001)[0] == "shop/money.py::rounded"


@pytest.mark.parametrize("said", ["cannot settle order 17 of customer", "'cannot settle order None of customer'"])
def test_a_message_is_found_by_its_words_with_gaps_where_values_stood(said: str):
    assert found(f"It breaks\nValueError: {said}", phrase=1.0, lexical=0.0001)[0] == "shop/refund.py::check"


def test_of_a_trace_the_frame_that_raised_counts_most_and_one_of_a_test_least():
    trace = (
        'Fails\nTraceback (most recent call last):\n  File "tests/test_shop.py", line 5, in test_settle\n'
        '  File "shop/refund.py", line 5, in settle\n  File "shop/money.py", line 2, in rounded\n'
    )
    assert found(trace, trace=1.0, lexical=0.0001)[:3] == [
        "shop/money.py::rounded",
        "shop/refund.py::settle",
        "tests/test_shop.py::test_settle",
    ]


def test_what_calls_lead_to_from_the_best_matches_is_near():
    best = found("settle an order", near=1.0, lexical=0.0001)
    assert best.index("shop/money.py::rounded") < best.index("shop/refund.py::check")


def test_lines_of_the_issue_form_say_nothing():
    asked = "Refunds\n### What did you count?\nTell us of the item and what you lend.\nsettle an empty order"
    assert "shop/stock.py::lend" in found(asked, lexical=1.0)
    assert "shop/stock.py::lend" not in found(asked, lexical=1.0, issue_forms=True)


def test_a_link_to_a_line_counts_like_a_frame_and_a_link_to_a_file_like_its_name():
    link = "Wrong sums\nSee https://github.com/o/shop/blob/feature/1f3c/shop/money.py"
    line, file = {"trace": 1.0, "lexical": 0.0001}, {"named_file": 1.0, "lexical": 0.0001}
    assert found(f"{link}#L5-L6", query_kind="auto", **line) == ["shop/money.py::order_total_of_customer_and_all_rows"]
    assert found(f"{link}?plain=1.", query_kind="auto", **file)[0].startswith("shop/money.py::")
    assert not found(f"{link}#L5-L6", **line), "the published formula reads no links"


def test_the_first_line_counts_more_for_the_path_and_alone_for_the_words_of_the_file():
    query = "The refund is wrong\n\nIt came from the stock of the shop. We lend and count and lend."
    assert found(query, query_kind="auto", path=1.0, lexical=0.0001)[0].startswith("shop/refund.py")
    assert found(query, file=1.0, lexical=0.0001)[0].startswith(("shop/refund.py", "tests/"))


def test_a_test_that_is_like_the_query_points_at_the_code_that_it_calls():
    weak = "".join(
        f"def part{number}():\n    return {'total, cart' if number < 20 else number}\n\n\n" for number in range(200)
    )
    files = {
        "shop/parts.py": weak,
        "shop/core.py": "def settle():\n    return 1\n",
        "tests/test_core.py": "from shop.core import settle\n\n\n"
        "def test_negative_total_of_a_cart():\n    assert settle()\n",
    }
    settings = with_values(Settings(), {"relevance.pool": "all", "embedding.model": "none", "relevance.near": 1.0})
    with Engine.of(MemorySource(files), settings) as engine:
        pool = engine.retrieve(
            "The negative total of a cart is lost\n\nIt is in core, the total.", settings, use_cache=False
        )
    row = pool.symbol_id.index("shop/core.py::settle")
    assert pool.parts["relevance"]["near"][row] > 0
