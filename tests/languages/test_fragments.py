"""The rules that hold for every language: lines, the partition, what belongs to what, and what happens when things go
wrong."""

from __future__ import annotations

import importlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from msgspec.structs import replace
from secateur.languages import languages, parser_version
from secateur.languages.syntax import grammar
from secateur.languages.syntax.fragments import decode, parse_file, split_lines
from secateur.languages.traits import Grammar
from secateur.model import FileFacts, Fragment

GRAMMARS = {name: traits.grammar for name, traits in languages().items() if traits.grammar}


def shape(facts: FileFacts) -> list[tuple[str, str, int, int]]:
    return [
        (fragment.kind.value, fragment.qualname, fragment.line_start, fragment.line_end) for fragment in facts.fragments
    ]


def python(source: str) -> list[tuple[str, str, int, int]]:
    return shape(parse_file("a.py", source.encode()))


def javascript(source: str, path: str = "a.js") -> list[tuple[str, str, int, int]]:
    return shape(parse_file(path, source.encode()))


# --- text and lines ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\rb\x0bc\x0cd\x85e\u2028f", ["a\rb\x0bc\x0cd\x85e\u2028f"]),
    ],
)
def test_lines_end_at_line_feeds_only(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@pytest.mark.parametrize(
    ("data", "text", "damaged"),
    [
        (b"", "", False),
        ("ä\n".encode(), "ä\n", False),
        (b"\xef\xbb\xbfa", "a", False),
        (b"a\xff\xfeb", "a\ufffd\ufffdb", True),
        ("ä".encode("utf-16"), "ä", False),
        (b"\xfe\xff\x00a", "a", False),
        (b"\xff\xfea", "\ufffd", True),
        (b"a\rb\r", "a\nb\n", False),
    ],
)
def test_decode(data: bytes, text: str, damaged: bool) -> None:
    assert decode(data) == (text, damaged)


def test_damaged_bytes_are_reported_and_the_file_still_parsed() -> None:
    facts = parse_file("a.py", b"def f():\n    return '\xff'\n")
    assert facts.problems == ("invalid_utf8",)
    assert shape(facts) == [("function", "f", 1, 2)]


def test_columns_are_bytes_but_names_are_text() -> None:
    facts = parse_file("a.py", 'ü = "ß"; größe(ü.zähle())\n'.encode())
    assert [(call.receiver, call.name) for call in facts.calls] == [("", "größe"), ("ü", "zähle")]


def test_byte_order_mark_and_utf16_do_not_shift_anything() -> None:
    source = "import os\n\n\ndef f():\n    return os\n"
    plain = parse_file("a.py", source.encode())
    assert parse_file("a.py", source.encode("utf-8-sig")) == plain
    assert parse_file("a.py", source.encode("utf-16")) == plain


def test_carriage_returns_do_not_matter() -> None:
    source = "import os\n\n# f\ndef f():\n\n    return os\n\n\nclass A:\n    x = 1\n"
    assert (
        python(source.replace("\n", "\r\n"))
        == python(source)
        == [("region", "", 1, 1), ("function", "f", 3, 6), ("class", "A", 9, 10)]
    )


@pytest.mark.parametrize("data", [b"", b"\n", b" \n\t\n\x0c\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("path", ["a.py", "a.js", "a.md", "a.json", "a.txt"])
def test_nothing_but_blanks_has_no_fragments(path: str, data: bytes) -> None:
    assert parse_file(path, data).fragments == ()


# --- what belongs to what ---------------------------------------------------------------------------------------------


def test_comments_belong_to_what_follows_also_across_a_blank_line() -> None:
    source = (
        "# licence\n\n# about f\n# more\ndef f():\n    pass\n\n\n# --- part two ---\n\n\ndef g():\n    pass\n\n\n# the"
        " end\n"
    )
    assert python(source) == [("region", "", 1, 1), ("function", "f", 3, 6), ("function", "g", 9, 16)]


def test_trailing_comment_of_code_does_not_move_the_code() -> None:
    source = "x = 1  # note\ndef f():\n    pass\n"
    assert python(source) == [("region", "", 1, 1), ("function", "f", 2, 3)]


def test_imports_are_cut_off_the_constants_below_them() -> None:
    source = '"""Doc."""\nimport a\nfrom b import (\n    c,\n)\n\nX = 1\nY = 2\nZ = 3\n'
    assert python(source) == [("region", "", 1, 5), ("region", "", 7, 9)]


def test_class_lines_between_methods_are_further_pieces_of_the_class() -> None:
    source = (
        "class A:\n    x = 1\n\n    def f(self):\n        pass\n\n    y = 2\n\n    def g(self):\n        pass\n\n    z"
        " = 3\n"
    )
    facts = parse_file("a.py", source.encode())
    assert shape(facts) == [
        ("class", "A", 1, 2),
        ("method", "A.f", 4, 5),
        ("class", "A", 7, 7),
        ("method", "A.g", 9, 10),
        ("class", "A", 12, 12),
    ]
    assert [fragment.parent for fragment in facts.fragments] == [-1, 0, -1, 0, -1]


def test_nested_functions_stay_inside() -> None:
    assert python("def f():\n    def g():\n        class A:\n            def h(self): pass\n    return g\n") == [
        ("function", "f", 1, 5)
    ]


def test_closing_brackets_belong_to_the_last_member() -> None:
    source = "class A {\n  f() {\n    return 1;\n  }\n}\n\nconst t = {\n  a: 1,\n};\n"
    assert javascript(source) == [("class", "A", 1, 1), ("method", "A.f", 2, 5), ("region", "", 7, 9)]


def test_long_function_that_mostly_holds_functions_is_a_container() -> None:
    members = "".join(f"  function f{n}() {{\n    a();\n    b();\n  }}\n\n" for n in range(40))
    facts = parse_file("a.js", f"function make(x) {{\n  var y = x;\n\n{members}  return f1;\n}}\n".encode())
    assert shape(facts)[:2] == [("function", "make", 1, 2), ("function", "make.f0", 4, 7)]
    assert shape(facts)[-1] == ("function", "make", 204, 205)
    assert len(facts.fragments) == 42


def test_long_function_with_one_small_helper_stays_whole() -> None:
    body = "    x = 1\n" * 200
    assert python(f"def f():\n    def g():\n        pass\n{body}") == [("function", "f", 1, 203)]


def test_module_wrapper_is_looked_into() -> None:
    members = "".join(f"  function f{n}() {{\n    a();\n  }}\n" for n in range(12))
    found = javascript(f"(function (root) {{\n  var y = 1;\n{members}  root.f = f1;\n}})(this);\n")
    assert found[:2] == [("region", "", 1, 2), ("function", "f0", 3, 5)]
    assert found[-1] == ("region", "", 39, 40)


def test_function_that_returns_a_class_is_only_a_scope() -> None:
    members = "".join(f"  f{n}() {{\n    a();\n  }}\n" for n in range(20))
    found = javascript(f"module.exports = base => class Cart extends base {{\n{members}}}\n")
    assert found[:2] == [("class", "Cart", 1, 1), ("method", "Cart.f0", 2, 4)]


def test_large_describe_gives_its_cases() -> None:
    cases = "".join(f'  it("case {n}", () => {{\n    a();\n    b();\n  }});\n\n' for n in range(40))
    found = javascript(f'describe("a cart", () => {{\n{cases}}});\n', "a.test.ts")
    assert found[:2] == [("function", "a cart", 1, 1), ("function", "a cart.case 0", 2, 5)]


def test_small_object_with_functions_is_one_piece() -> None:
    assert javascript("const api = {\n  get: () => 1,\n  post() {\n    return 2;\n  },\n};\n") == [
        ("class", "api", 1, 6)
    ]


def test_preprocessor_conditions_go_with_what_they_guard() -> None:
    source = "#ifdef A\nint f(void) {\n  return 1;\n}\n#else\nint f(void) {\n  return 2;\n}\n#endif\n"
    assert shape(parse_file("a.c", source.encode())) == [("function", "f", 1, 4), ("function", "f", 5, 9)]


def test_header_guard_does_not_swallow_the_file() -> None:
    source = (
        "#ifndef A_H\n#define A_H\n\nnamespace a {\n\nstruct B {\n  int x;\n};\n\ninline int f() { return 1;"
        " }\n\n}\n\n#endif\n"
    )
    assert shape(parse_file("a.h", source.encode())) == [
        ("region", "", 1, 4),
        ("class", "a.B", 6, 8),
        ("function", "a.f", 10, 14),
    ]


def test_two_definitions_on_a_line_share_the_first_ones_fragment() -> None:
    source = "class A { f() { a(); } g() { b(); } }\nfunction h() { c(); } function i() {\n  d();\n}\n"
    facts = parse_file("a.js", source.encode())
    assert shape(facts) == [("class", "A", 1, 1), ("function", "h", 2, 2), ("region", "", 3, 4)]
    assert [(call.fragment, call.name) for call in facts.calls] == [(0, "a"), (0, "b"), (1, "c"), (2, "d")]


def test_large_tables_are_cut_and_large_functions_are_not() -> None:
    table = "TABLE = [\n" + "    1,\n" * 300 + "]\n"
    body = "def f():\n" + "    a()\n" * 300
    found = parse_file("a.py", (table + "\n\n" + body).encode()).fragments
    assert max(fragment.line_end - fragment.line_start + 1 for fragment in found[:-1]) <= 80
    assert (found[-1].name, found[-1].line_end - found[-1].line_start) == ("f", 300)


def test_signature_is_the_declaration_alone() -> None:
    source = "@a(\n    1,\n)\nasync def f(\n    x,\n    y,\n) -> int:\n    '''Doc.'''\n    return 1\n"
    (found,) = parse_file("a.py", source.encode()).fragments
    assert found == Fragment(found.kind, "f", "f", 1, 9, 4, 7)


def test_complexity_counts_decisions() -> None:
    source = (
        "def f(x):\n    if x and x or x:\n        for y in x:\n            pass\n"
        "    elif x:\n        return [z for z in x if z]\n    else:\n        return 1 if x else 2\n"
    )
    assert parse_file("a.py", source.encode()).fragments[0].complexity == 1 + 2 + 1 + 1 + 1 + 2 + 1


def test_functions_passed_along_are_not_called() -> None:
    facts = parse_file("a.py", b"x = partial(f, g)\nmap(h, a.b)\n")
    assert [call.name for call in facts.calls] == ["partial", "map"]


# --- when things go wrong ---------------------------------------------------------------------------------------------


def test_broken_syntax_keeps_what_parses() -> None:
    facts = parse_file(
        "a.py", b"def f():\n    return (1\n\n\nclass A:\n    def g(self):\n        pass\n\n\ndef h():\n    pass\n"
    )
    assert facts.problems == ("syntax_errors",)
    assert ("function", "h", 10, 11) in shape(facts)


def test_a_missing_grammar_is_named_and_units_are_cut_by_indentation(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Grammar("tree_sitter_of_another_world", "secateur.languages.go.reader")
    monkeypatch.setitem(languages(), "go", replace(languages()["go"], grammar=missing))
    grammar.load.cache_clear()
    try:
        facts = parse_file("a.go", b"package a\n\nfunc f() {}\n")
    finally:
        grammar.load.cache_clear()
    assert facts.problems == ("grammar_missing:go",)
    assert shape(facts) == [("region", "", 1, 1), ("function", "f", 3, 3)]
    assert facts.language == "go"


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.java", b"x=>\n" * 4000),
        ("a.c", b"x=>" * 4000),
        ("a.c", b"#define A 1\n" + b"x=>/*\n" * 4000),
        ("a.cs", b"a=<" * 4000),
        ("a.cpp", b"a=/\n" * 4000),
        ("a.ts", b"a=*\n" * 4000),
        ("a.py", b"a/*" * 4000),
        ("a.py", b"(\n" + b"a/*\n" * 4000),
        ("a.py", b"a/*\\\n" * 4000),
    ],
)
def test_what_would_exhaust_the_parser_is_cut_into_blocks(path: str, source: bytes) -> None:
    facts = parse_file(path, source)
    assert facts.problems == ("parse_timeout",)
    assert facts.fragments[0].line_start == 1
    assert facts.fragments[-1].line_end == max(1, source.count(b"\n"))


@pytest.mark.parametrize(
    "path", ["a.py", "a.ts", "a.tsx", "a.go", "a.java", "a.rs", "a.c", "a.cpp", "a.cs", "a.rb", "a.php"]
)
@pytest.mark.parametrize(
    "unit", ["(", "{", "[", "a.b(", "if (a) ", "class A {", "x = ", "a.b().", "`${", '"', "// ", "\0", "-"]
)
def test_deep_nesting_is_survived(path: str, unit: str) -> None:
    source = ("<?php " if path == "a.php" else "") + unit * 3000
    assert [(fragment.line_start, fragment.line_end) for fragment in parse_file(path, source.encode()).fragments] == [
        (1, 1)
    ]


def test_too_large_files_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "MAX_PARSE_BYTES", 20)
    facts = parse_file("a.py", b"def f():\n    return 1\n")
    assert facts.problems == ("too_large",)
    assert shape(facts) == [("block", "", 1, 2)]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", b"from a.b.c import D\n" * 2000),
        ("a.py", b'x = """' + b"a | b / c = d * e\n" * 2000 + b'"""\n'),
        ("a.py", b"# a | b = c\n" * 2000),
        ("a.c", b"#define A B | C\n" * 2000),
        ("a.c", b"/* " + b"a | b = c\n" * 2000 + b"*/\nint a;\n"),
        ("a.js", b"x = `" + b"a | b = c\n" * 2000 + b"`;\n"),
        ("a.js", b"// a | b = c\n" * 2000),
        ("a.java", b"class A {}\n// a | b = c\n" * 1000),
    ],
)
def test_long_comments_strings_and_lists_of_imports_are_no_endless_expression(path: str, source: bytes) -> None:
    assert parse_file(path, source).problems == ()


def test_parser_stops_after_so_many_steps_and_parses_the_next_file(monkeypatch: pytest.MonkeyPatch) -> None:
    source = b"def f():\n    return g(1, 2, 3)\n\n" * 200
    with monkeypatch.context() as patch:
        patch.setattr(grammar, "_STEPS_AT_LEAST", 3)
        patch.setattr(grammar, "_STEPS_PER_BYTE", 0.0)
        assert parse_file("a.py", source).problems == ("parse_timeout",)
    assert len(parse_file("a.py", source).fragments) == 200


def test_minified_scripts_are_not_parsed() -> None:
    facts = parse_file("a.min.js", b"function a(){b()}" * 500 + b"\n")
    assert facts.problems == ("minified",)
    assert (shape(facts), facts.calls) == ([("block", "", 1, 1)], ())


def test_one_line_of_code_is_one_fragment() -> None:
    facts = parse_file("a.py", b"x = [" + b"f(1), " * 5000 + b"]")
    assert shape(facts) == [("region", "", 1, 1)]
    assert [(call.name, call.line) for call in facts.calls] == [("f", 1)]


def test_every_query_fits_its_grammar() -> None:
    for language in GRAMMARS:
        grammar.load(language)


def test_parser_version_names_every_grammar() -> None:
    assert parser_version().count(",") == 1 + len({found.wheel for found in GRAMMARS.values()})
    assert "none" not in parser_version()


def test_importing_loads_no_grammar() -> None:
    code = (
        "import secateur.languages.syntax.fragments, sys; assert not [name for name in sys.modules if"
        " name.startswith('tree_sitter')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names_of_the_module_are_errors() -> None:
    with pytest.raises(AttributeError):
        importlib.import_module("secateur.languages.syntax.fragments").NOTHING  # noqa: B018


def test_threads_do_not_disturb_each_other() -> None:
    sources = [f"def f{n}():\n    return g{n}(1)\n\n\n".encode() * 300 for n in range(8)]
    expected = [parse_file("a.py", source) for source in sources]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda source: parse_file("a.py", source), sources * 3)) == expected * 3
