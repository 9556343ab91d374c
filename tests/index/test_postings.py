"""BM25 is the formula, and an edited index is the one that would be built."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.lexical import TermBag, hash_of, term_counts
from secateur.index.facts.postings import K1, B, Postings, WordField

TEXTS = st.lists(st.text(st.sampled_from("ab_ A1订单处 .\n"), max_size=40), max_size=8)


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


@given(
    TEXTS.filter(bool),
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "ab", "订单", "nowhere"]), st.sampled_from([0.5, 1.0, 2.0])), max_size=4
    ),
)
def test_postings_score_as_the_formula_says(texts, query):
    score = WordField(Postings.build(TermBag.of(texts))).score([(hash_of(term), weight) for term, weight in query])
    assert score.tolist() == pytest.approx(bm25(texts, query), abs=1e-6)
    assert ((score >= 0) & (score < 1)).all()


def scored(texts, terms, synonyms):
    """The scores where these sets of words count as one word each."""
    postings = Postings.build(TermBag.of(texts))
    return WordField(postings, [frozenset(same) for same in synonyms]).score(terms).tolist()


@given(st.lists(st.lists(st.sampled_from(["pear", "plum", "fig"]), max_size=6), min_size=1, max_size=8))
def test_synonyms_count_as_one_word(documents):
    pear, plum, fig = (hash_of(word) for word in ("pear", "plum", "fig"))
    texts = [" ".join(words) for words in documents]
    as_one = [text.replace("plum", "pear") for text in texts]
    told = scored(texts, [(pear, 1.0), (fig, 1.0), (plum, 1.0)], [{pear, plum}])
    assert told == scored(as_one, [(pear, 1.0), (fig, 1.0)], [])


def test_an_uncertain_synonym_counts_less():
    pause, suspend = hash_of("paus"), hash_of("suspend")
    terms = [(pause, 1.0), (suspend, 0.5)]
    sure, unsure, other = scored(["pause", "suspend", "stop"], terms, [{pause, suspend}])
    assert sure > unsure > other == 0


def test_a_query_about_nothing_here_scores_low():
    postings = Postings.build(TermBag.of(["apple pie", "pear pie", "plum"]))
    known, mixed = (
        WordField(postings).score([(hash_of("appl"), 1.0)]),
        WordField(postings).score([(hash_of("appl"), 1.0), (hash_of("zebra"), 1.0)]),
    )
    assert known[0] > mixed[0] > 0
    assert WordField(postings).score([]).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("texts", [[], [""], ["", "", ""], ["?!"]])
def test_documents_without_words_score_zero(texts):
    postings = Postings.build(TermBag.of(texts))
    assert WordField(postings).score([(hash_of("a"), 1.0)]).tolist() == [0.0] * len(texts)
    assert postings.frequency(hash_of("a")) == 0


def test_how_many_documents_hold_a_term():
    postings = Postings.build(TermBag.of(["a b a", "b", ""]))
    assert [postings.frequency(hash_of(term)) for term in ("a", "b", "c")] == [1, 2, 0]


def test_postings_survive_being_saved():
    postings = Postings.build(TermBag.of(["a b", "b c"]))
    arrays = postings.to_arrays("body") | Postings.build(TermBag.of(["x"])).to_arrays("names")
    again = Postings.from_arrays(arrays, "body")
    assert again.documents == 2
    assert (
        WordField(again).score([(hash_of("b"), 1.0)]).tolist()
        == WordField(postings).score([(hash_of("b"), 1.0)]).tolist()
    )


# --- editing ----------------------------------------------------------------------------------------------------------


@given(
    TEXTS,
    st.lists(st.tuples(st.booleans(), st.integers(0, 2), st.text(st.sampled_from("abc A"), max_size=12)), max_size=12),
)
def test_edited_postings_are_those_that_would_be_built(before, steps):
    """Each step: does the next document stay, and how many new ones come before it."""
    moved, after, coming, numbers = [], [], [], []
    for position, text in enumerate(before):
        stays, new, word = steps[position] if position < len(steps) else (True, 0, "")
        for _ in range(new):
            numbers.append(len(after))
            coming.append(word)
            after.append(word)
        moved.append(len(after) if stays else -1)
        after += [text] if stays else []
    edited = Postings.build(TermBag.of(before)).edit(
        np.array(moved, dtype=np.int32), TermBag.of(coming), np.array(numbers, dtype=np.int32)
    )
    built = Postings.build(TermBag.of(after))
    for name, array in built.to_arrays("x").items():
        assert array.dtype == edited.to_arrays("x")[name].dtype
        assert array.tolist() == edited.to_arrays("x")[name].tolist(), name


def test_who_holds_a_term():
    postings = Postings.build(TermBag.of(["a b", "c", "b b"]))
    assert postings.holders(hash_of("b")).tolist() == [0, 2]
    assert postings.holders(hash_of("zebra")).tolist() == []
