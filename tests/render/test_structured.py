"""The JSON of `search`: names, order and meaning of every field of the contract."""

from __future__ import annotations

import json

import numpy as np
import pytest
from msgspec.structs import replace
from secateur.errors import BudgetExceeded
from secateur.model import Channel
from secateur.render.search_json import json_report
from secateur.selection import select
from secateur.settings import Settings
from secateur.shape import ErrorOutput, dumps
from support.pools import FOUND, REACHED, Row, pool_of

TOP = [
    *("schema_version", "source", "query", "token_count", "budget", "counter", "embedding", "anchored_by", "profile"),
    *("candidates", "dropped", "graph", "report", "ledger", "warnings"),
]
FIELDS = [
    *(
        "file_path",
        "line_start",
        "line_end",
        "line_range",
        "symbol_id",
        "kind",
        "language",
        "relevance_score",
        "hotspot_score",
    ),
    *(
        "distance",
        "depth",
        "path",
        "relation",
        "priority",
        "terms",
        "source",
        "channels",
        "token_count",
        "decision",
        "content",
    ),
]

POOL = replace(
    pool_of(
        [
            Row("anchor", 100, 0.8, 0.31, 1, line=10),
            Row("callee", 40, 0.2, 0.1234567, 2, channels=REACHED, sig=8),
            Row("loose", 300, 0.1, 0.0, 0, channels=FOUND | 1 << Channel.SEMANTIC),
        ]
    ),
    predecessor=np.array([-1, 0, -1]),
    predecessor_edge=["", "calls", ""],
    callee_depth=np.array([0, 1, 0]),
    called=[[], [[0, 1]], []],
    anchor=np.array([True, False, False]),
    parts={"relevance": {"lexical": np.array([0.5, 0.2, 0.1]), "name": np.array([0.3, 0.0, 0.0])}},
)
REPORT = json_report(select(POOL, Settings(budget=150)), "content {}".format, "signature {}".format, 131).to_dict()


def test_every_field_is_there_in_the_order_of_the_contract() -> None:
    assert list(REPORT) == TOP
    assert [list(candidate) for candidate in REPORT["candidates"]] == [FIELDS, FIELDS]
    assert [list(candidate) for candidate in REPORT["dropped"]] == [FIELDS[:-1]]
    assert (REPORT["schema_version"], REPORT["source"], REPORT["token_count"], REPORT["budget"]) == (
        "1.0",
        "graph-rag",
        131,
        150,
    )


def test_an_anchor() -> None:
    anchor = REPORT["candidates"][0]
    assert anchor["line_range"] == "10-19"
    assert (anchor["distance"], anchor["depth"], anchor["path"], anchor["source"]) == (1, 0, [], "embedding")
    assert anchor["terms"] == {"relevance": 0.32, "hotspot": 0.093, "distance": 0.3}
    assert anchor["priority"] == 0.713
    assert anchor["channels"] == ["lexical"]
    assert (anchor["decision"], anchor["content"]) == (
        {"state": "kept", "reason": "fits", "needed": 100, "left": 150},
        "content 0",
    )


def test_what_calls_lead_to() -> None:
    callee = REPORT["candidates"][1]
    assert (callee["distance"], callee["depth"], callee["path"], callee["source"]) == (
        2,
        1,
        ["anchor.py::anchor"],
        "graph",
    )
    assert callee["hotspot_score"] == 0.123457
    assert REPORT["graph"] == {
        "callers": [],
        "callees": [
            {"symbol_id": "callee.py::callee", "file_path": "callee.py", "depth": 1, "anchors": ["anchor.py::anchor"]}
        ],
    }


def test_what_no_call_reaches_has_no_distance() -> None:
    loose = REPORT["dropped"][0]
    assert (loose["distance"], loose["depth"], loose["source"], loose["terms"]["distance"]) == (
        None,
        None,
        "embedding",
        0.0,
    )
    assert loose["decision"] == {"state": "dropped", "reason": "larger_than_budget", "needed": 300, "left": 10}


def test_a_priority_is_the_sum_of_its_terms() -> None:
    for candidate in REPORT["candidates"] + REPORT["dropped"]:
        assert round(sum(candidate["terms"].values()), 6) == candidate["priority"]


def test_a_shortened_candidate_carries_what_goes_out() -> None:
    pool = replace(POOL, cost=np.array([100, 60, 300]), sig_cost=np.array([0, 12, 0]))
    settings = Settings(budget=120)
    selection = select(pool, replace(settings, smart_pruning=replace(settings.smart_pruning, signature_share=0.1)))
    report = json_report(selection, "content {}".format, "signature {}".format, 110).to_dict()
    shortened = next(candidate for candidate in report["candidates"] if candidate["decision"]["state"] == "shortened")
    assert (shortened["token_count"], shortened["content"]) == (8, "signature 1")


def test_explain_adds_the_parts_of_each_signal() -> None:
    report = json_report(select(POOL, Settings(budget=150)), str, str, 131, explain=True).to_dict()
    assert report["candidates"][0]["parts"] == {"relevance": {"lexical": 0.5, "name": 0.3}}


def test_an_empty_answer_says_which_kind() -> None:
    report = json_report(select(POOL, Settings(budget=10)), str, str, 0).to_dict()
    assert report["candidates"] == [] and report["token_count"] == 0
    assert [warning["code"] for warning in report["warnings"]] == ["budget_too_small"]
    assert "预算过小" in report["warnings"][0]["message"]


def test_text_stays_readable_and_harmless() -> None:
    written = dumps({"订单": "处理\x1b\u202e\ud800\x7f\U000e0041😀"})
    assert "订单" in written and "处理" in written and "😀" in written
    assert "\\u001b\\u202e\\ud800\\u007f\\udb40\\udc41" in written
    assert json.loads(written) == {"订单": "处理\x1b\u202e\ud800\x7f\U000e0041😀"}


def test_an_error_has_its_shape() -> None:
    read = json.loads(
        dumps(ErrorOutput(BudgetExceeded("the target holds 900 tokens", hint="raise the budget").details))
    )
    assert read == {
        "error": {
            "code": "AI_CONTEXT_BUDGET_EXCEEDED",
            "message": "the target holds 900 tokens",
            "hint": "raise the budget",
        }
    }


@pytest.mark.parametrize("most", [0, 1, 2, 3, 9])
def test_the_list_of_what_was_dropped_can_be_cut_and_the_ledger_counts_the_rest(most: int) -> None:
    pool = pool_of([Row(f"f{i}", 100 + i, 0.9 - i / 10) for i in range(5)])
    selection = select(pool, Settings(budget=250))
    whole = json_report(selection, str, str, 210, dropped=None).to_dict()
    cut = json_report(selection, str, str, 210, dropped=most).to_dict()
    assert len(whole["dropped"]) == 3
    assert cut["dropped"] == whole["dropped"][:most]
    assert cut["warnings"] == whole["warnings"]  # what was asked for is no degradation
    for report in (whole, cut):
        ledger = report["ledger"]
        assert (ledger["kind"], ledger["budget"]) == ("search", 250)
        assert (
            sum(entry["before"] for entry in ledger["entries"])
            == ledger["before"]
            == report["report"]["estimateBefore"]
            == sum(range(100, 105))
        )
        assert sum(entry["after"] for entry in ledger["entries"]) == ledger["after"] == report["token_count"] == 210
        assert ledger["entries"][-1] == {
            "id": "wrapper",
            "state": "kept",
            "reason": "wrapper",
            "before": 0,
            "after": 210 - 201,
        }
        actions = [
            (action["section"], action["beforeTokens"], action["afterTokens"]) for action in report["report"]["actions"]
        ]
        assert actions[:-1] == [(entry["id"], entry["before"], entry["after"]) for entry in ledger["entries"][:-1]]
    missing = [entry for entry in cut["ledger"]["entries"] if entry["id"] == "not-listed"]
    assert [entry["figures"]["items"] for entry in missing] == ([3 - most] if most < 3 else [])
    assert all(entry["state"] == "dropped" and entry["reason"] == "not_listed" for entry in missing)
