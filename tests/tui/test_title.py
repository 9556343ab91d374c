"""What the title line keeps when there is little room."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur_tui.styled_text import plain, width
from secateur_tui.widgets.knob_panel import BenchTitle, TitleFacts, draw_title

NAMES = ("Search", "Files", "Conversation", "Envelope", "Diff")
FACTS = TitleFacts(
    source="session.jsonl",
    profile="recommended",
    changed=True,
    counter="o200k_base",
    count=(1205, "item"),
    fresh=False,
    stale="the file changed",
    remedy="R reads again",
    activity="",
    benches=[BenchTitle(str(number), name, name == "Conversation") for number, name in enumerate(NAMES, 1)],
)


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (200, "1 Search 2 Files 3 Conversation 4 Envelope 5 Diff"),
        (150, "the file changed, R reads again   1 Search 2 Files 3 Conversation 4 Envelope 5 Diff"),
        (125, "○ stale: the file changed, R reads again   1 2 3 Conversation 4 5"),
        (110, "recommended*   ○ stale: the file changed, R reads again   1 2 3 Conversation 4 5"),
        (95, "○ stale: the file changed   1 2 3 Conversation 4 5"),
        (80, "○ stale   1 2 3 Conversation 4 5"),
        (50, "○ stale"),
    ],
)
def test_benches_and_what_is_stale_give_way_in_their_order(cells: int, shown: str) -> None:
    assert shown in plain(draw_title(FACTS, cells))


def test_a_bench_without_a_key_is_named_without_one() -> None:
    benches = [bench._replace(key="" if bench.title == "Files" else bench.key) for bench in FACTS.benches]
    assert "1 Search Files 3 Conversation" in plain(draw_title(replace(FACTS, benches=benches), 200))
    assert "1 3 Conversation 4 5" in plain(draw_title(replace(FACTS, benches=benches), 80))


@given(st.integers(1, 250), st.text(max_size=200), st.booleans())
def test_a_title_keeps_to_its_line(cells: int, source: str, busy: bool) -> None:
    facts = replace(FACTS, source=source, activity="deciding" if busy else "")
    drawn = draw_title(facts, cells)
    assert width(drawn) <= cells and "\n" not in plain(drawn)


def test_a_long_path_keeps_its_file_and_hides_neither_the_benches_nor_what_is_stale() -> None:
    facts = replace(FACTS, source="/data/projects/builds/2025/nightly/linux-x86-64/compile-long.log")
    for cells in (200, 150, 125, 110, 95, 80):
        drawn = plain(draw_title(facts, cells))
        assert "compile-long.log" in drawn and "stale" in drawn and "3 Conversation" in drawn, cells
