"""The reports of check: well-formed whatever a scenario holds, and obeyed by nobody."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from secateur.errors import SecateurError
from secateur_lab.commands.check import LARGEST_COMMENT, github_report, junit_report, markdown_report
from secateur_lab.scenarios.assertions import Failure
from secateur_lab.scenarios.check import CheckVerdict, Result
from secateur_lab.scenarios.comparison import Aspect, CheckFindings, DecisionChange
from secateur_lab.scenarios.report import json_report, text_report
from secateur_lab.scenarios.scenario import RecordedItem
from support.cli import secateur
from support.json_shapes import violations

Save = Callable[..., Path]

HOSTILE = (
    "]]></failure><testcase>",
    "<script>alert(1)</script>",
    "\n::error file=a,line=1::obeyed",
    "::stop-commands::x",
    "%0A::add-mask::secret",
    "a,line=7::b",
    "``````\n# heading\n</details>",
    "</summary></details> @everyone #1",
    "\x1b]0;title\x07\x00",
    "\ud800\udfff\ufffe",
    "\u202eevil",
    "[link](http://example.com) https://example.com",
    "'\"&amp;",
)
TEXT = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(), max_size=20))
ITEM = st.builds(
    RecordedItem,
    id=TEXT,
    state=st.sampled_from(["kept", "dropped"]),
    reason=st.just("fits"),
    tokens=st.just((3, 4)),
    rank=st.none() | st.integers(1, 9),
)
CHANGE = st.builds(
    DecisionChange,
    id=TEXT,
    what=st.just(Aspect.STATE),
    text_changed=st.booleans(),
    was=ITEM,
    now=ITEM,
    because=TEXT,
    causes=st.lists(TEXT, max_size=2).map(tuple),
    instead=st.lists(TEXT, max_size=2).map(tuple),
    line=st.integers(1, 99),
)
FOUND = st.builds(
    CheckFindings,
    differences=st.lists(CHANGE, max_size=3).map(tuple),
    failures=st.lists(st.builds(Failure, assertion=TEXT, said=TEXT, line=st.integers(1, 9)), max_size=3).map(tuple),
    knobs=st.dictionaries(TEXT, st.tuples(TEXT, st.integers()), max_size=2),
    files=st.lists(TEXT, max_size=2).map(tuple),
    origins=st.just({}),
)
RESULT = st.builds(
    Result,
    path=st.just(Path("a")),
    name=TEXT,
    verdict=st.sampled_from(list(CheckVerdict)),
    kind=TEXT,
    about=TEXT,
    compared=FOUND,
    error=st.none() | st.builds(SecateurError, TEXT, hint=TEXT, code=st.just("X")),
    updated=st.booleans(),
    line=st.integers(1, 9),
    remarks=st.lists(TEXT, max_size=2).map(tuple),
)
RESULTS = st.lists(RESULT, max_size=3)


@given(RESULTS)
def test_junit_is_well_formed_and_counts_what_it_holds(results: list[Result]) -> None:
    root = ElementTree.fromstring(junit_report(results).encode())
    suite = root.find("testsuite")
    assert suite is not None
    cases = suite.findall("testcase")
    assert len(cases) == len(results) == int(root.attrib["tests"])
    for name in ("failure", "error"):
        assert sum(len(case.findall(name)) for case in cases) == int(suite.attrib[f"{name}s"])
    assert {child.tag for case in cases for child in case} <= {"failure", "error"}


@given(RESULTS)
def test_every_line_for_github_is_a_command_of_ours_or_the_sums(results: list[Result]) -> None:
    *lines, _sums = github_report(results).splitlines()
    for line in lines:
        found = re.fullmatch(r"::error file=([^,:\r\n]*),line=\d+,title=secateur%3A [a-z ]+::([^\r\n]*)", line)
        assert found, line
        assert all(re.match("%(25|0A|0D|3A|2C)", line[at:]) for at, sign in enumerate(line) if sign == "%")


@given(RESULTS)
def test_markdown_holds_all_texts_in_fences_and_escaped_names(results: list[Result]) -> None:
    text = markdown_report(results)
    outside, fence = [], ""
    for line in text.splitlines():
        if fence:
            fence = "" if line == fence else fence
        elif found := re.fullmatch("(`{3,})text", line):
            fence = found[1]
        else:
            outside.append(line)
    assert not fence, "every fence is closed"
    allowed = r"<!-- secateur check -->|### [✓✗] secateur check||\d+ scenarios?(: [\w ,;]+)?|</details>"
    fold = r"<details><summary>[✓±✗!] <code>[^<>@]*</code>: [a-z ]+( – [^<>@]*)?</summary>"
    for line in outside:
        assert re.fullmatch(f"{allowed}|{fold}", line), line


@given(RESULTS)
def test_no_text_from_outside_is_obeyed_by_a_terminal_or_begins_a_line(results: list[Result]) -> None:
    for text in (text_report(results), text_report(results, verbose=True), json_report(results)):
        assert not set(text) & set("\x1b\x07\x00\u202e\r")
    for line in text_report(results).splitlines():
        assert not line.lstrip().startswith("::")


def test_a_comment_has_an_end() -> None:
    change = DecisionChange(
        id="a" * 300,
        what=Aspect.NEW,
        text_changed=False,
        was=None,
        now=RecordedItem("a" * 300, "kept", "fits"),
        because="because" * 100,
        causes=(),
        instead=(),
    )
    result = Result(Path("a"), "a", CheckVerdict.CHANGED, compared=CheckFindings((change,) * 20))
    text = markdown_report([result] * 40)
    assert len(text) < LARGEST_COMMENT + 200
    assert re.search(r"\.\.\. and \d+ more: run `secateur check` to see them\n$", text)


@pytest.mark.parametrize("form", ["text", "json", "junit", "github", "markdown"])
def test_each_form_says_what_changed(shop: Path, saved: Save, form: str) -> None:
    path = saved("log")
    (shop / "inputs" / "ci.log").write_text("all is well\n" * 30)
    ran = secateur("check", "--format", form)
    assert ran.code == 4
    assert "checks/log.scenario.toml" in ran.out
    assert "changed" in ran.out
    assert ran.out.count("to accept: secateur check checks/log.scenario.toml --update") == 1
    asserting = path.read_text().partition("[recorded]")[0] + 'contains = ["no such text"]\n'
    (shop / "checks" / "asserts.scenario.toml").write_text(asserting)
    line = asserting.splitlines().index('contains = ["no such text"]') + 1
    failing = secateur("check", "--only", "asserts*", "--format", form)
    wanted = f"to accept: edit line {line} of checks/asserts.scenario.toml; --update changes no assertion"
    assert (failing.code, failing.out.count(wanted)) == (4, 1)
    (shop / "checks" / "asserts.scenario.toml").unlink()
    if form == "json":
        assert violations("check", ran.json) == []
        change = ran.json["scenarios"][0]["differences"][0]
        assert path.read_text().splitlines()[change["line"] - 1].startswith(f'  {{ id = "{change["was"]["id"]}"')
    path.write_text("scenario = 2\n")
    if form == "json":
        broken = secateur("check", "--format", "json").json
        assert violations("check", broken) == []
        assert broken["scenarios"][0]["error"]["code"] == "SCENARIO"
