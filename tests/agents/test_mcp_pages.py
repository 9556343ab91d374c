"""Pages of a text: each within its room, all of them the text."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from secateur.errors import UsageError
from secateur.tokens import get_counter
from secateur_agents.mcp.pages import cursor_of, page_of_cursor, split_pages

COUNT = get_counter("o200k_base").count


@given(st.lists(st.text(st.sampled_from('a \n\t"\\\x01斑🧿\u202e'), max_size=300), max_size=4), st.integers(16, 200))
@example(["x" * 5000], 16)
@example(["\n" * 5000, ""], 16)
def test_pages_are_the_texts_and_within_their_room(texts: list[str], limit: int) -> None:
    pages = split_pages(texts, COUNT, limit)
    assert "".join(pages) == "".join(texts)
    assert len(pages) >= max(1, len(texts))
    assert all(COUNT(page) <= max(limit, 40) for page in pages)


@given(st.text(max_size=30))
def test_a_cursor_is_read_back_or_refused(text: str) -> None:
    assert page_of_cursor(cursor_of("abc", 7)) == ("abc", 7)
    try:
        result, page = page_of_cursor(text)
    except UsageError:
        return
    assert cursor_of(result, page).rpartition(".")[0] == text.rpartition(".")[0]


def test_what_is_no_cursor_says_what_to_give() -> None:
    with pytest.raises(UsageError, match="is not valid for this server"):
        page_of_cursor("12")
