import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.lexical import K1, MAX_WORD, B, Postings, TermBag, has_cjk, hash_of, term_counts, word_terms, words

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


# --- BM25 --------------------------------------------------------------------------------------------------------------


def bm25(texts: list[str], query: list[tuple[str, float]]) -> list[float]:
    """The formula, one document at a time; divided by what the query's terms could reach."""
    counted = [{term: min(times, 255) for term, times in term_counts(text).items()} for text in texts]
    lengths = [sum(counts.values()) for counts in counted]
    mean = max(sum(lengths) / len(lengths), 1.0)
    scores = []
    limit = 0.0
    for term, weight in query:
        df = sum(term in counts for counts in counted)
        limit += weight * round(math.log(1 + (len(texts) - df + 0.5) / (df + 0.5)), 6)
    for counts, length in zip(counted, lengths, strict=True):
        total = 0.0
        for term, weight in query:
            df = sum(term in other for other in counted)
            idf = round(math.log(1 + (len(texts) - df + 0.5) / (df + 0.5)), 6)
            tf = counts.get(term, 0)
            total += weight * idf * tf / (tf + K1 * (1 - B + B * length / mean))
        scores.append(total / limit if limit else 0.0)
    return scores


@given(TEXTS.filter(bool), st.lists(st.tuples(st.sampled_from(["a", "b", "ab", "订单", "nowhere"]), st.sampled_from([0.5, 1.0, 2.0])), max_size=4))
def test_postings_score_as_the_formula_says(texts, query):
    score = Postings.build(TermBag.of(texts)).score([(hash_of(term), weight) for term, weight in query])
    assert score.tolist() == pytest.approx(bm25(texts, query), abs=1e-6)
    assert ((score >= 0) & (score < 1)).all()


def test_a_query_about_nothing_here_scores_low():
    postings = Postings.build(TermBag.of(["apple pie", "pear pie", "plum"]))
    known, mixed = postings.score([(hash_of("appl"), 1.0)]), postings.score([(hash_of("appl"), 1.0), (hash_of("zebra"), 1.0)])
    assert known[0] > mixed[0] > 0
    assert postings.score([]).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("texts", [[], [""], ["", "", ""], ["?!"]])
def test_documents_without_words_score_zero(texts):
    postings = Postings.build(TermBag.of(texts))
    assert postings.score([(hash_of("a"), 1.0)]).tolist() == [0.0] * len(texts)
    assert postings.frequency(hash_of("a")) == 0


def test_how_many_documents_hold_a_term():
    postings = Postings.build(TermBag.of(["a b a", "b", ""]))
    assert [postings.frequency(hash_of(term)) for term in ("a", "b", "c")] == [1, 2, 0]


def test_postings_survive_being_saved():
    postings = Postings.build(TermBag.of(["a b", "b c"]))
    arrays = postings.to_arrays("body") | Postings.build(TermBag.of(["x"])).to_arrays("names")
    again = Postings.from_arrays(arrays, "body")
    assert again.documents == 2
    assert again.score([(hash_of("b"), 1.0)]).tolist() == postings.score([(hash_of("b"), 1.0)]).tolist()
