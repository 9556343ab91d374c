"""What holds for all files, queries, budgets and strategies."""

from __future__ import annotations

import copy
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from secateur import SourceCode
from secateur.kinds.files.line_ranges import merge
from secateur.kinds.files.model_questions import FileScore, LineRange, Snippets
from secateur.kinds.files.prune_context import prune_files
from secateur.model import Reason, State
from secateur.settings import Settings, with_values
from secateur.tokens import get_counter
from support.answering import Table

WORDS = ("refund", "total", "round", "cart", "walk", "tree", "加法", "退款")
OWNER = re.compile(r"(?m)^(# Lines \d+-\d+) of Cart$")
NAMES = st.sampled_from(["a.py", "src/b.py", "c.md", "d.txt", "e.json", "a.py", "uv.lock"])
LINES = st.one_of(
    st.builds("def {}_{}(x):\n    return x".format, st.sampled_from(WORDS), st.integers(0, 9)),
    st.builds("    {} = {}".format, st.sampled_from(WORDS), st.integers(0, 99)),
    st.builds("# {}".format, st.sampled_from(WORDS)),
    st.sampled_from(["", "", "\t", "}", "```", "class Cart:", '    """退款 of an order."""', "x" * 90]),
)
TEXTS = st.one_of(st.lists(LINES, max_size=25).map("\n".join), st.text(max_size=60))
FILES = st.lists(st.builds(SourceCode, NAMES, TEXTS, st.integers(0, 500)), max_size=7)
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)


@st.composite
def rules(draw: st.DrawFn) -> Settings:
    window = draw(st.integers(1, 30))
    values = {
        "strategy": draw(st.sampled_from(["score", "extract", "extract", "delete"])),
        "max_tokens": draw(st.one_of(st.integers(0, 80), st.integers(0, 600))),
        "full_file_share": draw(st.sampled_from([0.0, 0.3, 0.8, 1.0])),
        "min_score": draw(st.sampled_from([0.0, 0.1, 2.0])),
        "snippet_share": draw(st.sampled_from([0.0, 0.25, 1.0])),
        "sliding_window_size": window,
        "sliding_window_overlap": draw(st.integers(0, window - 1)),
    }
    counter = draw(st.sampled_from(["o200k_base", "chars4", "estimate"]))
    return with_values(
        Settings(), {"tokens.counter": counter, **{f"context_prune.{key}": value for key, value in values.items()}}
    )


@settings(max_examples=12)
@given(files=FILES, query=QUERIES, chosen=rules(), form=st.sampled_from(["plain", "plain", "markdown"]))
def test_the_books_are_right_and_the_budget_holds(
    files: list[SourceCode], query: str, chosen: Settings, form: str
) -> None:
    before = copy.deepcopy(files)
    result = prune_files(files, chosen, query, form=form)
    counter, budget = get_counter(chosen.tokens.counter), chosen.context_prune.max_tokens

    assert files == before, "the input is changed"
    assert [entry.number for entry in result.decisions] == list(range(len(files)))
    assert [action.section for action in result.report.actions] == [file.module_name for file in files]
    assert result.report.before == sum(action.before for action in result.report.actions)
    assert (
        result.report.after
        == sum(action.after for action in result.report.actions)
        <= min(budget, result.report.before)
    )
    assert counter.count(result.document()) <= budget
    if form == "plain":
        assert result.report.after == sum(counter.count(file.source_code) for file in result.files)
    elif counter.exact:
        assert result.report.after == counter.count(result.document())

    going = [entry for entry in result.decisions if entry.text is not None]
    assert [file.module_name for file in result.files] == [entry.module_name for entry in going]
    assert all(file.tokens == counter.count(file.source_code) for file in result.files)
    assert bool(going) != any(
        notice.code in ("no_files", "zero_budget", "nothing_relevant", "budget_too_small") for notice in result.warnings
    )
    for entry in result.decisions:
        source = files[entry.number].source_code
        assert 0 <= entry.score <= 10
        assert entry.after <= entry.before
        if entry.state is State.KEPT:
            assert entry.text == source
        elif entry.state is State.DROPPED and entry.reason in (Reason.NO_ROOM, Reason.LARGER_THAN_BUDGET):
            assert entry.needed > entry.left
        elif entry.state is State.SHORTENED:
            lines = source.split("\n")
            assert list(entry.ranges) == merge(entry.ranges, len(lines))
            parts = [
                f"# Lines {start}-{end}\n" + "".join(f"{line}\n" for line in lines[start - 1 : end])
                for start, end in entry.ranges
            ]
            assert entry.text is not None
            assert OWNER.sub(r"\1", entry.text) == "Snippets:\n" + "".join(parts)
        assert all(
            piece.needed > piece.left
            for piece in entry.tried
            if piece.reason in (Reason.NO_ROOM, Reason.LARGER_THAN_BUDGET)
        )


@settings(max_examples=12)
@given(files=FILES, query=QUERIES, chosen=rules())
def test_pruning_twice_is_pruning_once(files: list[SourceCode], query: str, chosen: Settings) -> None:
    once = prune_files(files, chosen, query).files
    assert prune_files(once, chosen, query).files == once


@settings(max_examples=8)
@given(files=FILES, query=QUERIES, chosen=rules(), data=st.data())
def test_the_order_of_the_files_decides_nothing_but_ties(
    files: list[SourceCode], query: str, chosen: Settings, data: st.DataObject
) -> None:
    files = [SourceCode(f"{number}/{file.module_name}", file.source_code) for number, file in enumerate(files)]
    turned = data.draw(st.permutations(files))
    scores = [
        {entry.module_name: entry.score for entry in prune_files(some, chosen, query).decisions}
        for some in (files, turned)
    ]
    assert scores[0] == scores[1]


@settings(max_examples=12)
@given(files=FILES, query=QUERIES, chosen=rules(), seed=st.integers(0, 10**6))
def test_whatever_a_model_answers_the_books_are_right(
    files: list[SourceCode], query: str, chosen: Settings, seed: int
) -> None:
    def answer(question: object) -> object:
        turn = hash((seed, len(str(question)))) % 7
        ranges = [LineRange(turn * 3 - 4, turn * 5 - 6), LineRange(turn, turn + 2)]
        return {0: None, 1: FileScore(turn * 1.4), 2: FileScore(99), 3: Snippets([])}.get(turn, Snippets(ranges))

    result = prune_files(files, chosen, query, llm=Table(answer))
    counter = get_counter(chosen.tokens.counter)
    assert (
        result.report.after
        == sum(counter.count(file.source_code) for file in result.files)
        <= chosen.context_prune.max_tokens
    )
    assert len(result.decisions) == len(files)
    assert prune_files(files, chosen, query, llm=Table(answer)) == result
