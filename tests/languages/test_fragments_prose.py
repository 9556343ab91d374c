"""Sections of documents and configuration, blocks of other text."""

from __future__ import annotations

from secateur.languages.syntax.fragments import parse_file


def shape(path: str, source: str) -> list[tuple[str, str, int, int]]:
    facts = parse_file(path, source.encode())
    return [
        (fragment.kind.value, fragment.qualname, fragment.line_start, fragment.line_end) for fragment in facts.fragments
    ]


def test_markdown_sections() -> None:
    source = (
        "---\n# not: a heading\n---\nIntro\n\n# One\n\n## Two ##\ntext\n\n```sh\n# not a"
        " heading\n```\n\nThree\n-----\ntext\n\n#hash\n# Four\n"
    )
    assert shape("a.md", source) == [
        ("block", "", 1, 4),
        ("section", "One > Two", 6, 13),
        ("section", "One > Three", 15, 19),
        ("section", "Four", 20, 20),
    ]


def test_markdown_table_rule_is_no_heading() -> None:
    assert shape("a.md", "| a |\n|---|\n| b |\n\ntext\n---\n") == [("block", "", 1, 3), ("section", "text", 5, 6)]


def test_restructured_text_sections() -> None:
    source = (
        "=====\nTitle\n=====\n\nIntro.\n\nPart\n----\n\nText.\n\nDetail\n~~~~~~\n\nText.\n\nPart two\n--------\nText\n"
    )
    assert shape("a.rst", source) == [
        ("section", "Title", 1, 5),
        ("section", "Title > Part", 7, 10),
        ("section", "Title > Part > Detail", 12, 15),
        ("section", "Title > Part two", 17, 19),
    ]


def test_asciidoc_sections() -> None:
    assert shape("a.adoc", "= Title\nIntro\n\n== Part\n----\n== no\n----\n") == [
        ("section", "Title", 1, 2),
        ("section", "Title > Part", 4, 7),
    ]


def test_long_sections_are_cut_and_keep_their_name() -> None:
    found = shape("a.md", "# One\n" + "text\n\n" * 100)
    assert [name for _, name, _, _ in found] == ["One"] * len(found)
    assert max(last - first for _, _, first, last in found) < 80


def test_toml_tables_with_their_comments() -> None:
    source = "title = 1\n\n# about a\n[a]\n" + "x = 1\n" * 5 + "\n[b]\ny = [\n  [1],\n]\n\n[[c.d]]\nz = 1\n"
    assert shape("a.toml", source) == [
        ("section", "", 1, 1),
        ("section", "a", 3, 9),
        ("section", "b", 11, 14),
        ("section", "c.d", 16, 17),
    ]


def test_json_keys_and_brackets() -> None:
    source = (
        '{\n  "name": "a",\n  "scripts": {\n    "a": 1,\n    "b": 1,\n    "c": 1,\n    "d": 1\n  },\n  "last": 1\n}\n'
    )
    assert shape("a.json", source) == [
        ("section", "name", 1, 2),
        ("section", "scripts", 3, 8),
        ("section", "last", 9, 10),
    ]


def test_yaml_keys() -> None:
    source = "a: 1\nb: 2\njobs:\n  build:\n    steps: 1\n    more: 2\n    last: 3\n# deploys\ndeploy:\n  x: 1\n"
    assert shape("a.yml", source) == [
        ("section", "a, b", 1, 2),
        ("section", "jobs > build", 3, 7),
        ("section", "deploy", 8, 10),
    ]


def test_makefile_targets_are_not_assignments() -> None:
    source = "CC := gcc\nall: a b\n\t" + "\n\t".join(["x"] * 5) + "\nclean:\n\trm\n"
    assert shape("Makefile", source) == [("section", "", 1, 1), ("section", "all", 2, 7), ("section", "clean", 8, 9)]


def test_dockerfile_stages() -> None:
    source = "ARG A\nFROM a AS build\n" + "RUN x\n" * 5 + "from b\nCOPY . .\n"
    assert shape("Dockerfile", source) == [
        ("section", "ARG A", 1, 1),
        ("section", "FROM a AS build", 2, 7),
        ("section", "from b", 8, 9),
    ]


def test_plain_text_is_cut_at_blank_lines() -> None:
    paragraph = "word\n" * 24
    found = shape("notes.txt", (paragraph + "\n") * 4)
    assert found == [("block", "", 1, 49), ("block", "", 51, 99)]


def test_unknown_code_is_cut_before_unindented_text() -> None:
    unit = "fun f() {\n" + "    a()\n\n" * 12 + "}\n\n"
    starts = [first for _, _, first, _ in shape("a.kt", unit * 8)]
    assert all((start - 1) % 27 == 0 for start in starts)


def test_text_without_any_blank_line_is_cut_anyway() -> None:
    found = shape("a.csv", "1,2\n" * 1000)
    assert max(last - first + 1 for _, _, first, last in found) <= 60
    assert (found[0][2], found[-1][3]) == (1, 1000)


def test_one_giant_line() -> None:
    assert shape("a.json", '{"a": [' + "1," * 100_000 + "1]}") == [("block", "", 1, 1)]


WORKFLOW = """name: ci
on: [push]

jobs:
  # the first
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0
      - name: Install it
        run: |
          pip install .
          jobs: x
      - run: pytest
  release:
    needs: test
"""


def test_jobs_and_steps_of_a_workflow() -> None:
    units = [
        ("section", "name, on", 1, 2),
        ("section", "jobs > test", 4, 8),
        ("section", "jobs > test > uses: actions/checkout@v4", 9, 11),
        ("section", "jobs > test > Install it", 12, 15),
        ("section", "jobs > test > run: pytest", 16, 16),
        ("section", "jobs > release", 17, 18),
    ]
    assert shape("ci.yml", WORKFLOW) == units
    assert shape("ci.yml", WORKFLOW.replace("\n", "\r\n")) == units


def test_instructions_of_a_dockerfile() -> None:
    source = "FROM a AS build\nWORKDIR /x\n# installs\nRUN x && \\\n  # why\n  y\nENV A=1\n\nFROM b\n"
    assert shape("Dockerfile", source) == [
        ("section", "FROM a AS build", 1, 2),
        ("section", "FROM a AS build > RUN x &&", 3, 7),
        ("section", "FROM b", 9, 9),
    ]
