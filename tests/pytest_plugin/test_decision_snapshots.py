"""Snapshots of decisions in people's own tests."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import secateur_pytest
from secateur_lab.scenarios import scenario
from support.pytest_runs import QUERY, ROOT, Runs, run_apart

SNAPSHOT = "tests/__snapshots__/test_money/test_refunds.decision.toml"
TEST = f"""\
import pytest
import secateur


@pytest.fixture
def outcome():
    return secateur.prune("search", query={QUERY!r}, path="shop")


def test_refunds(outcome, decision_snapshot):
    assert outcome == decision_snapshot
"""
EXACT = (
    TEST
    + """

def test_exactly(outcome, decision_snapshot):
    from secateur_pytest import ExactDecisionExtension

    assert outcome == decision_snapshot.use_extension(ExactDecisionExtension)
"""
)

CHANGE = """\
diff --git a/shop/money.py b/shop/money.py
--- a/shop/money.py
+++ b/shop/money.py
@@ -1,3 +1,3 @@
 def refund_total(lines):
     \"\"\"Refund total, rounded.\"\"\"
-    return round(sum(lines), 2)
+    return round(sum(lines), 3)
"""


@pytest.fixture
def tested(shop: Path) -> Path:
    """The repository with a test of a decision beside the scenario."""
    (shop / "tests" / "test_money.py").write_text(TEST, "utf-8")
    return shop


def test_a_snapshot_is_recorded_compared_and_updated(run: Runs, tested: Path) -> None:
    syrupy = ("syrupy",)
    new = run(plugins=syrupy)
    new.assert_outcomes(passed=1, failed=1)
    new.stdout.fnmatch_lines(["*does not exist*", "*pytest --snapshot-update records it*"])

    run("--snapshot-update", plugins=syrupy).assert_outcomes(passed=2)
    text = (tested / SNAPSHOT).read_text("utf-8")
    assert 'id = "money.py::refund_total", state = "kept", reason = "fits"' in text
    recorded = scenario.parse_scenario(text, tested / SNAPSHOT).recorded
    assert recorded is not None and recorded.items[0].rank == 1
    run(plugins=syrupy).assert_outcomes(passed=2)

    money = tested / "shop" / "money.py"
    money.write_text(money.read_text("utf-8").replace("refund_total", "total_of_refund"), "utf-8")
    other = run(plugins=syrupy)
    other.assert_outcomes(failed=2)
    other.stdout.fnmatch_lines(
        [
            "E *money.py::refund_total: kept -> gone: it no longer exists",
            "E *money.py::total_of_refund: new -> kept: there was room*",
        ]
    )
    updated = run("--snapshot-update", plugins=syrupy)
    updated.assert_outcomes(passed=2)
    updated.stdout.fnmatch_lines(["*1 snapshot updated*", "*scenarios recorded anew*"])
    run(plugins=syrupy).assert_outcomes(passed=2)


def test_tokens_and_scores_are_compared_where_that_is_asked_for(run: Runs, tested: Path) -> None:
    (tested / "tests" / "test_money.py").write_text(EXACT, "utf-8")
    run("--snapshot-update", plugins=("syrupy",)).assert_outcomes(passed=3)
    money = tested / "shop" / "money.py"
    money.write_text(money.read_text("utf-8").replace("Refund total, rounded.", "Refund total, rounded to cents."))
    ran = run(plugins=("syrupy",))
    ran.assert_outcomes(passed=2, failed=1)
    ran.stdout.fnmatch_lines(["*test_exactly*", "E *money.py::refund_total: tokens *"])


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        ("[recorded]\nnonsense", "E *nonsense*"),
        ("", "E *pytest --snapshot-update records it*"),
    ],
)
def test_a_snapshot_that_cannot_be_read_is_another(run: Runs, tested: Path, spoil: str, said: str) -> None:
    (tested / SNAPSHOT).parent.mkdir(parents=True)
    (tested / SNAPSHOT).write_text(spoil)
    ran = run("-vv", plugins=("syrupy",))
    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines([said])
    run("--snapshot-update", plugins=("syrupy",)).assert_outcomes(passed=2)


def test_what_is_no_outcome_is_refused(run: Runs, tested: Path) -> None:
    (tested / "tests" / "test_money.py").write_text(
        "def test_it(decision_snapshot): assert 'text' == decision_snapshot"
    )
    ran = run(plugins=("syrupy",))
    ran.assert_outcomes(passed=1, failed=1)
    ran.stdout.fnmatch_lines(["*TypeError: decision_snapshot is compared with an Outcome of secateur.prune, not*str*"])


def test_without_syrupy_the_fixture_says_what_to_install(tested: Path) -> None:
    (tested / "conftest.py").write_text("import sys\nsys.modules['syrupy'] = None\n")
    ran = run_apart()
    ran.assert_outcomes(passed=1, errors=1)
    ran.stdout.fnmatch_lines(["*pip install 'secateur[[]snapshots[]]'*"])


@pytest.mark.parametrize(
    ("conftest", "plugins", "said"),
    [
        ("", (), "*syrupy is turned off*"),
        (
            "import pytest\n@pytest.fixture\ndef snapshot(): return 3\n",
            ("syrupy",),
            "*conftest.py has one of that name*",
        ),
    ],
)
def test_where_syrupy_cannot_be_used_the_fixture_says_why(
    run: Runs, tested: Path, conftest: str, plugins: tuple[str, ...], said: str
) -> None:
    (tested / "conftest.py").write_text(conftest)
    ran = run(plugins=plugins)
    ran.assert_outcomes(passed=1, errors=1)
    ran.stdout.fnmatch_lines([said])


def test_the_plugin_repeats_names_of_the_engine_rightly() -> None:
    assert secateur_pytest.SUFFIX == scenario.SUFFIX
    assert secateur_pytest.INPUTS_SUFFIX == scenario.INPUTS_SUFFIX
    assert secateur_pytest.DecisionExtension.file_extension
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = secateur_pytest.nothing_of_the_kind


def test_a_test_that_asks_the_question_and_its_snapshot_are_no_candidates(run: Runs, tested: Path) -> None:
    path = tested / "tests" / "test_money.py"
    path.write_text(TEST.replace('path="shop"', 'path="."').replace('"search",', '"search", {"budget": 1500},'))
    run("--snapshot-update", plugins=("syrupy",)).assert_outcomes(passed=2)
    text = (tested / SNAPSHOT).read_text("utf-8")
    assert "budget = 1500" in text
    assert 'id = "tests/test_money.py::outcome", state = "dropped", reason = "excluded"' in text
    assert "__snapshots__" not in text
    run(plugins=("syrupy",)).assert_outcomes(passed=2)  # the snapshot, written since, is not read as source

    money = tested / "shop" / "money.py"
    money.write_text(money.read_text("utf-8").replace("refund_total", "total_of_refund"), "utf-8")
    ran = run("-vv", plugins=("syrupy",))
    ran.assert_outcomes(failed=2)
    ran.stdout.fnmatch_lines(
        [
            "E *to accept: pytest --snapshot-update",
            "E *warning: Tests that ask the same question are left out of the answer: tests/test_money.py.",
            "to accept all changed decisions: pytest --snapshot-update",
        ]
    )


def _first_lines(text: str) -> str:
    return "".join(text.splitlines(keepends=True)[:12])


KINDS: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "log": ('{"log.max_tokens": 300}, path="inputs/ci.log"', "inputs/ci.log", _first_lines),
    "conversation": (
        '{"conversation_prune.safe_zone_tokens": 6000}, path="inputs/session.jsonl"',
        "inputs/session.jsonl",
        _first_lines,
    ),
    "envelope": (
        '{"context_budget.tokens": 2500}, path="inputs/envelope.json", model="gpt-4o"',
        "inputs/envelope.json",
        lambda text: re.sub(r'(?s)"asset_paths": \[.*?\]', '"asset_paths": []', text),
    ),
    "diff": (
        '{"chunking.max_chunk_tokens": 4000}, diff="inputs/change.diff"',
        "inputs/change.diff",
        lambda text: text.replace("shop/money.py", "shop/package-lock.json"),
    ),
    "files": (
        '{"context_prune.max_tokens": 60}, path=["shop"], query="refund total"',
        "shop/money.py",
        lambda text: text + "# and so on\n" * 40,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_guards_any_kind_of_context(run: Runs, shop: Path, kind: str) -> None:
    call, file, change = KINDS[kind]
    (shop / "inputs").mkdir()
    for name in ("session.jsonl", "envelope.json", "ci.log"):
        shutil.copy(ROOT / "docs" / "examples" / name, shop / "inputs" / name)
    (shop / "inputs" / "change.diff").write_text(CHANGE, "utf-8")
    (shop / "tests" / "test_it.py").write_text(
        "import secateur\n"
        "def test_it(decision_snapshot):\n"
        f"    assert secateur.prune({kind!r}, {call}) == decision_snapshot\n"
    )
    words = "tests/test_it.py", "--snapshot-update"
    run(*words, plugins=("syrupy",)).assert_outcomes(passed=1)
    run(words[0], plugins=("syrupy",)).assert_outcomes(passed=1)
    (shop / file).write_text(change((shop / file).read_text("utf-8")), "utf-8")
    ran = run(words[0], plugins=("syrupy",))
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["E *to accept: pytest --snapshot-update"])
