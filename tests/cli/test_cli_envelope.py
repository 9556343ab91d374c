"""`secateur envelope`: the frozen shape on standard output, everything else on standard error, exit code 3 where the
budget cannot be met."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from random import Random

import pytest
from secateur import count_tokens, trim_context_with_budget
from support.cli import secateur
from support.credentials import MAKERS
from support.envelopes import asset_paths, dependencies, envelope, files

BEFORE = envelope({"references": {"asset_paths": asset_paths(9000)}, "files": files(4, 900)})


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "envelope.json"
    path.write_text(json.dumps(BEFORE), "utf-8")
    return path


def test_it_prints_the_frozen_shape_and_the_ledger(file: Path) -> None:
    expected = trim_context_with_budget(
        envelope=BEFORE, model="gpt-4o", context_token_budget=1500, reserve_for_response=700
    )
    call = ("envelope", file, "--model", "gpt-4o", "--context-budget", 1500, "--reserve", 700)
    ran = secateur(*call)
    assert (ran.code, ran.err) == (0, "")
    printed = dict(ran.json)
    ledger = printed.pop("ledger")
    assert printed == expected
    assert ledger["kind"] == "envelope" and ledger["entries"][-1]["id"] == "wrapper"
    for side, whole in (("before", "estimateBefore"), ("after", "estimateAfter")):
        assert ledger[side] == sum(entry[side] for entry in ledger["entries"]) == expected["trimReport"][whole]
    assert secateur(*call, "--format", "json").out == ran.out
    assert secateur("envelope", "-", *call[2:], stdin=b"\xef\xbb\xbf" + file.read_bytes()).out == ran.out


def test_without_budgets_the_window_decides(file: Path) -> None:
    report = secateur("envelope", file, "--model", "gpt-4o").json["trimReport"]
    assert (report["applied"], report["contextBudget"], report["reserveForResponse"]) == (False, 89_600, 38_400)


def test_the_window_may_come_from_the_configuration(file: Path) -> None:
    Path("own.toml").write_text("[context_budget]\nwindows = { mine = 2000 }\n", "utf-8")
    report = secateur("envelope", file, "--model", "mine", "--config", "own.toml").json["trimReport"]
    assert (report["applied"], report["contextBudget"], report["reserveForResponse"]) == (True, 1400, 600)
    words = "envelope", file, "--model", "mine", "--config", "own.toml", "--counter", "chars4"
    report = secateur(*words).json["trimReport"]
    assert report["estimateBefore"] == -(-len(json.dumps(BEFORE, ensure_ascii=False)) // 4)


def test_a_budget_alone_needs_no_model(file: Path) -> None:
    plain = secateur("inspect", file, "--budget", 1200, "--plain")
    assert "window of model" not in plain.out
    command = plain.out.strip().rpartition("\n")[2].removeprefix("command: secateur ")
    ran = secateur(*shlex.split(command), "--format", "text")
    assert (ran.code, ran.err) == (0, "")
    assert "budget 1,200, 0 kept free" in ran.out


def test_a_pinned_entry_stays_whole_within_the_budget(file: Path) -> None:
    file.write_text(json.dumps(envelope({"files": files(30, 2000), "notes": "n" * 4000})), "utf-8")
    call = "envelope", file, "--model", "gpt-4o", "--context-budget", 2600
    pins = "dependency_digest.files[11]", "dependency_digest.files[29]"
    before = {entry["id"]: entry["state"] for entry in secateur(*call).json["ledger"]["entries"]}
    assert {before[pin] for pin in pins} <= {"shortened", "summarised"}
    ran = secateur(*call, *(word for pin in pins for word in ("--pin", pin)))
    assert (ran.code, ran.err) == (0, "")
    ledger = ran.json["ledger"]
    after = {entry["id"]: (entry["state"], entry["reason"]) for entry in ledger["entries"]}
    assert [after[pin] for pin in pins] == [("kept", "pinned")] * 2
    assert ledger["after"] <= 2600

    ran = secateur(*call[:-1], 700, "--pin", pins[0])
    assert ran.code == 3
    assert f"pinned parts take 453 ({pins[0]})" in ran.err
    assert "remove pins" in ran.err
    assert "Nothing here is called files[11]" in secateur(*call, "--pin", "files[11]").err


def test_no_entry_vanishes_from_the_rows(file: Path) -> None:
    modules = [{"path": f"m{at}.py", "summary": "s " * (10 if at in (3, 12) else 400)} for at in range(16)]
    file.write_text(json.dumps(envelope({"modules": modules, "short": "kept"})), "utf-8")
    ledger = secateur("envelope", file, "--model", "gpt-4o", "--context-budget", 4500).json["ledger"]
    states = {entry["id"]: entry["state"] for entry in ledger["entries"]}
    digest = [f"dependency_digest.modules[{at}]" for at in range(16)]
    assert {*digest, "dependency_digest.short"} <= states.keys()
    assert states[digest[3]] == states[digest[12]] == "kept"


def test_the_reason_of_an_entry_is_that_of_its_stage(file: Path) -> None:
    file.write_text(json.dumps(envelope({"files": dependencies(30, 500)})), "utf-8")
    entries = secateur("envelope", file, "--model", "gpt-4o", "--context-budget", 3000).json["ledger"]["entries"]
    pairs = {(entry["state"], entry["reason"]) for entry in entries if entry["id"].startswith("dependency_digest.")}
    assert ("summarised", "summary_shortened") not in pairs
    assert ("summarised", "reference_only") in pairs


def test_a_budget_that_cannot_be_met_is_exit_code_3(file: Path) -> None:
    for form in ("json", "text"):
        ran = secateur("envelope", file, "--model", "gpt-4o", "--context-budget", 30, "--format", form)
        assert ran.code == 3
        assert "a context budget of" in ran.err
    assert ran.out == ""
    assert (
        secateur("envelope", file, "--model", "m", "--context-budget", 30, "--format", "json").json["error"]["code"]
        == "AI_CONTEXT_BUDGET_EXCEEDED"
    )


def test_what_is_malformed_is_named_by_its_path(file: Path) -> None:
    file.write_text(json.dumps(BEFORE | {"target_snapshoot": 1}), "utf-8")
    ran = secateur("envelope", file, "--model", "gpt-4o", "--format", "json")
    assert (ran.code, ran.json["error"]["code"]) == (1, "AI_PROMPT_COMPOSE_ERROR")
    assert "$: the envelope has unknown fields 'target_snapshoot'" in ran.err
    file.write_text(json.dumps(BEFORE | {"extensions": {"notes": "n"}}), "utf-8")
    ran = secateur("envelope", file, "--model", "gpt-4o")
    assert "$: the envelope has unknown fields 'extensions'" in ran.err
    assert "put further fields into a section" in ran.err
    file.write_bytes(b'{"a": "\xff"}')
    assert "not UTF-8 at byte 7" in secateur("envelope", file, "--model", "gpt-4o").err
    file.write_text('{"a": \n1,}', "utf-8")
    assert "line 2, column 3" in secateur("envelope", file, "--model", "gpt-4o").err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere.json", "--model", "m"], 1, "cannot read nowhere.json: No such file"),
        ([".", "--model", "m"], 1, "cannot read .: Is a directory"),
        (["e\0.json", "--model", "m"], 1, "cannot read e␀.json"),
        (["envelope.json"], 1, "no model is named, and no budget is set"),
        (["envelope.json", "--model", "m", "--reserve", "-1"], 2, "--reserve -1 is not allowed"),
        (["envelope.json", "--model", "m", "--context-budget", "1.5"], 2, "--context-budget 1.5 is not allowed"),
        (["envelope.json", "--model", "m"], 1, "the window of model 'm' is not known"),
    ],
)
@pytest.mark.usefixtures("file")
def test_wrong_calls(words: list[str], code: int, message: str) -> None:
    ran = secateur("envelope", *words)
    assert ran.code == code
    assert message in ran.err


def test_warnings_go_to_stderr(file: Path) -> None:
    ran = secateur("envelope", file, "--model", "my-claude", "--context-budget", 1500)
    assert ran.err.splitlines() == [
        "warning: Counted with o200k_base: my-claude may count more tokens.",
        "warning: The window of model 'my-claude' is not known: the budget is taken as given.",
    ]
    assert secateur("envelope", file, "--model", "my-claude", "--context-budget", 1500, "--quiet").err == ""


def test_what_is_printed_of_the_envelope_is_what_was_counted(file: Path) -> None:
    for budget in (1500, 100_000):
        ran = secateur("envelope", file, "--model", "gpt-4o", "--context-budget", budget)
        (line,) = (line for line in ran.out.splitlines() if line.startswith('  "trimmedEnvelope": '))
        printed = line.partition(": ")[2].removesuffix(",")
        assert json.loads(printed) == ran.json["trimmedEnvelope"]
        assert count_tokens(printed) == ran.json["trimReport"]["estimateAfter"] <= budget


def test_a_credential_in_the_target_is_told(file: Path) -> None:
    """The target comes back equal, but for this."""
    key = MAKERS["aws-access-key"](Random(11))
    file.write_text(json.dumps(BEFORE | {"target_snapshot": {"key": key}}), "utf-8")
    call = "envelope", file, "--model", "gpt-4o", "--context-budget", 1500
    for form in ("json", "text"):
        ran = secateur(*call, "--format", form)
        assert ran.err == (
            "warning: 1 credential in target_snapshot replaced by a marker: --no-redact leaves it as it is.\n"
        )
    kept = secateur(*call, "--no-redact")
    assert (kept.json["trimmedEnvelope"]["target_snapshot"], kept.err) == ({"key": key}, "")
    file.write_text(json.dumps(BEFORE | {"session_meta": {"key": key}}), "utf-8")
    assert secateur(*call).err == ""


def test_every_character_comes_back_and_none_moves_a_cursor(file: Path) -> None:
    target = {"content": "订单\x1b[2J\u202e\ud800 \x85", "\x07": 1}
    file.write_text(json.dumps(BEFORE | {"target_snapshot": target}), "utf-8")
    ran = secateur("envelope", file, "--model", "gpt-4o", "--context-budget", 1500)
    assert ran.json["trimmedEnvelope"]["target_snapshot"] == target
    assert not set(ran.out) & set("\x1b\u202e\x85\x07")
    assert "订单" in ran.out


def test_text_shows_every_section_once(file: Path) -> None:
    out = secateur(
        "envelope", file, "--model", "gpt-4o", "--context-budget", 1500, "--reserve", 700, "--format", "text"
    ).out
    head, _, columns, *rows = out.splitlines()
    assert head.startswith("trimmed: ")
    assert "budget 1,500, 700 kept free for the answer" in head
    assert columns.split() == ["action", "tokens", "characters", "section"]
    sections = [row.partition(": ")[0].split()[-1] for row in rows]
    assert rows[0].endswith(": its first 41 of 218 items are left, and one line stands for items 42 to 218")
    assert sections[0] == "dependency_digest.references.asset_paths"
    assert sections[-1] == "envelope"
    before, after = (sum(int(row.split()[column].replace(",", "")) for row in rows) for column in (1, 3))
    assert head.startswith(f"trimmed: {before:,} -> {after:,} tokens (o200k_base)")
    assert secateur("envelope", file, "--model", "gpt-4o", "--format", "text").out.startswith("fits as it is: ")
