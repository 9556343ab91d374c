from hypothesis import given
from hypothesis import strategies as st
from secateur_tui.styled_text import Span, plain
from secateur_tui.widgets.text_view import highlight


@given(
    st.lists(st.text(alphabet="ab \"'`#/*\\1def_[]", max_size=30), max_size=6),
    st.sampled_from(["python", "go", "ruby", "markdown"]),
)
def test_colours_change_no_character(lines: list[str], language: str) -> None:
    assert [plain(drawn) for drawn in highlight(lines, language)] == lines


def test_python() -> None:
    first, second, third, fourth = highlight(
        ['def f(x="a#b"):  # c', '    """Open', "  still 'open'", '    end""" + 12'], "python"
    )
    assert Span("def", "keyword") in first and Span('"a#b"', "string") in first and Span("# c", "comment") in first
    assert second[-1] == Span("Open", "string")
    assert third == (Span("  still 'open'", "string"),)
    assert fourth[0] == Span('    end"""', "string") and fourth[-1] == Span("12", "number")


def test_marks_depend_on_the_language() -> None:
    assert highlight(["x // y"], "go")[0][-1] == Span("// y", "comment")
    assert all(span.role != "comment" for span in highlight(["x // y"], "python")[0])
    assert highlight(["it's # fine"], "markdown") == [(Span("it's # fine"),)]


def test_a_lone_quote_opens_nothing() -> None:
    assert all(span.role != "string" for span in highlight(["don't do"], "go")[0])


def test_comments_strings_and_keywords_are_those_of_the_language() -> None:
    assert highlight(["x -- y"], "lua")[0][-1] == Span("-- y", "comment")
    assert highlight(["key: 1 # why"], "ini")[0][-1] == Span("# why", "comment")
    (first,) = highlight(["given using def"], "scala")
    assert [span.text for span in first if span.role == "keyword"] == ["given", "using", "def"]
    _, second = highlight(['val text = """Open', "still open"], "scala")
    assert second == (Span("still open", "string"),)
