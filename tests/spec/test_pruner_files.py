"""The pruner spec: files. Its own example, literally, and the points that settle it."""

from __future__ import annotations

import copy

import pytest
from msgspec.structs import replace
from secateur import PruneContext, SourceCode, count_tokens
from secateur.errors import UsageError
from secateur.kinds.files.line_ranges import merge, windows
from secateur.kinds.files.prune_context import prune_files
from secateur.model import Reason, State
from secateur.settings import Settings, with_values
from support.pruner_example import CONVERSATION, FILES


def pruning(**values: object) -> Settings:
    return with_values(Settings(), {f"context_prune.{key}": value for key, value in values.items()})


# --- the example ------------------------------------------------------------------------------------------------------


def test_the_example_extracts_add_and_subtract_within_60_tokens() -> None:
    settings = pruning(sliding_window_size=10, sliding_window_overlap=2)
    pruner = PruneContext(max_tokens=60, settings=settings, query="如何实现加法和减法运算？")
    before = copy.deepcopy((FILES, CONVERSATION))
    result = pruner.handle_overflow(file_sources=FILES, conversations=CONVERSATION, strategy="extract")

    (extracted,) = result
    assert extracted.module_name == "src/utils/math_utils.py"
    assert extracted.source_code.startswith("Snippets:\n# Lines 1-7\n")
    assert "def add" in extracted.source_code
    assert "def subtract" in extracted.source_code
    assert "def multiply" not in extracted.source_code
    assert "def divide" not in extracted.source_code
    assert extracted.tokens == count_tokens(extracted.source_code) <= 60
    assert pruner.report is not None
    assert pruner.report.after == extracted.tokens
    assert pruner.report.before == sum(file.tokens for file in FILES)
    assert [(action.section, action.action) for action in pruner.report.actions] == [
        ("src/utils/math_utils.py", "shorten"),
        ("src/utils/string_utils.py", "drop"),
        ("src/main.py", "drop"),
    ]
    assert before == (FILES, CONVERSATION), "the input is changed"


def test_the_last_question_of_the_conversation_alone_is_enough() -> None:
    pruner = PruneContext(max_tokens=60)
    (extracted,) = pruner.handle_overflow(FILES, CONVERSATION, "extract")
    assert "def subtract" in extracted.source_code
    assert extracted.module_name.endswith("math_utils.py")


def test_below_the_budget_all_files_come_back_as_they_are() -> None:
    for strategy in ("score", "extract", "delete"):
        pruner = PruneContext(max_tokens=sum(file.tokens for file in FILES))
        assert all(
            left is right
            for left, right in zip(pruner.handle_overflow(FILES, CONVERSATION, strategy), FILES, strict=True)
        )
        assert pruner.report is not None
        assert not pruner.report.applied


# --- strategies -------------------------------------------------------------------------------------------------------


def test_delete_keeps_files_in_their_order_and_skips_what_does_not_fit() -> None:
    sizes = [400, 300, 350, 200]  # SC-SP-003
    files = [SourceCode(f"{number}.txt", "x" * 4 * size) for number, size in enumerate(sizes)]
    result = prune_files(files, with_values(pruning(max_tokens=1000, strategy="delete"), {"tokens.counter": "chars4"}))
    assert [file.module_name for file in result.files] == ["0.txt", "1.txt", "3.txt"]
    assert result.report.after == 900
    dropped = result.decisions[2]
    assert (dropped.reason, dropped.needed, dropped.left) == (Reason.NO_ROOM, 350, 300)


def test_score_keeps_the_best_files_whole_and_scores_run_from_0_to_10() -> None:
    pruner = PruneContext(max_tokens=120, query="format and reverse a string")
    result = pruner.handle_overflow(FILES, strategy="score")
    assert [file.module_name for file in result] == ["src/utils/string_utils.py", "src/main.py"]
    assert pruner.result is not None
    scores = [entry.score for entry in pruner.result.decisions]
    assert all(0 <= score <= 10 for score in scores)
    assert max(scores) == scores[1] > 5


def test_whole_files_come_first_up_to_four_fifths_of_the_tokens_then_snippets() -> None:
    whole = [
        SourceCode(f"{name}.py", f'def refund_{name}():\n    """The refund of an order."""\n    return {number}\n' * 3)
        for number, name in enumerate("abcd")
    ]
    large = SourceCode(
        "large.py",
        'def refund_total(parts):\n    """The refund of an order."""\n    return sum(parts)\n\n\n'
        + "def other():\n    pass\n\n\n" * 100,
    )
    size = count_tokens(whole[0].source_code)
    result = prune_files(
        [*whole, large], pruning(max_tokens=5 * size, strategy="extract"), "how is the refund of an order made?"
    )
    assert [entry.reason for entry in result.decisions].count(Reason.WHOLE) == 4  # 4 of 5 are just the share of 0.8
    assert result.decisions[-1].reason is Reason.SNIPPETS
    assert result.decisions[-1].ranges == ((1, 3),)
    tighter = prune_files(
        [*whole, large], pruning(max_tokens=5 * size - 1, strategy="extract"), "how is the refund of an order made?"
    )
    assert [entry.reason for entry in tighter.decisions].count(Reason.WHOLE) == 3


def test_a_snippet_that_does_not_fit_is_skipped_and_recorded_and_the_rest_goes_on() -> None:
    long = (
        'def refund_total(parts):\n    """The refund of an order: refund, order."""\n'
        + "".join(f"    refund_{n} = order[{n}]\n" for n in range(60))
        + "\n\n"
    )
    short = 'def small(order):\n    """The refund of an order."""\n    return 1\n'
    result = prune_files(
        [SourceCode("a.py", long + short)], pruning(max_tokens=60, strategy="extract"), "refund of an order"
    )
    (entry,) = result.decisions
    assert entry.state is State.SHORTENED
    refused, kept = entry.tried
    assert (refused.kept, refused.reason) == (False, Reason.LARGER_THAN_BUDGET)
    assert refused.needed > refused.left
    assert (kept.kept, kept.name) == (True, "small")
    assert "def small" in result.files[0].source_code
    assert result.report.after <= 60


def test_pruning_switched_off_returns_the_files_unchanged_and_says_so() -> None:
    pruner = PruneContext(max_tokens=10, settings=pruning(enabled=False))
    assert all(left is right for left, right in zip(pruner.handle_overflow(FILES, [], "score"), FILES, strict=True))
    assert pruner.result is not None
    assert [notice.code for notice in pruner.result.warnings] == ["pruning_disabled"]
    assert "191 tokens more than 10" in pruner.result.warnings[0].message
    assert {action.reason for action in pruner.result.report.actions} == {"disabled"}


@pytest.mark.parametrize("strategy", ["score", "extract"])
def test_without_a_query_and_a_conversation_there_is_nothing_to_score_by(strategy: str) -> None:
    with pytest.raises(UsageError, match="needs to know"):
        PruneContext(max_tokens=10).handle_overflow(FILES, [], strategy)
    assert PruneContext(max_tokens=0).handle_overflow(FILES, [], "delete") == []


def test_an_unknown_strategy_is_a_usage_error_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="extrakt") as error:
        PruneContext(max_tokens=10).handle_overflow(FILES, CONVERSATION, "extrakt")
    assert "did you mean extract?" in error.value.hint


# --- gold vectors: windows and ranges ---------------------------------------------------------------------------------


def test_windows_over_20_lines() -> None:
    assert windows(20, 10, 3) == [(1, 10), (8, 17), (15, 20)]
    assert windows(20, 7, 0) == [(1, 7), (8, 14), (15, 20)]


def test_ranges_that_overlap_or_touch_merge() -> None:
    assert merge([(1, 5), (4, 8), (10, 15)], 20) == [(1, 8), (10, 15)]
    assert merge([(5, 5), (6, 6)], 20) == [(5, 6)]
    assert merge([(5, 5), (7, 7)], 20) == [(5, 5), (7, 7)]
    assert merge([(-3, 2), (19, 99), (9, 8), (30, 40)], 20) == [(1, 2), (19, 20)]


@pytest.mark.parametrize(("size", "overlap"), [(10, 10), (10, 11), (1, 1)])
def test_windows_that_overlap_whole_are_an_error(size: int, overlap: int) -> None:
    with pytest.raises(UsageError, match="cannot share"):
        windows(20, size, overlap)
    with pytest.raises(UsageError, match="not less than the window"):
        pruning(sliding_window_size=size, sliding_window_overlap=overlap)
    unchecked = replace(
        Settings(),
        context_prune=replace(Settings().context_prune, sliding_window_size=size, sliding_window_overlap=overlap),
    )
    with pytest.raises(UsageError, match="cannot share"):
        PruneContext(max_tokens=10**6, settings=unchecked).handle_overflow(FILES, CONVERSATION)
