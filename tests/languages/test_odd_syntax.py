"""Sources that once broke a reader, or took it minutes: each is read, or is named as too much, and the rest of its file
is there."""

from __future__ import annotations

import signal

import pytest
from secateur.languages.syntax import grammar
from secateur.languages.syntax.fragments import decode, parse_file, split_lines


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.rs", "fn f(xs: &[u8]) { for &_ in xs {} }"),
        ("a.rs", "fn f() { if let Some(&_) = x {} while let (ref _, &mut _) = y {} }"),
        ("a.rs", "fn f() { match x { &_ => 1, | _ => 2, } let & = x; let ref = y; }"),
        ("a.rs", "fn f(: u8, ) { let = 1; for in xs {} |_, | x; }"),
        ("a.java", "class A { Object a = new (){}; Object b = new A; long n = ; }"),
        ("A.java", "class A { void f() { if (x instanceof ) {} switch (y) { case (): } for (: xs) {} } }"),
        ("a.cpp", "template <class T> template <> ; class ::; struct : A {}; int (*)(int) { }"),
        (
            "a.go",
            (
                'package\nimport . ""\nfunc () () {}\ntype = struct{ ; *T }\nfunc f() { for range { } switch :='
                " x.(type) {} }"
            ),
        ),
        (
            "a.ts",
            (
                "function f(...): {} const {a: = 1, ...} = x; class { #; [] = 1 } import {} from; export * as from '';"
                " type = "
            ),
        ),
        ("a.py", "def f(*, /, **): pass\nfor in x: pass\nwith as y: pass\nx: = 1\nclass (): pass\nlambda: \ndel\n"),
        ("a.rb", "class ::\nend\ndef\nend\nclass << self\nend\nattr_accessor\nX = Struct.new\n->(){}\n"),
        ("a.php", "<?php function () {} class { use ; const ; } namespace ; use {}; $->x(); new class {}; fn() =>;"),
        (
            "a.cs",
            "class { event ; this[] => ; } namespace ; using = ; record (int); delegate ; void f(out ) { x is ; }",
        ),
        (
            "a.scala",
            "class [ extends with { def = ; case => } import a.{, => b}; import ; package ; given = extension ()",
        ),
        ("a.kt", "class : { fun () {} companion object { fun } constructor( } import a. fun .x() = ; object {"),
        ("a.swift", "class : { init func () -> { } extension { } protocol { func } guard else } import"),
        ("a.dart", "class extends with { factory .of() => ; get => ; A. ( } mixin on { void ( } import ; enum {"),
        ("a.lua", "function () end local function M.: () x = function end return { = function } if then"),
        ("a.ex", "defmodule do def do end defp , do: test do @doc alias . use end defimpl for: do"),
        ("a.sh", "() { } function { f() case in esac $( ${ <<A if then \nB"),
        ("a.tf", 'resource { } "x" { = } locals \n a { b = { } variable "'),
        ("a.c", "struct { } ; typedef ; int () { } void (*f(void))(int) { } #include\n"),
    ],
)
def test_is_read(path: str, source: str) -> None:
    facts = parse_file(path, source.encode())
    assert set(facts.problems) <= {"syntax_errors"}
    assert facts.fragments[0].line_start == 1
    assert facts.fragments[-1].line_end == len(split_lines(source))


@pytest.mark.parametrize("path", ["a.kt", "a.swift", "a.dart", "a.lua", "a.ex", "a.sh", "a.tf"])
def test_unusual_files_are_read(path: str) -> None:
    assert parse_file(path, b"").fragments == ()
    for source in (b"a " * 20_000, b"((((" * 500, b"}\r\n" * 500, b"\xff\xfe\x00"):
        lines = {
            line for part in parse_file(path, source).fragments for line in range(part.line_start, part.line_end + 1)
        }
        assert len(lines) == len(split_lines(decode(source)[0]))


def test_pipes_without_end_do_not_reach_the_parser() -> None:
    assert parse_file("a.sh", b"a|" * 10_000).problems == ("parse_timeout",)


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        *((path, "{") for path in ("a.c", "a.cpp", "a.go", "a.java", "a.py", "a.rs", "a.scala")),
        *((path, "(") for path in ("a.go", "a.java", "a.py", "a.rs", "a.cs")),
        *((path, "[") for path in ("a.cs", "a.go", "a.py", "a.rs")),
        ("a.py", "-"),
        ("a.go", "&"),
    ],
)
def test_endless_brackets_and_operators_are_not_queried(path: str, unit: str) -> None:
    source = (unit * 40_000).encode()
    loaded = grammar.load(parse_file(path, b"").language)
    assert grammar._count_run_steps(grammar.parse(loaded, source).root_node) > grammar._RUN_STEPS
    facts = parse_file(path, source)
    assert facts.problems == ("parse_timeout",)
    assert [fragment.kind for fragment in facts.fragments] == ["block"]


def test_long_lists_are_no_runs() -> None:
    source = ("x = [" + "1, " * 40_000 + "]\n").encode()
    root = grammar.parse(grammar.load("python"), source).root_node
    assert grammar._count_run_steps(root) < 100_000
    assert parse_file("a.py", source).problems == ()


@pytest.mark.usefixtures("default_signals")
def test_an_interruption_in_the_middle_of_a_parse_is_passed_on() -> None:
    """Of the process, not of the call: the signal comes while the parser runs, and Python would handle it in the
    parser's callback."""
    loaded = grammar.load("python")
    source = b"x = f(a)\n" * 100_000
    asked = 0

    def clock() -> float:
        nonlocal asked
        asked += 1
        if asked == 10:
            signal.raise_signal(signal.SIGINT)
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        grammar.parse(loaded, source, clock)
        for _ in range(10_000_000):  # the signal is handled by this thread, a moment after it was raised in the other
            pass
    assert grammar.parse(loaded, b"x = 1\n").root_node.child_count == 1


def test_the_clock_stops_a_parse_that_recovers_from_errors() -> None:
    source = b"int f() { return " + b"# x\n" * 2_000
    loaded = grammar.load("python")
    assert grammar.parse(loaded, source, clock=lambda: 0.0).root_node.has_error
    times = iter([0.0])
    with pytest.raises(grammar.ParseStopped):
        grammar.parse(loaded, source, clock=lambda: next(times, grammar.PARSE_SECONDS + 1))
