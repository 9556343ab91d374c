"""Relevance can be taken apart: parts that are printed add up, each has its weight, and more evidence never means
less."""

from __future__ import annotations

import pytest
from secateur.model import QUANTUM
from secateur.retrieval.relevance import FIRST_PLACES
from support.found import by_name, channels, pool_for
from support.repos import QUERY, SHOP
from support.weights import PARTS


def only(**weights: float) -> dict[str, float]:
    """Changes that leave these weights of relevance and no other, and any relevance an answer."""
    shares = {f"relevance__{name}": float(weights.get(name, 0.0)) for name in PARTS}
    return shares | {"relevance__no_match_threshold": 0.0}


@pytest.mark.parametrize("profile", ["spec", "recommended"])
@pytest.mark.parametrize(
    "query",
    [
        QUERY,
        "round_total",
        "shop/refund.py",
        'File "shop/refund.py", line 6, in refund_total',
        "shop tests",
        "refund " * 500,
    ],
)
def test_parts_add_up_and_stay_in_range(profile: str, query: str) -> None:
    pool = pool_for(SHOP, query, profile=profile)
    assert len(pool)
    total = sum(pool.parts["relevance"].values())
    assert abs(total - pool.relevance).max() < len(PARTS) * QUANTUM
    assert pool.relevance.min() >= 0
    assert pool.relevance.max() <= 1


def test_a_weight_of_zero_silences_its_part() -> None:
    pool = pool_for(SHOP, QUERY, **only(lexical=1.0))
    assert {name for name, column in pool.parts["relevance"].items() if column.any()} == {"lexical"}
    assert not pool_for(SHOP, QUERY, **only()).relevance.any()


def test_each_kind_of_evidence_finds_what_it_is_for() -> None:
    files = {
        "audit/log.py": (
            "def write(entry):\n    '''Persist the giraffe ledger.'''\n    return store(entry)\n\n\ndef store(entry):\n"
            "    return entry\n"
        ),
        "audit/zoo.py": "def feed_giraffe():\n    return 1\n",
        "giraffe/other.py": "def unrelated():\n    return 2\n",
    }

    def best(query: str, **weights: float) -> str:
        pool = pool_for(files, query, relevance__pool="all", **only(**weights))
        return pool.symbol_id[int(pool.relevance.argmax())]

    assert best("giraffe", name=1.0) == "audit/zoo.py::feed_giraffe"
    assert best("giraffe", path=1.0) == "giraffe/other.py::unrelated"
    assert best("giraffe\n\nunrelated words of a long report", title=1.0) == "audit/zoo.py::feed_giraffe"
    assert best("what about `feed_giraffe`?", mention=1.0) == "audit/zoo.py::feed_giraffe"
    assert best("error in audit/log.py:7 giraffe entry", trace=1.0).startswith("audit/log.py::")
    assert best("audit/log.py loses a giraffe entry", named_file=1.0).startswith("audit/log.py::")


def test_a_name_that_is_written_out_is_a_mention() -> None:
    pool = pool_for(SHOP, "why does refund_total lose a cent?", profile="recommended")
    assert pool.symbol_id[0] == "shop/refund.py::refund_total"
    assert "MENTION" in channels(pool, "shop/refund.py::refund_total")


def test_a_name_with_a_slip_finds_its_neighbour_and_says_so() -> None:
    pool = pool_for(SHOP, "refund_totle")
    assert "shop/refund.py::refund_total" in pool.symbol_id
    (notice,) = [warning for warning in pool.warnings if warning.code == "near_name"]
    assert "refund_totle" in notice.message
    assert "refund_total" in notice.message


def test_more_words_found_is_never_less_relevant() -> None:
    files = {
        "a.py": "def one():\n    return 'alpha'\n",
        "b.py": "def two():\n    return 'alpha beta'\n",
        "c.py": "def three():\n    return 'alpha beta gamma'\n",
    }
    relevance = by_name(pool := pool_for(files, "alpha beta gamma", **only(lexical=1.0)), pool.relevance)
    assert 0 < relevance["one"] < relevance["two"] < relevance["three"]


def test_tests_get_a_penalty_only_where_asked_for_and_unless_the_query_is_about_them() -> None:
    files = {
        "shop/refund.py": "def refund():\n    return 'alpha'\n",
        "tests/test_refund.py": "def test_refund():\n    assert 'alpha'\n",
    }

    def relevance(query: str, share: float) -> float:
        pool = pool_for(files, query, relevance__penalty__test=share)
        return float(pool.relevance[pool.row_of["tests/test_refund.py::test_refund"]])

    assert relevance("alpha refund", 0.5) < relevance("alpha refund", 0.0)
    assert relevance("alpha refund tests", 0.5) == relevance("alpha refund tests", 0.0)


def test_chinese_queries_find_chinese_comments() -> None:
    files = SHOP | {"订单.py": "def process_order(order):\n    # 订单处理: 校验, 扣款, 发货\n    return order\n"}
    for query in ("订单处理逻辑", "订单处理", "处理订单"):
        pool = pool_for(files, query)
        assert pool.symbol_id[0] == "订单.py::process_order"
        assert pool.relevance[0] > 0


def test_a_name_says_as_much_in_a_long_query_as_in_a_short_one() -> None:
    short, long = (
        pool_for(SHOP, query, **only(name=1.0))
        for query in ("refund total", "refund total" + " and nothing else of this shop" * 50)
    )
    row = short.row_of["shop/refund.py::refund_total"]
    assert short.relevance[row] > 0
    assert short.relevance[row] == long.relevance[long.row_of["shop/refund.py::refund_total"]]


def test_a_copy_counts_less_than_what_it_was_copied_from() -> None:
    body = (
        "(invoice, payments):\n    left = invoice.total\n    for payment in sorted(payments):\n        left -="
        " min(left, payment.amount)\n    return left\n"
    )
    files = {
        "billing/settle.py": f"def settle{body}",
        "legacy/settle.py": f"def settle{body}",
        "other.py": "def other(invoice):\n    return invoice\n",
    }
    pools = [
        pool_for(files, "settle payments of an invoice", relevance__pool="all", relevance__penalty__duplicate=share)
        for share in (0.0, 0.5)
    ]
    whole, less = (
        {symbol: float(value) for symbol, value in zip(pool.symbol_id, pool.relevance, strict=True)} for pool in pools
    )
    twins = sorted(("billing/settle.py::settle", "legacy/settle.py::settle"), key=lambda symbol: whole[symbol])
    assert [symbol for symbol in whole if less[symbol] < whole[symbol]] == twins[:1]


def test_behind_the_first_places_a_question_meets_other_files_first() -> None:
    long = "".join(f"def settle_invoice_{number}(invoice):\n    return settle(invoice)\n\n\n" for number in range(14))
    files = {
        "billing.py": long,
        "ledger.py": "def book(entry):\n    settle(entry.invoice)\n" + "    store(entry)\n" * 40,
    }
    question, issue = (
        pool_for(files, "how does it settle an invoice", profile="recommended", relevance__query_kind=kind)
        for kind in ("question", "issue")
    )
    assert question.path.index("ledger.py") == FIRST_PLACES < issue.path.index("ledger.py")
    total = sum(question.parts["relevance"].values())
    assert abs(total - question.relevance).max() < len(PARTS) * QUANTUM
