"""The page that lays two decisions side by side, drawn of ledgers made by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secateur.kinds.side_by_side import Pair, Placed, SideBySide
from secateur.ledger import Entry, Ledger, Reason, State
from secateur_tui.jobs import IndexProgress
from secateur_tui.parts.comparing import ComparisonReading, draw_id, draw_reading, draw_side_by_side
from secateur_tui.styled_text import plain, width


def placed(id_: str, rank: int, state: State = State.KEPT, after: int = 100) -> Placed:
    return Placed(rank - 1, Entry(id_, state, Reason.FITS, 100, after), rank)


def ledger(tokens: int) -> Ledger:
    return Ledger("search", 4_000, 9_000, lambda: tokens, ())


SIDES = SideBySide(
    ledger(3_985),
    ledger(3_998),
    only_left=(Pair("docs/api.rst::api", placed("docs/api.rst::api", 25), None),),
    only_right=(Pair("flask/sessions.py::open_session", None, placed("flask/sessions.py::open_session", 7)),),
    both=(
        Pair("a.py::kept", placed("a.py::kept", 1), placed("a.py::kept", 1)),
        Pair("a.py::cut", placed("a.py::cut", 2), placed("a.py::cut", 2, State.SHORTENED, 31)),
        Pair("a.py::moved", placed("a.py::moved", 15), placed("a.py::moved", 3)),
    ),
)
LABELS = ("spec", "profile recommended")


def test_the_sides_stand_beside_each_other() -> None:
    assert "\n".join(plain(drawn).rstrip() for drawn in draw_side_by_side(SIDES, LABELS, 82)) == (
        "spec                                      profile recommended\n"
        "3,985 of 4,000 tokens                     3,998 (+13) of 4,000 tokens\n"
        "\n"
        "only left (1, 100 tokens)                 only right (1, 100 tokens)\n"
        "●    100 api  docs/api.rst                ●    100 open_session  flask/sessions.py\n"
        "\n"
        "both (3)  1 cut otherwise, 1 at another rank\n"
        "●→◐    100 → 31     cut  a.py\n"
        "\n"
        "other ranks (1)\n"
        "   ▲12     15 → 3      moved  a.py"
    )


def test_on_a_narrow_page_they_stand_below_each_other() -> None:
    drawn = [plain(one).rstrip() for one in draw_side_by_side(SIDES, LABELS, 50)]
    assert drawn.index("only left (1, 100 tokens)") < drawn.index("only right (1, 100 tokens)")


def test_equal_sides_are_said_to_be_equal() -> None:
    same = SideBySide(ledger(1), ledger(1), (), (), SIDES.both[:1])
    assert "the same is sent on both sides" in plain(draw_side_by_side(same, LABELS, 80)[-1])


@given(cells=st.integers(min_value=1, max_value=240), label=st.text(max_size=60), id_=st.text(max_size=90))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_no_line_is_wider_than_the_page(cells: int, label: str, id_: str) -> None:
    sides = SideBySide(ledger(10), ledger(20), (Pair(id_, placed(id_, 1), None),), SIDES.only_right, SIDES.both)
    for drawn in draw_side_by_side(sides, (label, "right"), cells):
        assert width(drawn) <= cells
        assert "\x1b" not in plain(drawn)


@pytest.mark.parametrize(
    ("cells", "said"), [(40, "open_session  flask/sessions.py"), (14, "open_session"), (6, "_sess…")]
)
def test_the_name_comes_first(cells: int, said: str) -> None:
    assert plain(draw_id("flask/sessions.py::open_session", cells)) == said


def test_a_path_is_cut_at_a_folder_and_what_has_no_name_is_called_as_its_file() -> None:
    assert plain(draw_id("sympy/polys/agca/tests/test_extensions.py::test_mod", 34)) == "test_mod  …/test_extensions.py"
    assert plain(draw_id("orders/domain/tax.py::L31", 40)) == "tax.py:31  orders/domain/tax.py"
    assert plain(draw_id("a/very/long/way/to/index.html", 14)) == "…/index.html"


def test_what_is_read_shows_percent_and_the_key_that_ends_it() -> None:
    progress = IndexProgress("indexing, once", 1_240, 4_000)
    text = "\n".join(
        plain(line) for line in draw_reading(ComparisonReading(None, label="x", progress=progress), "Esc", 50)
    )
    assert "Reading x" in text and "1,240 of 4,000" in text and "31 %  Esc cancels" in text
