"""What a language model named goes out first, as it named it; a threshold that decided is named."""

from __future__ import annotations

import pytest
from secateur import PruneContext, SourceCode, count_tokens
from secateur.kinds.files.line_ranges import widen_to_statements
from secateur.kinds.files.model_questions import LineRange, Snippets
from secateur.kinds.files.prune_context import prune_files
from secateur.kinds.files.sourcecode import PrunedFiles
from secateur.kinds.files.strategies import prune
from secateur.llm.interface import Question
from secateur.model import Reason
from secateur.render.page import sentence
from secateur.settings import Settings, with_values
from support.answering import Table
from support.pruner_example import CONVERSATION, FILES, MAIN, MATH

SRC = "src/utils/math_utils.py"


def pruning(**values: object) -> Settings:
    return with_values(Settings(), {f"context_prune.{key}": value for key, value in values.items()})


def naming(**ranges: list[tuple[int, int]]) -> Table:
    """A model that names these lines of the file whose name holds the word, in whatever window they lie, and nothing of
    others."""

    def answer(question: Question) -> Snippets:
        found = next((named for word, named in ranges.items() if word in question.what), [])
        window = question.what.rpartition(":")[2].split("-") if ":" in question.what else ["1", "100000"]
        inside = [(start, end) for start, end in found if start <= int(window[1]) and end >= int(window[0])]
        return Snippets([LineRange(start, end) for start, end in inside])

    return Table(answer)


def example(model: Table, **values: object) -> PrunedFiles:
    settings = pruning(sliding_window_size=10, sliding_window_overlap=2, **values)
    pruner = PruneContext(max_tokens=60, settings=settings, query="如何实现加法和减法运算？", llm=model)
    pruner.handle_overflow(FILES, CONVERSATION, "extract")
    assert pruner.result is not None
    return pruner.result


# --- with a model -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("last", [5, 6, 7])
@pytest.mark.parametrize("other", [[], [(8, 9)], [(1, 9)]])
def test_the_example_keeps_what_the_model_named_and_a_header_has_its_body(
    last: int, other: list[tuple[int, int]]
) -> None:
    """`subtract` was lost to the two lines of `if __name__`: all that is named counted .5, and ties went to the
    shorter."""
    result = example(naming(math=[(1, last)], main=other))
    assert result.files[0].module_name == SRC
    assert result.files[0].source_code == "Snippets:\n# Lines 1-7\n" + "".join(MATH.splitlines(keepends=True)[:7])
    assert result.files[0].tokens == 46
    assert sum(file.tokens for file in result.files) <= 60


def test_of_a_long_function_only_the_named_statements_leave() -> None:
    long = (
        "def total(cart):\n"
        + "".join(f"    part_{number} = cart.line_{number}\n" for number in range(30))
        + "    return part_1\n"
    )
    result = prune_files(
        [SourceCode("cart.py", long)], pruning(max_tokens=100, strategy="extract"), "total", llm=naming(cart=[(4, 6)])
    )
    assert result.decisions[0].ranges == ((4, 6),)
    assert result.files[0].source_code == "Snippets:\n# Lines 4-6\n" + "".join(long.splitlines(keepends=True)[3:6])


def test_what_is_named_goes_before_what_nobody_named() -> None:
    """Without an answer about main, its own words speak for it; it would fit."""
    model = Table(
        {f"extract {SRC}:1-10": Snippets([LineRange(1, 7)]), "extract src/utils/string_utils.py": Snippets([])}
    )
    settings = pruning(full_file_share=0.0, sliding_window_size=10, sliding_window_overlap=2)
    pruner = PruneContext(max_tokens=count_tokens(MAIN), settings=settings, query="print add format", llm=model)
    assert "def subtract" in pruner.handle_overflow(FILES, strategy="extract")[0].source_code


def test_a_file_of_which_three_lines_were_named_does_not_displace_the_answer() -> None:
    answer = (
        "def refund(order):\n"
        + "".join(f"    total_{n} = order.line_{n} * rate\n" for n in range(15))
        + "    return total_1\n"
    )
    large = SourceCode("large.py", answer + "".join(f"\n\ndef other_{n}(a):\n    return a + {n}\n" for n in range(80)))
    small = SourceCode(
        "small.py", "".join(f"def helper_{n}(refund):\n    return refund.order + {n}\n\n\n" for n in range(14))
    )
    assert 200 < count_tokens(small.source_code) < 240
    model = naming(small=[(1, 3)], large=[(1, 17)])
    settings = pruning(max_tokens=300, strategy="extract", full_file_share=0.0)
    result = prune_files([small, large], settings, "refund order", llm=model)
    assert answer in result.files[1].source_code
    assert result.files[0].source_code == "Snippets:\n# Lines 1-2\ndef helper_0(refund):\n    return refund.order + 0\n"


def test_of_all_that_is_named_words_decide_what_goes_first_not_the_size() -> None:
    words = (
        "def alpha():\n    return 1\n\n\ndef beta_gamma(delta):\n    "
        + "beta(gamma, delta)\n    " * 6
        + "return delta\n"
    )
    files = [SourceCode("a.py", words), SourceCode("b.py", "x = 1\n" * 200)]
    model = naming(**{"a.py": [(1, 2), (5, 12)]})
    measured = prune_files(files, pruning(max_tokens=60, strategy="extract"), "beta gamma delta", llm=model).measured
    short, long = [piece.relevance for piece in measured.files[0].pieces if piece.chosen]
    assert 0.5 <= short < long <= 1
    tried = prune(measured, pruning(max_tokens=60, strategy="extract")).decisions[0].tried
    assert [piece.name for piece in tried] == ["beta_gamma", "alpha"]


def test_a_file_that_was_named_has_what_else_speaks_for_it_only_after_whole_files() -> None:
    """What the model has not seen of a named file competes with other snippets, and what leaves of it joins what is
    there."""
    many = SourceCode("many.py", "".join(f"def refund_{n}(a):\n    return a + {n}\n\n\n" for n in range(60)))
    model = Table({"extract many.py:1-100": Snippets([LineRange(1, 2)])})
    result = prune_files([many], pruning(max_tokens=200, strategy="extract"), "refund_40", llm=model)
    (entry,) = result.decisions
    assert entry.tried[0].start == 1
    assert any(start <= 161 <= end for start, end in entry.ranges)
    assert result.report.after == count_tokens(result.files[0].source_code) <= 200


@pytest.mark.parametrize(
    ("text", "named", "expected"),
    [
        ("def f(a):\n    if a:\n        return 1\n    return 2\n", (1, 1), (1, 4)),
        ("def f(a):\n    if a:\n        return 1\n    return 2\n", (2, 2), (2, 3)),
        ("def f(a):\n    if a:\n        return 1\n    return 2\n", (3, 3), (3, 3)),
        ("def f(a):\n    if a:\n        b()\n    else:\n        c()\n    return 2\n", (2, 3), (2, 5)),
        ("def f(\n    a,\n    b,\n):\n    return a\n", (1, 2), (1, 5)),
        ("x = f(\n    1,\n    2,\n)\ny = 2\n", (3, 3), (1, 4)),
        ("int f(int a) {\n\tif (a) {\n\t\treturn 1;\n\t} else {\n\t\treturn 2;\n\t}\n}\n", (2, 2), (2, 6)),
        ("int f(int a)\n{\n    return a;\n}\n", (1, 3), (1, 4)),
        ("def f\n  g\nend\n\nh\n", (1, 1), (1, 3)),
        ("a = 1\n\n\nb = 2\n", (2, 3), None),
        ("a = 1\n\n\nb = 2\n", (1, 3), (1, 1)),
    ],
)
def test_named_lines_are_widened_to_whole_statements(
    text: str, named: tuple[int, int], expected: tuple[int, int] | None
) -> None:
    lines = text.splitlines()
    assert widen_to_statements(named, lines, (1, len(lines))) == expected
    if expected is not None:
        assert widen_to_statements(expected, lines, (1, len(lines))) == expected


# --- without one ------------------------------------------------------------------------------------------------------


def large_and_small() -> tuple[list[SourceCode], str]:
    answer = (
        "def refund_total(order):\n"
        + "".join(f"    refund = order.refund_{n} + total\n" for n in range(12))
        + "    return refund\n"
    )
    large = SourceCode("large.py", answer + "".join(f"\n\ndef other_{n}(a):\n    return a + {n}\n" for n in range(80)))
    small = [
        SourceCode(
            f"small_{n}.py", f"def refund_{n}(total):\n    return total\n\n\n" + "def more(a):\n    return a\n\n\n" * 6
        )
        for n in range(2)
    ]
    return [*small, large], answer


def test_a_threshold_that_decided_is_named_with_its_figures() -> None:
    """A file that scored .5 was called not relevant, and nothing said that `snippet_share` had asked for more."""
    files, _ = large_and_small()
    other = SourceCode(
        "other.py", "def total_words(text):\n    return text\n\n\n" + "def unrelated(b):\n    return b\n\n\n" * 40
    )
    result = prune_files(
        [*files, other], pruning(max_tokens=190, strategy="extract", snippet_share=0.9), "refund total of an order"
    )
    entry = result.decisions[3]
    assert entry.reason is Reason.NOT_RELEVANT
    assert entry.score >= 0.1
    assert entry.threshold is not None
    best = max(one.score for one in result.decisions)
    assert (entry.threshold.setting, entry.threshold.value, entry.threshold.best) == (
        "context_prune.snippet_share",
        0.9,
        pytest.approx(best, abs=0.05),
    )
    assert entry.score < entry.threshold.asked
    assert entry.threshold.asked == pytest.approx(0.9 * entry.threshold.best), "the figures shown multiply"
    asked = f"context_prune.snippet_share asks for {entry.threshold.asked:g}"
    told = f"it scores {entry.threshold.score:g}, {asked}: 0.9 of the best, {entry.threshold.best:g}"
    assert sentence(result.ledger.entries[3]) == told
    scored = prune_files(
        [*files, other], pruning(max_tokens=190, strategy="score", min_score=9.9), "refund total of an order"
    )
    said = sentence(scored.ledger.entries[3])
    assert said.endswith(", context_prune.min_score asks for 9.9")
