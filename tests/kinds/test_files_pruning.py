"""What of files leaves: order, figures, forms, kinds of empty."""

from __future__ import annotations

from dataclasses import replace

import pytest
from secateur import PruneContext, SourceCode, count_tokens
from secateur.errors import SecateurError, UsageError
from secateur.kinds.conversation.transcripts import read_messages
from secateur.kinds.files.measurements import measure_files, question_of
from secateur.kinds.files.prune_context import prune_files
from secateur.kinds.files.sourcecode import LOCAL, PrunedFiles
from secateur.kinds.files.strategies import prune
from secateur.model import Reason, State
from secateur.settings import Settings, with_profile, with_values
from secateur.tokens import get_counter
from support.repos import QUERY, SHOP

FILES = [SourceCode(path, text) for path, text in SHOP.items()]
OTHER = "def walk(tree):\n    for leaf in tree:\n        yield leaf\n\n\n"


def pruning(**values: object) -> Settings:
    return with_values(Settings(), {f"context_prune.{key}": value for key, value in values.items()})


def test_one_measurement_serves_every_budget_and_strategy() -> None:
    measured = measure_files(FILES, Settings(), QUERY)
    for strategy in ("score", "extract", "delete"):
        for budget in (0, 1, 40, 60, 90, 10_000):
            settings = pruning(max_tokens=budget, strategy=strategy)
            kept, anew = prune(measured, settings), prune_files(FILES, settings, QUERY)
            assert (kept.files, kept.report.actions) == (anew.files, anew.report.actions)


def test_extract_is_named_only_where_something_would_go_out_with_it() -> None:
    wanted = SourceCode("a.py", OTHER * 80 + "def refund_total(order):\n    return round(order.total)\n")
    for budget, helps in ((100, True), (3, False)):
        (notice,) = prune_files([wanted], pruning(max_tokens=budget), "refund total").warnings
        assert notice.code == "budget_too_small"
        assert ("--strategy extract" in notice.message) is helps
        extracted = prune_files([wanted], pruning(max_tokens=budget, strategy="extract"), "refund total")
        assert bool(extracted.files) is helps
        assert not any("--strategy" in notice.message for notice in extracted.warnings)


def test_the_order_of_what_leaves_is_that_of_what_came() -> None:
    for turned in (FILES, FILES[::-1]):
        result = prune_files(turned, pruning(max_tokens=80), QUERY)
        kept = [file.module_name for file in result.files]
        assert 1 < len(kept) < len(FILES)
        assert kept == [file.module_name for file in turned if file.module_name in kept]
        assert [entry.module_name for entry in result.decisions] == [file.module_name for file in turned]


def test_tokens_of_the_caller_are_not_trusted() -> None:
    lying = [replace(file, tokens=0) for file in FILES]
    result = prune_files(lying, pruning(max_tokens=70), QUERY)
    assert result.report.before == sum(count_tokens(file.source_code) for file in FILES)
    assert all(file.tokens == count_tokens(file.source_code) for file in result.files)
    assert result.report.after == sum(file.tokens for file in result.files) <= 70


def test_every_decision_says_why_with_its_figures() -> None:
    files = [*FILES, SourceCode("other.py", OTHER * 30)]
    result = prune_files(files, pruning(max_tokens=60, strategy="extract", min_score=0.1), QUERY)
    by_name = {entry.module_name: entry for entry in result.decisions}
    best = by_name["shop/refund.py"]
    assert best.judge == LOCAL
    assert best.score == max(entry.score for entry in result.decisions)
    assert by_name["other.py"].reason is Reason.NOT_RELEVANT
    assert by_name["other.py"].shape().to_dict() | {"score": 0.0} == {
        "module_name": "other.py",
        "state": "dropped",
        "reason": "not_relevant",
        "tokens_before": count_tokens(OTHER * 30),
        "tokens_after": 0,
        "needed": count_tokens(OTHER * 30),
        "left": 60 - result.report.after,
        "score": 0.0,
        "judge": "local",
        "threshold": {"setting": "context_prune.min_score", "value": 0.1, "asked": 0.1},
    }
    refused = [piece for entry in result.decisions for piece in entry.tried if not piece.kept]
    assert refused
    assert all(piece.needed > piece.left for piece in refused)


def test_snippets_are_whole_functions_and_long_ones_are_cut_between_statements() -> None:
    body = "".join(f"    step_{n} = tree[{n}]\n    if step_{n}:\n        return step_{n}\n\n" for n in range(40))
    text = f"def climb(tree):\n{body}    refund = tree.refund(total)\n    return refund\n"
    result = prune_files(
        [SourceCode("a.py", OTHER * 20 + text)],
        pruning(max_tokens=300, strategy="extract", sliding_window_size=20, sliding_window_overlap=2),
        QUERY,
    )
    (entry,) = result.decisions
    lines = (OTHER * 20 + text).split("\n")
    assert entry.state is State.SHORTENED
    assert "tree.refund(total)" in result.files[0].source_code
    for piece in entry.tried:
        assert piece.end - piece.start < 20
        assert lines[piece.start - 1].startswith(("def", "    step", "    refund"))
    best, *others = entry.tried
    assert lines.index("    refund = tree.refund(total)") + 1 in range(best.start, best.end + 1)
    assert all(piece.score < best.score for piece in others)


def test_blank_lines_between_two_snippets_go_with_them() -> None:
    text = "def refund_total(a):\n    return a\n\n\ndef refund_rounded(a):\n    return a\n\n\n" + OTHER * 20
    result = prune_files([SourceCode("a.py", text)], pruning(max_tokens=60, strategy="extract"), "refund")
    assert result.decisions[0].ranges == ((1, 6),)
    assert result.files[0].source_code == "Snippets:\n# Lines 1-6\n" + text[: text.index(OTHER)].rstrip("\n") + "\n"


def test_many_blank_lines_part_two_snippets() -> None:
    text = "def refund_total(a):\n    return a\n" + "\n" * 4 + "def refund_rounded(a):\n    return a\n\n\n" + OTHER * 20
    result = prune_files([SourceCode("a.py", text)], pruning(max_tokens=60, strategy="extract"), "refund")
    assert result.decisions[0].ranges == ((1, 2), (7, 8))


def test_a_snippet_fits_to_the_token() -> None:
    measured = measure_files([SourceCode("a.py", OTHER * 20 + SHOP["shop/refund.py"])], Settings(), QUERY)
    rules = pruning(max_tokens=1, strategy="extract", snippet_share=1.0)
    (best,) = prune(measured, rules).decisions[0].tried
    just, short = (
        prune(measured, with_values(rules, {"context_prune.max_tokens": budget}))
        for budget in (best.needed, best.needed - 1)
    )
    assert just.report.after == best.needed
    assert "def refund_total" in just.files[0].source_code
    assert short.files == ()


def test_blank_lines_that_cost_tokens_are_charged() -> None:
    text = (
        "def refund_a(order):\n    return 1\n"
        + " \n\t \n  \n"
        + "def refund_b(order):\n    return 2\n"
        + "\n\n\n"
        + OTHER * 20
    )
    measured = measure_files([SourceCode("a.py", text)], Settings(), "refund an order")
    for budget in range(10, 60):
        result = prune(measured, pruning(max_tokens=budget, strategy="extract", snippet_share=0.5))
        assert result.report.after == sum(count_tokens(file.source_code) for file in result.files) <= budget
        assert all(piece.needed > piece.left for piece in result.decisions[0].tried if not piece.kept)
    assert result.decisions[0].ranges == ((1, 7),)


def test_a_share_of_the_tokens_is_what_it_says() -> None:
    files = [
        SourceCode("refund.txt", "refund! " * 28 + "...."),
        SourceCode("other.txt", "x" * 400),
    ]  # 57 and 100 tokens
    settings = with_values(
        pruning(max_tokens=100, strategy="extract", full_file_share=0.57), {"tokens.counter": "chars4"}
    )
    assert prune_files(files, settings, "refund").decisions[0].reason is Reason.WHOLE
    assert (
        prune_files(files, with_values(settings, {"context_prune.max_tokens": 99}), "refund").decisions[0].reason
        is not Reason.WHOLE
    )


def test_a_method_without_its_class_says_whose_it_is() -> None:
    text = (
        'class Cart:\n    """Things to buy."""\n\n    def refund(self):\n        return 1\n\n'
        + "    def walk(self):\n        return 2\n\n" * 20
    )
    rules = pruning(max_tokens=60, strategy="extract", snippet_share=0.3)
    method = prune_files(
        [SourceCode("a.py", text)], pruning(max_tokens=60, strategy="extract", snippet_share=1.0), "refund"
    )
    assert method.files[0].source_code == "Snippets:\n# Lines 4-5 of Cart\n    def refund(self):\n        return 1\n"
    both = prune_files([SourceCode("a.py", text)], rules, "refund things to buy")
    assert both.files[0].source_code.startswith("Snippets:\n# Lines 1-5\nclass Cart:\n")


def test_a_file_whose_snippets_are_no_shorter_is_kept_whole() -> None:
    small = SourceCode("a.py", "def refund(a):\n    return a\n")
    size = count_tokens(small.source_code)
    result = prune_files(
        [small, SourceCode("b.py", OTHER * 50)],
        pruning(max_tokens=size + 12, strategy="extract", full_file_share=0.0),
        "refund",
    )
    assert (result.decisions[0].reason, result.files[0].source_code) == (Reason.NOT_SHORTER, small.source_code)


def test_duplicate_names_and_empty_files_are_files_of_their_own() -> None:
    files = [
        SourceCode("a.py", ""),
        SourceCode("a.py", SHOP["shop/refund.py"]),
        SourceCode("a.py", OTHER),
        SourceCode("2/a.py", OTHER),
        SourceCode("", ""),
    ]
    result = prune_files(files, pruning(max_tokens=55, min_score=0.1), QUERY)
    assert [entry.state for entry in result.decisions] == [State.DROPPED, State.KEPT, *[State.DROPPED] * 3]
    assert [action.section for action in result.report.actions] == ["a.py", "a.py", "a.py", "2/a.py", ""]
    assert prune_files([SourceCode("a.py", "")], pruning(max_tokens=0), QUERY).decisions[0].state is State.KEPT


def test_an_empty_result_says_which_kind_of_empty() -> None:
    def codes(files: list[SourceCode], query: str, **values: object) -> list[str]:
        result = prune_files(files, pruning(**values), query)
        assert result.files == ()
        return [notice.code for notice in result.warnings]

    assert codes([], QUERY) == ["no_files"]
    assert codes(FILES, QUERY, max_tokens=0) == ["zero_budget"]
    assert codes([SourceCode("a.py", OTHER * 9)], "zebra", max_tokens=20, min_score=0.1) == ["nothing_relevant"]
    assert codes([SourceCode("a.py", OTHER * 9)], "walk the tree", max_tokens=20) == ["budget_too_small"]
    assert codes([SourceCode("a.py", OTHER * 9)], "???", max_tokens=20) == ["empty_query", "budget_too_small"]
    (notice,) = prune_files(
        [SourceCode("a.py", OTHER * 9)], pruning(max_tokens=20, strategy="extract"), "walk the tree"
    ).warnings
    assert "needs" in notice.message


def test_markdown_holds_the_budget_with_its_headings_and_fences() -> None:
    for budget in (0, 30, 60, 90, 140, 10_000):
        for strategy in ("score", "extract", "delete"):
            result = prune_files(FILES, pruning(max_tokens=budget, strategy=strategy), QUERY, form="markdown")
            assert count_tokens(result.document()) == result.report.after <= budget
    assert "```python shop/refund.py\n" in (
        prune_files(FILES, pruning(max_tokens=10_000), QUERY, form="markdown").document()
    )


def test_a_text_cannot_end_its_fence() -> None:
    result = prune_files([SourceCode("a`.py", "x = '''\n````\n'''\n")], Settings(), form="markdown")
    assert result.document() == "`````python a'.py\nx = '''\n````\n'''\n`````\n\n"


def test_the_query_and_the_last_things_the_user_said_both_count_newest_first() -> None:
    said = [
        {"role": "user", "content": "zero"},
        {"role": "user", "content": "one"},
        {"role": "user", "content": [{"type": "text", "text": "two"}, {"type": "image", "source": {}}]},
        {"role": "assistant", "content": "not this"},
        {"role": "user", "content": "<tool_result tool_name='x'>nor this</tool_result>"},
        {"role": "user", "content": "three"},
    ]
    assert question_of("first", read_messages(said)) == "first\nthree\ntwo\none"
    assert question_of("", read_messages(said)) == "three\ntwo\none"
    assert question_of("") == ""


def test_conversations_come_in_any_format() -> None:
    session = [{"type": "user", "uuid": "1", "message": {"role": "user", "content": [{"type": "text", "text": QUERY}]}}]
    for messages in (session, [{"role": "user", "content": QUERY}]):
        pruner = PruneContext(max_tokens=40)
        assert [file.module_name for file in pruner.handle_overflow(FILES, messages)] == ["shop/refund.py"]
    with pytest.raises(SecateurError, match="no role"):
        PruneContext(max_tokens=60).handle_overflow(FILES, [{"content": "x"}])


@pytest.mark.parametrize("wrong", [-1, 1.5, "9", True])
def test_a_budget_that_is_none_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match="max_tokens"):
        PruneContext(max_tokens=wrong)  # type: ignore[arg-type]


def test_a_form_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="html"):
        prune_files(FILES, Settings(), QUERY, form="html")


def test_lock_files_that_are_given_are_read_and_endless_lines_are_said() -> None:
    files = [
        SourceCode("uv.lock", 'name = "httpx"\nversion = "0.27"\n\n' + "x = 1\n" * 200),
        SourceCode("b.js", "refund" * 2000),
        SourceCode("c.bin", "refund\0" * 99),
    ]
    result = prune_files(
        files,
        pruning(max_tokens=120, strategy="extract", sliding_window_size=21, sliding_window_overlap=0, min_score=0.1),
        "httpx version",
    )
    assert result.decisions[0].state is State.SHORTENED
    assert [entry.reason for entry in result.decisions[1:]] == [Reason.NOT_RELEVANT] * 2
    (said,) = [notice.message for notice in result.warnings if notice.code == "not_read"]
    assert "b.js, c.bin" in said


@pytest.mark.parametrize("name", ["estimate", "chars4", "cl100k_base"])
@pytest.mark.parametrize("strategy", ["score", "extract"])
def test_the_budget_holds_by_whatever_counts(name: str, strategy: str) -> None:
    counter = get_counter(name)
    settings = with_values(pruning(max_tokens=70, strategy=strategy), {"tokens.counter": name})
    for form in ("plain", "markdown"):
        result = prune_files(FILES, settings, QUERY, form=form)
        assert result.report.after <= 70
        assert counter.count(result.document()) <= 70


def test_min_score_and_snippet_share_decide_what_is_relevant() -> None:
    files = [*FILES, SourceCode("other.py", OTHER * 60)]

    def kept(**values: object) -> list[str]:
        return [
            entry.module_name
            for entry in prune_files(files, pruning(strategy="extract", max_tokens=150, **values), QUERY).decisions
            if entry.text
        ]

    assert kept(snippet_share=1.0, min_score=0.1) == ["shop/refund.py"]
    assert set(kept(snippet_share=0.0)) > {"shop/refund.py"}
    assert kept(min_score=10.0) == []


def test_the_recommended_profile_takes_snippets_alone() -> None:
    files = [SourceCode("mixed.py", SHOP["shop/refund.py"] + "\n\n" + OTHER * 3), SourceCode("rest.py", OTHER * 60)]
    whole = prune_files(files, pruning(max_tokens=400, strategy="extract"), QUERY)
    part = prune_files(files, with_profile(pruning(max_tokens=400, strategy="extract"), "recommended"), QUERY)
    assert (whole.decisions[0].reason, part.decisions[0].reason) == (Reason.WHOLE, Reason.SNIPPETS)


@pytest.mark.parametrize("wrong", [("a.py", "text"), SourceCode("a.py", b"text"), SourceCode(None, "text"), None])  # type: ignore[arg-type]
def test_what_is_no_file_is_named(wrong: object) -> None:
    with pytest.raises(UsageError, match=r"file_sources\[1\] is not a SourceCode"):
        PruneContext(max_tokens=60, query=QUERY).handle_overflow([FILES[0], wrong])  # type: ignore[list-item]


def test_a_query_is_a_text_and_files_may_come_one_by_one() -> None:
    with pytest.raises(UsageError, match="query is int"):
        PruneContext(query=5)  # type: ignore[arg-type]
    assert (
        PruneContext(max_tokens=10**9, query=QUERY).handle_overflow(iter(FILES))[0].module_name == FILES[0].module_name
    )


def test_a_file_of_which_no_snippet_had_room_says_what_the_best_one_needed() -> None:
    """Not what the whole file would have needed: it was never going to leave whole."""
    function = "def refund_total_{}(order):\n    return sum(line.price for line in order.lines)\n\n\n"
    files = [
        SourceCode(f"src/{name}.py", "".join(function.format(f"{name}_{number}") for number in range(20)))
        for name in ("cart", "shop", "till")
    ]
    one = min(piece.needed for entry in _extracted(files, 10).decisions for piece in entry.tried)
    dropped = [entry for entry in _extracted(files, one).decisions if entry.state is State.DROPPED and entry.tried]
    assert dropped
    for entry in dropped:
        assert (entry.needed, entry.left, entry.reason) == (
            entry.tried[0].needed,
            entry.tried[0].left,
            entry.tried[0].reason,
        )
        assert entry.left < entry.needed < entry.before
        assert entry.shape().to_dict()["needed"] == entry.shape().to_dict()["snippets"][0]["needed"]


def _extracted(files: list[SourceCode], budget: int) -> PrunedFiles:
    return prune_files(
        files, pruning(strategy="extract", max_tokens=budget), "how is the refund total of an order made?"
    )
