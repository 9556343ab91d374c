import math

import pytest
from secateur.index.facts import names as names_module
from secateur.index.facts.names import (
    EXACT,
    HALF_NAMED,
    NEAR_CUTOFF,
    NEAR_FACTOR,
    NEAR_LIMIT,
    NEAR_WORDS,
    OWNER_NAMED,
    PLAIN_NAMED,
    NameTable,
    close_names,
)

QUALNAMES = ["Cart", "Cart.total", "Order.total", "", "handleToolCall", "Cart.Item.total", "näme", "round"]
SHARED = round(1 / (1 + math.log2(3)), 6)
"""What a name that three fragments have is worth."""


@pytest.mark.parametrize(
    ("identifier", "exact"),
    [
        ("handleToolCall", {"handleToolCall": EXACT}),
        ("HANDLETOOLCALL", {"handleToolCall": EXACT}),
        ("total", {"Cart.total": SHARED, "Order.total": SHARED, "Cart.Item.total": SHARED}),
        ("Cart.total", {"Cart.total": EXACT, "Cart": OWNER_NAMED}),
        ("Cart::total", {"Cart.total": EXACT, "Cart": OWNER_NAMED}),
        ("cart->total", {"Cart.total": EXACT, "Cart": OWNER_NAMED}),
        ("Cart#total", {"Cart.total": EXACT, "Cart": OWNER_NAMED}),
        ("Item.total", {"Cart.Item.total": EXACT}),
        (
            "Basket.total",
            {
                "Cart.total": HALF_NAMED * SHARED,
                "Order.total": HALF_NAMED * SHARED,
                "Cart.Item.total": HALF_NAMED * SHARED,
            },
        ),
        ("näme", {"näme": EXACT}),
        ("", {}),
        ("...", {}),
        ("nothing", {}),
    ],
)
def test_a_name_is_found_by_its_last_part_and_its_owner(identifier, exact):
    found = NameTable(QUALNAMES).match([identifier]).exact
    assert {QUALNAMES[row]: value for row, value in enumerate(found.tolist()) if value} == exact


def test_the_best_reading_of_several_identifiers_counts():
    found = NameTable(QUALNAMES).match(["Basket.total", "Cart.total"]).exact.tolist()
    assert (found[1], found[2]) == (EXACT, HALF_NAMED * SHARED)


def test_a_plain_word_that_is_a_name_counts_a_little_and_never_takes_from_what_was_written_as_a_name():
    table = NameTable(QUALNAMES)
    assert table.match([], ["round", "nothing"]).exact.tolist() == [0, 0, 0, 0, 0, 0, 0, PLAIN_NAMED]
    assert table.match(["round"], ["round"]).exact[7] == EXACT


def test_a_slip_of_the_pen_finds_the_near_name_and_says_so():
    match = NameTable(QUALNAMES).match(["handelToolCall"])
    row = QUALNAMES.index("handleToolCall")
    assert match.suggestions == {"handelToolCall": ["handletoolcall"]}
    assert NEAR_FACTOR * NEAR_CUTOFF / 100 <= match.near[row] < NEAR_FACTOR
    assert match.exact[row] == 0
    assert not match.near[[i for i in range(len(QUALNAMES)) if i != row]].any()


def test_a_name_that_is_there_has_no_near_names_and_short_words_have_none_either():
    table = NameTable(["handleToolCall", "handleToolCalls", "roun"])
    match = table.match(["handleToolCall", "rond"])
    assert match.suggestions == {}
    assert not match.near.any()


def test_at_most_a_few_near_names_are_taken_the_nearest_first():
    match = NameTable([f"handleToolCall{i}" for i in range(30)]).match(["handleToolCall"])
    (taken,) = match.suggestions.values()
    assert taken == [f"handletoolcall{i}" for i in range(NEAR_LIMIT)]  # equally near: by name


def test_many_names_are_narrowed_to_those_that_share_most_letters(monkeypatch):
    monkeypatch.setattr(names_module, "PREFILTER", 3)
    match = NameTable(["zzzzzzzz", "yyyyyyyy", "xxxxxxxx", "calculate", "wwwwwwww"]).match(["calculaet"])
    assert match.suggestions == {"calculaet": ["calculate"]}


def test_a_pasted_log_costs_no_more_than_a_few_near_words():
    words = [f"handleToolCal{i:04}" for i in range(500)]
    assert len(NameTable(["handleToolCall0000"]).match(words).suggestions) == NEAR_WORDS


def test_no_names_match_nothing():
    match = NameTable([]).match(["handleToolCall"])
    assert (len(match.exact), len(match.near), match.suggestions) == (0, 0, {})
    assert not NameTable(["", ""]).match(["handleToolCall"]).exact.any()


def test_signs_at_the_end_of_names_are_left_out_where_usages_are_asked_for():
    table = NameTable(["A.empty?", "empty", "B.empty!?", "emptyish", "", "Empty.x", "a.?", "Empty"])
    assert table.rows_ignoring_marks("empty").tolist() == [0, 1, 2, 7]
    assert table.rows_ignoring_marks("empty?").tolist() == table.rows_ignoring_marks("gone").tolist() == []


def test_names_are_compared_with_those_of_a_table_that_are_about_as_long():
    tails = sorted({name.rpartition(".")[2].lower() for name in QUALNAMES if name})
    for word in ("totl", "handletolcall", "c", "x" * 40):
        assert NameTable(QUALNAMES).close(word) == close_names(word, tails)
