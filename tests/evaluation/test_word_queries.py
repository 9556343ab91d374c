"""The word queries of the benchmark are what its first lines promise."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "benchmarks" / "data" / "word_queries.jsonl")
    .read_text("utf-8")
    .splitlines()
]


def test_each_query_has_an_answer_at_a_commit():
    assert len({case["id"] for case in CASES}) == len(CASES) >= 150
    for case in CASES:
        assert case["url"] == f"https://github.com/{case['repo']}"
        assert len(case["commit"]) == 40
        assert {gold["grade"] for gold in case["gold"]} <= {1, 2}
        assert any(gold["grade"] == 2 for gold in case["gold"]), case["id"]
        names = [(gold["file"], gold["name"]) for gold in case["gold"]]
        assert len(set(names)) == len(names)


def test_categories_are_large_and_a_third_of_the_repositories_is_held_out():
    assert min(Counter(case["category"] for case in CASES).values()) >= 30
    halves = {case["repo"]: case["held_out"] for case in CASES}
    assert all(halves[case["repo"]] == case["held_out"] for case in CASES)
    assert len(halves) >= 15
    assert 0.25 < sum(halves.values()) / len(halves) < 0.4
