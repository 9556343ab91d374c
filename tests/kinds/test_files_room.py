"""Room that is left is used: lines around a match of what is too long, and files that no threshold leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur import SourceCode, count_tokens
from secateur.kinds.files.model_questions import LineRange, Snippets
from secateur.kinds.files.prune_context import prune_files
from secateur.kinds.files.strategies import prune
from secateur.model import Reason
from secateur.settings import Settings, with_values
from support.answering import Table
from support.cli import secateur

MATCH = "            ledger.post(order.zanzibar_levy, 7)"


def pruning(**values: object) -> Settings:
    return with_values(Settings(), {f"context_prune.{key}": value for key, value in values.items()})


def long_function(before: int = 77, after: int = 72) -> SourceCode:
    """One function of some 300 lines, of which one line answers, three statements deep."""

    def steps(first: int, last: int) -> list[str]:
        return [
            line
            for n in range(first, last)
            for line in (f"    value_{n} = compute_{n}(orders, ledger, index={n})", f"    ledger.add(value_{n})")
        ]

    middle = ["    for order in orders:", "        if order.pays:", MATCH]
    lines = ["def settle_all(orders, ledger):", *steps(0, before), *middle, *steps(before, before + after)]
    return SourceCode("long.py", "\n".join(lines) + "\n")


@pytest.mark.parametrize("budget", [80, 100, 150, 400, 1000, 1807, 3000])
def test_of_a_function_that_is_too_long_the_lines_around_the_match_leave(budget: int) -> None:
    file = long_function()
    assert count_tokens(file.source_code) > 3000
    result = prune_files([file], pruning(max_tokens=budget, strategy="extract"), "zanzibar levy")
    text = result.files[0].source_code
    assert MATCH in text
    assert "    for order in orders:\n        if order.pays:\n" in text
    assert count_tokens(text) <= budget
    if budget <= 1000:  # below the part that holds it
        assert "def settle_all(orders, ledger):\n" in text
        assert count_tokens(text) > budget - 60, "the room is used"


def test_a_match_beside_a_cut_takes_lines_of_the_part_before_it_as_far_as_windows_overlap() -> None:
    file = long_function(before=49)  # the first part ends at line 100, where the match is
    rules = {"max_tokens": 400, "strategy": "extract"}
    lines = {
        overlap: prune_files([file], pruning(sliding_window_overlap=overlap, **rules), "zanzibar levy")
        .decisions[0]
        .ranges[-1]
        for overlap in (0, 3, 20)
    }
    assert lines[0][1] < lines[3][1] < lines[20][1] or lines[0][0] > lines[3][0] > lines[20][0]


@pytest.mark.parametrize("strategy", ["score", "extract"])
def test_no_file_is_dropped_for_its_score_while_there_is_room(strategy: str) -> None:
    files = [SourceCode("a.py", "def refund(order):\n    return order.total\n")]
    files += [SourceCode(f"{name}.py", f"def {name}(a):\n    return a + 1\n") for name in ("b", "c", "d", "e", "f")]
    total = sum(count_tokens(file.source_code) for file in files)
    most = max(count_tokens(file.source_code) for file in files)
    result = prune_files(files, pruning(max_tokens=total - 1, strategy=strategy), "refund of an order")
    assert sum(file.tokens for file in result.files) >= total - most
    by_user = prune_files(files, pruning(max_tokens=total - 1, strategy=strategy, min_score=0.1), "refund of an order")
    assert [file.module_name for file in by_user.files] == ["a.py"]


def test_with_a_model_whole_files_go_first_and_it_is_not_asked_about_them() -> None:
    small = SourceCode("small.py", "def refund_words(text):\n    return text\n")
    large = SourceCode("large.py", "".join(f"def step_{n}(a):\n    return a + {n}\n\n\n" for n in range(80)))
    asked: list[str] = []

    def answer(question: object) -> Snippets:
        asked.append(question.what)  # type: ignore[attr-defined]
        return Snippets([LineRange(5, 6)]) if question.what.endswith(":1-100") else Snippets([])  # type: ignore[attr-defined]

    result = prune_files([small, large], pruning(max_tokens=60, strategy="extract"), "refund", llm=Table(answer))
    assert result.decisions[0].reason is Reason.WHOLE
    assert result.decisions[1].ranges == ((5, 6),)
    assert asked and not any("small" in what for what in asked)
    asked.clear()
    none = pruning(max_tokens=60, strategy="extract", full_file_share=0.0)
    prune_files([small, large], none, "refund", llm=Table(answer))
    assert any("small" in what for what in asked), "the share has effect"


@pytest.mark.parametrize(("strategy", "budget"), [("score", 200), ("delete", 300), ("score", 0)])
def test_the_budgets_that_turn_a_file_are_the_nearest_that_do(strategy: str, budget: int, tmp_path: Path) -> None:
    """What fits after another file took its place is not monotone: between two budgets that were tried lay a nearer
    one."""
    sizes = [number * 37 % 41 // 3 + 1 for number in range(12)]
    texts = ["".join(f"def refund_{n}_{line}(a): return a\n" for line in range(size)) for n, size in enumerate(sizes)]
    for number, text in enumerate(texts):
        (tmp_path / f"f{number:02}.py").write_text(text, encoding="utf-8")
    words = ["--query", "refund_3_0 refund", "--strategy", strategy, "--max-tokens", str(budget), "--explain"]
    report = secateur("files", tmp_path, *words, "--format", "json", "--set", "redaction.scanner=rules").json
    files = [SourceCode(one["module_name"], text) for one, text in zip(report["decisions"], texts, strict=True)]
    measured = prune_files(
        files, pruning(max_tokens=1, strategy=strategy), "refund_3_0 refund", form="markdown"
    ).measured
    kept = [
        [entry.text is not None for entry in prune(measured, pruning(max_tokens=tokens, strategy=strategy)).decisions]
        for tokens in range(measured.total + 2)
    ]
    assert [entry["state"] == "kept" for entry in report["ledger"]["entries"][: len(files)]] == kept[budget]
    for number, entry in enumerate(report["ledger"]["entries"][: len(files)]):
        others = range(budget - 1, -1, -1) if kept[budget][number] else range(budget + 1, len(kept))
        expected = next((tokens for tokens in others if kept[tokens][number] is not kept[budget][number]), None)
        told = entry["what_if"]
        assert (told["budget"] if told else None) == expected, entry["id"]
