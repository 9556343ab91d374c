"""`--explain` of every kind: what is proven, in text and in JSON."""

from __future__ import annotations

import json
import re
import shlex
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from secateur.kinds import registry
from secateur.ledger import Reason
from support.cli import secateur
from support.envelopes import asset_paths, envelope
from support.json_shapes import violations
from support.logs import LOGS, among

LONG = "def total(order):\n" + "".join(f"    step_{number} = order.total * {number}\n" for number in range(12))
DIFF = """\
diff --git a/uv.lock b/uv.lock
new file mode 100644
--- /dev/null
+++ b/uv.lock
@@ -0,0 +1,2 @@
+one
+two
diff --git a/a.py b/a.py
new file mode 100644
--- /dev/null
+++ b/a.py
@@ -0,0 +1,60 @@
""" + "".join(f"+line_{number} = {number}\n" for number in range(46))


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for number in (1, 2, 3):
        (tmp_path / f"f{number}.py").write_text(LONG * number + "refund = 1\n", "utf-8")
    talk = [{"role": ("user", "assistant")[number % 2], "content": f"{number} " + LONG} for number in range(6)]
    (tmp_path / "talk.json").write_text(json.dumps(talk), "utf-8")
    value = envelope({"references": {"asset_paths": asset_paths(400)}})
    (tmp_path / "envelope.json").write_text(json.dumps(value), "utf-8")
    (tmp_path / "pull.diff").write_text(DIFF, "utf-8")
    (tmp_path / "ci.log").write_text(among(LOGS["go"], 30, 15), "utf-8")
    return tmp_path


COMMANDS = {
    "files": ("files", "f1.py", "f2.py", "f3.py", "--query", "refund total", "--max-tokens", 300),
    "conversation": ("conversation", "talk.json", "--strategy", "truncate", "--safe-zone", 700),
    "envelope": ("envelope", "envelope.json", "--model", "gpt-4o", "--context-budget", 200),
    "chunk": ("chunk", "--diff", "pull.diff", "--max-tokens", 300),
    "log": ("log", "ci.log", "--max-tokens", 300),
}


def entries(answer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {entry["id"]: entry for entry in answer["ledger"]["entries"]}


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("name", COMMANDS)
def test_what_the_json_says_holds_when_the_command_is_run_with_it(name: str) -> None:
    command = COMMANDS[name]
    answer = secateur(*command, "--format", "json", "--explain").json
    assert violations(name, answer) == []
    assert {"ranges", "knob_ranges", "curve"} <= set(answer)
    now, told = entries(answer), 0
    for key, entry in now.items():
        turned = entry.get("what_if")
        if turned is None:
            continue
        for changed in [turned["budget"], *turned["knobs"].items()]:
            if changed is None:
                continue
            over = ("--set", f"{changed[0]}={changed[1]}") if isinstance(changed, tuple) else ()
            again = secateur(*(command if over else (*command[:-1], changed)), *over, "--format", "json").json
            then = entries(again).get(key)
            assert ((then or {}).get("state") == "kept") != (entry["state"] == "kept") or name in ("envelope", "log")
            told += 1
    assert told or name == "chunk"  # its file goes out in parts
    curve = answer["curve"]
    assert curve["present"] == command[-1] and curve["present"] in [point["budget"] for point in curve["points"]]
    for point in curve["points"][:: max(1, len(curve["points"]) // 4)]:
        ledger = secateur(*command[:-1], point["budget"], "--format", "json").json["ledger"]
        assert ledger["after"] == point["tokens"]


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("name", COMMANDS)
def test_without_it_nothing_is_proven_and_with_it_the_decision_is_the_same(name: str) -> None:
    plain, explained = (secateur(*COMMANDS[name], *more, "--format", "json").json for more in ((), ("--explain",)))
    added = {key: explained.pop(key) for key in ("ranges", "knob_ranges", "curve")}
    assert added["ranges"] == {}
    for entry in explained["ledger"]["entries"]:
        entry.pop("what_if", None)
    assert plain == explained


@pytest.mark.usefixtures("work")
def test_the_text_says_it_in_words() -> None:
    out = secateur(*COMMANDS["chunk"], "--explain", "--format", "text").out
    assert "\n  ○ uv.lock: lock file (uv.lock)\n      --ignore='!/uv.lock' " in out
    assert "\nwhat goes out at each budget\n      limit    tokens     whole    partly    chunks\n" in out
    assert "\n        300 " in out and "  now\n" in out
    out = secateur(*COMMANDS["files"], "--explain").out
    assert "\nnothing changes between\n  context_prune.min_score " in out
    out = secateur(*COMMANDS["envelope"], "--explain", "--format", "text").out
    assert "there is no answer" in out


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("name", COMMANDS)
def test_each_entry_that_does_not_go_out_whole_has_its_reason_in_words_and_its_levers(name: str) -> None:
    rows = secateur(*COMMANDS[name], "--explain", "--format", "text").out.split("levers of each")[1].splitlines()
    kind = registry.get_kind({"chunk": "diff"}.get(name, name))
    codes = {reason.label for reason in Reason if "_" in reason.label}
    told = secateur(*COMMANDS[name], "--explain", "--format", "json").json["ledger"]["entries"]
    left_out = [entry for entry in told if entry["before"] and entry["state"] != "kept"]
    assert left_out and kind
    for entry in left_out:
        (at,) = [index for index, row in enumerate(rows) if row[4:].startswith(f"{entry['id']}: ")]
        reason = rows[at].partition(": ")[2]
        assert len(reason) > 8 and not codes & set(re.findall("[a-z_]+", reason))
        told_of = entry["what_if"]["levers"] if entry["what_if"] else []
        levers = [lever["typed"] for lever in told_of]
        shown = [row.split("  ")[3] for row in takewhile(lambda row: row.startswith("      --"), rows[at + 1 :])]
        assert shown[:1] == levers[:1] and set(shown) <= {*levers}
        effects = [{key: lever[key] for key in lever if key != "typed"} for lever in told_of]
        for place, lever in enumerate(levers):  # a far budget, or what does the same as another
            assert (
                lever in shown or effects[place] in effects[:place] or int(lever.split()[-1]) > 2 * COMMANDS[name][-1]
            )


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("name", COMMANDS)
def test_one_entry_can_be_asked_for_alone(name: str) -> None:
    every = secateur(*COMMANDS[name], "--explain", "--dropped", "all", "--format", "text").out
    told = secateur(*COMMANDS[name], "--format", "json").json["ledger"]["entries"]
    ids = [entry["id"] for entry in told if entry["before"] and entry["state"] != "kept"]
    assert ids
    for id_ in ids[:1]:
        rows = secateur(*COMMANDS[name], "--why", id_, "--format", "text").out.split("\n\n")[1].splitlines()
        assert rows[0].split(": ")[0][4:] == id_ and len(rows) > 1
        assert "\n".join(rows[:2]) in every  # the reason, and the cheapest lever
        alone = secateur(*COMMANDS[name], "--why", id_, "--format", "json").json
        assert rows[0].endswith(alone["because"]) and alone["entry"]["id"] == id_
        (first, *_) = (alone["entry"]["what_if"] or {"levers": [{"typed": alone.get("nothing")}]})["levers"]
        assert rows[1].strip().startswith(first["typed"])
    end = next(ids[0][at:] for at in range(len(ids[0]) - 1, -1, -1) if sum(i.endswith(ids[0][at:]) for i in ids) == 1)
    if name not in ("log", "envelope"):  # whose ends of ids are those of entries that go out
        assert secateur(*COMMANDS[name], "--why", end).out == secateur(*COMMANDS[name], "--why", ids[0]).out
    failed = secateur(*COMMANDS[name], "--why", ids[0] + "x", "--format", "text")
    assert failed.code == 2 and ids[0] in failed.err
    other = registry.get_kind({"chunk": "diff"}.get(name, name)).formats[-1]
    assert secateur(*COMMANDS[name], "--why", ids[0], "--format", other).code == (0 if other in ("text", "json") else 2)
    assert secateur(*COMMANDS[name], "--why", ids[0]).code == 0


OUT = {
    "chunk": (("chunk", "--diff", "whole.diff", "--max-tokens", 3000), "a.py", "--ignore /a.py"),
    "files": ((*COMMANDS["files"][:-1], 500, "--pin", "f3.py"), "f3.py", "without --pin f3.py"),
    "conversation": ((*COMMANDS["conversation"], "--pin", "messages[1]"), "messages[1]", "without --pin 'messages[1]'"),
    "search": (
        ("search", "refund total", "sample:orders", "--budget", 900),
        "::RefundService._due",
        "--exclude orders/",
    ),
}


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("name", OUT)
def test_what_takes_a_kept_entry_out_does_when_it_is_typed(name: str) -> None:
    command, id_, begins = OUT[name]
    Path("whole.diff").write_text(DIFF.replace("1,60", "1,46").replace("uv.lock", "b.py"), "utf-8")
    told = secateur(*command, "--why", id_, "--format", "json").json["entry"]
    assert told["state"] == "kept"
    levers = told["what_if"]["levers"]
    costs = [(len(lever["loses"]) + len(lever["shortens"])) for lever in levers if "loses_more" not in lever]
    assert costs == sorted(costs)
    (lever, *_) = [lever for lever in levers if lever["typed"].startswith(begins)]
    typed = lever["typed"].split()
    words = [str(word) for word in command]
    if typed[0] == "without":
        at = words.index("--pin")
        del words[at : at + 2]
    else:
        words += typed
    answer = secateur(*words, "--format", "json").json
    states = {entry["id"]: entry["state"] for entry in answer["ledger"]["entries"]}
    assert states.get(told["id"], "dropped") == lever["state"] != "kept"
    assert all(states.get(other, "dropped") == "dropped" for other in lever["loses"])


def test_without_any_entry_there_is_none_to_ask_for(work: Path) -> None:
    (work / "empty.log").write_text("", "utf-8")
    failed = secateur("log", "empty.log", "--why", "3")
    assert failed.code == 2 and "there is no item to explain\nhint: the same without --why says why" in failed.err


def test_a_long_list_says_how_many_more_there_are_and_how_one_gets_at_them(work: Path) -> None:
    for number in range(46):
        (work / f"part{number}.py").write_text(f"def part_{number}():\n    return {number}\n", "utf-8")
    parts = [f"part{number}.py" for number in range(46)]
    command = ("files", *parts, "--query", "part", "--max-tokens", 100, "--explain")
    dropped = re.compile(r"^  [○◐] \S+: ", re.MULTILINE)
    out = secateur(*command).out
    (more,) = re.findall(
        r"^  (\d+) more: --dropped all lists them, --why ID explains one, --pin ID keeps one of them$",
        out,
        re.MULTILINE,
    )
    every = secateur(*command, "--dropped", "all").out
    assert len(dropped.findall(out)) == 40 and len(dropped.findall(every)) == 40 + int(more)
    assert "--dropped all" not in every
    answer = secateur(*command, "--dropped", 3, "--format", "json").json
    left_out = [entry for entry in answer["ledger"]["entries"] if entry["state"] != "kept"]
    assert sum("what_if" in entry for entry in left_out) == 3
    assert answer["not_examined"]["others"] == len(left_out) - 3 == 37 + int(more)
    failed = secateur(*command[:-1], "--dropped", 3)
    assert failed.code == 2 and "--dropped needs --explain" in failed.err


def test_a_scenario_is_saved_without_it(work: Path) -> None:
    assert secateur(*COMMANDS["log"], "--explain", "--save", "kept.scenario.toml").code == 0
    assert "explain" not in (work / "kept.scenario.toml").read_text("utf-8")
    assert secateur("check", "kept.scenario.toml").code == 0


def test_a_name_that_a_terminal_would_obey_is_shown_harmlessly(work: Path) -> None:
    (work / "f\x1b[31m.py").write_text(LONG, "utf-8")
    out = secateur("files", "f\x1b[31m.py", "f1.py", "--query", "total", "--max-tokens", 60, "--explain").out
    assert "f␛[31m.py" in out and "\x1b" not in out


@pytest.mark.usefixtures("work")
def test_a_summary_is_no_message_of_which_a_part_goes_out() -> None:
    words = ("conversation", "talk.json", "--strategy", "summarize", "--safe-zone", 400, "--format", "json")
    out = secateur(*words, "--explain").json
    states = [entry["state"] for entry in out["ledger"]["entries"] if entry["before"]]
    (point,) = [point for point in out["curve"]["points"] if point["budget"] == 400]
    assert any(entry["before"] == 0 < entry["after"] for entry in out["ledger"]["entries"])
    assert (point["kept"], point["partly"]) == (states.count("kept"), states.count("summarised"))
    name, *_ = [entry["id"] for entry in out["ledger"]["entries"] if entry["id"].startswith("summary of ")]
    assert "it is not an item: ask about one of the items" in secateur(*words[:-2], "--why", name).out


PINS = {
    "files": ("f3.py", "g3.py", "f3.py"),
    "conversation": ("messages[2]", "messages[99]", "the nearest is messages["),
    "envelope": ("dependency_digest", "dependency_digestt", "dependency_digest"),
    "log": ("1-12", "99999", "give a line or a range of lines, from 1 to "),
}


@pytest.mark.usefixtures("work")
@pytest.mark.parametrize("name", PINS)
def test_a_report_says_what_became_of_a_pin_and_warns_of_one_that_names_nothing(name: str) -> None:
    id_, wrong, near = PINS[name]
    ran = secateur(*COMMANDS[name][:-1], {"log": 300}.get(name, 500), "--pin", id_, "--pin", wrong, "--format", "text")
    assert ran.code == 0, ran.err
    (row,) = [row for row in ran.out.splitlines() if row.startswith("pinned ")]
    assert re.search(rf"[●◐○◍] {re.escape(id_)} (goes out|does not go out)", row)
    assert f"Nothing here is called {wrong}; " in ran.out + ran.err and near in ran.out + ran.err


def test_a_search_says_what_became_of_a_pin() -> None:
    too_large, kept = "orders/storage/codec.py::order_from_dict", "orders/services/refunds.py::RefundService._check"
    words = ("search", "refund", "sample:orders", "--budget", 300)
    out = secateur(*words, *(f"--pin={pin}" for pin in (too_large, kept, "RefundService._chekc"))).out
    assert f"\npinned  ○ {too_large} does not go out: needs " in out
    assert f"\npinned  ● {kept} goes out whole\n" in out
    assert f"Nothing here is called RefundService._chekc; the nearest is {kept}." in out


ORDERS = ("search", "round minor units", "sample:orders")
ABSENT = {
    "orders/domain/discounts.py::PercentOff": "beyond_depth",
    "PricingService": "no_relevance",
    "CancelAndShipTest.setUp": "beyond_depth",
}


@pytest.mark.parametrize("name", ABSENT)
def test_what_brings_a_symbol_that_is_no_candidate_does_when_it_is_typed(name: str) -> None:
    told = secateur(*ORDERS, "--why", name, "--format", "json").json
    assert told["stage"] == ABSENT[name] and told["id"].endswith(name) and len(told["levers"]) > 1
    costs = [(lever["state"] != "kept", len(lever["loses"])) for lever in told["levers"]]
    assert costs == sorted(costs)
    now = {item["symbol_id"] for item in secateur(*ORDERS, "--format", "json").json["candidates"]}
    for lever in told["levers"]:
        words = shlex.split(lever["typed"])
        command = (*ORDERS, *words) if words[0].startswith("-") else (ORDERS[0], *words, *ORDERS[2:])
        answer = secateur(*command, "--dropped", "all", "--format", "json").json
        kept, dropped = ({item["symbol_id"] for item in answer[key]} for key in ("candidates", "dropped"))
        assert told["id"] in (kept if lever["state"] == "kept" else dropped)
        assert (now - kept, kept - now - {told["id"]}) == ({*lever["loses"]}, {*lever["gains"]})
    depth = [lever["typed"] for lever in told["levers"] if lever["typed"].startswith("--depth")]
    assert (f"in {depth[0].split()[1]} steps" in told["because"]) if depth else "no calls lead to it" in told["because"]


def test_why_a_name_is_not_here_is_said_of_files_and_of_names_that_are_none() -> None:
    assert "× uv.lock: its file is not indexed: lockfile" in secateur(*ORDERS, "--why", "uv.lock").out
    failed = secateur(*ORDERS, "--why", "PricingServise")
    assert failed.code == 2 and "hint: did you mean PricingService?" in failed.err
    assert secateur(*ORDERS, "--why", "Service.__init__").code == 2
    found = secateur(*ORDERS, "--why", "CancelAndShipTest.setUp").out
    assert "× tests/test_processing.py::CancelAndShipTest.setUp: beyond the depth: calls lead to it in 3 " in found
