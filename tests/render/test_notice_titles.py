"""A report for people calls no notice by its code."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
import secateur
from secateur.model import Notice
from secateur.render.page import Page
from secateur.render.report.content import markdown_report, plain_lines
from secateur.render.report.html_page import html_page
from support.reports import report

SOURCES = Path(secateur.__file__).parents[1]
CODES = sorted(
    {code for path in SOURCES.rglob("*.py") for code in re.findall(r'Notice\(\s*"(\w+)"', path.read_text("utf-8"))}
)


@pytest.mark.parametrize("code", CODES)
def test_no_report_for_people_prints_a_code(code: str) -> None:
    notices = [Notice(code, "A sentence.")]
    decided = replace(report(), notices=notices)
    texts = [Page([], notices=notices).text(), markdown_report(decided), plain_lines(decided), html_page(decided)]
    title = code.replace("_", " ")
    assert all(title in text for text in texts[1:])
    assert "_" not in code or not any(code in text for text in texts)
