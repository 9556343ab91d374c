"""Lists of any kind, at every width: no line is wider than the list, names stand whole where they fit, and columns give
way in one order."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspector_kit import Candidate, large_pool, make_pool, search_answer
from secateur.model import Entry, Reason, State
from secateur.selection import select
from secateur.settings import Settings
from secateur.terminal import cell_width, visible
from secateur_tui.parts.comparing import draw_id
from secateur_tui.parts.finding import draw_hit
from secateur_tui.short_names import (
    NAME,
    PLACE,
    Label,
    ListColumn,
    fit_path,
    lay_out_columns,
    shorten_label,
    shorten_name,
    shorten_path,
    shorten_paths,
    shorten_words,
)
from secateur_tui.state.finding import Hit, Match
from secateur_tui.styled_text import ELLIPSIS, plain, width
from secateur_tui.widgets.candidates import CandidateListing
from secateur_tui.widgets.listing import (
    Crossing,
    CutLine,
    draw_cut,
    draw_label,
    draw_row,
    draw_titles,
    find_alike,
    label_path,
)
from support.ledgers import answer_of

LISTS = range(18, 239)
"""Cells of a list: from less than a terminal of 80 columns leaves to one of 240 that shows nothing else."""

words = st.text(alphabet="abcXYZ_09", min_size=1, max_size=12)
names = st.lists(words, min_size=1, max_size=5).map(".".join)
paths = st.lists(words, min_size=1, max_size=6).map("/".join)


def listing(**settings: object) -> CandidateListing:
    chosen = Settings(budget=4000, **settings)
    return CandidateListing(search_answer(select(make_pool(), chosen), chosen))


@st.composite
def columns(draw: st.DrawFn) -> list[ListColumn]:
    made = [
        ListColumn(NAME, "name", 1, draw(st.integers(8, 30)), 1, most=40),
        ListColumn(PLACE, "in", 8, 20, 6, most=50),
    ]
    for number in range(draw(st.integers(0, 5))):
        least = draw(st.integers(1, 12))
        wants = least + draw(st.integers(0, 10))
        made.append(ListColumn(f"{number}", "title", least, wants, draw(st.integers(0, 9))))
    return made


@given(columns())
def test_a_wider_list_never_shows_fewer_columns(given_columns: list[ListColumn]) -> None:
    by_matter = [column.id for column in sorted(given_columns, key=lambda one: one.matters)]
    shown = 0
    for cells in LISTS:
        layout = lay_out_columns(given_columns, cells)
        assert len(layout.columns) >= shown
        shown = len(layout.columns)
        assert {column.id for column in layout.columns} == set(by_matter[:shown]), "they give way in one order"
        assert sum(layout.cells.values()) + shown <= max(cells, 2 * shown)
        assert all(layout.cells[column.id] >= column.least for column in layout.columns[1:]) or shown == 1


@pytest.mark.parametrize("cells", LISTS)
def test_every_line_of_a_search_keeps_to_its_list(cells: int) -> None:
    shown = listing()
    layout = lay_out_columns(shown.columns, cells)
    assert width(draw_titles(layout)) <= cells
    for item in shown.answer.order.tolist():
        drawn = draw_row(shown, item, layout)
        assert width(drawn) <= cells and drawn[0].text == " "
        room = layout.cells[NAME] + (1 + layout.cells[PLACE] if PLACE in layout.cells else 0)
        name = shown.label(item).name
        assert name in plain(drawn) or cell_width(name) > room, "a name is whole whenever it fits"
        assert cells < 60 or name in plain(drawn), "at 110 columns and more every name stands whole"


@given(names, paths, st.integers(1, 60), st.integers(0, 60))
def test_a_name_takes_the_cells_of_its_place(name: str, place: str, cells: int, beside: int) -> None:
    drawn = draw_label(Label(name, place), cells, beside)
    whole = cells + (1 + beside if beside else 0)
    assert width(drawn) == whole
    assert plain(drawn).startswith(name) or cell_width(name) > whole


def test_the_repository_of_a_place_is_told_while_there_is_room() -> None:
    place = "flask/src/flask/sessions.py:57"
    shown = {
        cells: plain(draw_label(Label("f", place, repository="flask"), 1, cells))[2:].rstrip() for cells in range(8, 32)
    }
    assert shown[30] == place
    assert shown[29] == "flask/…/flask/sessions.py:57"
    assert shown[23] == "flask/…/sessions.py:57"
    assert shown[21] == "flask/…sessions.py:57"
    assert shown[14] == "…/sessions.py"
    assert "flask/…" not in shown.values()
    assert all(cell_width(text) <= cells for cells, text in shown.items())


@given(names | paths, st.integers(1, 60), st.sampled_from([shorten_name, shorten_path]))
def test_what_is_cut_is_cut_where_a_word_begins(text: str, cells: int, short: object) -> None:
    cut = short(text, cells)  # type: ignore[operator]
    assert cell_width(cut) <= cells
    if cut == text:
        return
    assert ELLIPSIS in cut
    if cut.startswith(ELLIPSIS) and len(cut) > 1:
        end = cut[1:]
        assert text.endswith(end)
        before = text[: -len(end)][-1:]
        inside = (before.islower() or before.isdecimal()) or (before.isupper() and end[0].isupper())
        assert end[0] in "./_" or before == "/" or inside
    else:  # not even its last word fits
        assert (
            cell_width(re.split(r"[./_]", text)[-1]) + 1 >= cells or len(cut) <= 1 or re.search("[a-z0-9][A-Z]", text)
        )


@given(st.text(alphabet="ab 订(),.\x1b\u202e", max_size=60).map(visible), st.integers(0, 30))
def test_a_text_is_cut_behind_a_word(text: str, cells: int) -> None:
    cut = shorten_words(text, cells)
    assert cell_width(cut) <= max(cells, 0)
    if cut not in (text, "", ELLIPSIS):
        kept = cut.removesuffix(ELLIPSIS)
        assert text.startswith(kept)
        inside = kept[-1:].isalnum() and text[len(kept) : len(kept) + 1].isalnum()
        assert not inside or " " not in kept


def test_a_long_name_keeps_as_much_of_its_class_as_there_is_room_for() -> None:
    name = "SecureCookieSessionInterface.get_signing_serializer"
    assert shorten_name(name, 46) == "…CookieSessionInterface.get_signing_serializer"
    assert shorten_name(name, 36) == "…Interface.get_signing_serializer"
    assert shorten_name(name, 24) == "….get_signing_serializer"
    assert shorten_name(name, 20) == "…_signing_serializer"


def test_a_long_path_does_not_hide_the_words_around_it() -> None:
    text = "! /home/somebody/" + "deep/" * 20 + "notes.json: cannot be read; 3 files are missing"
    short = shorten_paths(text, 60)
    assert short.startswith("! …/") and short.endswith("notes.json: cannot be read; 3 files are missing")
    bracketed = shorten_paths(f"1 binary (docs/{'_static/' * 6}logo.png).", 60)
    assert bracketed.startswith("1 binary (…/") and bracketed.endswith("/logo.png).")
    assert cell_width(short) <= 90 and shorten_paths("! a/b.py: cannot be read", 60) == "! a/b.py: cannot be read"


CHAPTER = "Handling Application Errors > Error "
SECTIONS = [CHAPTER + name for name in ("Handlers", "Logging Tools", "Pages", "Pages > Blueprint Error Handlers")]
SENTENCES = [f"a refund of {part} is rounded as the order was" for part in ("one item", "two items", "all items")]


def found(name: str, cells: int) -> str:
    entry = Entry(f"docs/errors.rst::{name}", State.KEPT, Reason.FITS, 1, 1)
    return plain(draw_hit(replace(answer_of([entry]), names=[name]), Hit(0, Match.NAME), cells + 5))


@pytest.mark.parametrize("cells", [8, 14, 20, 30])
@pytest.mark.parametrize(
    "draw",
    [
        shorten_label,
        lambda name, cells: plain(draw_label(Label(name, "docs/errors.rst:7"), cells, 0)),
        lambda name, cells: plain(draw_id(f"docs/errors.rst::{name}", cells)),
        found,
    ],
    ids=["alone", "in the list", "in the comparison", "among what is found"],
)
def test_sections_of_one_chapter_differ_where_they_are_cut(draw: Callable[[str, int], str], cells: int) -> None:
    short = [draw(name, cells) for name in SECTIONS]
    assert len(set(short)) == len(SECTIONS), short
    assert shorten_label(SECTIONS[0], 60) == SECTIONS[0]


def test_a_sentence_keeps_both_ends() -> None:
    assert shorten_label(SENTENCES[0], 30) == "a refund of one ite… order was"
    assert len({shorten_label(name, 30) for name in SENTENCES}) == 3


def test_a_place_gives_up_its_folders_then_its_line_and_then_its_cells() -> None:
    label = Label("dmp_factor_list", "sympy/polys/compatibility.py:139")
    told = [plain(draw_label(label, 15, cells)).removeprefix("dmp_factor_list").strip() for cells in (23, 21, 18, 15)]
    assert fit_path("orders/refunds.py", 5) == "" and fit_path("a.py", 5) == "a.py"
    assert told == ["…/compatibility.py:139", "…compatibility.py:139", "…/compatibility.py", ""]


def test_spare_cells_go_to_the_places_before_they_go_to_the_column_of_names() -> None:
    chosen = [ListColumn(NAME, "name", 1, 24, 1, most=44), ListColumn(PLACE, "in", 8, 22, 6, most=40)]
    assert [lay_out_columns(chosen, cells).cells for cells in (58, 70, 100)] == [
        {NAME: 24, PLACE: 32},
        {NAME: 28, PLACE: 40},
        {NAME: 44, PLACE: 54},
    ]


def test_a_column_that_matters_more_than_the_places_is_whole_before_they_grow() -> None:
    lines = ListColumn("beside", "lines", 8, 8, 5, most=16)
    chosen = [ListColumn(NAME, "name", 1, 24, 1, most=44), ListColumn(PLACE, "in", 8, 22, 6, most=40), lines]
    assert lay_out_columns(chosen, 70).cells == {NAME: 24, PLACE: 27, "beside": 16}


def test_names_and_places_of_entries() -> None:
    assert label_path("flask/sessions.py::Session.open") == Label("Session.open", "flask/sessions.py")
    assert label_path("src/shop/cart.py") == Label("cart.py", "src/shop")
    assert label_path("dependency_digest.files[3]") == Label("dependency_digest.files[3]")
    assert label_path("a/") == Label("a/")


def test_the_cut_stands_where_the_budget_ends() -> None:
    shown = listing()
    assert shown.cut is not None
    selection = select(make_pool(), Settings(budget=4000))
    above, below = selection.order[: shown.cut.above], selection.order[shown.cut.above :]
    assert all(selection.state[row] == State.KEPT for row in above)
    assert selection.reason[below[0]] == Reason.NO_ROOM
    assert shown.cut.below == sum(selection.state[row] != State.DROPPED for row in below)
    assert f"{shown.cut.below} below still fit" in plain(draw_cut(shown.cut, 70))
    everything = Settings(budget=100_000)
    assert CandidateListing(search_answer(select(make_pool(), everything), everything)).cut is None


@given(st.integers(6, 240), st.lists(names, max_size=3), st.lists(names, max_size=3), st.integers(0, 50))
def test_the_cut_says_what_crosses_it_where_there_is_room(
    cells: int, keeps: list[str], loses: list[str], below: int
) -> None:
    cut = CutLine(3, 4000, below, (Crossing(110, keeps, loses), Crossing(-35, (), keeps)))
    drawn = draw_cut(cut, cells)
    assert width(drawn) <= cells
    if cells == 240:
        text = plain(drawn)
        assert "+110" in text and "−35" in text
    assert "cut at 4,000" in plain(drawn) or cells < 20


OVERLOADS = [
    Candidate(
        "dubbo-rpc/src/org/dubbo/AsyncRpcResult.java", "AsyncRpcResult.newDefaultAsyncResult", (at, at + 9), 40, 0.5
    )
    for at in (88, 97, 106, 151)
]
SIGNS_IN_PATHS = [
    Candidate("test/routing_test.rb", f"RoutingTest.literally matches the {sign} sign in paths", (at, at + 9), 40, 0.5)
    for at, sign in ((12, "dollar"), (30, "plus"))
]


@pytest.mark.parametrize("cells", [48, 62, 70, 118, 190])
def test_different_candidates_look_different(cells: int) -> None:
    chosen = Settings(budget=4000)
    shown = CandidateListing(search_answer(select(make_pool([*OVERLOADS, *SIGNS_IN_PATHS]), chosen), chosen))
    layout = lay_out_columns([column for column in shown.columns if column.id in (NAME, PLACE)], cells)
    rows = [plain(draw_row(shown, item, layout)) for item in range(len(shown.answer))]
    assert len(set(rows)) == len(rows)
    assert all(cell_width(row) <= cells for row in rows)


def test_names_that_differ_keep_their_looks() -> None:
    chosen = Settings(budget=4000)
    assert not CandidateListing(search_answer(select(large_pool(300), chosen), chosen)).alike(24, 22)


@pytest.mark.parametrize("cells", range(24, 60, 5))
def test_texts_that_begin_alike_are_shown_where_they_differ(cells: int) -> None:
    labels = [
        Label("assistant", f"I look at /tmp/shop/orders/src/{name}.py and read it", prose=True) for name in "abcd"
    ]
    alike = find_alike(labels, 9, cells)
    shared = len("I look at /tmp/shop/orders/src/")
    assert not alike or set(alike.values()) == {shared}
    drawn = {plain(draw_label(label, 9, cells, shared=shared if alike else 0)) for label in labels}
    assert len(drawn) == len(labels)
