"""Units of code that no grammar reads, of real-looking files: `unparsed/NAME.txt` and `unparsed/NAME.units`."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.languages.syntax.fragments import parse_file, split_lines

SOURCES = Path(__file__).parent / "unparsed"


def describe(name: str) -> list[str]:
    facts = parse_file(f"src/{name}", (SOURCES / f"{name}.txt").read_bytes())
    return [f"{part.line_start}-{part.line_end} {part.kind} {part.qualname}" for part in facts.fragments]


@pytest.mark.parametrize("name", sorted(path.name.removesuffix(".txt") for path in SOURCES.glob("*.txt")))
def test_units_of(name: str) -> None:
    assert describe(name) == (SOURCES / f"{name}.units").read_text().splitlines()


def test_calls_of_macros() -> None:
    facts = parse_file("revenue.sql", (SOURCES / "revenue.sql.txt").read_bytes())
    assert {call.name for call in facts.calls} == {"config", "ref", "net_of_refunds", "is_incremental"}


@pytest.mark.parametrize("path", ["a.pl", "a.hs", "a.erb", "a.html", "a.sql", "a.lisp", "a.razor", "a.blade.php"])
@pytest.mark.parametrize(
    "source",
    [
        "\n" * 100_000,
        "x" * 1_000_000,
        "{% " * 300_000,
        "end " * 250_000,
        "\n".join(" " * depth + "f(x) {" for depth in range(1_500)),
        "\n".join("f(x) {\n  y" for _ in range(20_000)),
        "/*\n" * 50_000,
        "{{\n\n  a(\n\n" * 10_000,
        "@code {\n" * 20_000,
        "<script>\nfunction f() {\n" * 20_000,
        "@php f(){ @endphp <?= g( ?> <script>{{</script>\n" * 10_000,
    ],
)
def test_unusual_files_are_read_whole(path: str, source: str) -> None:
    fragments = parse_file(path, source.encode()).fragments
    covered = [row for part in fragments for row in range(part.line_start, part.line_end + 1)]
    assert len(covered) == len(set(covered))
    assert set(covered) >= {row for row, line in enumerate(split_lines(source), 1) if line.strip()}


def units_of(path: str, source: str) -> list[tuple[str, str, int, int]]:
    return [
        (part.kind, part.qualname, part.line_start, part.line_end)
        for part in parse_file(path, source.encode()).fragments
        if part.name and part.kind in ("function", "method", "class")
    ]


def test_code_of_other_languages_inside_is_read_by_their_grammars() -> None:
    script = "<script{}>\n  const total = (cart) => {{\n    return sum(cart, {});\n  }};\n</script>\n"
    for path, value in (
        ("a.html", "2"),
        ("a.jinja", "{{ rate }}"),
        ("a.erb", "<%= rate(1) %>"),
        ("a.blade.php", "{!! $rate !!}"),
        ("a.cshtml", "@Model.Rate(1)"),
        ("a.ejs", "<% if (x) { %> 1 <% } %>"),
    ):
        assert units_of(path, script.format(" defer", value)) == [("function", "total", 2, 5)], path
    assert parse_file("a.html", script.format(' type="text/template"', "2").encode()).problems == ()
    jsp = "<%!\n  private int total(Cart cart) {\n    return 1;\n  }\n%>\n<p>Cart</p>\n"
    assert units_of("a.jsp", jsp) == [("function", "total", 2, 5)]
    php = "<p>1</p>\n<?php\nclass Cart {\n  function total() {\n    return 1;\n  }\n}\n?>\n"
    assert units_of("a.blade.php", php)[:2] == [("class", "Cart", 3, 3), ("method", "Cart.total", 4, 8)]


def test_calls_of_a_script_are_those_of_its_own_functions() -> None:
    source = "<p>@Show(1)</p>\n<script>\nfunction a() {\n  b();\n  Show();\n}\nfunction b() {\n  a();\n}\n</script>\n"
    calls = parse_file("a.cshtml", source.encode()).calls
    assert [(call.name, call.line) for call in calls] == [("Show", 1), ("b", 4), ("a", 8)]


def test_broken_code_inside_stays_in_units_by_indentation() -> None:
    units = [("function", "Load", 2, 4), ("function", "Save", 6, 8)]
    body = "\n  void Load() {\n    f(1);\n  }\n\n  void Save() {\n    f(2);\n  }\n"
    assert units_of("a.razor", "@code {" + body) == units  # nothing closes it
    broken = units_of("a.razor", "@code {" + body.replace("void Save()", "void Save((") + "}\n<p>1</p>\n")
    assert broken[0] == units[0]
    assert units_of("a.razor", "@code { ) ) (" + body + "}\n")[0][1] == "Load"


def test_events_are_handled_by_functions_of_the_file() -> None:
    script = "<script>\nfunction save() {\n  return 1;\n}\n</script>\n"
    markup = (
        '<a onclick="return save(1)" @click="open(2)" :title="label(3)">{{ price(4) }}</a>\n<b @click="remove">x</b>\n'
    )
    calls = parse_file("a.blade.php", (script + markup).encode()).calls
    assert [(call.name, call.line) for call in calls] == [("price", 6), ("save", 6)]
    calls = parse_file("a.vue", (script + markup).encode()).calls
    assert {call.name for call in calls} == {"save", "open", "label", "price", "remove"}


def test_fields_of_code_inside_are_no_units() -> None:
    field = '  private string[] names =\n  {\n    "a",\n    "b",\n  };\n\n'
    source = "@code {\n" + field + "  private void Load()\n  {\n    f();\n  }\n}\n"
    assert units_of("a.razor", source) == [("function", "Load", 8, 12)]


ZAP = "function zap(a) {\n  return 2;\n}\nfunction yap(a) {\n  return 3;\n}\n"


@pytest.mark.parametrize("path", ["a.html", "a.jinja", "a.vue"])
@pytest.mark.parametrize(
    "broken",
    [
        "function f(a) {\n  if (a) {\n  return 1;\n}\n",
        "function f(a) {\n  if (a) {\n    return 1;\n  }\n",
        "{% if a %}\nfunction f(a) {\n{% else %}\nfunction f(b) {\n{% endif %}\n  return 1;\n}\n",
        "addEventListener(a, function () {\n  go((;\n});\n",
        "const x = = 1;\n",
    ],
)
def test_an_error_in_a_script_does_not_hide_its_other_functions(path: str, broken: str) -> None:
    source = f"<p>x</p>\n<script>\n{broken}{ZAP}</script>\n"
    first = 3 + broken.count("\n")
    found = [(name.rsplit(".")[-1], start, end) for _, name, start, end in units_of(path, source)]
    assert found[-2:] == [("zap", first, first + 2), ("yap", first + 3, first + 6)]


def test_what_begins_inside_code_ends_with_it() -> None:
    front = "---\nfunction fm() {\n  return 1;\n}\nconst { a } = Astro.props;\n---\n"
    script = "  <script is:inline>\n    function inl() {\n      return a;\n    }\n  </script>\n"
    page = front + "<L>\n  <p>walrus</p>\n" + script + "</L>\n"
    assert units_of("a.astro", page) == [("function", "fm", 2, 4), ("function", "inl", 10, 14)]
    assert ("function", "inl", 10, 14) in units_of("a.astro", page.replace("return 1", "return ( 1"))
    page = page.replace("function fm() {\n  return 1;\n}\n", "")
    assert units_of("a.astro", page) == [("function", "inl", 7, 11)]


def test_code_without_an_end_leaves_what_is_below_to_its_grammar() -> None:
    script = "<script>\nfunction a() {\n  b();\n}\nfunction b() {\n  return 1;\n}\n</script>\n"
    for path, opening in (
        ("a.cshtml", "@code {\n"),
        ("a.blade.php", "@php\n"),
        ("a.jsp", "<%!\n"),
        ("a.html", "<?=\n"),
    ):
        for count in (1, 3):
            calls = parse_file(path, f"<p>1</p>\n{opening * count}<p>2</p>\n{script}".encode()).calls
            assert [(call.name, call.line) for call in calls] == [("b", 5 + count)], path
