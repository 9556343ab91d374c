"""Lists filtered and sorted: nothing is decided otherwise, the cursor keeps its item, what is shown is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspector_kit import search_answer
from secateur import Settings
from secateur.model import Entry, Reason, State
from secateur.selection import select
from secateur_tui.state.answer import ShownAnswer, folder_of
from secateur_tui.state.list_view import (
    HIDDEN,
    LIST_ORDER,
    NAME,
    ListChoice,
    filter_items,
    find_nearest,
    find_next,
    make_view,
)
from support.ledgers import answer_of
from support.pools import Row, pool_of

ROWS = (
    Row("Cart", 100, 0.9, 0.1, path="shop/cart.py"),
    Row("total", 50, 0.8, 0.9, path="shop/cart.py", line=20),
    Row("apply", 70, 0.7, 0.0, path="shop/tax/rules.py"),
    Row("main", 10, 0.6, 0.5, path="main.py"),
)
LABELS = [state.label for state in State]


def columns(budget: int = 160) -> ShownAnswer[Any]:
    from msgspec.structs import replace

    pool = pool_of(ROWS)
    return search_answer(select(pool, replace(Settings(), budget=budget)), Settings())


def shown(made: ShownAnswer[Any], choice: ListChoice) -> list[str]:
    return [made.names[item] for item in make_view(made, choice).items.tolist()]


def test_the_plain_list_is_the_answers_own() -> None:
    made = columns()
    view = make_view(made, ListChoice())
    assert view.items.tolist() == made.order.tolist()
    assert view.caption == ""


def test_filters_of_one_facet_add_and_of_two_narrow() -> None:
    made = columns()
    assert shown(made, ListChoice((("folder", "shop/"),))) == ["total", "Cart"]
    assert shown(made, ListChoice((("folder", "shop/"), ("folder", "./")))) == ["total", "Cart", "main"]
    assert shown(made, ListChoice((("folder", "shop/"), ("state", "dropped")))) == []
    assert shown(made, ListChoice((("nothing", "of this"),))) == shown(made, ListChoice())
    assert shown(made, ListChoice((("folder", "nowhere/"),))) == []


def test_the_caption_says_what_is_shown() -> None:
    made = columns()
    choice = ListChoice((("state", "kept"), ("folder", "shop/"), ("folder", "./")), by="hotspot")
    assert make_view(made, choice).caption == "3 of 4 · state: kept · folder: shop/ or ./ · by hotspot"


def test_orders() -> None:
    made = columns()
    assert shown(made, ListChoice(by="hotspot")) == ["total", "main", "Cart", "apply"]
    assert shown(made, ListChoice(by="tokens")) == ["Cart", "apply", "total", "main"]
    assert shown(made, ListChoice(by=NAME)) == ["apply", "Cart", "main", "total"]
    assert shown(made, ListChoice(by="something else")) == shown(made, ListChoice())


def test_turning_a_filter_twice_takes_it_off() -> None:
    choice = ListChoice().toggle("state", "kept").toggle("kind", "class")
    assert choice.filters == (("state", "kept"), ("kind", "class"))
    assert choice.toggle("state", "kept").toggle("kind", "class").plain


def test_values_of_a_facet_are_counted() -> None:
    made = columns()
    every = np.ones(len(made), dtype=np.bool_)
    assert made.counts("folder", every) == [("shop/", 2), ("./", 1), ("shop/tax/", 1)]
    assert sum(count for _, count in made.counts("state", every)) == len(made)


@pytest.mark.parametrize(
    ("path", "folder"), [("a.py", "./"), ("a/b.py", "a/"), ("a/b/c/d.py", "a/b/"), ("", ""), ("/x/y/z.py", "/x/")]
)
def test_folders(path: str, folder: str) -> None:
    assert folder_of(path) == folder


def test_a_ledger_has_states_reasons_and_figures() -> None:
    made = answer_of(
        [
            Entry("src/a.py", State.KEPT, Reason.WHOLE, 10, 10),
            Entry("src/b.go", State.DROPPED, Reason.NO_ROOM, 90, 0),
            Entry("c.py", State.SHORTENED, Reason.SNIPPETS, 50, 20),
        ],
        paths=True,
    )
    assert list(made.facets) == ["state", "language", "folder", "reason"]
    assert made.facets["language"]() == ["python", "go", "python"]
    assert made.facets["reason"]() == ["whole", "no room", "snippets"]
    assert [made.ids[item] for item in make_view(made, ListChoice(by="saved")).items] == [
        "src/b.go",
        "c.py",
        "src/a.py",
    ]


def test_a_ledger_without_paths_has_no_folders() -> None:
    made = answer_of([Entry("message 1", State.KEPT, Reason.FITS, 1, 1)])
    assert list(made.facets) == ["state", "reason"]


many = st.lists(st.sampled_from(State), min_size=0, max_size=12)
choices = st.builds(
    ListChoice,
    st.lists(st.tuples(st.just("state"), st.sampled_from([*LABELS, "none"])), max_size=3).map(tuple),
    st.sampled_from([LIST_ORDER, NAME, "tokens", "saved"]),
)


def made_of(states: list[State]) -> ShownAnswer[Any]:
    entries = [Entry(f"m{n % 7}", state, Reason.FITS, (n * 5) % 9, (n * 3) % 5) for n, state in enumerate(states)]
    return answer_of(entries, order=list(range(len(entries)))[::-1])


@given(many, choices)
def test_a_view_is_a_part_of_the_items_each_once(states: list[State], choice: ListChoice) -> None:
    made = made_of(states)
    view = make_view(made, choice)
    assert sorted(view.items.tolist()) == np.flatnonzero(filter_items(made, choice)).tolist()
    assert all(view.line_of(view.item_at(line)) == line for line in range(len(view)))
    hidden = set(range(len(made))) - set(view.items.tolist())
    assert all(view.line_of(item) == HIDDEN for item in hidden)


@given(many, choices, st.integers(0, 12))
def test_the_cursor_stays_on_its_item_or_goes_to_the_nearest_one(
    states: list[State], choice: ListChoice, cursor: int
) -> None:
    made = made_of(states)
    view = make_view(made, choice)
    item = find_nearest(made, view, cursor)
    if not len(view):
        assert item is None
    elif cursor in view.items:
        assert item == cursor
    else:
        assert item in view.items


@given(many, st.integers(0, 11), st.sampled_from([1, -1]), st.sampled_from(State))
def test_next_goes_through_all_and_comes_back(states: list[State], cursor: int, step: int, state: State) -> None:
    made = made_of(states)
    view, wanted = make_view(made, ListChoice()), made.state == state
    at: int | None = min(cursor, len(made) - 1)
    seen: list[int] = []
    for _ in range(int(wanted.sum())):
        if at is None or (at := find_next(view, at, wanted, step)) is None:
            break
        seen.append(at)
    others = wanted.copy()
    if len(made):
        others[min(cursor, len(made) - 1)] = False
    assert len(seen) == len(set(seen)) or not others.any()
    assert set(np.flatnonzero(others).tolist()) <= set(seen)


def test_next_without_another_one_is_none() -> None:
    made = made_of([State.KEPT, State.DROPPED])
    view = make_view(made, ListChoice())
    assert find_next(view, 1, made.state == State.DROPPED) is None
    assert find_next(view, 0, made.state == State.SUMMARISED) is None
