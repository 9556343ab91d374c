"""`secateur log`: the report, the text as it goes out, JSON with the ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.kinds import registry
from secateur.tokens import count_tokens
from support.cli import secateur
from support.logs import LOGS, among

LOG = among(LOGS["pytest"])


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ci.log"
    path.write_text(LOG, "utf-8")
    return path


def test_it_prints_what_goes_out_and_why(file: Path) -> None:
    report = secateur("log", file, "--max-tokens", 500)
    assert (report.code, report.err) == (0, "")
    plain = secateur("log", file, "--max-tokens", 500, "--format", "plain").out
    assert f"-> {count_tokens(plain):,} (o200k_base), budget 500" in report.out
    assert "it is the first thing that went wrong: “____" in report.out
    assert len(secateur("log", file, "--max-tokens", 500, "--verbose").out.split("\n")) > len(report.out.split("\n"))


def test_the_json_holds_text_ledger_and_warnings(file: Path) -> None:
    answer = secateur("log", file, "--max-tokens", 500, "--query", "zxqv", "--format", "json").json
    assert set(answer) == {"schema_version", "text", "mark", "ledger", "warnings"}
    assert answer["text"] == secateur("log", "-", "--max-tokens", 500, "--format", "plain", stdin=LOG.encode()).out
    ledger = answer["ledger"]
    assert (ledger["kind"], ledger["budget"], ledger["after"]) == ("log", 500, count_tokens(answer["text"]))
    for side in ("before", "after"):
        assert ledger[side] == sum(entry[side] for entry in ledger["entries"])
    assert [warning["code"] for warning in answer["warnings"]] == ["no_match"]


def test_warnings_are_said_where_the_format_has_no_place_for_them(file: Path) -> None:
    ran = secateur("log", file, "--max-tokens", 0, "--format", "plain")
    assert (ran.code, ran.out, ran.err) == (0, "", "warning: The budget is 0 tokens: nothing goes out.\n")


def test_wrong_calls_are_said(file: Path) -> None:
    assert secateur("log", file, "--max-tokens", "-1").code == 2
    assert secateur("log", "missing.log").code == 1
    assert secateur("log", file, "--format", "xml").code == 2


def test_a_log_is_told_by_its_name_or_by_its_times(file: Path) -> None:
    kind = registry.get_kind("log")
    assert kind.recognises(file, LOG) and kind.recognises(Path("out.txt"), LOGS["actions"])
    for other in ('{"target_snapshot": 1}', '{"role": "user"}\n', "diff --git a/b b/b\n", "def f():\n    pass\n", ""):
        assert not kind.recognises(Path("some.txt"), other)
