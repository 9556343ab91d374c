"""Files judged by a language model: what is asked, what is done with answers, and without."""

from __future__ import annotations

import pytest
from secateur import PruneContext, SourceCode, count_tokens
from secateur.kinds.files.model_questions import FileScore, LineRange, Snippets
from secateur.kinds.files.prune_context import prune_files
from secateur.kinds.files.sourcecode import LOCAL, MODEL
from secateur.llm.interface import Question
from secateur.model import Reason, State
from secateur.settings import Settings, with_values
from support.answering import Table
from support.repos import QUERY, SHOP

FILES = [SourceCode(path, text) for path, text in SHOP.items()]
NUMBERS = SourceCode("numbers.py", "".join(f"def f{n}(a):\n    return a + {n}\n\n\n" for n in range(60)))  # 240 lines


def pruning(**values: object) -> Settings:
    return with_values(Settings(), {f"context_prune.{key}": value for key, value in values.items()})


def snippets(*ranges: tuple[int, int]) -> Snippets:
    return Snippets([LineRange(start, end) for start, end in ranges])


# --- score ------------------------------------------------------------------------------------------------------------


def test_scores_of_the_model_decide_and_its_reasons_are_kept() -> None:
    model = Table({f"score {path}": FileScore(9 if "money" in path else 1, f"about {path}") for path in SHOP})
    pruner = PruneContext(max_tokens=60, settings=pruning(min_score=5.0), query=QUERY, llm=model)
    assert [file.module_name for file in pruner.handle_overflow(FILES, strategy="score")] == ["shop/money.py"]
    assert pruner.result is not None
    assert [(entry.judge, entry.score) for entry in pruner.result.decisions] == [
        (MODEL, 9.0 if "money" in path else 1.0) for path in SHOP
    ]
    assert pruner.result.decisions[1].said == "about shop/money.py"
    assert len(pruner.result.report.calls) == len(SHOP)
    assert pruner.result.warnings == ()


def test_of_equal_scores_the_smaller_file_is_tried_first() -> None:
    pruner = PruneContext(max_tokens=40, query=QUERY, llm=Table(lambda _: FileScore(5)))
    sizes = {path: count_tokens(text) for path, text in SHOP.items()}
    small = sorted(sizes, key=lambda path: sizes[path])[:2]
    assert [file.module_name for file in pruner.handle_overflow(FILES, strategy="score")] == [
        path for path in SHOP if path in small
    ]
    assert sum(sizes[path] for path in small) <= 40 < sum(sizes[path] for path in list(SHOP)[:2])


def test_a_question_holds_the_request_and_the_file_and_its_instructions_nothing_from_outside() -> None:
    model = Table({})
    prune_files(FILES, pruning(max_tokens=60), QUERY, llm=model)
    assert [question.what for question in model.asked] == [f"score {path}" for path in SHOP]
    for question, file in zip(model.asked, FILES, strict=True):
        assert QUERY in question.text
        assert all(line in question.text for line in file.source_code.splitlines())
        assert "refund" not in question.instructions


def test_what_is_not_answered_is_scored_here_and_said() -> None:
    model = Table(
        {"score shop/money.py": FileScore(10), "score shop/api.py": FileScore(11), "score README.md": snippets((1, 2))}
    )
    result = prune_files(FILES, pruning(max_tokens=60), QUERY, llm=model)
    alone = prune_files(FILES, pruning(max_tokens=60), QUERY)
    assert [entry.judge for entry in result.decisions] == [LOCAL, MODEL, LOCAL, LOCAL]
    assert [result.decisions[number].score for number in (0, 2, 3)] == [
        alone.decisions[number].score for number in (0, 2, 3)
    ]
    assert [call.outcome for call in result.report.calls] == ["failed", "answered", "refused", "refused"]
    (said,) = [notice.message for notice in result.warnings if notice.code == "model_fallback"]
    assert said.startswith("3 of 4 questions have no answer")
    assert {notice.code for notice in result.warnings} == {"model_fallback", "llm_unanswered"}


def test_nothing_is_asked_where_nothing_has_to_go_or_no_score_would_help() -> None:
    model = Table({})
    prune_files(FILES, pruning(max_tokens=10**6), QUERY, llm=model)
    prune_files(FILES, pruning(max_tokens=60, strategy="delete"), QUERY, llm=model)
    prune_files(FILES, pruning(max_tokens=0), QUERY, llm=model)
    prune_files(FILES, pruning(enabled=False, max_tokens=1), QUERY, llm=model)
    assert model.asked == []
    prune_files([*FILES, NUMBERS, SourceCode("empty.py", " \n")], pruning(max_tokens=90), QUERY, llm=model)
    assert "score numbers.py" not in [question.what for question in model.asked], (
        "larger than the budget: no score lets it in"
    )
    assert "score empty.py" not in [question.what for question in model.asked]


def test_at_most_so_many_questions_the_best_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secateur.kinds.files.model_questions.MOST_QUESTIONS", 2)
    model = Table(lambda _: FileScore(5))
    result = prune_files(FILES, pruning(max_tokens=60), QUERY, llm=model)
    alone = prune_files(FILES, pruning(max_tokens=60), QUERY)
    best = sorted(range(len(FILES)), key=lambda number: (-alone.decisions[number].score, number))[:2]
    assert [question.what for question in model.asked] == [
        f"score {FILES[number].module_name}" for number in sorted(best)
    ]
    assert "2 questions were not asked" in {notice.code: notice.message for notice in result.warnings}["not_asked"]


# --- extract ----------------------------------------------------------------------------------------------------------


def test_lines_of_the_model_leave_numbered_merged_and_clipped() -> None:
    model = Table(
        {"extract numbers.py": snippets((5, 6), (7, 10), (239, 999), (9, 5)), "extract shop/refund.py": snippets()}
    )
    rules = pruning(max_tokens=count_tokens(NUMBERS.source_code), strategy="extract")
    result = prune_files([NUMBERS, FILES[0]], rules, "which numbers", llm=model)
    question = model.asked[0]
    assert "\n5 def f1(a):\n6     return a + 1\n" in question.text
    assert result.decisions[0].judge == MODEL
    assert result.decisions[0].ranges == ((5, 10),)  # 239 and 240 are blank
    assert (
        result.files[0].source_code
        == "Snippets:\n# Lines 5-10\ndef f1(a):\n    return a + 1\n\n\ndef f2(a):\n    return a + 2\n"
    )


def test_a_file_larger_than_the_budget_is_asked_about_window_by_window() -> None:
    answers = {
        "extract numbers.py:1-100": snippets((1, 2), (150, 160)),
        "extract numbers.py:161-240": snippets((161, 162)),
    }
    model = Table(answers)
    result = prune_files([NUMBERS], pruning(max_tokens=200, strategy="extract"), "f30", llm=model)
    assert [question.what for question in model.asked] == [
        f"extract numbers.py:{window}" for window in ("1-100", "81-180", "161-240")
    ]
    ranges = result.decisions[0].ranges
    assert (1, 2) in ranges
    assert (161, 162) in ranges
    assert not any(start <= 150 <= end for start, end in ranges), "named for a window that does not hold them"
    assert any(start <= 121 <= end for start, end in ranges), "f30 is in the window that was not answered: found here"


def test_lines_of_the_model_are_worth_a_clear_match_at_least() -> None:
    model = Table({"extract numbers.py:1-100": snippets((5, 6))})
    (measured,) = prune_files([NUMBERS], pruning(max_tokens=25, strategy="extract"), "zebra", llm=model).measured.files
    assert [(piece.start, piece.end, piece.relevance) for piece in measured.pieces if piece.chosen] == [(5, 6, 0.5)]
    assert measured.score == 5.0
    assert all(piece.relevance == 0 for piece in measured.pieces if not piece.chosen)


def test_a_model_that_names_nothing_is_said() -> None:
    pruner = PruneContext(
        60,
        pruning(strategy="extract", full_file_share=0.0),
        QUERY,
        Table({f"extract {path}": snippets() for path in SHOP}),
    )
    pruner.handle_overflow(FILES)
    assert pruner.result is not None
    assert [notice.message for notice in pruner.result.warnings if notice.code == "model_named_nothing"] == [
        f"The model names nothing in {len(SHOP)} files that helps with the query."
    ]
    pruner = PruneContext(60, pruning(), QUERY, Table({f"score {path}": FileScore(0.0) for path in SHOP}))
    pruner.handle_overflow(FILES, strategy="score")
    assert pruner.result is not None
    assert "model_named_nothing" in [notice.code for notice in pruner.result.warnings]


def test_no_lines_is_an_answer_and_ranges_that_leave_nothing_are_none() -> None:
    model = Table(
        {
            "extract shop/refund.py": snippets(),
            "extract shop/money.py": snippets((9, 1)),
            "extract README.md": snippets((500, 600)),
        }
    )
    result = prune_files(
        [*FILES, NUMBERS],
        pruning(max_tokens=100, strategy="extract", full_file_share=0.0, min_score=0.1),
        QUERY,
        llm=model,
    )
    entries = {entry.module_name: entry for entry in result.decisions}
    assert (entries["shop/refund.py"].judge, entries["shop/refund.py"].reason) == (MODEL, Reason.NOT_RELEVANT)
    assert entries["shop/money.py"].judge == LOCAL
    assert entries["README.md"].judge == LOCAL


def test_lines_of_a_file_without_fragments_leave_as_they_were_named() -> None:
    endless = SourceCode("a.js", "x" * 6000 + "\nkeep = 1\n" + "y" * 6000)
    result = prune_files(
        [endless], pruning(max_tokens=100, strategy="extract"), "keep", llm=Table(lambda _: snippets((2, 2)))
    )
    assert result.files[0].source_code == "Snippets:\n# Lines 2-2\nkeep = 1\n"


def test_a_question_is_no_longer_than_it_may_be() -> None:
    words = "alpha beta gamma delta " * 8
    model = Table({})
    files = [SourceCode("wide.txt", f"{words}\n" * 4000), SourceCode("line.txt", "word " * 200_000)]
    for strategy in ("extract", "score"):
        prune_files(files, pruning(max_tokens=150_000, strategy=strategy), QUERY * 1000, llm=model)
    assert model.asked
    most = Settings().llm.text_tokens
    assert all(count_tokens(question.text) < most for question in model.asked)
    assert any("of 4,000" in question.text for question in model.asked)


def test_the_order_of_the_answers_is_that_of_the_questions_and_one_measurement_serves_any_budget() -> None:
    model = Table(lambda question: FileScore(len(question.what) % 10))
    measured = prune_files(FILES, pruning(max_tokens=60), QUERY, llm=model).measured
    again = prune_files(
        FILES, pruning(max_tokens=60), QUERY, llm=Table(lambda question: FileScore(len(question.what) % 10))
    ).measured
    assert measured == again
    assert [file.score for file in measured.files] == [len(f"score {path}") % 10 for path in SHOP]


@pytest.mark.parametrize("strategy", ["score", "extract"])
def test_whatever_a_model_says_the_budget_holds(strategy: str) -> None:
    def wild(question: Question) -> object:
        return {
            0: None,
            1: FileScore(-5),
            2: "text",
            3: Snippets([LineRange(-(10**9), 10**9)] * 500),
            4: snippets((1, 10**9)),
        }[len(question.what) % 5]

    for budget in (1, 30, 60, 90, 400):
        result = prune_files([*FILES, NUMBERS], pruning(max_tokens=budget, strategy=strategy), QUERY, llm=Table(wild))
        assert result.report.after == sum(count_tokens(file.source_code) for file in result.files) <= budget
        assert all(entry.state is not State.SUMMARISED for entry in result.decisions)
