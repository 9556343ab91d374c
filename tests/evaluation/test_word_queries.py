"""The word queries of the benchmark are what its first lines promise."""

from __future__ import annotations

import json
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from secateur.index.facts.lexical import has_cjk

DATA = Path(__file__).parents[1] / "benchmarks" / "data"


def cases_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


CASES = cases_of("word_queries.jsonl")
UNSEEN = cases_of("unseen_questions.jsonl")


@pytest.mark.parametrize(("cases", "least"), [(CASES, 150), (UNSEEN, 84)])
def test_each_query_has_an_answer_at_a_commit(cases: list[dict[str, Any]], least: int):
    assert len({case["id"] for case in cases}) == len(cases) >= least
    for case in cases:
        assert case["url"] == f"https://github.com/{case['repo']}"
        assert len(case["commit"]) == 40
        assert {gold["grade"] for gold in case["gold"]} <= {1, 2}
        assert any(gold["grade"] == 2 for gold in case["gold"]), case["id"]
        names = [(gold["file"], gold.get("name")) for gold in case["gold"]]
        assert len(set(names)) == len(names)


def test_categories_are_large_and_a_third_of_the_repositories_is_held_out():
    assert min(Counter(case["category"] for case in CASES).values()) >= 30
    halves = {case["repo"]: case["held_out"] for case in CASES}
    assert all(halves[case["repo"]] == case["held_out"] for case in CASES)
    assert len(halves) >= 15
    assert 0.25 < sum(halves.values()) / len(halves) < 0.4


def test_the_unseen_questions_are_of_repositories_that_nothing_else_uses():
    others = (DATA.parent / "excluded.txt").read_text("utf-8") + (DATA / "fix_commits.txt").read_text("utf-8")
    repos = {case["repo"] for case in UNSEEN}
    assert len(repos) >= 12
    assert repos.isdisjoint(others.split())
    assert repos.isdisjoint(case["repo"] for case in CASES)
    assert len(set(Counter(case["category"] for case in UNSEEN).values())) == 1
    assert all(case["held_out"] and len(case["gold"]) <= 5 for case in UNSEEN)


def test_a_whole_file_counts_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(DATA.parent))
    words = import_module("words")
    gold = words.grades({"gold": [{"file": "a.py", "grade": 2}, {"file": "b.py", "name": "f", "grade": 2}]})
    assert list(words.gold_of(["c.py::f", "a.py::f", "a.py::g", "b.py::f", "b.py::g"], gold))[1:4] == [
        "a.py",
        "",
        "b.py::f",
    ]
    assert words.metrics_of(["a.py::f", "b.py::f"], gold) == (1.0, 1.0, 1.0)
    assert words.metrics_of(["a.py::f", "a.py::g"], gold)[2] == 0.5


def test_the_translated_queries_are_those_of_how_with_the_same_answers():
    how = {f"{case['id']}-zh": case for case in CASES if case["category"] == "how"}
    translated = {case["id"]: case for case in cases_of("translated_queries.jsonl")}
    assert translated.keys() == how.keys()
    for name, case in translated.items():
        assert has_cjk(case["query"])
        assert {key: case[key] for key in ("repo", "commit", "gold", "held_out")} == {
            key: how[name][key] for key in ("repo", "commit", "gold", "held_out")
        }
