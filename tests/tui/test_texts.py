import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.terminal import visible
from secateur_tui.styled_text import plain, width
from secateur_tui.widgets.texts import LONGEST_SHOWN, draw_changes, draw_text

TEXTS = st.text(st.sampled_from("ab \n日e\u0301\x1b\u202e[]"), max_size=120)


@given(TEXTS, st.integers(2, 30))
def test_every_letter_is_shown_once_within_the_width(text: str, cells: int) -> None:
    lines = draw_text(text, cells)
    assert all(width(line) <= cells for line in lines)
    letters = "".join(plain(line) for line in lines).replace(" ", "")
    assert letters == visible(text, keep_newlines=True).replace("\n", "").replace(" ", "")


@given(TEXTS, TEXTS, st.integers(4, 30))
def test_a_difference_shows_all_lines_of_both(before: str, after: str, cells: int) -> None:
    told = draw_changes(before, after, cells)
    assert all(width(line) <= cells for line in told)
    for text, role in ((before, "down"), (after, "up")):
        letters = "".join(plain(line)[2:] for line in told if line[0].role in (role, "faint")).replace(" ", "")
        assert letters == visible(text, keep_newlines=True).replace("\n", "").replace(" ", "")


def test_what_is_too_long_is_counted() -> None:
    assert "… 7 more characters" in plain(draw_text("x" * (LONGEST_SHOWN + 7), 80)[-1])
    assert "not compared" in plain(draw_changes("x" * (LONGEST_SHOWN + 7), "y", 80)[-1])


@pytest.mark.parametrize("text", ["日" * 30_000, "a " * 30_000, "\n" * 30_000])
def test_long_texts_are_drawn_without_delay(text: str) -> None:
    assert len(draw_text(text, 46)) <= LONGEST_SHOWN + 2
    assert draw_changes(text, text[1:], 46)
