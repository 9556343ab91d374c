from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.terminal import visible
from secateur_tui.styled_text import cut_cells, plain, width
from secateur_tui.widgets.item_pages import LONGEST_COMPARED, draw_changes
from secateur_tui.widgets.text_view import LONGEST_SHOWN, find_row_starts, text_lines

LETTERS = (*"ab \n日e\x1b\u202e[]", "e\u0301")  # a mark stands on a letter: alone it has no cell of its own
TEXTS = st.lists(st.sampled_from(LETTERS), max_size=120).map("".join)


@given(TEXTS, st.integers(2, 30))
def test_every_letter_is_shown_once_within_the_width(text: str, cells: int) -> None:
    letters = ""
    for line in text_lines(text):
        starts = [*find_row_starts(plain(line), cells), width(line)]
        rows = [cut_cells(line, start, min(cells, end - start)) for start, end in pairwise(starts)]
        assert all(width(row) <= cells for row in rows)
        letters += "".join(map(plain, rows))
    assert letters.replace(" ", "") == visible(text, keep_newlines=True).replace("\n", "").replace(" ", "")


def test_a_wrapped_line_is_cut_behind_blanks_and_a_long_word_where_the_row_ends() -> None:
    text = "one word and another_one_that_is_long"
    assert [text[start:] for start in find_row_starts(text, 12)] == [text, "another_one_that_is_long", "that_is_long"]
    assert find_row_starts("日本語", 4) == [0, 4]


@given(TEXTS, TEXTS, st.integers(4, 30))
def test_a_difference_shows_all_lines_of_both(before: str, after: str, cells: int) -> None:
    told = draw_changes(before, after, cells)
    assert all(width(line) <= cells for line in told)
    for text, role in ((before, "down"), (after, "up")):
        letters = "".join(plain(line)[2:] for line in told if line[0].role in (role, "faint")).replace(" ", "")
        assert letters == visible(text, keep_newlines=True).replace("\n", "").replace(" ", "")


def test_what_is_too_long_is_counted() -> None:
    assert "… 7 more characters" in plain([*text_lines("x" * (LONGEST_SHOWN + 7))][-1])
    assert "not compared" in plain(draw_changes("x" * (LONGEST_COMPARED + 7), "y", 80)[-1])


@pytest.mark.parametrize("text", ["日" * 30_000, "a " * 30_000, "\n" * 30_000])
def test_long_texts_are_drawn_without_delay(text: str) -> None:
    assert sum(len(find_row_starts(plain(line), 46)) for line in text_lines(text)) <= len(text) + 2
    assert draw_changes(text, text[1:], 46)
