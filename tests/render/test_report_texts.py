"""A report as Markdown and as a picture: no text from outside breaks them, and they are bounded."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from render.test_report_page import FORBIDDEN, HOSTILE
from secateur.directories import data_dir
from secateur.model import State
from secateur.render.report.content import LIMIT, markdown_report
from secateur.render.report.html_page import MOST_LINES, compare_lines
from secateur.render.report.looks import fit_name
from secateur.render.report.picture import svg_picture
from support.cli import secateur
from support.reports import item, report

SVG = "{http://www.w3.org/2000/svg}"


def check_markdown(text: str) -> None:
    made = markdown_report(report(text))
    assert not FORBIDDEN.search(made)
    fences = [line for line in made.split("\n") if line.startswith("```")]
    assert len(fences) == 2 and made.endswith(f"{fences[1]}\n")
    rows = [line for line in made.split("\n") if line.startswith(("| ● ", "| ◐ ", "| ◍ ", "| ○ "))]
    assert len(rows) == 4
    for row in rows:
        assert len(re.findall(r"(?<!\\)\|", row)) == 6
    assert made.count("<details") == made.count("</details>") == 2


@pytest.mark.parametrize("text", [*HOSTILE, "a | b ` c", "@someone #12 **x**", "\\| \\"])
def test_no_text_breaks_the_markdown(text: str) -> None:
    check_markdown(text)


@given(st.text(min_size=1))
def test_no_text_at_all_breaks_the_markdown(text: str) -> None:
    check_markdown(text)


def test_nobody_is_mentioned_by_a_text() -> None:
    made = markdown_report(report("ask @someone"))
    assert "@someone" not in re.sub(r"`[^`]*`", "", made.partition("### Get it again")[0])


def test_the_markdown_stays_within_a_comment_and_counts_the_rest() -> None:
    items = [item(number, State.KEPT, 1, 1, "x" * 300) for number in range(1, 2001)]
    made = markdown_report(replace(report(), items=items, unlisted={}))
    assert len(made) <= LIMIT
    listed = sum(line.startswith("| ● ") for line in made.split("\n"))
    assert 10 < listed < 2000 and f"{2000 - listed:,} more are not listed here." in made


def texts_of(picture: str) -> list[str]:
    root = ElementTree.fromstring(picture)
    assert {node.tag for node in root.iter()} <= {
        SVG + tag for tag in ["svg", "title", "desc", "style", "defs", "pattern", "rect", "path", "circle", "text", "g"]
    }
    for node in root.iter():
        assert not [name for name in node.attrib if name.startswith("on") or "href" in name]
    return [node.text or "" for node in root.iter(SVG + "text")]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_breaks_the_picture(text: str) -> None:
    texts_of(svg_picture(report(text)))


@given(st.text(min_size=1))
def test_no_text_at_all_breaks_the_picture(text: str) -> None:
    assert "90 of 100 tokens" in texts_of(svg_picture(report(text)))


def test_the_picture_says_what_goes_out_and_where_the_cut_is() -> None:
    told = texts_of(svg_picture(report("Money.round")))
    assert "90 of 100 tokens" in told and "cut at 100, 10 free" in told
    assert told.count("0.775") == 4 and "50 → 20" in told and "… and 7 more" in told
    assert "var(" not in svg_picture(report())


def test_a_picture_without_scores_shows_where_most_is_gone() -> None:
    items = [item(number, State.KEPT, 5, 5, f"item {number}", terms={}) for number in range(1, 100)]
    items[70] = item(71, State.SHORTENED, 500, 5, "the largest", terms={})
    told = texts_of(svg_picture(replace(report(), items=items, unlisted={})))
    assert "the largest" in told and "… and 81 more" in told and "item 99" not in told


def test_a_name_is_cut_to_its_last_part_before_it_is_cut() -> None:
    assert fit_name("orders/services/refunds.py", 12) == "refunds.py"
    assert fit_name("RefundService.round_total", 12) == "round_total"
    assert fit_name("RefundService.round_total", 9) == "round_to…"
    assert fit_name("RefundService.round_total", 30) == "RefundService.round_total"
    assert fit_name("anything", 3) == ""


def test_a_diff_tells_the_lines_that_go() -> None:
    before = "".join(f"{number}\n" for number in range(20))
    told = compare_lines(before, before.replace("10\n", ""))
    assert told is not None and "-10" in told
    assert told[0] == "@@ -8,7 +8,6 @@"
    assert compare_lines("a\n", "a\n") == []
    assert compare_lines("a\n" * (MOST_LINES + 1), "a") is None


def test_the_first_sentence_says_what_fits_and_what_is_lost(tmp_path: Path) -> None:
    log = tmp_path / "ci.log"
    shutil.copy(data_dir("docs/examples") / "ci.log", log)
    words = "log", log, "--max-tokens", "500", "--report", tmp_path / "a.html", "--report", tmp_path / "a.md"
    assert secateur(*words).code == 0
    sentence = "Of 15 parts with 2,061 tokens, 9 (2 shortened) fit into 500 tokens; 6 left out, among them lines 1-71."
    assert f"<p>{sentence}</p></header>" in (tmp_path / "a.html").read_text("utf-8")
    assert (tmp_path / "a.md").read_text("utf-8").splitlines()[2] == sentence
