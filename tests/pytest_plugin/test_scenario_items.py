"""Scenarios as tests of pytest."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.cli import secateur
from support.pytest_runs import CONFIGURATION, Runs, run_apart

SCENARIO = "tests/refunds.scenario.toml"


@pytest.fixture
def changed(shop: Path) -> Path:
    """The repository after an edit that the scenario notices."""
    money = shop / "shop" / "money.py"
    money.write_text(money.read_text("utf-8").replace("refund_total", "total_of_refund"), "utf-8")
    return shop


def test_one_item_a_scenario_that_passes(shop: Path) -> None:
    (shop / "tests" / "refunds.scenario.inputs").mkdir()
    (shop / "tests" / "refunds.scenario.inputs" / "test_copied.py").write_text("1 / 0\n")
    (shop / "tests" / "copy.scenario.toml").symlink_to(shop / SCENARIO)
    ran = run_apart()
    ran.assert_outcomes(passed=1)
    assert ran.ret == 0


def test_a_linked_folder_is_followed_only_where_it_is_named_as_in_check(run: Runs, shop: Path) -> None:
    outside = shop.parent / "outside"
    outside.mkdir()
    (outside / "theirs.scenario.toml").write_text((shop / SCENARIO).read_text("utf-8"), "utf-8")
    (shop / "tests" / "linked").symlink_to(outside, target_is_directory=True)
    for words, collected in (([], "refunds"), (["tests/linked"], "theirs")):
        run("--co", *words).stdout.fnmatch_lines([f"*ScenarioFile {collected}.*", "*1 test collected *"])
        assert "1 scenario: " in secateur("check", *words).out


def test_the_failure_is_the_report_of_check(run: Runs, changed: Path) -> None:
    ran = run("--junit-xml=out.xml")
    ran.assert_outcomes(failed=1)
    wanted = [line for line in secateur("check").out.splitlines() if line.startswith("    ")]
    assert len(wanted) >= 3 and wanted[-1] == f"    to accept: secateur check {SCENARIO} --update"
    assert [line for line in ran.outlines if line in wanted] == wanted
    ran.stdout.fnmatch_lines(["*scenario refunds.scenario.toml*", f"FAILED {SCENARIO}::check - *changed"])
    ran.stdout.no_fnmatch_line("*Traceback*")
    assert "to accept all changed decisions: pytest --snapshot-update" in ran.outlines
    (case,) = ElementTree.parse(changed / "out.xml").iter("testcase")
    (failure,) = case.iter("failure")
    assert "total_of_refund: new -> kept" in str(failure.text)


def test_an_assertion_that_fails_and_a_decision_that_changed_are_told_apart(run: Runs, changed: Path) -> None:
    path = changed / SCENARIO
    path.write_text(path.read_text("utf-8").replace("[expect]", '[expect]\nmust_keep = ["money.py::refund_total"]'))
    ran = run()
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines([f"FAILED {SCENARIO}::check - *assertion failed"])
    ran.stdout.fnmatch_lines([f"    to accept: edit line 9 of {SCENARIO}; --update changes no assertion"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scenario = 1\nkind = 'search'\nquery = 3\n", "*:3: unknown key query*"),
        ("scenario = 1\nkind = 'files'\n[input]\npath = ['/etc/passwd']\n", "*input.path*not a path below*"),
        ("\x1b[31m", "*1: *"),
    ],
)
def test_a_scenario_that_cannot_run_is_an_error_and_costs_itself(run: Runs, shop: Path, text: str, said: str) -> None:
    (shop / "tests" / "broken.scenario.toml").write_text(text)
    ran = run()
    ran.assert_outcomes(passed=1, errors=1)
    ran.stdout.fnmatch_lines(["cannot run", said])
    ran.stdout.no_fnmatch_line("*Traceback*")
    assert "\x1b" not in ran.stdout.str()


def test_updating_records_scenarios_without_syrupy(run: Runs, changed: Path) -> None:
    text = (changed / SCENARIO).read_text("utf-8")
    (changed / "tests" / "new.scenario.toml").write_text(text[: text.index("[recorded]")])
    before = run("-rs")
    before.assert_outcomes(failed=1, skipped=1)
    before.stdout.fnmatch_lines(["SKIPPED*nothing is recorded and nothing asserted: --snapshot-update records*"])
    ran = run("--snapshot-update")
    ran.assert_outcomes(passed=2)
    ran.stdout.fnmatch_lines(["*scenarios recorded anew*", "tests/new.scenario.toml", SCENARIO])
    assert "total_of_refund" in (changed / SCENARIO).read_text("utf-8")
    again = run("--snapshot-update")
    again.assert_outcomes(passed=2)
    again.stdout.no_fnmatch_line("*recorded anew*")


def test_updating_accepts_no_assertion_that_fails(run: Runs, changed: Path) -> None:
    path = changed / SCENARIO
    path.write_text(path.read_text("utf-8").replace("[expect]", '[expect]\nmust_keep = ["money.py::refund_total"]'))
    run("--snapshot-update").assert_outcomes(failed=1)


def test_workers_come_to_the_same_result(run: Runs, changed: Path) -> None:
    text = (changed / SCENARIO).read_text("utf-8")
    names = [f"copy{number}" for number in range(4)]
    for name in names:
        (changed / "tests" / f"{name}.scenario.toml").write_text(text)
    alone, two = run(), run_apart("-n2", plugins=("xdist",))

    def told(ran: pytest.RunResult) -> list[str]:
        return sorted(line for line in ran.outlines if line.startswith(("    ", "FAILED")))

    assert told(alone) == told(two)
    assert len(told(two)) == 5 * 8
    run_apart("-n2", "--snapshot-update", plugins=("xdist",)).assert_outcomes(passed=5)
    assert json.loads(secateur("check", changed, "--format", "json").out)["scenarios"][0]["verdict"] == "passed"
    assert secateur("check", changed).code == 0


@pytest.mark.parametrize("flags", [("-o", "secateur_scenarios=false"), ("-p", "no:secateur")])
def test_collection_can_be_switched_off(run: Runs, flags: tuple[str, ...]) -> None:
    ran = run(*flags)
    assert ran.ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_another_plugin_keeps_its_flag(run: Runs, changed: Path) -> None:
    (changed / "conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    parser.addoption('--snapshot-update', action='store_true', dest='theirs', help='')\n"
    )
    run("--snapshot-update").assert_outcomes(passed=1)
    assert "total_of_refund" in (changed / SCENARIO).read_text("utf-8")


def test_a_run_without_scenarios_imports_nothing_of_the_engine(shop: Path) -> None:
    (shop / SCENARIO).unlink()
    (shop / "pytest.ini").write_text(CONFIGURATION)
    (shop / "tests" / "test_nothing.py").write_text(
        "import sys\n"
        "def test_nothing():\n"
        "    ours = [name for name in sys.modules if name.startswith('secateur')]\n"
        "    assert ours == ['secateur_pytest'], ours\n"
        "    assert not {'msgspec', 'numpy', 'tomli'} & sys.modules.keys()\n"
    )
    run_apart().assert_outcomes(passed=1)
    collected = run_apart("--collect-only", "-q")
    assert collected.ret == 0


def test_collecting_reads_no_scenario(shop: Path) -> None:
    (shop / "conftest.py").write_text(
        "import sys\n"
        "def pytest_collection_finish(session):\n"
        "    assert 'secateur_pytest.scenario_items' in sys.modules\n"
        "    assert not {'secateur_lab.scenarios.scenario', 'msgspec', 'numpy'} & sys.modules.keys()\n"
    )
    ran = run_apart("--collect-only", "-q")
    assert ran.ret == 0
    assert f"{SCENARIO}::check" in ran.outlines
