"""Pasted text is text: whatever a terminal sends between the marks of a paste, and so much at once that nobody types
it, arrives as one paste without escapes, however the reads cut it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.settings import Settings
from secateur_tui.app import Inspector
from secateur_tui.host import MOST_TYPED, PasteParser
from textual import events

START, END = "\x1b[200~", "\x1b[201~"


def read(*reads: str, seconds: Iterable[float] = ()) -> list[str]:
    """The keys that a terminal's reads come to, by name, and the texts of its pastes, quoted. `seconds`: of the
    clock, at each look."""
    clock = iter(seconds)
    parser = PasteParser(clock=lambda: next(clock, 0.0))
    found = []
    for data in reads:
        for event in parser.feed(data):
            found += [event.key] if isinstance(event, events.Key) else []
            found += [repr(event.text)] if isinstance(event, events.Paste) else []
    return found


def test_a_paste_with_colours_is_one_paste() -> None:
    assert read(f"{START}a \x1b[31mfailed\x1b[0m D\n3 q{END}x") == ["'a failed D\\n3 q'", "x"]


@pytest.mark.parametrize(
    "inside", ["\x1b", "\x1bq", "\x1b[", "\x1b[20", "\x1b[A", "\x1bOP", "\x1b]0;t\x07", "\x1b" * 9]
)
def test_no_escape_ends_a_paste(inside: str) -> None:
    (paste,) = read(f"{START}one{inside}\ntwo{END}")
    assert "\x1b" not in paste
    assert paste.startswith("'one")
    assert paste.endswith("two'")


@given(st.text("aq3\x1b[20~m\n]P\x07\\", max_size=30), st.lists(st.integers(1, 6), min_size=40, max_size=60))
def test_where_the_reads_are_cut_changes_nothing(inside: str, sizes: list[int]) -> None:
    sent = f"k{START}{inside}|{END}j"
    if sent.count(END) > 1:  # no terminal sends the end mark as pasted text
        return
    reads = []
    for size in sizes:
        reads, sent = [*reads, sent[:size]], sent[size:]
    assert read(*filter(None, [*reads, sent])) == read(f"k{START}{inside}|{END}j")


@pytest.mark.parametrize("end", ["\x07", "\x1b\\"], ids=["bell", "terminator"])
@pytest.mark.parametrize("kind", "]PX^_")
def test_a_sequence_that_says_something_is_taken_out_with_all_that_it_says(kind: str, end: str) -> None:
    assert read(f"{START}refund \x1b{kind}0;evil{end}total{END}") == ["'refund total'"]
    sent = f"{START}refund \x1b{kind}0;evil{end}total{END}q"
    for cut in range(len(START), len(sent) - 1):
        assert read(sent[:cut], sent[cut:]) == ["'refund total'", "q"], cut


def test_what_only_begins_like_a_sequence_loses_its_escape_alone() -> None:
    assert read(f"{START}one \x1b]two\nthree\x07{END}") == [repr("one ]two\nthree\x07")]


def test_keys_stay_keys() -> None:
    assert read("\x1b[A\x1b[A", "q", "\x1bOP", "j" * 90, "\x1b[<35;10;10m" * 40) == ["up", "up", "q", "f1", *"j" * 90]


def test_an_unmarked_paste_is_a_paste_in_all_its_parts() -> None:
    text = "line \x1b[31mfailed\x1b[0m at last, D S 3 q\r"
    assert len(text) > MOST_TYPED
    pasted = repr("line failed at last, D S 3 q\r")
    assert read("\x1b[1mq") == ["'q'"]
    assert read(text, "q", "q", seconds=[7.0, 7.1, 9.0]) == [pasted, "'q'", "q"]


def test_the_inspector_reads_with_it() -> None:
    driver = Inspector(None, Settings(), bench="log", path="").get_driver_class()
    assert sys.modules[driver.__module__].__dict__["XTermParser"] is PasteParser
