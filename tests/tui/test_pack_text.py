"""What leaves, line by line, with the item of every line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from secateur_tui.widgets.pack_view import LONGEST, NONE, PackText

texts = st.text(alphabet="xy\n ", min_size=1, max_size=12).filter(str.strip).map(lambda text: text.strip("\n"))


@given(st.lists(texts, max_size=8), st.integers(0, 2))
def test_every_line_of_a_part_is_of_its_item(parts: list[str], around: int) -> None:
    """Between the parts stand lines that no part holds."""
    head = "# head\n" * around
    text = "".join(f"{head}{part}\n" for part in parts)
    pack = PackText.of(text, enumerate(parts))
    assert "\n".join(pack.lines) == text and not pack.further
    expected = [item for item, part in enumerate(parts) for item in [NONE] * around + [item] * (part.count("\n") + 1)]
    assert pack.items.tolist() == [*expected, NONE]
    for item in range(len(parts)):
        assert pack.line_of(item) == expected.index(item)
    assert pack.line_of(len(parts)) is None


def test_what_is_not_found_is_of_no_item_and_the_rest_still_is() -> None:
    pack = PackText.of("one\ntwo\nthree", [(0, "one"), (1, "laid out anew"), (2, "three")])
    assert pack.items.tolist() == [0, NONE, 2]


def test_chunks_follow_each_other_and_what_stands_around_files_is_the_chunks() -> None:
    chunks = [PackText.of("head\nx\n", [(1, "x")], around=0), PackText.of("head\ny\n", [(3, "y")], around=2)]
    pack = PackText.join(chunks)
    assert pack.lines == ["head", "x", "", "head", "y", ""]
    assert pack.items.tolist() == [0, 1, 0, 2, 3, 2]


def test_what_is_behind_a_million_tokens_is_counted() -> None:
    pack = PackText.of("a" * (LONGEST + 7), [(0, "a" * 10)])
    assert pack.further == 7 and len(pack.lines[0]) == LONGEST


def test_words_are_found_in_any_case() -> None:
    pack = PackText.of("Refund\ntotal\nREFUNDED", [])
    assert pack.find_lines("refund") == [0, 2] and pack.find_lines("") == []
