"""`secateur mine` and `secateur evaluate`: what they print, what they refuse, and what an interruption keeps."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur_lab.evaluation import cases as judged_cases
from secateur_lab.evaluation import measuring
from support.cli import secateur
from support.json_shapes import violations
from support.repos import SHOP, committed, git, write

CASE = """scenario = 1
kind = "search"
[input]
query = "{query}"
path = "."
[judged]
"{id}" = 3
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Three judged cases, one of which names what is not there."""
    root = committed(tmp_path / "shop", SHOP)
    for name, query, id_ in (
        ("a", "where is the refund total rounded?", "shop/refund.py::refund_total"),
        ("b", "post a refund request", "shop/api.py::post_refund"),
        ("c", "nothing", "shop/api.py::gone"),
    ):
        write(root, {f"cases/{name}.scenario.toml": CASE.format(query=query, id=id_)})
    return root


def history(tmp_path: Path, commits: int = 10) -> Path:
    root = committed(tmp_path / "shop", SHOP)
    for number in range(commits):
        write(root, {"shop/money.py": f"def round_total(amount):\n    return int(amount + {number})\n"})
        git(root, "commit", "-qam", f"Rounding shifts totals by step{number}", time=1_760_000_000 + number)
    return root


def test_figures_of_profiles_with_intervals_differences_and_queries(shop: Path) -> None:
    ran = secateur("evaluate", shop / "cases", "--profile", "spec", "--profile", "recommended", "--budget", 4000)
    assert (ran.code, ran.err) == (0, "")
    assert "2 cases measured of shop" in ran.out
    assert "c.scenario.toml: no item is called shop/api.py::gone" in ran.out
    assert "recommended against spec, recall at 4,000 by query: 0 better, 2 equal, 0 worse" in ran.out
    assert "nDCG@10" in ran.out
    answer = secateur(
        "evaluate", shop / "cases", "--profile", "spec", "--profile", "recommended", "--format", "json"
    ).json
    assert violations("evaluate", answer) == []
    assert (answer["cases"], answer["budgets"], answer["part"]) == (2, [4000, 8000, 16000], "held_out")
    assert answer["left_out"][0]["case"] == "c.scenario.toml"
    assert answer["profiles"]["spec"]["recall"]["4000"] == {
        "mean": 1.0,
        "by_case": {"low": 1.0, "high": 1.0, "drawn": 2},
    }
    assert answer["differences"][0]["from"] == "spec"
    assert [one["figures"]["spec"]["8000"]["recall"] for one in answer["queries"]] == [1.0, 1.0]


def test_the_same_cases_print_the_same(shop: Path) -> None:
    words = ("evaluate", shop / "cases", "--profile", "spec", "--format", "json")
    assert secateur(*words).out == secateur(*words).out


def test_wrong_calls_say_what_to_do(shop: Path, tmp_path: Path) -> None:
    assert secateur("evaluate").code == 2
    nothing = secateur("evaluate", write(tmp_path / "empty", {"a.txt": ""}))
    assert (nothing.code, nothing.out) == (1, "")
    assert "secateur mine" in nothing.err
    assert secateur("evaluate", tmp_path / "nowhere").code == 2
    wrong = secateur("evaluate", shop / "cases", "--profile", "recommendet")
    assert wrong.code == 2
    assert "did you mean recommended?" in wrong.err
    assert secateur("evaluate", shop / "cases", "--part", "heldout").code == 2
    assert secateur("evaluate", shop / "cases", "--jobs", 0).code == 2


def test_where_no_case_can_be_measured_the_work_failed(shop: Path) -> None:
    ran = secateur("evaluate", shop / "cases/c.scenario.toml")
    assert ran.code == 1
    assert "no item is called" in ran.out


def test_what_was_measured_is_printed_when_it_is_interrupted(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure_case = measuring.measure_case

    def interrupted(case, plan, opened):  # type: ignore[no-untyped-def]
        if case.name.startswith("b"):
            raise KeyboardInterrupt
        return measure_case(case, plan, opened)

    monkeypatch.setattr(measuring, "measure_case", interrupted)
    ran = secateur("evaluate", shop / "cases")
    assert ran.code == 130
    assert "1 case measured of shop (interrupted: cases measured until then)" in ran.out


def test_cases_are_mined_into_files_that_can_be_measured(tmp_path: Path) -> None:
    root = history(tmp_path)
    ran = secateur("mine", root, "--out", root / "cases")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("11 commits looked at, 10 cases in ")
    assert "6 training, to fit weights on" in ran.out
    assert "1 first commits" in ran.out
    assert len(list((root / "cases").iterdir())) == 10
    measured = secateur("evaluate", root / "cases", "--budget", 2000).out
    assert "4 cases measured of shop" in measured
    assert "not among them: 6 cases of the training part (--part all)" in measured
    assert "10 cases measured" in secateur("evaluate", root / "cases", "--part", "all").out
    assert "10 scenarios: 10 passed" in secateur("check", root / "cases").out


def test_mining_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    root = history(tmp_path)
    for name in ("one", "other"):
        secateur("mine", root, "--out", root / name)
    one, other = ({path.name: path.read_bytes() for path in (root / name).iterdir()} for name in ("one", "other"))
    assert one == other


def test_where_cases_may_not_be_written(tmp_path: Path) -> None:
    root = history(tmp_path, 1)
    outside = secateur("mine", root, "--out", tmp_path / "elsewhere")
    assert outside.code == 2
    assert "lies outside" in outside.err and "nothing outside the repository that holds it" in outside.err
    assert not (tmp_path / "elsewhere").exists()
    assert secateur("mine", root, "--out", root / "README.md").code == 2
    assert secateur("mine", root, "--out", root / "cases").code == 0
    again = secateur("mine", root, "--out", root / "cases")
    assert again.code == 2
    assert "already has scenarios" in again.err
    assert secateur("mine", root).code == 2
    plain = secateur("mine", write(tmp_path / "plain", SHOP), "--out", tmp_path / "plain/cases")
    assert plain.code == 1
    assert secateur("mine", root, "--out", root / "other", "--rev", "nonesuch").code == 1


def test_each_repository_of_a_workspace_is_mined_into_its_own_folder(tmp_path: Path) -> None:
    root = history(tmp_path / "a")
    other, plain = root.rename(tmp_path / "one"), write(tmp_path / "plain", SHOP)
    (tmp_path / "w.toml").write_text('repositories = ["one", "plain", "gone"]\n')
    alone = secateur("mine", other, "--out", other / "alone", "--format", "json").json
    words = ("mine", "--workspace", tmp_path / "w.toml", "--out", "cases", "--format", "json")
    ran = secateur(*words)
    assert ran.code == 1
    assert violations("mine", ran.json) == []
    assert [one["name"] for one in ran.json["failed"]] == ["gone", "plain"]
    names = [case["file"].removeprefix("one/cases/") for case in ran.json["cases"]]
    assert names == [case["file"] for case in alone["cases"]] != []
    assert [case["judged"] for case in ran.json["cases"]] == [case["judged"] for case in alone["cases"]]
    for name in names:
        assert (other / "cases" / name).read_text() == (other / "alone" / name).read_text()
    again = secateur(*words[:4], "more", "--on", "processes:2", "--format", "json")
    assert again.out == ran.out.replace("one/cases/", "one/more/")
    assert not (plain / "cases").exists()
    assert secateur("mine", other, "--out", other / "x", "--jobs", 2).code == 2
    assert secateur(*words[:4], tmp_path / "absolute").code == 2


def test_a_sample_is_mined_from_anywhere(tmp_path: Path) -> None:
    answer = secateur("mine", "sample:orders", "--out", tmp_path / "cases", "--most", 3, "--format", "json").json
    assert violations("mine", answer) == []
    assert [case["part"] for case in answer["cases"]] == ["training", "training", "held_out"]
    assert 'path = "sample:orders"' in (tmp_path / "cases" / answer["cases"][0]["file"]).read_text()


def test_no_case_is_said(tmp_path: Path) -> None:
    root = committed(tmp_path / "shop", SHOP)
    ran = secateur("mine", root, "--out", root / "cases")
    assert ran.code == 0
    assert "no case was found: a good one" in ran.out
    assert not (root / "cases").exists()


def test_what_was_found_is_written_when_it_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, build_case = history(tmp_path), judged_cases.build_case

    def interrupted(history_, commit, said):  # type: ignore[no-untyped-def]
        if len(said) == 4:
            raise KeyboardInterrupt
        return build_case(history_, commit, said)

    monkeypatch.setattr(judged_cases, "build_case", interrupted)
    ran = secateur("mine", root, "--out", root / "cases")
    assert ran.code == 130
    assert "4 cases" in ran.out
    assert len(list((root / "cases").iterdir())) == 4
