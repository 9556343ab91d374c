"""Text from outside cannot act on a terminal or hide in it, and is cut to the cells there are."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.terminal import ELLIPSIS, cell_width, clip, clip_left, visible

_TROUBLE = (
    "\x00\x07\x1b\x7f\x9b\x9d\u00ad\u034f\u061c\u200b\u200d\u200e\u2028\u2029"
    "\u202e\u2066\ufeff\ud800\udcff\ue000\U000e0041\U000f0000\u3164\n\r\t"
)
ANY_TEXT = st.text(st.one_of(st.characters(), st.sampled_from(_TROUBLE + "\u0301\u0489中文a é…🎉")))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcödé 订单", "plain ünïcödé 订单"),
        ("\x1b]0;owned\x07", "␛]0;owned␇"),
        ("\x1b[31mred", "␛[31mred"),
        ("a\x00b\x7f", "a␀b␡"),
        ("\x9b31m", "<U+009B>31m"),
        ("user\u202etxt.exe", "user<U+202E>txt.exe"),
        ("a\u200bb", "a<U+200B>b"),
        ("a\U000e0041b", "a<U+E0041>b"),
        ("caf\udce9.py", "caf<E9>.py"),
        ("\ud800", "<U+D800>"),
        ("a\u2028b", "a<U+2028>b"),
        ("a\tb", "a    b"),
        ("a\r\nb\nc", "a␍␊b␊c"),
        ("e\u0301", "e\u0301"),
        ("e" + "\u0301" * 5, "e" + "\u0301" * 3 + "<U+0301>" * 2),
        ("", ""),
    ],
)
def test_what_a_terminal_would_obey_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_newlines_and_tabs_can_stay() -> None:
    assert visible("a\r\nb\tc\rd", keep_newlines=True) == "a\nb    c␍d"
    assert visible("a\tb\nc", keep_newlines=True, keep_tabs=True) == "a\tb\nc"
    assert visible("a\tb\nc", keep_tabs=True) == "a\tb␊c"


def test_few_and_many_kinds_of_harmful_characters_are_replaced_alike() -> None:
    kinds = [*map(chr, range(1, 9)), "\x7f", "\u200b", "\ue000", "\x85"]
    assert visible("".join(kinds) * 2) == "".join(map(visible, kinds)) * 2


def test_no_character_of_control_or_format_passes() -> None:
    categories = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    passed = [
        hex(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) in categories and visible(chr(code)) == chr(code)
    ]
    assert passed == []


@given(ANY_TEXT, st.booleans(), st.booleans())
def test_visible_text_is_harmless_and_stays_as_it_is(text: str, lines: bool, tabs: bool) -> None:
    shown = visible(text, keep_newlines=lines, keep_tabs=tabs)
    assert visible(shown, keep_newlines=lines, keep_tabs=tabs) == shown
    shown.encode("utf-8")
    allowed = "\n" * lines + "\t" * tabs
    assert all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") or char in allowed for char in shown)


@given(ANY_TEXT)
def test_whatever_is_replaced_takes_room(text: str) -> None:
    for char in text:
        if visible(char) != char:
            assert cell_width(visible(char)) >= 1


@given(ANY_TEXT.map(visible), st.integers(0, 30))
def test_clipped_text_fits_and_keeps_what_fits(text: str, width: int) -> None:
    for cut, kept in ((clip(text, width), text.startswith), (clip_left(text, width), text.endswith)):
        assert cell_width(cut) <= width
        if cell_width(text) <= width and width:
            assert cut == text
        elif width:
            assert ELLIPSIS in cut
            assert kept(cut.removesuffix(ELLIPSIS) if cut.endswith(ELLIPSIS) else cut.removeprefix(ELLIPSIS))
            assert cell_width(cut) >= width - 1  # a wide character may not fit into the last cell
        else:
            assert cut == ""


@pytest.mark.parametrize(
    ("text", "width", "left", "right"),
    [
        ("tests/test_money.py", 14, "tests/test_mo…", "…test_money.py"),
        ("订单处理", 8, "订单处理", "订单处理"),
        ("订单处理", 7, "订单处…", "…单处理"),
        ("订单处理", 6, "订单…", "…处理"),
        ("abc", 1, "…", "…"),
        ("abc", 0, "", ""),
        ("cafe\u0301s", 5, "cafe\u0301s", "cafe\u0301s"),
        ("cafe\u0301s", 4, "caf…", "…fe\u0301s"),
        ("cafe\u0301s", 3, "ca…", "…e\u0301s"),
        ("cafe\u0301s", 2, "c…", "…s"),
    ],
)
def test_cut_at_the_end_or_at_the_start(text: str, width: int, left: str, right: str) -> None:
    assert clip(text, width) == left
    assert clip_left(text, width) == right


def test_width_counts_cells() -> None:
    assert cell_width("abc") == 3
    assert cell_width("订单") == 4
    assert cell_width("e\u0301") == 1
    assert cell_width("ｗ") == 2
