"""The names of the pages: all of them can be read where there is hardly room."""

from __future__ import annotations

import pytest
from secateur_tui.screen import draw_tabs
from secateur_tui.styled_text import width

PAGES = [(name.lower(), name) for name in ("Why", "Preview", "Diff", "Pack", "Compare", "Cases", "Curve")]


def drawn(cells: int, page: str) -> str:
    return "".join(span.text for tab in draw_tabs(PAGES, page, cells) for span in tab)


@pytest.mark.parametrize("page", [page for page, _ in PAGES])
@pytest.mark.parametrize("cells", [48, 49])  # beside the items of a screen of 120 columns; where each has its edges
def test_every_page_is_named_and_the_open_one_is_marked(cells: int, page: str) -> None:
    text = drawn(cells, page)
    assert len(text) <= cells
    title = dict(PAGES)[page]
    assert f"▐{title}▌" in text
    assert [word.strip("▐▌") for word in text.replace("▌", " ").replace("▐", " ").split()] == [
        name for _, name in PAGES
    ]


def test_neighbours_share_an_edge_only_where_room_is_scarce() -> None:
    assert drawn(49, "why").startswith("▐Why▌ Preview  Diff ")
    assert drawn(48, "why").startswith("▐Why▌Preview Diff ")
    assert drawn(48, "preview").startswith(" Why▐Preview▌Diff ")


def test_a_click_finds_the_tab_it_is_on() -> None:
    assert [width(tab) for tab in draw_tabs(PAGES, "why", 48)] == [5, 8, 5, 5, 8, 6, 6]
