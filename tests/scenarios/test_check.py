"""Scenarios of every kind of context pass where they were saved and elsewhere, and fail where a decision moved."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from secateur import prune
from secateur.kinds import registry
from secateur_lab.scenarios.assertions import Moves, find_failures
from secateur_lab.scenarios.check import CheckVerdict, Result, check_one
from secateur_lab.scenarios.comparison import Aspect, Way, find_cut
from secateur_lab.scenarios.report import text_report
from secateur_lab.scenarios.running import decided_of, session
from secateur_lab.scenarios.scenario import Expect, RecordedItem, Scenario, dump_scenario, read_scenario
from secateur_lab.scenarios.toml_writing import add_expected
from support.cli import secateur
from support.credentials import MAKERS, planted
from support.json_shapes import violations
from support.processes import environment
from support.repos import QUERY
from support.scenario_commands import COMMANDS

Save = Callable[..., Path]


def checked(path: Path) -> Result:
    """The result of one scenario, decided anew."""
    with session(os.environ) as opened:
        return check_one(path, opened)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_saved_scenario_passes_at_once(saved: Save, name: str) -> None:
    path = saved(name)
    result = checked(path)
    assert (result.verdict, result.error) == (CheckVerdict.PASSED, None)
    recorded = read_scenario(path).recorded
    assert recorded is not None and recorded.items
    assert len({item.state for item in recorded.items}) > 1, "a scenario in which nothing is dropped guards little"


@pytest.mark.usefixtures("todo_kind")
def test_a_kind_of_another_distribution_is_guarded_likewise(shop: Path, saved: Save) -> None:
    (shop / "week.todo").write_text("[x] water the plants\n[ ] call the bank\n[ ] buy bread\n")
    path = saved("todo", "todo", "week.todo", "--max-tokens", "12", "--counter", "chars4")
    assert checked(path).verdict is CheckVerdict.PASSED
    (shop / "week.todo").write_text("[x] water the plants\n[ ] call the bank about the new card\n[ ] buy bread\n")
    result = checked(path)
    assert result.verdict is CheckVerdict.CHANGED
    assert [(change.id, change.way) for change in result.compared.differences] == [("line 3", Way.OUT)]
    assert result.compared.differences[0].causes == ("takes more room now: line 2 (5 -> 10 tokens)",)


def test_scenarios_of_one_input_decide_alike_in_any_order(saved: Save) -> None:
    words = "files", "shop", "--query", "round total", "--max-tokens", "40"
    paths = [saved(f"by-{name}", *words, "--strategy", name) for name in ("delete", "score", "extract")]
    with session(os.environ) as opened:  # what was read for one strategy serves the others
        assert [check_one(path, opened).verdict for path in (*paths, *reversed(paths))] == [CheckVerdict.PASSED] * 6


def test_a_file_that_changed_after_it_was_indexed_is_told_from_a_changed_decision(shop: Path, saved: Save) -> None:
    striped = shop / "animals.py"
    striped.write_text("def zebra():\n    return 'striped'\n")
    lexical = "--set", "relevance.semantic=0", "--top-k", "5"
    first = saved("first", "search", "refund", ".", *lexical)
    second = saved("second", "search", "zebra", ".", *lexical)
    with session(os.environ) as opened:  # both are decided from one look at the folder
        assert check_one(first, opened).verdict is CheckVerdict.PASSED
        striped.write_text("def zebra():\n    return 'spotted'\n")
        stale = check_one(second, opened)
    assert stale.verdict is CheckVerdict.STALE, stale
    assert (stale.verdict.exit_code, stale.shape().verdict) == (1, "index_stale")
    assert stale.error is not None and stale.error.message == "animals.py: changed since it was indexed"
    assert checked(second).verdict is CheckVerdict.PASSED, "read anew, it is decided as before"


def test_scenarios_pass_at_another_path_with_another_hash_seed_other_workers_and_no_cache(
    shop: Path, saved: Save, tmp_path: Path
) -> None:
    for name in COMMANDS:
        saved(name)
    here = secateur("check", "checks", "--format", "json", "--verbose").json
    assert here["counts"]["passed"] == len(COMMANDS)
    other = tmp_path / "other" / "elsewhere"
    shutil.copytree(shop, other)
    for seed in ("1", "2"):
        env = environment() | {"PYTHONHASHSEED": seed, "SECATEUR_CACHE_DIR": str(tmp_path / f"cache{seed}")}
        words = [sys.executable, "-m", "secateur.cli.main", "check", "checks", "--format", "json", "--jobs", seed]
        ran = subprocess.run(words, cwd=other, env=env, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.stdout == secateur("check", "checks", "--format", "json").out


def test_a_cache_that_cannot_be_written_changes_no_decision(
    saved: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved("search")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SECATEUR_CACHE_DIR", str(tmp_path / "file" / "cache"))
    assert secateur("check", path, "--update").out == "1 scenario: 1 passed\n"


def test_nothing_of_the_user_counts(saved: Save, own_directories: Path) -> None:
    path = saved("search")
    own = own_directories / "config" / "secateur.toml"
    before = own.read_text("utf-8")
    own.write_text("[smart_pruning]\nstrategy = 'density'\n[graph_rag]\ntoken_budget = 4001\n")
    try:
        assert checked(path).verdict is CheckVerdict.PASSED
    finally:
        own.write_text(before)


# --- what moved -------------------------------------------------------------------------------------------------------


def test_a_line_put_into_the_code_is_told_with_its_file_and_what_it_displaced(shop: Path, saved: Save) -> None:
    path = saved("tight", "search", "refund total", "--budget", "240")
    before = {item.id: item for item in read_scenario(path).recorded.items}  # type: ignore[union-attr]
    assert before["shop/refund.py::refund_total"].leaves
    old = (shop / "shop" / "refund.py").read_text()
    (shop / "shop" / "refund.py").write_text(old + "    # " + "a long remark about nothing " * 60 + "\n")
    result = checked(path)
    assert result.verdict is CheckVerdict.CHANGED
    change = next(one for one in result.compared.differences if one.id == "shop/refund.py::refund_total")
    assert change.what is Aspect.STATE and change.way is Way.OUT
    assert any(cause.startswith("its text changed (") for cause in change.causes)
    assert (change.now.reason if change.now else "") == "larger_than_budget"
    assert result.compared.files == ("shop/refund.py",)
    assert result.compared.knobs == {}
    assert (
        change.line
        == path.read_text()
        .splitlines()
        .index(next(line for line in path.read_text().splitlines() if '{ id = "shop/refund.py::refund_total"' in line))
        + 1
    )


def test_a_setting_of_the_repository_s_own_file_is_named_with_its_values(shop: Path, saved: Save) -> None:
    kept = '[context_prune]\nstrategy = "extract"\n'
    (shop / "secateur.toml").write_text(f"{kept}max_tokens = 900\n")
    path = saved("files", "files", "shop", "--query", "refund")
    (shop / "secateur.toml").write_text(f"{kept}max_tokens = 60\nfull_file_share = 0.0\n")
    result = checked(path)
    assert result.compared.knobs == {"budget": (900, 60), "context_prune.full_file_share": (0.8, 0.0)}
    assert "    setting budget: 900 -> 60\n" in secateur("check", path).out
    assert "    setting context_prune.full_file_share: 0.8 -> 0.0 (secateur.toml)\n" in secateur("check", path).out
    assert secateur("check", path).code == 4


@pytest.mark.parametrize(("flags", "moved"), [(["--budget", "110"], {}), ([], {"budget": (8000, 5000)})])
def test_the_budget_of_a_file_counts_only_where_a_scenario_has_none(
    shop: Path, saved: Save, flags: list[str], moved: dict[str, tuple[int, int]]
) -> None:
    path = saved("budget", "search", QUERY_OF_ALL, *flags)
    (shop / "secateur.toml").write_text("[graph_rag]\ntoken_budget = 5000\n")
    path.write_text(path.read_text().replace("[expect]\n", '[expect]\nmust_drop = ["shop/refund.py::refund_total"]\n'))
    result = checked(path)
    assert (result.verdict, result.compared.knobs) == ("assertion_failed", moved)


def test_a_weight_is_told_as_the_term_that_it_moves(shop: Path, saved: Save) -> None:
    path = saved("weights", "search", QUERY_OF_ALL, "--budget", "110")
    (shop / "secateur.toml").write_text("[smart_pruning.priority_weights]\ndistance = 0.0\nhotspot = 0.0\n")
    ran = secateur("check", path)
    assert ran.code == 4
    assert "because distance 0.300 -> 0.000" in ran.out
    assert "setting smart_pruning.priority_weights.distance: 0.3 -> 0.0 (secateur.toml)" in ran.out


QUERY_OF_ALL = "refund total round post"


def test_a_line_put_into_a_transcript_moves_numbers_and_no_decision(shop: Path, saved: Save) -> None:
    path = saved("conversation", "conversation", "inputs/session.jsonl", "--safe-zone", "30000")
    assert checked(path).verdict is CheckVerdict.PASSED
    transcript = shop / "inputs" / "session.jsonl"
    lines = transcript.read_text().splitlines(keepends=True)
    transcript.write_text("".join([lines[0].replace("Partial", "Some partial"), *lines[1:]]))
    assert checked(path).verdict is CheckVerdict.PASSED


def test_an_item_that_went_is_gone_and_what_comes_is_new(shop: Path, saved: Save) -> None:
    path = saved("files", "files", "shop", "--query", "refund")
    (shop / "shop" / "money.py").unlink()
    (shop / "shop" / "cents.py").write_text("def cents(amount):\n    return amount * 100\n")
    told = {change.id: change.what for change in checked(path).compared.differences}
    assert told == {"shop/money.py": Aspect.GONE, "shop/cents.py": Aspect.NEW}


def test_exact_compares_figures_too(shop: Path, saved: Save) -> None:
    path = saved("search")
    (shop / "notes.md").write_text("# Notes\n\nThe refund total is rounded by hand.\n" * 3)
    assert checked(path).verdict in (CheckVerdict.PASSED, CheckVerdict.CHANGED)
    (shop / "notes.md").unlink()
    (shop / "shop" / "money.py").write_text("def round_total(amount):\n    return int(amount + 0.51) * 1 * 1\n")
    loose = checked(path)
    text = path.read_text().replace("[expect]\n", "[expect]\nexact = true\n", 1)
    path.write_text(text)
    strict = checked(path)
    assert loose.verdict is CheckVerdict.PASSED
    assert strict.verdict is CheckVerdict.CHANGED
    assert {change.way for change in strict.compared.differences} == {Way.FIGURES}


# --- assertions -------------------------------------------------------------------------------------------------------

HELD = {
    "must_keep": ("search", 'must_keep = ["shop/refund.py::refund_total"]'),
    "must_drop": ("search", 'must_drop = ["nothing/like.py::that"]'),
    "must_shorten": ("conversation", "must_shorten = [{shortened}]"),
    "budget_used_between as shares": ("log", "budget_used_between = [0.5, 1.0]"),
    "budget_used_between as tokens": ("log", "budget_used_between = [100, 500]"),
    "rank_of": ("search", 'rank_of = [{ id = "shop/refund.py::refund_total", at_most = 3 }]'),
    "recall_of": ("search", 'recall_of = [{ ids = ["shop/refund.py::refund_total", "b"], at_least = 0.5 }]'),
    "contains": ("search", 'contains = ["The refund total is rounded once"]'),
    "lacks": ("search", 'lacks = ["no such text"]'),
    "lacks_credentials": ("log", "lacks_credentials = true"),
    "input_at_most": ("files", "input_at_most = 1000"),
    "cache_reread_at_most": ("conversation", "cache_reread_at_most = 100000"),
    "coverage": ("diff", 'coverage = { "shop/money.py" = "whole" }'),
}

BROKEN = {
    "input_at_most": ("files", "input_at_most = 20", "too many: shop/refund.py 41, "),
    "must_keep": ("search", 'must_keep = ["shop/refund.py::refund_tota"]', "did you mean shop/refund.py::refund_total"),
    "must_drop": ("search", 'must_drop = ["shop/refund.py::refund_total"]', "it is kept: there was room"),
    "must_shorten": ("search", 'must_shorten = ["shop/refund.py::refund_total"]', "it is kept"),
    "budget_used_between as shares": ("log", "budget_used_between = [0.0, 0.1]", "of 500 tokens"),
    "budget_used_between as tokens": ("log", "budget_used_between = [1000, 2000]", "tokens"),
    "rank_of": ("search", 'rank_of = [{ id = "shop/api.py::post_refund", at_most = 1 }]', "its rank is"),
    "recall_of": ("search", 'recall_of = [{ ids = ["a", "shop/refund.py::refund_total"], at_least = 0.6 }]', "not a"),
    "contains": ("search", 'contains = ["no such text"]', "the output does not contain it"),
    "lacks": ("search", 'lacks = ["The refund total is rounded once"]', "the output contains it"),
    "cache_reread_at_most": ("conversation", "cache_reread_at_most = 1", "tokens must be read again"),
    "coverage": ("diff", 'coverage = { "shop/mony.py" = "whole" }', "did you mean shop/money.py?"),
}


def with_assertion(path: Path, written: str) -> int:
    """Puts an assertion into a scenario without recorded decisions. Returns its line."""
    text = path.read_text()
    scenario = read_scenario(path)
    shortened = next((item.id for item in scenario.recorded.items if item.state == "shortened"), "")  # type: ignore[union-attr]
    text = text[: text.index("[recorded]")].replace(
        "[expect]\n", "[expect]\n" + written.replace("{shortened}", f'"{shortened}"') + "\n"
    )
    path.write_text(text)
    return text.splitlines().index("[expect]") + 2


@pytest.mark.parametrize("name", HELD)
def test_an_assertion_holds(saved: Save, name: str) -> None:
    kind, written = HELD[name]
    path = saved(kind)
    with_assertion(path, written)
    result = checked(path)
    assert (result.verdict, result.error, result.compared.failures) == (CheckVerdict.PASSED, None, ())


def test_a_ceiling_that_holds_is_listed_item_by_item_where_more_is_asked_for(saved: Save) -> None:
    path = saved("files")
    with_assertion(path, "input_at_most = 1000")
    brief, whole = (text_report([checked(path)], verbose) for verbose in (False, True))
    assert "shop/refund.py 41, " in whole and "input_at_most 1,000: " in whole and " below: " in whole
    assert "input_at_most" not in brief


@pytest.mark.parametrize("name", BROKEN)
def test_an_assertion_that_fails_says_what_is_there_instead(saved: Save, name: str) -> None:
    kind, written, said = BROKEN[name]
    path = saved(kind)
    line = with_assertion(path, written)
    result = checked(path)
    assert result.verdict is CheckVerdict.FAILED
    (failure,) = result.compared.failures
    assert said in failure.said
    assert failure.assertion.startswith(name.partition(" as ")[0])
    assert failure.line == line
    ran = secateur("check", path)
    assert ran.code == 4
    assert f"    to accept: edit line {line} of {path}; --update changes no assertion\n" in ran.out
    assert secateur("check", path, "--update").code == 4, "recording decisions settles no assertion"


def test_an_output_that_holds_a_credential_fails_the_assertion(shop: Path) -> None:
    text = planted(Random(1), sorted(MAKERS)[0])[1]
    (shop / "build.log").write_text(f"step 1\n{text}\nERROR: the step failed\n")
    expect = Expect(lacks_credentials=True)
    kind = registry.get_kind("log")
    for redacts, failed in ((False, ["lacks_credentials"]), (True, [])):
        outcome = prune("log", {"redaction.enabled": redacts}, path="build.log")
        assert [
            failure.assertion for failure in find_failures(expect, decided_of(kind, outcome), lambda _: 1)
        ] == failed


def test_a_test_that_asks_the_question_is_left_out_and_the_report_says_so(shop: Path, saved: Save) -> None:
    question = "where is the refund total rounded once"
    (shop / "test_refund.py").write_text(f'QUERY = "{question}"\n\n\ndef test_it():\n    assert ask(QUERY)\n')
    (shop / "test_names.py").write_text('def test_refund_total():\n    """The refund total is rounded once."""\n')
    (shop / "checks").mkdir()
    asked = secateur("search", question, ".", "--save", "checks/asked.scenario.toml", "--exact")
    assert "test_refund.py" in asked.out
    note = "Tests that ask the same question are left out of the answer: test_refund.py."
    assert f"note: {note}" in asked.err
    items = read_scenario(shop / "checks" / "asked.scenario.toml").recorded.items  # type: ignore[union-attr]
    left_out = sorted(item.id for item in items if item.reason == "excluded")
    assert left_out and all(id_.startswith("test_refund.py::") for id_ in left_out)
    assert not [item.id for item in items if item.leaves and item.id.startswith("test_refund.py")]
    assert any(item.id.startswith("test_names.py::") and item.leaves for item in items)
    ran = secateur("check", "--verbose")
    assert (ran.code, f"    warning: {note}\n" in ran.out) == (0, True), ran.out
    pinned = saved("pinned", "search", question, ".", "--pin", left_out[0])
    kept = read_scenario(pinned).recorded.items  # type: ignore[union-attr]
    assert next(item for item in kept if item.id == left_out[0]).leaves, "a person asked for it"


def test_a_name_in_quotes_is_no_question(shop: Path, saved: Save) -> None:
    (shop / "test_refund.py").write_text('def test_it():\n    assert hasattr(shop, "refund_total")\n')
    path = saved("name", "search", "refund_total", ".")
    items = read_scenario(path).recorded.items  # type: ignore[union-attr]
    assert any(item.id.startswith("test_refund.py::") and item.leaves for item in items)


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("search", "cache_reread_at_most = 3"),
        ("log", 'coverage = { "a" = "whole" }'),
        ("envelope", 'rank_of = [{ id = "x", at_most = 1 }]'),
    ],
)
def test_an_assertion_that_says_nothing_to_a_kind_cannot_run(saved: Save, kind: str, written: str) -> None:
    path = saved(kind)
    if "rank_of" in written:
        known = read_scenario(path).recorded
        assert known is not None
        written = written.replace('"x"', f'"{known.items[0].id}"')
    line = with_assertion(path, written)
    result = checked(path)
    assert result.verdict is CheckVerdict.CANNOT_RUN
    assert result.error is not None
    assert f":{line}: expect.{written.split(' ')[0]} is ignored by kind {kind}" in result.error.message


def test_an_id_becomes_an_assertion_that_is_checked(saved: Save) -> None:
    path = saved("search")
    path.write_text(add_expected(path.read_text(), "must_keep", ["shop/refund.py::refund_total", "gone.py::gone"]))
    result = checked(path)
    assert result.verdict is CheckVerdict.FAILED
    assert [failure.assertion for failure in result.compared.failures] == ['must_keep "gone.py::gone"']


def test_a_scenario_without_anything_expected_says_so(shop: Path) -> None:
    path = shop / "a.scenario.toml"
    path.write_text(dump_scenario(Scenario(1, "log", input={"path": "inputs/ci.log"}, expect=Expect())))
    ran = secateur("check", path)
    assert ran.code == 0
    assert "it has no recorded decisions and no assertions: --update records the decisions" in ran.out
    assert secateur("check", path, "--update").code == 0
    assert secateur("check", path).out == "1 scenario: 1 passed\n"


def test_decisions_under_a_list_among_the_settings_are_recorded(shop: Path) -> None:
    path = shop / "a.scenario.toml"
    settings = {"graph_rag": {"only": ["shop"]}, "excludes": ["shop/api.py::post_refund"]}
    path.write_text(dump_scenario(Scenario(1, "search", input={"query": QUERY}, settings=settings)))
    assert secateur("check", path, "--update").out.endswith("1 scenario: 1 passed; 1 updated\n")
    recorded = read_scenario(path).recorded
    assert recorded is not None
    assert recorded.knobs["graph_rag.only"] == ["shop"]
    assert checked(path).compared.knobs == {}
    path.write_text(path.read_text().replace('graph_rag.only = ["shop"]', 'graph_rag.only = ["shop", "*.md"]'))
    assert checked(path).compared.knobs == {"graph_rag.only": (["shop"], ["shop", "*.md"])}


# --- saving -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_a_saved_scenario_asserts_the_best_of_what_is_kept_and_records_nothing(shop: Path, name: str) -> None:
    assert secateur(*COMMANDS[name], "--save", "a.scenario.toml").code == 0
    path = shop / "a.scenario.toml"
    scenario = read_scenario(path)
    expect = scenario.expect
    assert scenario.recorded is None
    assert 0 < len(expect.must_keep) + len(expect.contains) <= 3
    assert expect.lacks_credentials
    assert checked(path).verdict is CheckVerdict.PASSED
    before = path.read_bytes()
    assert secateur("check", path, "--update").code == 0
    assert path.read_bytes() == before, "a scenario of assertions stays one"


def test_a_failed_assertion_names_what_moved_it_and_a_command_replaces_or_removes_it(shop: Path) -> None:
    path = Path("a.scenario.toml")
    assert secateur("search", QUERY, ".", "--budget", "4000", "--save", path).code == 0
    (kept, *others), before = read_scenario(path).expect.must_keep, path.read_text()
    saved_item = next(item for item in read_scenario(path).saved.items if item.id == kept)  # type: ignore[union-attr]
    assert saved_item.rank and saved_item.terms and saved_item.text
    assert kept == "shop/refund.py::refund_total"
    (shop / "shop" / "total.py").write_text((shop / "shop" / "refund.py").read_text())
    (shop / "shop" / "refund.py").unlink()
    (shop / "secateur.toml").write_text("[smart_pruning.priority_weights]\nhotspot = 0.0\n")
    now = "shop/total.py::refund_total"
    result = checked(path)
    failure = next(failure for failure in result.compared.failures if failure.ids == [kept])
    assert (failure.now, failure.said) == (now, f"its text is {now} now, which is kept")
    assert result.compared.knobs == {"smart_pruning.priority_weights.hotspot": (0.3, 0.0)}
    assert any("hotspot" in cause and "-> 0.000" in cause for cause in failure.causes), failure
    ran = secateur("check", path)
    assert f"    or: secateur check {path} --replace {kept} {now}\n" in ran.out
    assert violations("check", secateur("check", path, "--format", "json").json) == []
    assert secateur("check", path, "--replace", kept, now).code == 0
    assert path.read_text() == before.replace(kept, now)
    assert secateur("check", path, "--remove", now).code == 0
    assert read_scenario(path).expect.must_keep == others
    ran = secateur("check", path, "--remove", now)
    assert (ran.code, f"no assertion is about {now}" in ran.err) == (2, True)
    assert secateur("check", path, "--remove", "lacks_credentials").code == 0
    assert not read_scenario(path).expect.lacks_credentials


def test_an_item_that_was_renamed_is_replaced_by_the_nearest_name(shop: Path) -> None:
    path, named = Path("a.scenario.toml"), "shop/refund.py::refund_total"
    assert secateur("search", QUERY, ".", "--budget", "4000", "--save", path).code == 0
    source = shop / "shop" / "refund.py"
    source.write_text(source.read_text().replace("def refund_total(", "def refund_totals("))
    failure = next(failure for failure in checked(path).compared.failures if failure.ids == [named])
    assert failure.words_to_accept == ("--replace", named, f"{named}s")
    assert f"    or: secateur check {path} --replace {named} {named}s\n" in secateur("check", path).out


def test_what_lowered_a_rank_is_named_before_what_raised_it() -> None:
    was = RecordedItem("a", "kept", "fits", rank=6, terms={"hotspot": 0.178, "relevance": 0.316})
    now = RecordedItem("a", "dropped", "no_room", rank=56, terms={"hotspot": 0.534, "relevance": 0.039})
    (cause,) = Moves([(was, now)], []).causes(was, now)
    assert cause == "rank 6 -> 56 because relevance 0.316 -> 0.039, hotspot 0.178 -> 0.534"


def test_nothing_is_proposed_of_which_something_is_asserted_already(saved: Save) -> None:
    path = saved("search")
    names = ["shop/refund.py::refund_total", "shop/refund.py::refund_tota"]
    with_assertion(path, f"must_keep = {names}".replace("'", '"'))
    (failure,) = checked(path).compared.failures
    assert failure.ids == names[1:] and names[0] not in failure.said


def test_a_saved_search_asserts_most_of_its_first_ten_items(shop: Path) -> None:
    body = "    # where the refund total is rounded\n    return 1\n"
    (shop / "shop" / "more.py").write_text("\n\n".join(f"def refund_total_{n}():\n{body}" for n in range(12)))
    assert secateur("search", QUERY, ".", "--budget", "4000", "--save", "a.scenario.toml").code == 0
    (recall,) = read_scenario(shop / "a.scenario.toml").expect.recall_of
    assert (len(recall.ids), recall.at_least) == (10, 0.8)
    for name in recall.ids[:3]:
        assert secateur("check", "a.scenario.toml", "--remove", name).code == 0
    assert len(read_scenario(shop / "a.scenario.toml").expect.recall_of[0].ids) == 7


def test_code_that_a_saved_search_does_not_ask_for_may_change(shop: Path) -> None:
    words = (
        "search",
        "where is the refund total rounded",
        ".",
        "--budget",
        "4000",
        "--exclude",
        "shop/api.py::post_refund",
    )
    for name, more in (("kept", ()), ("exact", ("--exact",))):
        assert secateur(*words, "--save", f"{name}.scenario.toml", *more).code == 0
    assert read_scenario(shop / "kept.scenario.toml").expect.must_drop == ["shop/api.py::post_refund"]
    (shop / "shop" / "other.py").write_text("def refund_total_rounded():\n    return 1\n")
    assert checked(shop / "kept.scenario.toml").verdict is CheckVerdict.PASSED
    assert checked(shop / "exact.scenario.toml").verdict is CheckVerdict.CHANGED
    assert secateur(*words, "--exact").code == 2


def test_lines_that_come_into_a_log_change_no_saved_assertion(shop: Path) -> None:
    assert secateur("log", "inputs/ci.log", "--max-tokens", "500", "--save", "log.scenario.toml").code == 0
    log = shop / "inputs" / "ci.log"
    log.write_text("starting\n" * 3 + log.read_text())
    assert checked(shop / "log.scenario.toml").verdict is CheckVerdict.PASSED


def test_items_at_the_cut_may_flip_where_that_is_tolerated_and_are_named(shop: Path, saved: Save) -> None:
    path = saved("tight", "search", QUERY_OF_ALL, "--budget", "110")
    recorded = read_scenario(path).recorded
    assert recorded is not None
    best = max(item.score or 0 for item in recorded.items)
    assert 0 < (find_cut(recorded.items) or 0) <= best
    (shop / "shop" / "money.py").write_text("def unrelated():\n    return 1\n")
    gone = checked(path)
    assert gone.verdict is CheckVerdict.CHANGED
    assert any(change.text_changed for change in gone.compared.differences)
    secateur("check", path, "--update")
    text = path.read_text()
    path.write_text(
        text.replace("[settings]\n", "[settings]\nsmart_pruning.priority_weights.hotspot = 0.9\n").replace(
            "budget = 110", "budget = 70", 1
        )
    )
    strict = checked(path)
    assert strict.verdict is CheckVerdict.CHANGED and not strict.compared.flips
    assert not any(change.text_changed for change in strict.compared.differences)
    path.write_text(path.read_text().replace("[expect]\n", "[expect]\ncut_tolerance = 1.0\n", 1))
    loose = checked(path)
    assert loose.verdict is CheckVerdict.PASSED
    assert [change.id for change in loose.compared.flips] == [change.id for change in strict.compared.differences]
    assert "at the cut, within cut_tolerance:" in secateur("check", path).out
    assert violations("check", secateur("check", path, "--format", "json").json) == []
