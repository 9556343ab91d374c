"""The HTML page of a report: nothing in it can act or load, and all of it can be read without its script."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.model import State
from secateur.render.report.content import Excerpt
from secateur.render.report.html_page import html_page
from secateur.render.report.looks import MOST_SEGMENTS, segments_of
from support.reports import Parsed, item, report

HOSTILE = [
    "</pre></script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<!-- --> ]]> <![CDATA[ &lt;b&gt; &#60;",
    "a\x1b]0;title\x07b \x9b31m \x00",
    "bidi \u202ereversed\u202c \u200bzero \ufeff",
    "lone \ud800 nonchar \ufffe",
    "</style><style>@import url(https://example.invalid)</style>",
    "javascript:alert(1)",
    "\n\n```\n# x",
]
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
LENGTHS = {"details", "h3", "pre", "span", "summary", "text"}
ATTRIBUTES = re.compile(r"on[a-z]+|src|style|action|formaction|srcset|data|poster|ping|background")


def structure(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """Tags and names of attributes, but for those whose number follows from the length of a text and of its diff."""
    return [(tag, tuple(attrs)) for tag, attrs in Parsed(page).tags if tag not in LENGTHS]


def check(text: str) -> None:
    page = html_page(report(text))
    assert not FORBIDDEN.search(page)
    page.encode("utf-8")
    assert structure(page) == structure(html_page(report("x" * 300)))
    for tag, attrs in Parsed(page).tags:
        assert not [name for name in attrs if ATTRIBUTES.fullmatch(name)], tag
        assert attrs.get("href", "#").startswith("#")
    assert Parsed(page).names().count("script") == Parsed(page).names().count("style") == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_from_outside_becomes_markup(text: str) -> None:
    check(text)


@given(st.text(min_size=1))
def test_no_text_at_all_becomes_markup(text: str) -> None:
    check(text)


def test_texts_are_read_as_they_are() -> None:
    text = "if a < b && c > d:\n\treturn \"&amp;\" # 'x' 退款"
    page = Parsed(html_page(report(text)))
    assert text in page.text


def test_the_policy_allows_the_style_and_the_script_of_the_page_and_no_request() -> None:
    page = html_page(report())
    (policy,) = [attrs["content"] or "" for _, attrs in Parsed(page).tags if "http-equiv" in attrs]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", page)


def test_the_bar_has_a_segment_for_each_item_that_goes_out_and_adds_up_to_the_budget() -> None:
    made = report()
    segments = segments_of(made)
    assert [one.look for one in segments] == ["kept", "shortened", "summarised", "wrapper", "free"]
    assert sum(one.tokens for one in segments) == made.budget
    page = Parsed(html_page(made))
    assert [attrs["href"] for attrs in page.having(tabindex="-1")] == ["#i1", "#i2", "#i3"]
    assert "x (x), 60 tokens, kept" in page.texts


def test_items_that_take_fewer_tokens_together_leave_the_bar_as_long_as_the_budget() -> None:
    made = report()
    made = replace(made, wrapper=-5, after=made.after - made.wrapper - 5)
    assert sum(one.tokens for one in segments_of(made)) == made.budget
    page = html_page(made)
    assert "5 fewer together" in page and "-5" not in " ".join(Parsed(page).texts)


def test_more_items_than_lines_share_segments() -> None:
    items = [item(number, State.KEPT, 3, 3) for number in range(1, 5001)]
    made = replace(report(), items=items, budget=15_000, after=15_000, wrapper=0, unlisted={})
    segments = segments_of(made)
    assert len(segments) <= MOST_SEGMENTS + 1 and sum(one.tokens for one in segments) == 15_000
    assert "more, 30 tokens, kept" in segments[0].told or "more, 33 tokens, kept" in segments[0].told


def test_a_bar_over_its_budget_marks_it() -> None:
    made = replace(report(), budget=50)
    page = html_page(made)
    assert "budget: 50" in page and sum(one.tokens for one in segments_of(made)) == made.after


def test_states_are_words_and_signs_beside_colours() -> None:
    page = Parsed(html_page(report()))
    for state in State:
        assert f"{state.glyph}{state.label}" in page.text.replace("\n", "")
    assert "hotspot0.250" in page.text and "sum0.775" in page.text


def test_what_is_not_shown_is_said() -> None:
    made = report()
    long = replace(made.items[0], went=Excerpt("beginning", 12_345))
    page = html_page(replace(made, items=[long, *made.items[1:]]))
    assert "… and 12,345 more characters" in page
    assert "Not listed here: 7 dropped (100 tokens came in, 0 go out)." in page
    assert "The text of 2 of those listed is left out" in page


def test_a_shortened_item_shows_its_trim_diff() -> None:
    changed = item(1, State.SHORTENED, 50, 20, came=Excerpt("one\ntwo\nthree\n"), went=Excerpt("one\nthree\n"))
    page = html_page(replace(report(), items=[changed]))
    assert '<span class=""> one</span>' in page
    assert '<span class="gone">-two</span>' in page


def test_the_same_report_gives_the_same_bytes_and_nothing_given_is_a_page_too() -> None:
    assert html_page(report("a")) == html_page(report("a"))
    empty = replace(report(), items=[], unlisted={}, after=0, before=0, wrapper=0, budget=0, leaving=None, notices=[])
    assert "Nothing goes out." in html_page(empty)
