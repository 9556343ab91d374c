from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.lexical import MAX_WORD, TermBag, find_terms, has_cjk, hash_of, term_counts, word_terms, words

TEXTS = st.lists(st.text(st.sampled_from("ab_ A1订单处 .\n"), max_size=40), max_size=8)


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("parseHTTPHeader", ("parsehttpheader", "pars", "http", "header")),
        ("snake_case_names", ("snake_case_names", "snake", "case", "name")),
        ("__init__", ("init",)),
        ("rounding", ("round",)),
        ("utf8", ("utf8", "utf")),  # a single digit is no part
        ("v2Parser", ("v2parser", "parser")),
        ("订单处理", ("订单", "单处", "处理")),
        ("订", ("订",)),
        ("get订单Total", ("get", "订单", "total")),
        ("Größe", ("größe", "gr", "öß")),
        ("___", ()),
        ("x" * (MAX_WORD + 1), ()),
    ],
)
def test_a_word_counts_whole_and_by_its_parts(word, terms):
    assert word_terms(word) == terms


def test_words_are_identifiers_numbers_and_runs_of_letters():
    assert words("a.b_c(d1, 42) -> _x # Ärger 订单") == ["a", "b_c", "d1", "42", "_x", "Ärger", "订单"]


@pytest.mark.parametrize("piece", ["_", "a_", "aB", "1", "订a", "_1"])
def test_a_long_run_of_anything_is_read_at_once(piece):
    """A pattern that goes back over what it read takes hours on one of these."""
    assert len(words(piece * (200_000 // len(piece)))) >= 1


def test_the_same_word_in_another_form_is_the_same_term():
    assert term_counts("rounded Rounding ROUND") == {"round": 3}


def test_long_chinese_without_spaces_loses_no_pair_of_letters_and_no_name_among_them():
    letters = "".join(chr(0x4E00 + i) for i in range(300))
    text = letters[:150] + "handleToolCall" + letters[150:]
    expected = {text[i : i + 2] for run in (letters[:150], letters[150:]) for text in [run] for i in range(149)}
    assert set(term_counts(text)) == expected | {"handletoolcall", "handl", "tool", "call"}
    assert set(term_counts(text).values()) == {1}


@pytest.mark.parametrize("length", range(60, 68))
def test_where_a_long_run_is_cut_makes_no_difference(length):
    run = "".join(chr(0x4E00 + i) for i in range(length)) + "x" * 70
    assert {term for term in term_counts(run) if has_cjk(term)} == {run[i : i + 2] for i in range(length - 1)}


def test_words_of_a_query_are_found_where_they_stand():
    text = "def parseHTTPHeader(rounding, half_even):  # rounds 四舍五入"
    found = [(text[start:end], term) for start, end, term in find_terms(text, {"header", "round", "half_even", "舍五"})]
    assert found == [
        ("Header", "header"),
        ("rounding", "round"),
        ("half_even", "half_even"),
        ("rounds", "round"),
        ("舍五", "舍五"),
    ]


@given(
    st.text(st.sampled_from("abC_ A1订单处 .\n"), max_size=60), st.text(st.sampled_from("abC_ 1订单处 "), max_size=20)
)
def test_what_is_found_is_what_counts(text, query):
    terms = set(term_counts(query))
    found = list(find_terms(text, terms))
    assert bool(found) == bool(terms & set(term_counts(text)))
    assert all(term in term_counts(text) and term in terms for _, _, term in found)
    assert all(end <= start for (_, end, _), (start, _, _) in pairwise(found))


def test_hashes_are_the_same_on_every_machine():
    assert hash_of("round") == 0x569D9A7BA0B2DEE6


def test_text_that_was_not_utf_8_has_terms_too():
    assert hash_of("\udcff") != hash_of("\udcfe")
    assert term_counts("a\udcffb\x00c\ud800") == {"a": 1, "b": 1, "c": 1}


@given(TEXTS, TEXTS)
def test_bags_of_parts_are_the_bag_of_the_whole(first, second):
    whole = TermBag.of(first + second)
    joined = TermBag.concatenate([TermBag.of(first), TermBag.of(second)])
    assert len(whole) == len(joined) == len(first) + len(second)
    assert all(np.array_equal(getattr(whole, name), getattr(joined, name)) for name in ("start", "hashes", "counts"))


def test_no_bags_are_an_empty_bag():
    assert len(TermBag.concatenate([])) == 0


def test_a_count_beyond_255_stays_255():
    assert TermBag.of(["a " * 1000]).counts.tolist() == [255]
