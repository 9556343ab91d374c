"""What kind of query a text is, by the rules of `query_kind`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.retrieval.query_kind import SHORT_QUERY, QueryKind, find_kind

TRACE = 'It fails.\nTraceback (most recent call last):\n  File "a.py", line 3, in f\nKeyError: 1'
JAVA_TRACE = "It fails.\njava.lang.IllegalStateException: no\n    at a.b.Cart.total(Cart.java:12)"
GO_TRACE = "panic: nil\n\ngoroutine 1 [running]:\nmain.main()\n\t/a/main.go:7 +0x1d"


@pytest.mark.parametrize(
    ("text", "kind", "subject"),
    [
        ("handleToolCall", QueryKind.SYMBOL, "handleToolCall"),
        ("Cart.total()", QueryKind.SYMBOL, "Cart.total"),
        ("URLHelper::join", QueryKind.SYMBOL, "URLHelper::join"),
        ("`should_render?`", QueryKind.SYMBOL, "should_render"),
        ("where is parse_url defined?", QueryKind.SYMBOL, "parse_url"),
        ("definition of the class LineReader", QueryKind.SYMBOL, "LineReader"),
        ("struct Database", QueryKind.SYMBOL, "Database"),
        ("fn resolve_path", QueryKind.SYMBOL, "resolve_path"),
        ("parseUrl 在哪里定义？", QueryKind.SYMBOL, "parseUrl"),
        ("who calls parse_url?", QueryKind.USAGE, "parse_url"),
        ("where is Escape.htmlContent called", QueryKind.USAGE, "Escape.htmlContent"),
        ("where do we use the LruCache", QueryKind.USAGE, "LruCache"),
        ("find all usages of foo_bar in the tests", QueryKind.USAGE, "foo_bar"),
        ("callers of DB::Open", QueryKind.USAGE, "DB::Open"),
        ("谁调用了 parseUrl？", QueryKind.USAGE, "parseUrl"),
        ("哪里用到 parseUrl", QueryKind.USAGE, "parseUrl"),
        ("parseUrl 在哪些地方被调用", QueryKind.USAGE, "parseUrl"),
        ("how are gzip files opened", QueryKind.QUESTION, ""),
        ("where is it used", QueryKind.QUESTION, ""),
        ("is the cache cleared on exit?", QueryKind.QUESTION, ""),
        ("如何跳转到指定的行", QueryKind.QUESTION, ""),
        ("订单是怎么处理的", QueryKind.QUESTION, ""),
        ("KeyError: 'name'", QueryKind.MESSAGE, ""),
        ("TypeError: why is this not a function?", QueryKind.MESSAGE, ""),
        ("Failed to open 'access.log'; Permission denied", QueryKind.MESSAGE, ""),
        ('"no such file here"', QueryKind.MESSAGE, ""),
        ("Maximum depth reached.", QueryKind.MESSAGE, ""),
        ("order processing logic", QueryKind.PHRASE, ""),
        ("import error", QueryKind.PHRASE, ""),
        ("订单处理逻辑", QueryKind.PHRASE, ""),
        ("The total is wrong\n\nWhen an order has no items, 1 is shown.", QueryKind.ISSUE, ""),
        ("who calls foo?\nand why", QueryKind.ISSUE, ""),
        ("words " * 40, QueryKind.ISSUE, ""),
        (TRACE, QueryKind.TRACE, ""),
        (JAVA_TRACE, QueryKind.TRACE, ""),
        (GO_TRACE, QueryKind.TRACE, ""),
        ("", QueryKind.PHRASE, ""),
    ],
)
def test_the_kind_of_a_query_is_told_from_its_text(text: str, kind: QueryKind, subject: str) -> None:
    told = find_kind(text)
    assert (told.kind, told.subject) == (kind, subject)
    assert told.because


@given(st.text(max_size=3 * SHORT_QUERY))
def test_every_text_has_one_kind_that_white_space_around_it_does_not_change(text: str) -> None:
    told = find_kind(text)
    assert told == find_kind(f"\n  {text}\t\n")
    assert told.subject in text
    assert bool(told.subject) == (told.kind in (QueryKind.SYMBOL, QueryKind.USAGE))


@given(st.text(min_size=1), st.text(min_size=1))
def test_several_lines_are_never_a_short_kind(first: str, second: str) -> None:
    told = find_kind(f"x{first}\n{second}x")
    assert told.kind in (QueryKind.ISSUE, QueryKind.TRACE)


def test_a_frame_that_the_query_was_parsed_to_makes_a_trace() -> None:
    assert find_kind("It fails.\nsrc/a.rs:12: nothing", frames=1).kind is QueryKind.TRACE
    assert find_kind("src/a.rs:12", frames=1).kind is not QueryKind.TRACE
