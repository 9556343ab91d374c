"""ItemFinding: every item can be found by each part of its name, the best hit first, whatever its name is made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from secateur.model import Entry, Reason, State
from secateur_tui.state.finding import (
    ENOUGH,
    MOST_HITS,
    MOST_TEXTS,
    FoundItems,
    Haystack,
    Match,
    last_part,
    search_texts,
)
from support.ledgers import answer_of

SESSIONS = {
    "flask/sessions.py::SessionInterface.save_session": "SessionInterface.save_session",
    "flask/sessions.py::SessionInterface.open_session": "SessionInterface.open_session",
    "flask/sessions.py::SecureCookie": "SecureCookie",
    "flask/wrappers.py::Response.max_cookie_size": "Response.max_cookie_size",
    "werkzeug/http.py::dump_cookie": "dump_cookie",
    "werkzeug/http.py::L1": "",
}


def find(items: dict[str, str], sought: str) -> list[tuple[str, Match]]:
    ids = list(items)
    found = Haystack(ids, list(items.values())).find(sought, np.arange(len(ids)))
    assert found.count == len(found.hits)
    return [(ids[hit.item], hit.match) for hit in found.hits]


def test_a_letter_is_enough_and_the_beginning_of_a_name_comes_first() -> None:
    found = [name.partition("::")[2] for name, _ in find(SESSIONS, "s")]
    assert found[:2] == ["SecureCookie", "SessionInterface.save_session"]
    assert set(found) == {name.partition("::")[2] for name in SESSIONS if "s" in name.casefold()}


@pytest.mark.parametrize(
    ("sought", "first", "match"),
    [
        ("save_session", "SessionInterface.save_session", Match.EXACT),
        ("DUMP", "dump_cookie", Match.START),
        ("cookie_s", "Response.max_cookie_size", Match.NAME),
        ("wrappers", "Response.max_cookie_size", Match.ID),
        ("cookie werk", "dump_cookie", Match.NAME),
        ("http.py l1", "L1", Match.START),
        ("mxcks", "Response.max_cookie_size", Match.LETTERS),
        ("dump_kookie", "dump_cookie", Match.NEAR),
    ],
)
def test_names_paths_letters_and_slips(sought: str, first: str, match: Match) -> None:
    name, how = find(SESSIONS, sought)[0]
    assert (name.partition("::")[2], how) == (first, match)


def test_every_word_has_to_occur() -> None:
    assert [name for name, match in find(SESSIONS, "session flask cookie") if match is Match.ID] == [
        "flask/sessions.py::SecureCookie"
    ]
    assert find(SESSIONS, "session nowhere") == []


@pytest.mark.parametrize("sought", ["", "  ", "\t\n"])
def test_nothing_is_found_for_blanks(sought: str) -> None:
    assert find(SESSIONS, sought) == []


def test_nothing_is_found_in_nothing() -> None:
    assert Haystack([], []).find("a", np.arange(0)) == FoundItems((), 0)


def test_of_equal_hits_the_one_on_the_higher_line_is_better() -> None:
    ids = [f"f{number}.py::same" for number in range(5)]
    found = Haystack(ids, ["same"] * 5).find("same", np.array([4, 2, 0, 1, 3]))
    assert [hit.item for hit in found.hits] == [2, 3, 1, 4, 0]


def test_hits_are_bounded_and_the_rest_counted() -> None:
    ids = [f"{number}.py::f{number:04}" for number in range(MOST_HITS * 3)]
    found = Haystack(ids, [name.partition("::")[2] for name in ids]).find("f", np.arange(len(ids)))
    assert (len(found.hits), found.count) == (MOST_HITS, len(ids))
    assert [hit.item for hit in found.hits] == list(range(MOST_HITS))


def test_letters_are_not_tried_where_words_are_enough() -> None:
    items = {f"{number}.py::cart_{number:02}": f"cart_{number:02}" for number in range(ENOUGH)} | {
        "x.py::caart": "caart"
    }
    assert all(match is not Match.LETTERS for _, match in find(items, "cart"))


def test_letters_that_stand_together_come_first() -> None:
    items = {
        "a.py::ResponseHeaderBag.setKey": "ResponseHeaderBag.setKey",
        "b.py::a_longer_name.repl_hook": "a_longer_name.repl_hook",
    }
    assert [name for name, match in find(items, "rhk") if match is Match.LETTERS] == [
        "b.py::a_longer_name.repl_hook",
        "a.py::ResponseHeaderBag.setKey",
    ]


def test_a_name_of_a_hundred_thousand_equal_letters_costs_nothing() -> None:
    long = "a" * 100_000
    assert [match for _, match in find({f"x.py::{long}": long}, "a" * 150 + "bcde")] == []
    assert find({f"x.py::{long}": long}, "a" * 150)[0][1] is Match.START


@pytest.mark.parametrize(
    ("name", "last"), [("Cart.total", "total"), ("shop/cart.py", "cart.py"), ("total", "total"), ("a.", "")]
)
def test_the_part_that_is_typed_first(name: str, last: str) -> None:
    assert last_part(name) == last


names = st.lists(st.text(max_size=12), min_size=1, max_size=20)


@given(names, st.data())
@example(["İ", "ß", "\ud800", "\n"], None)
def test_each_name_is_found_by_any_part_of_it(made: list[str], data: st.DataObject | None) -> None:
    ids = [f"p{number}.py::{name}" for number, name in enumerate(made)]
    haystack, place = Haystack(ids, made), np.arange(len(made))
    number = data.draw(st.integers(0, len(made) - 1)) if data is not None else 0
    name = made[number]
    start = data.draw(st.integers(0, len(name))) if data is not None else 0
    sought = name[start:]
    found = haystack.find(sought, place)
    if sought.split():
        assert number in [hit.item for hit in found.hits]
        assert [hit.match for hit in found.hits] == sorted(hit.match for hit in found.hits)
    assert found == haystack.find(sought, place)


def entries(*texts: str) -> tuple[list[Entry], list[str]]:
    return [Entry(f"e{n}", State.KEPT, Reason.FITS, 1, 1) for n in range(len(texts))], list(texts)


def test_texts_are_looked_through_in_the_order_of_the_list() -> None:
    ledger, texts = entries("a cookie", "none", "The COOKIE\n jar", "cookie jar")
    columns = answer_of(ledger, order=[3, 2, 1, 0])
    found = [hit.item if hit else None for hit in search_texts(columns, "Cookie  Jar", texts.__getitem__)]
    assert found == [3, 2, None, None]
    assert list(search_texts(columns, " ", texts.__getitem__)) == []


def test_texts_are_bounded() -> None:
    ledger, texts = entries(*["x"] * (MOST_TEXTS + 5))
    assert len(list(search_texts(answer_of(ledger), "x", texts.__getitem__))) == MOST_TEXTS
