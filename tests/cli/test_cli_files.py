"""`secateur files` as a user calls it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from secateur import count_tokens
from support.chat_server import Back, chat_server
from support.chat_server import said as says
from support.cli import secateur
from support.repos import QUERY, SHOP, committed, write


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = committed(tmp_path / "shop", {**SHOP, "walk.py": "def walk(tree):\n    return tree\n\n\n" * 30})
    monkeypatch.chdir(root)
    return root


@pytest.mark.usefixtures("shop")
def test_json_is_that_of_the_contract_with_every_decision() -> None:
    ran = secateur("files", ".", "--query", QUERY, "--max-tokens", 45, "--format", "json")
    assert ran.code == 0
    assert set(ran.json) == {"schema_version", "files", "decisions", "report", "warnings", "ledger"}
    (file,) = ran.json["files"]
    assert file == {
        "module_name": "shop/refund.py",
        "source_code": SHOP["shop/refund.py"],
        "tokens": count_tokens(SHOP["shop/refund.py"]),
    }
    report = ran.json["report"]
    document = secateur("files", ".", "--query", QUERY, "--max-tokens", 45, "--format", "markdown").out
    assert (report["estimateAfter"], report["contextBudget"]) == (count_tokens(document), 45)
    assert (
        [action["section"] for action in report["actions"]]
        == sorted([*SHOP, "walk.py"])
        == [one["module_name"] for one in ran.json["decisions"]]
    )
    assert sum(action["beforeTokens"] for action in report["actions"]) == report["estimateBefore"]
    assert {one["reason"] for one in ran.json["decisions"]} >= {"fits", "no_room"}


@pytest.mark.usefixtures("shop")
def test_text_says_a_line_a_file_with_score_tokens_and_reason() -> None:
    ran = secateur("files", ".", "--query", QUERY, "--max-tokens", 45)
    lines = ran.out.splitlines()
    assert lines[0] == "files     5: 1 kept, 0 shortened, 4 dropped; strategy score"
    assert lines[1].endswith("-> 41 (o200k_base), budget 45")
    (kept,) = [line for line in lines if line.startswith("●")]
    assert "shop/refund.py" in kept
    assert kept.endswith("fits")
    assert any(line.startswith("○") and "needs" in line and "4 left" in line for line in lines)
    verbose = secateur(
        "files",
        ".",
        "--query",
        QUERY,
        "--max-tokens",
        40,
        "--strategy",
        "extract",
        "--set",
        "context_prune.full_file_share=0",
        "--verbose",
    ).out
    assert "4-6 refund_total" in verbose


@pytest.mark.usefixtures("shop")
def test_markdown_is_the_text_that_leaves() -> None:
    ran = secateur("files", ".", "--query", QUERY, "--max-tokens", 60, "--strategy", "extract", "--format", "markdown")
    assert ran.code == 0
    assert "```python shop/refund.py\n" in ran.out
    assert 0 < count_tokens(ran.out) <= 60


@pytest.mark.parametrize("strategy", ["score", "extract", "delete"])
def test_every_format_keeps_the_same_files(strategy: str, orders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(orders)
    for budget in (300, 2500):
        words = ("files", "orders/domain", "docs", "--query", QUERY, "--max-tokens", budget, "--strategy", strategy)
        as_json, as_text = secateur(*words, "--format", "json").json, secateur(*words, "--verbose").out
        document = secateur(*words, "--format", "markdown").out
        kept = [file["module_name"] for file in as_json["files"]]
        blocks = re.split(r"(?m)^`{3,}\w+ (?=\S+\n)", document)[1:]
        assert [block.partition("\n")[0] for block in blocks] == kept
        assert [line.split()[2] for line in as_text.splitlines() if line[:1] in ("●", "◐")] == kept
        assert count_tokens(document) == as_json["report"]["estimateAfter"] <= budget


def test_a_conversation_says_what_the_files_are_for(shop: Path) -> None:
    write(
        shop,
        {
            "talk.json": json.dumps(
                [{"role": "user", "content": QUERY}, {"role": "assistant", "content": "Let me look."}]
            )
        },
    )
    by_talk = secateur("files", "shop", "--conversation", "talk.json", "--max-tokens", 40, "--format", "json")
    by_query = secateur("files", "shop", "--query", QUERY, "--max-tokens", 40, "--format", "json")
    by_pipe = secateur(
        "files",
        "shop",
        "--conversation",
        "-",
        "--max-tokens",
        40,
        "--format",
        "json",
        stdin=(shop / "talk.json").read_bytes(),
    )
    assert by_talk.out == by_query.out == by_pipe.out
    assert (
        secateur("files", "shop", "--query", "-", "--max-tokens", 40, "--format", "json", stdin=QUERY.encode()).out
        == by_query.out
    )


@pytest.mark.usefixtures("shop", "orders")
def test_files_folders_patterns_and_samples() -> None:
    def names(*words: object) -> list[str]:
        return [
            one["module_name"]
            for one in secateur("files", *words, "--strategy", "delete", "--format", "json").json["decisions"]
        ]

    assert names("shop/*.py", "README.md") == ["shop/api.py", "shop/money.py", "shop/refund.py", "README.md"]
    assert names("shop") == names("shop/**")
    assert "orders/domain/money.py" in names("sample:orders")


@pytest.mark.usefixtures("shop")
def test_what_does_not_work_is_said_with_a_hint() -> None:
    wrong = {
        (".",): (2, "USAGE", "what the files are for"),
        (".", "--strategy", "extract"): (2, "USAGE", "what the files are for"),
        (".", "--strategy", "delet"): (2, "CONFIG", "delet"),
        (".", "--query", "x", "--max-tokens", "-1"): (2, "CONFIG", "--max-tokens"),
        (".", "--query", "x", "--max-tokens", "many"): (2, "CONFIG", "--max-tokens"),
        (".", "--query", "x", "--window", "10", "--overlap", "10"): (2, "CONFIG", "not less than the window"),
        ("none.py", "--query", "x"): (1, "NO_SUCH_FILE", "none.py"),
        ("*.rs", "--query", "x"): (1, "NO_MATCH", "*.rs"),
        (".", "--conversation", "none.json"): (1, "NO_SUCH_FILE", "none.json"),
        (".", "--conversation", "walk.py"): (1, "TRANSCRIPT", "walk.py"),
        (".", "--query", "-", "--conversation", "-"): (2, "USAGE", "both"),
    }
    for words, (code, name, said) in wrong.items():
        ran = secateur("files", *words, "--format", "json")
        assert (ran.code, ran.json["error"]["code"]) == (code, name), words
        assert said in ran.json["error"]["message"], words
        assert ran.json["error"]["hint"], words


def test_an_empty_result_is_done_with_a_warning(shop: Path) -> None:
    for words, code in (((".", "--max-tokens", 0), "zero_budget"), ((".", "--max-tokens", 3), "budget_too_small")):
        ran = secateur("files", *words, "--query", QUERY, "--format", "json")
        assert (ran.code, ran.json["files"]) == (0, [])
        assert code in [warning["code"] for warning in ran.json["warnings"]]
    (shop / "empty").mkdir()
    assert secateur("files", "empty", "--query", QUERY, "--format", "json").json["warnings"][-1]["code"] == "no_files"


@pytest.mark.usefixtures("shop")
def test_pruning_switched_off_needs_no_query_and_says_so() -> None:
    ran = secateur("files", "shop", "--max-tokens", 1, "--set", "context_prune.enabled=false", "--format", "json")
    assert [file["source_code"] for file in ran.json["files"]] == [
        SHOP[f"shop/{name}.py"] for name in ("api", "money", "refund")
    ]
    assert [warning["code"] for warning in ran.json["warnings"]] == ["pruning_disabled"]


def test_the_configuration_of_the_folder_counts(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(shop, {"secateur.toml": '[context_prune]\nstrategy = "delete"\nmax_tokens = 20\n'})
    monkeypatch.chdir(shop.parent)
    assert secateur("files", shop, "--format", "json").json["report"]["contextBudget"] == 20
    monkeypatch.chdir(shop)
    assert secateur("files", "shop", "--format", "json").json["report"]["contextBudget"] == 20


@pytest.mark.usefixtures("shop")
def test_a_model_judges_where_one_is_configured_and_the_report_says_what_it_cost() -> None:

    def answer(body: dict[str, Any]) -> Back:
        text = body["messages"][-1]["content"]
        if "File shop/api.py" in text:
            return says("no JSON at all")
        return says({"relevant_score": 10 if "File shop/money.py" in text else 0, "reason": "it\x1b rounds"})

    with chat_server(answer) as server:
        values = {"enabled": "true", "base_url": f"{server.url}/v1", "model": "m"}
        sets = [word for key, value in values.items() for word in ("--set", f"llm.{key}={value}")]
        call = ["files", ".", "--query", QUERY, "--max-tokens", 45, *sets]
        as_json = secateur(*call, "--format", "json")
        as_text = secateur(*call)
    assert as_json.code == as_text.code == 0
    decisions = {one["module_name"]: one for one in as_json.json["decisions"]}
    tokens = count_tokens(f"```python shop/money.py\n{SHOP['shop/money.py']}```\n\n")
    assert decisions["shop/money.py"] | {"left": 0} == {
        "module_name": "shop/money.py",
        "state": "kept",
        "reason": "fits",
        "tokens_before": tokens,
        "tokens_after": tokens,
        "score": 10.0,
        "judge": "model",
        "said": "it\x1b rounds",
        "left": 0,
    }
    assert decisions["shop/api.py"]["judge"] == "local"
    assert [call["outcome"] for call in as_json.json["report"]["modelCalls"]].count("answered") == 3
    assert {"llm_unanswered", "model_fallback"} <= {warning["code"] for warning in as_json.json["warnings"]}
    assert "3 of 4 questions answered" in as_text.out
    assert "fits (model: it␛ rounds)" in as_text.out


@pytest.mark.usefixtures("shop")
def test_a_small_window_needs_no_overlap() -> None:
    ran = secateur("files", ".", "--query", QUERY, "--max-tokens", 40, "--window", 10, "--strategy", "extract")
    assert (ran.code, ran.err) == (0, "")
