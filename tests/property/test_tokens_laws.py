"""Laws every counter keeps, on any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from secateur.tokens import COUNTERS, get_counter

anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)
"""Lone surrogates included."""


@pytest.mark.parametrize("name", COUNTERS)
@budgeted(max_examples=12, deadline=None)
@given(texts=st.lists(anything, max_size=5))
def test_counts_are_those_of_each_text_alone(name: str, texts: list[str]) -> None:
    counter = get_counter(name)
    counts = counter.count_many(texts)
    assert counts == [counter.count(text) for text in texts]
    assert [count > 0 for count in counts] == [text != "" for text in texts]


@pytest.mark.parametrize("name", COUNTERS)
@budgeted(max_examples=12, deadline=None)
@given(text=anything)
def test_no_count_exceeds_the_bytes(name: str, text: str) -> None:
    counter = get_counter(name)
    limit = len(text.encode("utf-8", "surrogatepass"))
    assert counter.count(text) <= (limit if counter.exact else 4 * limit)


@pytest.mark.parametrize("name", COUNTERS)
@budgeted(max_examples=12, deadline=None)
@given(
    lines=st.lists(
        st.text(alphabet="ab1 .(){}订", min_size=1, max_size=20).map(lambda line: "x" + line + "\n"),
        min_size=1,
        max_size=8,
    )
)
def test_whole_lines_cost_no_more_together_than_apart(name: str, lines: list[str]) -> None:
    counter = get_counter(name)
    assert counter.count("".join(lines)) <= sum(counter.count_many(lines))
