"""Queries that name code: the definition comes first, or what uses it; and other queries are answered as before."""

from __future__ import annotations

import numpy as np
import pytest
from secateur.errors import ConfigError
from secateur.model import Pool
from secateur.settings import Settings, with_values
from support.found import pool_for

FILES = {
    "shop/cart.py": (
        '"""Carts."""\n\n\nclass LineReader:\n    """Reads the lines of a cart."""\n\n    size = 3\n\n'
        "    def __init__(self, lines):\n        self.lines = lines\n\n"
        "    def read(self):\n        return parse_line(self.lines.pop())\n\n\n"
        "def parse_line(line):\n    return line.split()\n"
    ),
    "shop/report.py": (
        "from shop.cart import LineReader, parse_line\n\n\ndef first_line(lines):\n"
        "    return parse_line(lines[0])\n\n\ndef about_lines(lines):\n"
        "    '''Says how a line reader might parse a line.'''\n    return len(lines)\n\n\n"
        "def report(lines):\n    return LineReader(lines).read()\n"
    ),
    "tests/test_cart.py": (
        "from shop.cart import parse_line\n\n\ndef test_parse_line():\n    assert parse_line('a b')\n"
    ),
}


def asked(query: str, **changes: object) -> Pool:
    return pool_for(FILES, query, profile="recommended", **changes)


def first(query: str, count: int = 1, **changes: object) -> list[str]:
    pool = asked(query, **changes)
    order = np.argsort(-pool.relevance, kind="stable")[:count]
    return [pool.symbol_id[row] for row in order.tolist()]


@pytest.mark.parametrize("query", ["LineReader", "line reader", "class LineReader", "where is LineReader defined?"])
def test_the_name_of_a_class_finds_its_header_first(query: str) -> None:
    assert first(query) == ["shop/cart.py::LineReader"]
    assert first(query, relevance__query_kind="off") != ["shop/cart.py::LineReader"]


@pytest.mark.parametrize("query", ["who calls parse_line", "where is `parse_line` used?", "谁调用了 parse_line"])
def test_who_asks_for_usages_gets_callers_before_the_definition_and_code_before_tests(query: str) -> None:
    found = first(query, 9)
    assert set(found[:2]) == {"shop/cart.py::LineReader.read", "shop/report.py::first_line"}
    assert "usage" in asked(query).parts["relevance"]


def test_a_name_with_its_owner_is_the_method_of_that_owner() -> None:
    assert first("LineReader.read") == ["shop/cart.py::LineReader.read"]


def test_a_usage_of_what_is_not_here_is_answered_by_words() -> None:
    assert not asked("who calls parse_everything").parts["relevance"]["usage"].any()


def test_an_issue_is_answered_as_without_a_kind() -> None:
    issue = "parse_line loses a word\n\nThe class LineReader drops what parse_line returns.\n"
    told, off = asked(issue), asked(issue, relevance__query_kind="off")
    assert told.facts["query_kind"]["kind"] == "issue"
    assert "query_kind" not in off.facts
    assert told.symbol_id == off.symbol_id
    assert (told.relevance == off.relevance).all()


def test_a_question_is_answered_by_a_function_as_long_as_it_is() -> None:
    steps = "".join(f"    first_{place} = entries.pop({place})\n" for place in range(60))
    files = {
        "a.py": f"def settle(entries):\n{steps}    return ledger.closed(balance)\n",
        "b.py": "def show(ledger):\n    return ledger.balance\n",
        "c.py": "def other():\n    return 1\n",
    }

    def lexical(query: str) -> dict[str, float]:
        pool = pool_for(files, query, profile="recommended", embedding__model="none")
        return dict(zip(pool.symbol_id, pool.parts["relevance"]["lexical"].tolist(), strict=True))

    question, phrase = lexical("how is the balance of a ledger closed?"), lexical("balance ledger closed")
    assert question["a.py::settle"] > question["b.py::show"]
    assert phrase["a.py::settle"] < phrase["b.py::show"]


def test_the_kind_can_be_set() -> None:
    pool = asked("parse_line", relevance__query_kind="usage")
    told = pool.facts["query_kind"]
    assert told == {"kind": "usage", "subject": "parse_line", "because": "relevance.query_kind says so"}
    assert first("parse_line", relevance__query_kind="usage") != ["shop/cart.py::parse_line"]
    assert first("parse_line") == ["shop/cart.py::parse_line"]


def test_a_kind_that_there_is_not_is_an_error_that_lists_the_kinds() -> None:
    with pytest.raises(ConfigError, match="query_kind"):
        with_values(Settings(), {"relevance.query_kind": "riddle"})


def test_of_copies_the_one_nearest_to_the_root_comes_first_and_the_others_far_behind() -> None:
    text = "def parse_header(line):\n    key, value = line.split(':')\n    return key.strip(), value.strip()\n"
    files = {"build/es5/header.py": text, "build/header.py": text, "header.py": text, "other.py": "x = 1\n"}
    pool = pool_for(files, "parse_header", profile="recommended")
    relevance = dict(zip(pool.symbol_id, pool.relevance.tolist(), strict=True))
    leader = relevance.pop("header.py::parse_header")
    assert max(relevance.values()) < 0.75 * leader
