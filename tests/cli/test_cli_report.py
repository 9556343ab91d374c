"""`--report FILE` on the command of every kind."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from secateur.kinds import decision_report
from support.cli import secateur
from support.reports import Parsed

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CALLS = {
    "search": ("search", "where is the refund total rounded?", "sample:orders", "--budget", "1000"),
    "conversation": ("conversation", EXAMPLES / "session.jsonl", "--safe-zone", "7000"),
    "envelope": ("envelope", EXAMPLES / "envelope.json", "--model", "gpt-4o", "--context-budget", "900"),
    "chunk": ("chunk", "sample:orders", "--base", "HEAD~3", "--max-tokens", "3000"),
    "log": ("log", EXAMPLES / "ci.log", "--max-tokens", "500"),
    "files": ("files", EXAMPLES / "ci.log", EXAMPLES / "envelope.json", "--query", "refund", "--max-tokens", "300"),
}


@pytest.mark.parametrize("kind", CALLS)
def test_every_kind_is_exported_in_every_format(kind: str, tmp_path: Path) -> None:
    files = {ending: tmp_path / f"out{ending}" for ending in decision_report.FORMS}
    flags = [word for file in files.values() for word in ("--report", file)]
    ran = secateur(*CALLS[kind], "--format", "json", *flags)
    assert ran.code == 0, ran.err
    assert json.loads(files[".json"].read_text("utf-8")) == ran.json
    assert [f"report: {file}" in ran.err for file in files.values()] == [True] * 4
    page = Parsed(files[".html"].read_text("utf-8"))
    entries = [entry for entry in ran.json["ledger"]["entries"] if entry["id"] != "wrapper"]
    rows = [attrs for tag, attrs in page.tags if tag == "li" and (attrs.get("class") or "").startswith("item ")]
    told = [(row["data-state"], int(row["data-before"] or 0), int(row["data-after"] or 0)) for row in rows]
    listed = [(entry["state"], entry["before"], entry["after"]) for entry in entries if entry["id"] != "not-listed"]
    if kind == "search":  # the JSON lists what leaves first, the page by rank
        assert sorted(told)[-1] == sorted(listed)[-1] and len(told) == 79
    else:
        assert told == listed
    for form in (".md", ".svg"):
        assert f"{ran.json['ledger']['budget']:,} tokens" in files[form].read_text("utf-8")


@pytest.mark.parametrize("kind", CALLS)
def test_the_command_line_of_a_report_decides_the_same_again(kind: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.html", tmp_path / "second.html"
    assert secateur(*CALLS[kind], "--report", first).code == 0
    page = first.read_text("utf-8")
    command = page.partition('<pre class="command mono">\n')[2].partition("</pre>")[0]
    words = shlex.split(Parsed(command).text)
    assert words[0] == "secateur"
    assert secateur(*words[1:], "--report", second).code == 0
    assert second.read_text("utf-8") == page or kind == "chunk"
    if kind == "chunk":  # what is compared is named by ids of commits, no longer by HEAD~3
        assert "HEAD~3" not in command
        assert second.read_text("utf-8").count('<li class="item') == page.count('<li class="item')


def test_a_revision_is_resolved_to_its_commit(tmp_path: Path) -> None:
    file = tmp_path / "out.md"
    ran = secateur("search", "refund", "sample:orders", "--rev", "HEAD~2", "--report", file)
    assert ran.code == 0, ran.err
    command = file.read_text("utf-8").partition("```sh\n")[2]
    assert "--rev" in command and "HEAD~2" not in command


def test_the_printed_answer_is_the_same_with_a_report(tmp_path: Path) -> None:
    plain = secateur(*CALLS["search"])
    again = secateur(*CALLS["search"], "--report", tmp_path / "out.html")
    assert again.out == plain.out and not plain.err


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("out.pdf", "out.pdf ends in .pdf: a report is written as .html, .md, .json or .svg"),
        ("out", "out has no ending: a report is written as"),
    ],
)
def test_another_ending_is_refused_before_anything_is_read(name: str, told: str) -> None:
    ran = secateur("envelope", "there-is-no-such-file.json", "--model", "gpt-4o", "--report", name)
    assert ran.code == 1 or ran.code == 2
    assert told in ran.err and "out.html" in ran.err


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    file = tmp_path / "out.html"
    file.write_text("mine")
    ran = secateur(*CALLS["log"], "--report", file)
    assert ran.code != 0 and "already exists" in ran.err and file.read_text() == "mine"
    assert not ran.out


def test_a_folder_that_is_not_there_is_named_and_nothing_is_left(tmp_path: Path) -> None:
    ran = secateur(*CALLS["log"], "--report", tmp_path / "no" / "out.html")
    assert ran.code == 2 and f"there is no folder {tmp_path / 'no'}" in ran.err and not ran.out
    assert not list(tmp_path.iterdir())


def test_a_budget_that_nobody_gave_is_told_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "out.md"
    assert secateur("search", "refund", "sample:orders", "--report", file).code == 0
    assert "settings: budget 8,000," in file.read_text("utf-8")


def test_texts_have_a_bound_and_what_goes_out_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decision_report, "TEXT_LIMIT", 1_200)
    file = tmp_path / "out.html"
    assert secateur(*CALLS["search"], "--report", file).code == 0
    page = file.read_text("utf-8")
    assert "is left out, to keep this page small" in page and "more characters" in page
    assert "what goes out" in page and "what came in" not in page


def test_entries_have_a_bound_and_those_that_changed_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decision_report, "MOST_ITEMS", 6)
    file = tmp_path / "out.html"
    assert secateur(*CALLS["conversation"], "--report", file).code == 0
    page = Parsed(file.read_text("utf-8"))
    states = [attrs["data-state"] for _, attrs in page.tags if "data-state" in attrs]
    assert states.count("shortened") == 5 and len(states) == 6
    assert "Not listed here: 31 kept" in page.text


def test_what_was_proven_stands_on_the_page(tmp_path: Path) -> None:
    for kind, proven in (("log", "--max-tokens 513, 28 tokens more"), ("conversation", "nothing changes between")):
        file = tmp_path / f"{kind}.html"
        assert secateur(*CALLS[kind], "--explain", "--report", file).code == 0
        assert proven in Parsed(file.read_text("utf-8")).text
