"""The picture of a budget: its segments are the ledger's, and every cell is the item that stands there."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.ledger import WRAPPER, Sums
from secateur.model import Entry, Ledger, Reason, State
from secateur_tui.state.answer import ShownAnswer
from secateur_tui.styled_text import plain, width
from secateur_tui.widgets.budget_bar import (
    BudgetFrame,
    BudgetPicture,
    draw_bar,
    draw_budget,
    draw_headline,
    find_owners,
    item_at,
    picture_of,
    reach_of,
)
from support.ledgers import answer_of


@st.composite
def answers(draw: st.DrawFn) -> ShownAnswer[None]:
    entries = []
    for number in range(draw(st.integers(0, 12))):
        state = draw(st.sampled_from(State))
        before = draw(st.integers(0, 5_000))
        after = {State.KEPT: before, State.DROPPED: 0}.get(state, draw(st.integers(0, before)))
        entries.append(Entry(f"item {number}", state, Reason.FITS, before, after))
    places = draw(st.permutations(range(len(entries))))
    placed = [
        Entry(one.id, one.state, one.reason, one.before, one.after, position=place if one.after else None)
        for one, place in zip(entries, places, strict=True)
    ]
    after = sum(entry.after for entry in placed) + draw(st.integers(0, 300))
    return answer_of(Ledger.closed("any", draw(st.integers(0, 40_000)), placed, after))


@given(answers())
def test_segments_wrapper_and_free_are_the_ledgers(answer: ShownAnswer[None]) -> None:
    picture, ledger = picture_of(answer), answer.ledger
    frame = picture.joined
    assert (picture.after, picture.budget) == (ledger.after, ledger.budget)
    drawn = dict(zip(frame.items.tolist(), frame.tokens.tolist(), strict=True))
    assert drawn == {
        item: entry.after for item, entry in enumerate(answer.entries) if entry.after and entry.id != WRAPPER
    }
    places = [answer.entries[item].position for item in frame.items.tolist()]
    assert places == sorted(places)  # type: ignore[type-var]
    assert int(frame.tokens.sum()) + frame.around == ledger.after


@given(answers(), st.none() | answers(), st.integers(10, 240))
def test_every_cell_is_what_stands_there(answer: ShownAnswer[None], then: ShownAnswer[None] | None, cells: int) -> None:
    picture, ghost = picture_of(answer), picture_of(then) if then is not None else None
    reach = reach_of(picture, ghost) or picture.joined.reach
    above, bar = draw_bar(picture, ghost, None, "", cells)
    assert width(bar) == cells and width(above) <= cells
    text, found = plain(bar), find_owners(picture.joined, cells, reach).tolist()
    for cell, owner in enumerate(found):
        item = item_at(picture, cell, cells, reach)
        if owner >= 0:
            assert item is not None and answer.entries[item].after > 0
            start = sum(picture.joined.tokens[:owner].tolist())
            middle = (cell + 0.5) * reach / cells
            assert start <= middle < start + answer.entries[item].after, "the middle of the cell lies in its segment"
            assert text[cell] in "█▓▒▌"
        else:
            assert item is None and text[cell] in "░·▚ "
    assert [owner for owner in found if owner >= 0] == sorted(owner for owner in found if owner >= 0)


@given(answers(), st.none() | answers(), st.integers(20, 240))
def test_the_headline_counts_items_and_their_tokens(
    answer: ShownAnswer[None], then: ShownAnswer[None] | None, cells: int
) -> None:
    ledger = answer.ledger
    drawn = draw_headline(picture_of(answer), picture_of(then) if then is not None else None, cells)
    assert width(drawn) <= cells
    told = re.findall(r"([●◐◍○]) [a-z]+ ([\d,]+) \(([\d,]+)(?: of ([\d,]+))?\)", plain(drawn))
    items = [entry for entry in ledger.entries if entry.id != WRAPPER]
    for glyph, count, after, before in told:
        mine = [entry for entry in items if entry.state.glyph == glyph]
        assert int(count.replace(",", "")) == len(mine)
        assert int(after.replace(",", "")) == sum(entry.after for entry in mine)
        assert int((before or after).replace(",", "")) == sum(entry.before for entry in mine)


def test_what_is_over_the_budget_is_told_apart() -> None:
    ledger = Ledger.closed("any", 500, [Entry("a", State.SHORTENED, Reason.SNIPPETS, 900, 700)], 700)
    headline, _, bar = draw_budget(picture_of(answer_of(ledger)), None, None, "", 70)
    assert plain(headline).startswith("700 of 500") and "200 over" in plain(headline)
    assert plain(bar).count("▚") == 20


def test_what_was_free_under_the_budget_before_takes_no_cells_of_the_bar() -> None:
    def picture(budget: int, after: int) -> BudgetPicture:
        ledger = Ledger.closed("any", budget, [Entry("a", State.KEPT, Reason.FITS, 800, after)], after)
        return picture_of(answer_of(ledger))

    above, bar = draw_bar(picture(400, 400), picture(50_000, 800), None, "", 40)
    assert plain(bar).rstrip() == "█" * 19 + "▌" and plain(above).rstrip() == "▁" * 39
    above, bar = draw_bar(picture(50_000, 800), picture(400, 400), None, "", 40)
    assert plain(bar) == "▌" + "·" * 39


def test_the_segment_at_the_cursor_is_lit_and_marked() -> None:
    entries = [Entry(name, State.KEPT, Reason.FITS, 100, 100) for name in "abcd"]
    picture = picture_of(answer_of(Ledger.closed("any", 400, entries, 400)))
    above, bar = draw_bar(picture, None, 2, "c 100", 40)
    assert [(len(span.text), span.text) for span in bar if "accent" in span.role] == [(10, "█" * 9 + "▌")]
    assert plain(above).index("▼") == 25 and plain(above).endswith("▼ c 100")
    ghost, _ = draw_bar(picture, picture, 2, "c 100", 40)
    assert plain(ghost)[25] == "▼" and plain(ghost).count("▁") == 36 - 1


def test_an_item_too_small_for_a_cell_is_marked_where_it_stands() -> None:
    segments = [(0, 4_100, State.KEPT), (1, 1, State.KEPT), (2, 5_899, State.KEPT)]
    frame = BudgetFrame.of(10_000, segments, 0)
    after = BudgetFrame.of(10_000, [(3, 10_000, State.KEPT)], 0)
    for frames, mark in ((frame,), 16), ((frame, after), 7), ((after, frame), 27):
        marked, bar = draw_bar(BudgetPicture(frames, {}), None, 1, "refund 1", 40)
        assert plain(marked).index("▼") == mark and not any("accent" in span.role for span in bar)
    nowhere, _ = draw_bar(BudgetPicture((frame,), {}), None, 7, "gone is not sent", 20)
    assert "▼" not in plain(nowhere)


def test_only_tokens_that_were_saved_are_told() -> None:
    picture = BudgetPicture((BudgetFrame.of(100, [(0, 60, State.KEPT)], 0),), {State.KEPT: Sums(1, 50, 60)})
    assert "kept 1 (60)" in plain(draw_headline(picture, None, 100))


def test_chunks_have_a_frame_each_as_long_as_there_is_room() -> None:
    frames = tuple(BudgetFrame.of(100, [(number, 50, State.KEPT)], 0) for number in range(4))
    picture = BudgetPicture(frames, {})
    _, bar = draw_bar(picture, None, None, "", 43)
    assert plain(bar) == " ".join(["████▌·····"] * 4)
    assert [item_at(picture, cell, 43) for cell in (0, 4, 5, 10, 11, 42)] == [0, 0, None, None, 1, None]
    assert [item_at(picture, cell, 8) for cell in range(8)] == [0, 1, 2, 3, None, None, None, None]


@pytest.mark.parametrize("cells", range(76, 240, 7))
def test_a_headline_never_tells_less_with_more_room(cells: int) -> None:
    entries = [
        Entry(f"{number}", State(number % 4), Reason.FITS, 900, 0 if number % 4 == 0 else 700) for number in range(40)
    ]
    picture = picture_of(answer_of(Ledger.closed("any", 30_000, entries, 21_100)))
    assert width(draw_headline(picture, picture, cells)) <= width(draw_headline(picture, picture, cells + 1))
