"""Condensed forms: which lines may stay behind, and that the others go out as they are."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.engine import Engine
from secateur.errors import RepositoryError
from secateur.model import Reason, ShorterForm, State
from secateur.render import search_ledger
from secateur.render.omissions import with_marks
from secateur.retrieval.condensing import LITERAL_LINES, condensed
from secateur.retrieval.stored_pool import restored, stored
from secateur.selection import select
from secateur.settings import Settings, Shorten, load, with_values
from secateur.tokens import get_counter
from support.cli import secateur
from support.pools import Row, pool_of

EVERYTHING = Shorten(docstrings=True, licences=True, banners=True, literals=True, most=1.0)

PYTHON = '''\
def total(lines):
    """The sum of the lines, with tax.

    Tax is added line by line, because rounding a sum is not the same as summing rounded amounts.

    Args:
        lines: those of an order.
    """
    return sum(line.taxed for line in lines)
'''

JAVA = """\
/**
 * The sum of the lines, with tax.
 *
 * Tax is added line by line, because rounding a sum is another thing than summing what was rounded.
 * @param lines those of an order
 */
@Override
public Money total(List<Line> lines) {
    return lines.sum();
}
"""

LICENCE = """\
// Copyright 2020 The Authors of this very long list of authors. All rights reserved.
// Use of this source code is governed by a BSD-style license that can be found in the file.
package orders
"""

RULE = "#" + "-" * 40
BANNER = f"{RULE}\n# Totals of an order\n{RULE}\n\ndef total(lines):\n    return sum(lines)\n"

TABLE = "RATES = {\n" + "".join(f'    "{n:03}": {n}.25,\n' for n in range(20)) + "}\n"


def form_of(text: str, language: str, rules: Shorten = EVERYTHING, sig: tuple[int, int] = (1, 1)) -> str:
    """A file that is one fragment, as it goes out condensed; "" where nothing stays behind."""
    lines = text.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    counter = get_counter("o200k_base")
    one = np.array([1], dtype=np.int64)
    pool = pool_of([Row("f", tokens=counter.count(text))])
    pool = replace(
        pool,
        language=[language],
        line_start=one,
        line_end=one * len(lines),
        sig_start=one * sig[0],
        sig_end=one * sig[1],
    )
    found = condensed(pool, lambda _: lines, counter, rules).condensed
    return with_marks(lines, 1, len(lines), found.lines[0]) if found is not None else ""


def test_of_a_docstring_the_first_paragraph_stays() -> None:
    lines = PYTHON.splitlines()
    assert form_of(PYTHON, "python").splitlines() == [*lines[:2], "    [… 5 lines]", *lines[7:]]


def test_of_the_comment_before_a_definition_too() -> None:
    lines = JAVA.splitlines()
    assert form_of(JAVA, "java", sig=(8, 8)).splitlines() == [*lines[:2], " [… 3 lines]", *lines[5:]]


def test_licences_leave_and_their_code_stays() -> None:
    assert form_of(LICENCE, "go", sig=(3, 3)).splitlines() == ["[… 2 lines]", "package orders"]


def test_of_a_long_literal_the_first_lines_stay_and_the_last() -> None:
    shown = form_of(TABLE, "python").splitlines()
    assert shown == [*TABLE.splitlines()[:4], f"    [… {20 - 3} lines]", "}"] or len(shown) < LITERAL_LINES
    assert shown[0] == "RATES = {" and shown[-1] == "}"


def test_banners_leave_with_their_rules() -> None:
    assert form_of(BANNER, "python", sig=(5, 5)).splitlines() == ["[… 3 lines]", *BANNER.splitlines()[3:]]
    java = BANNER.replace(RULE, "/" + "*" * 40, 1).replace("# T", " * T").replace(RULE, " " + "*" * 40 + "/")
    java = java.replace("Totals", "Totals" + " and taxes" * 8)
    lines = java.splitlines()
    assert form_of(java, "java", sig=(5, 5)).splitlines() == [lines[0], " [… 1 line]", *lines[2:]]


@pytest.mark.parametrize(
    "comment",
    [
        f"{RULE}\n# Totals of an order, with what is paid and what is not\n",
        f"{RULE}\n" + "# It explains something\n" * 6 + f"{RULE}\n",
        f"# before\n{RULE}\n{RULE}\n# after\n",
        "# +---------+---------+---------+\n# | a table of three columns      |\n# +---------+---------+---------+\n",
        "# Totals of an order\n" * 3,
    ],
    ids=["one rule", "long", "nothing between", "a table", "no rule"],
)
def test_comments_that_are_no_banners_stay(comment: str) -> None:
    assert form_of(f"{comment}def total(): ...\n", "python", Shorten(banners=True, most=1.0), sig=(9, 9)) == ""


@pytest.mark.parametrize("option", ["docstrings", "licences", "banners", "literals"])
def test_each_is_an_option_of_its_own(option: str) -> None:
    alone = Shorten(**{option: True}, most=1.0)
    cases = {"docstrings": (PYTHON, "python"), "licences": (LICENCE, "go"), "literals": (TABLE, "python")}
    cases["banners"] = (BANNER, "python")
    for name, (text, language) in cases.items():
        assert bool(form_of(text, language, alone, sig=(3, 3) if language == "go" else (1, 1))) is (name == option)


def test_no_more_than_a_share_of_the_lines_stays_behind_the_last_ones_first() -> None:
    lines = PYTHON.splitlines()
    shown = form_of(PYTHON, "python", Shorten(docstrings=True, most=0.5)).splitlines()
    assert shown == [*lines[:3], "    [… 4 lines]", *lines[7:]]


@pytest.mark.parametrize(
    "text",
    [
        'def f():\n    """Never closed.\n\n    ' + "and on it goes " * 20 + "\n    return 1\n",
        'def f():\n    """One line."""\n' + "    x = 1\n" * 5,
        "def f():\n    x = [" + "1, " * 50_000 + "]\n    return x\n",
        "x" * 100_000,
        "def f():\r\n    '''Says this.\r\n\r\n    '''\r\n    return 1\r\n",
        "",
    ],
    ids=["unclosed", "one line", "huge literal", "one huge word", "hardly anything behind the first", "empty"],
)
def test_where_nothing_is_known_or_won_nothing_stays_behind(text: str) -> None:
    assert form_of(text, "python") == ""


def test_line_ends_and_other_scripts_stay_as_they_are() -> None:
    text = PYTHON.replace("The sum of the lines, with tax.", "含税的订单总额。").replace("\n", "\r\n")
    shown = form_of(text, "python").split("\n")
    assert shown[1] == '    """含税的订单总额。\r' and "    [… 5 lines]" in shown


_LINES = st.lists(
    st.sampled_from(
        [
            *('"""', '    """', "'''", "", "    ", "def f():", "# Copyright " + "me " * 30, "// " + "words " * 20),
            *("/**", " */", " * " + "said " * 20, "    1, 2, 3,", '    "a": 1,', "]", "\t@param x " + "y " * 30, "\r"),
            *("# " + "=" * 70, "//" + "*" * 70, "/*" + "*" * 70, "*" * 70 + "/"),
            *("1" * 60 + "x!", "中文 " * 10, "    return 1", "\x1b[31m", "[… 3 lines]"),
        ]
    ),
    min_size=1,
    max_size=40,
)


@given(_LINES, st.sampled_from(["python", "java", "go", "text"]), st.sampled_from([0.0, 0.2, 1.0]), st.data())
def test_what_goes_out_are_lines_of_it_and_never_too_few(
    lines: list[str], language: str, most: float, data: st.DataObject
) -> None:
    sig = data.draw(st.integers(1, len(lines)))
    one = np.array([1], dtype=np.int64)
    pool = replace(
        pool_of([Row("f", tokens=10_000)]),
        language=[language],
        line_end=one * len(lines),
        sig_start=one * sig,
        sig_end=one * sig,
    )
    found = condensed(pool, lambda _: lines, get_counter("chars4"), replace(EVERYTHING, most=most)).condensed
    if found is None:
        return
    out = [number for first, last in found.lines[0] for number in range(first, last + 1)]
    assert out == sorted(set(out)) and set(out) <= set(range(1, len(lines) + 1))
    left = len(lines) - len(out)
    assert 0 < left <= most * len(lines)
    shown = with_marks(lines, 1, len(lines), found.lines[0])
    assert [lines[number - 1] for number in out] == [
        line for line, mine in zip(shown.split("\n"), _marks(len(lines), found.lines[0]), strict=True) if not mine
    ]
    assert int(found.cost[0]) < int(pool.cost[0])


def _marks(count: int, out: tuple[tuple[int, int], ...]) -> list[bool]:
    """Per line of the text, whether it is a mark."""
    marks, expected = [], 1
    for first, last in (*out, (count + 1, count)):
        marks += [True] * (first > expected) + [False] * (last - first + 1)
        expected = last + 1
    return marks


def test_of_a_file_that_cannot_be_read_any_more_nothing_is_condensed() -> None:
    def gone(path: str) -> list[str]:
        raise RepositoryError(f"{path}: gone", hint="")

    pool = pool_of([Row("f")])
    assert condensed(pool, gone, get_counter("chars4"), EVERYTHING) is pool


def test_a_condensed_row_is_charged_what_it_takes_counts_as_shortened_and_in_full() -> None:
    pool = pool_of([Row("a", tokens=100, relevance=0.9), Row("b", tokens=100, relevance=0.8)])
    form = ShorterForm({0: ((1, 2), (5, 10))}, np.array([60, 0]), np.array([60, 0]))
    selection = select(replace(pool, condensed=form), Settings(budget=160))
    assert [State(int(state)) for state in selection.state] == [State.SHORTENED, State.KEPT]
    assert selection.used == 160 and selection.in_full.all()
    assert selection.decision(0).to_dict() == {
        "state": "shortened",
        "reason": "condensed",
        "lines": 2,
        "of": 10,
        "saved": 40,
    }
    ledger = search_ledger(selection, 165)
    assert sum(entry.after for entry in ledger.entries) == 165 and ledger.entries[0].after == 60
    pinned = select(replace(pool, condensed=form), Settings(budget=160, pins=("a.py::a",)))
    assert pinned.reason[0] == Reason.PINNED and pinned.state[0] == State.KEPT
    again = restored(stored(replace(pool, condensed=form)) or "").condensed
    assert again is not None and again.lines == form.lines and again.cost.tolist() == [60, 0]


def test_a_pack_with_condensed_functions_keeps_to_its_budget(tmp_path: Path) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    for number in range(12):
        (folder / f"m{number}.py").write_text(PYTHON.replace("total", f"total_{number}") + "\n" + TABLE)
    settings = with_values(
        load(None, profile="recommended").settings,
        {"shorten.docstrings": True, "shorten.literals": True, "shorten.most": 0.5},
    )
    with Engine.open(folder, settings, cache_dir=tmp_path / "cache") as engine:
        pool = engine.retrieve("sum of the lines with tax")
        for budget in range(0, 1500, 70):
            for form in ("markdown", "xml"):
                own = engine.retrieve("sum of the lines with tax", format=form)
                selection = engine.select(own, replace(settings, budget=budget))
                text = engine.render(selection, form)
                if selection.kept_rows:
                    assert engine.counter().count(text) <= selection.used <= budget
        selection = engine.select(pool, replace(settings, budget=1500))
        rows = [row for row in selection.kept_rows if selection.reason[row] == Reason.CONDENSED]
        assert rows
        for row in rows:
            sent, whole = engine.sent(selection, row), engine.content(pool, row)
            assert [line for line in sent.split("\n") if "[… " not in line] == [
                line
                for number, line in enumerate(whole.split("\n"), int(pool.line_start[row]))
                if any(first <= number <= last for first, last in selection.lines_out(row))
            ]


def test_the_program_says_what_stays_behind(tmp_path: Path) -> None:
    (tmp_path / "money.py").write_text(PYTHON)
    query = ("search", "sum of the lines with tax", str(tmp_path), "--profile", "recommended")
    options = ("--set", "shorten.docstrings=true", "--set", "shorten.most=0.6")
    text = secateur(*query, *options).out
    assert "there was room; 5 of its 9 lines stay behind" in text
    answer = json.loads(secateur(*query, *options, "--format", "json").out)
    assert [item["lines"] for item in answer["candidates"]] == [[[1, 2], [8, 9]]]
    assert "    [… 5 lines]\n" in answer["candidates"][0]["content"]
    assert "[… 5 lines]" in secateur(*query, *options, "--format", "markdown").out
