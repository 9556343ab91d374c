import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.index.facts.lexical import hash_of
from secateur.retrieval.query import (
    MAX_NAMES,
    MAX_QUERY,
    REPEATED,
    TITLE,
    TRANSLATED_WEIGHT,
    parse_query,
    parse_with_kind,
)


def test_stop_words_and_urls_are_left_out():
    query = parse_query("Where is the refund total rounded? See https://example.com/refund/path?x=1 for more")
    assert [word for word, _ in query.words] == ["refund", "total", "round", "see"]
    assert query.paths == ()


def test_a_query_of_stop_words_alone_looks_for_them():
    assert parse_query("what is this").words == (("what", 1.0), ("is", 1.0), ("this", 1.0))


def test_the_first_of_several_lines_weighs_most():
    weights = dict(parse_query("refund\ncart").words)
    assert weights["refund"] > weights["cart"] == 1.0
    assert dict(parse_query("\n\nrefund cart\n  \n").words) == {"refund": 1.0, "cart": 1.0}


def test_a_repeated_word_weighs_more_up_to_three_times():
    weights = [dict(parse_query("cart " * times).words)["cart"] for times in (1, 2, 4, 9)]
    assert weights == pytest.approx([1.0, 1 + REPEATED, 1 + 3 * REPEATED, 1 + 3 * REPEATED])


def test_translated_words_are_added_with_less_weight_and_never_over_a_word_that_is_there():
    query = parse_query("订单 order", translation=(("order", TRANSLATED_WEIGHT), ("purchase", TRANSLATED_WEIGHT)))
    assert dict(query.words) == {"订单": 1.0, "order": 1.0, "purchas": TRANSLATED_WEIGHT}
    assert query.foreign


def test_terms_are_the_hashes_of_the_words():
    assert parse_query("cart").terms == [(hash_of("cart"), 1.0)]


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("why does handleToolCall fail", ("handleToolCall",)),
        (
            "Cart.total and snake_case and a::b::C, x->y, $scope",
            ("Cart.total", "snake_case", "a::b::C", "x->y", "$scope"),
        ),
        ("retry", ("retry",)),  # the whole query is one word: then it is a name
        ("retry later", ()),
        ("订单handleToolCall在哪里", ("handleToolCall",)),
        ("请看Größe2的定义", ("Größe2",)),
        ("见https://example.com/a，然后修复handleToolCall", ("handleToolCall",)),
        ("handleToolCall handleToolCall", ("handleToolCall",)),
        ("", ()),
    ],
)
def test_names_are_what_looks_like_code(text, identifiers):
    assert parse_query(text).identifiers == identifiers


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see orders/money.py", ("orders/money.py",)),
        ("The fault is in orders/money.py.", ("orders/money.py",)),
        ("(orders/money.py:10)", ("orders/money.py",)),
        (r"C:\src\app\a.py", ("src/app/a.py",)),
        ("./a.py ../../b/c.py /home/me/x.go", ("a.py", "b/c.py", "home/me/x.go")),
        (".github/workflows/test.yml", (".github/workflows/test.yml",)),
        ("foo.test.ts fails", ("foo.test.ts",)),
        ("money.py and Money.java but not self.config or 1.5", ("money.py", "Money.java")),
        ("src/orders/ and src/", ("src/orders",)),
        ("请看orders/money.py文件", ("请看orders/money.py文件", "orders/money.py")),
        ("docs/说明.md", ("docs/说明.md",)),
        ("a.py a.py", ("a.py",)),
        ("... / // ./. ..", ()),
    ],
)
def test_paths_are_what_looks_like_a_file(text, paths):
    assert parse_query(text).paths == paths


@pytest.mark.parametrize("text", ["", "   \n\t", "?!… — “”", "https://example.com", "\x00\x1b[31m", "\ud800\udfff"])
def test_a_query_without_a_word_is_empty(text):
    query = parse_query(text.replace("31m", ""))
    assert query.empty
    assert query.text == text.replace("31m", "")


@pytest.mark.parametrize(
    "piece", ["a", "a-", "a.", "a/", "a::", "/", ".", "http://", "A1", "订", "_", "\\", "a b.c/d "]
)
def test_no_query_hangs(piece):
    """A pattern that goes back over what it read takes minutes on one of these; all of them are done at once."""
    query = parse_query(piece * (MAX_QUERY // len(piece) + 10))
    assert len(query.identifiers) <= MAX_NAMES
    assert len(query.paths) <= MAX_NAMES


def test_only_the_beginning_of_a_long_query_is_read():
    text = "cart " * (MAX_QUERY // 5)
    for kind in ("auto", "off"):
        query, notices = parse_with_kind(text + "refund", lambda _: 1, kind)
        assert [word for word, _ in query.words] == ["cart"]
        assert [notice.code for notice in notices] == ["query_cut"]
        assert parse_with_kind(text, lambda _: 1, kind) == (query, ())


def test_of_a_pasted_log_the_first_names_and_paths_are_read():
    query = parse_query("\n".join(f"at module{i}.handleCall{i} (src/file{i}.py)" for i in range(MAX_NAMES + 100)))
    assert (len(query.identifiers), len(query.paths)) == (MAX_NAMES, MAX_NAMES)
    assert (query.identifiers[0], query.paths[0]) == ("module0.handleCall0", "src/file0.py")


@given(st.text(st.one_of(st.characters(), st.sampled_from("/\\.:#->$_ \n订")), max_size=200))
def test_any_text_is_a_query(text):
    query = parse_query(text)
    assert query == parse_query(text)
    assert all(0 < weight <= TITLE * (1 + 3 * REPEATED) for _, weight in query.words)
    assert all(path and not path.startswith(("/", "./", "../")) and "\\" not in path for path in query.paths)
