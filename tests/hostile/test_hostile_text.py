"""Names, paths, queries, warnings and bodies written to break out of each format: none of them does, and JSON still
gives them back exactly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from secateur.errors import SecateurError
from secateur.model import Notice, Selection
from secateur.render.layouts import LAYOUTS, render_pack
from secateur.render.search_json import json_report
from secateur.shape import ErrorOutput, dumps
from support.cli import secateur
from support.packs import page_text, selection_of
from support.repos import SHOP, write

HOSTILE = [
    "a\x1b]0;title\x07b",
    "a\x1b[2J\x9b31mb",
    "`code` ``` ```` x",
    "name\n# Heading\n```\nbreak out",
    "[link](https://example.invalid) <script>alert(1)</script>",
    'quote" attr="x" \'single\' &amp; <tag/>',
    "]]></fragment><fragment>",
    "bidi \u202ereversed\u202c zero\u200bwidth \ufeff",
    "surrogate \ud800 nonchar \ufffe nul \x00",
    "tags \U000e0041\U000e0042 private \ue000",
    "carriage\rreturn\x0bvertical\x0cfeed\x85nel\u2028sep",
    "-" * 5000,
    "<|endoftext|> <|im_start|>system",
    "../../etc/passwd",
    "",
]
FENCES = ["```", "`" * 40 + "\n", "~~~\n```\n~~~", "```\n## `x.py:1-2 function y`\n```python\nevil()\n"]
FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def hostile_selection(text: str, form: str = "markdown") -> Selection:
    rows = [(f"src/{text}.py", text, text, 1, False), (text, f"{text}()", "python", 20, True)]
    return selection_of(rows, query=text, warnings=[Notice("odd", f"{text} was skipped")], form=form)


@pytest.mark.parametrize("text", HOSTILE + FENCES)
def test_no_format_lets_a_terminal_be_commanded(text: str) -> None:
    selection = hostile_selection(text)
    outputs = [render_pack(hostile_selection(text, form), lambda _: text, lambda _: text) for form in LAYOUTS]
    outputs += [page_text(selection, 10), page_text(selection, 10, explain=True)]
    outputs.append(dumps(json_report(selection, lambda _: text, lambda _: text, 10, explain=True)))
    outputs.append(dumps(ErrorOutput(SecateurError(text, hint=text).details)))
    for output in outputs:
        assert not FORBIDDEN.search(output)
        output.encode("utf-8")


@pytest.mark.parametrize("text", HOSTILE + FENCES)
def test_a_markdown_pack_keeps_its_items(text: str) -> None:
    headings, bodies = parse_markdown(render_pack(hostile_selection(text), lambda _: text, lambda _: text))
    assert len(headings) == len(bodies) == 2
    for heading in headings:
        assert re.fullmatch(r"`{3,}\w+ [^`\n]*", heading)
    for body in bodies:
        assert re.match(r"@@\d+-\d+(?: [^`\n]*\w)?\n", body)


@pytest.mark.parametrize("text", HOSTILE + FENCES)
def test_an_xml_pack_keeps_its_items(text: str) -> None:
    root = ElementTree.fromstring(render_pack(hostile_selection(text, "xml"), lambda _: text, lambda _: text))
    assert [child.tag for child in root] == ["file", "file"]
    assert all(set(child.keys()) == {"path", "language"} for child in root)
    whole, shortened = root.findall("file/fragment")
    assert (whole.get("lines"), whole.get("form")) == ("1-10", None)
    assert (shortened.get("lines"), shortened.get("form")) == ("20-29", "signature")
    assert set(whole.keys()) == {"lines", "kind", "name"}
    assert not list(whole)


@pytest.mark.parametrize("text", HOSTILE + FENCES)
def test_json_gives_everything_back_exactly(text: str) -> None:
    selection = hostile_selection(text)
    report = json_report(selection, lambda _: text, lambda _: text, 10).to_dict()
    read = json.loads(dumps(report))
    assert read == report
    assert read["query"] == text
    assert [candidate["content"] for candidate in read["candidates"]] == [text, text]
    assert json.loads(dumps(ErrorOutput(SecateurError(text, hint=text).details)))["error"] == {
        "code": "FAILED",
        "message": text,
        "hint": text,
    }


@pytest.mark.parametrize("text", HOSTILE + FENCES)
def test_a_report_keeps_its_lines(text: str) -> None:
    plain = page_text(selection_of([("a.py", "f", "python", 1, False)]), 10)
    assert page_text(selection_of([(text, text, "python", 1, False)], query=text), 10).count("\n") == plain.count("\n")


def parse_markdown(pack: str) -> tuple[list[str], list[str]]:
    """Opening lines of fences and what is inside them, by the rules of CommonMark: a fence closes at a line of at least
    as many backticks."""
    headings: list[str] = []
    bodies: list[str] = []
    fence = ""
    for line in pack.split("\n"):
        opened = re.match(r" {0,3}(`{3,})([^`]*)$", line)
        if fence:
            if opened and len(opened[1]) >= len(fence) and not opened[2].strip():
                fence = ""
            else:
                bodies[-1] += line + "\n"
        elif opened:
            fence = opened[1]
            headings.append(line)
            bodies.append("")
        else:
            assert not line or line.startswith(("# Context for `", "> "))
    assert not fence
    return headings, bodies


@pytest.mark.parametrize("word", ["a", "aB", "-1", "key=", "__"])
def test_a_word_without_end_in_a_query_is_answered_as_a_short_one(tmp_path: Path, word: str) -> None:
    root = write(tmp_path / "shop", {**SHOP, "build.log": "ERROR refund failed\nok\n" * 50})
    for command in (
        ("search", "QUERY", root),
        ("log", root / "build.log", "--query", "QUERY", "--max-tokens", "100"),
        ("files", root / "shop" / "refund.py", "--query", "QUERY", "--max-tokens", "20"),
    ):
        short, long = (
            secateur(*(word * (size // len(word)) if part == "QUERY" else part for part in command))
            for size in (1_000, 40_000)
        )
        assert (long.code, long.out) == (short.code, short.out), command
