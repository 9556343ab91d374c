"""Tokens of chunks whose text is never made."""

import pytest
from secateur.kinds.diff.chunk_text import Injection
from secateur.kinds.diff.chunks import render_chunks
from secateur.kinds.diff.diff_parser import parse_diff
from secateur.kinds.diff.linter_output import read_findings
from secateur.kinds.diff.measured_diff import measure_diff
from secateur.kinds.diff.plan import plan_chunks, text_of, tokens_of
from secateur.settings import Settings, with_values
from secateur.tokens import COUNTERS
from support.diffs import added, line_diff


@pytest.mark.parametrize("counter", COUNTERS)
@pytest.mark.parametrize("limit", [140, 400, 1500, 32_000])
@pytest.mark.parametrize("rules", ["", "Look at the names.\n\n# Context Chunk 7/7\n```"])
def test_they_are_those_of_the_text(counter: str, limit: int, rules: str) -> None:
    old, new = [f"line {number}" for number in range(80)], [f"line {number // 3}" for number in range(95)]
    diff = "".join(added(f"src/new_{number}.py", 3 + 5 * number) for number in range(10)) + line_diff(
        "docs/订单.md", old, new, newline=False
    )
    settings = with_values(Settings(), {"chunking.max_chunk_tokens": limit, "tokens.counter": counter})
    findings = read_findings(b"src/new_3.py:2:1: too long\nsrc/new_9.py:7:1: unused\n")
    plan = plan_chunks(
        measure_diff(parse_diff(diff), settings, Injection(rules, "Review."), findings=findings), settings
    )
    chunks = render_chunks(plan)
    assert len(chunks) > (1 if limit < 1500 else 0)
    assert tokens_of(plan) == tuple(chunk.tokens for chunk in chunks)
    assert [text_of(plan, chunk.index) for chunk in chunks] == [chunk.text for chunk in chunks]


def test_nothing_changed_is_no_chunk() -> None:
    plan = plan_chunks(measure_diff(parse_diff(""), Settings()), Settings())
    assert tokens_of(plan) == ()
