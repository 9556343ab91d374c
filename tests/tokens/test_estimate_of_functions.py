"""SC-SP-008, function by function: at least nine of ten functions of the samples are within 20 % of o200k, and the sum
is rather over."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.languages.syntax.fragments import decode, parse_file, split_lines
from secateur.model import FragmentKind
from secateur.sources import samples
from secateur.tokens import get_counter
from secateur.tokens.estimate import EstimateCounter

SUFFIXES = {"orders": ".py", "courier": ".go", "boards": ".ts"}


def functions(root: Path, suffix: str) -> list[str]:
    texts = []
    for path in sorted(root.rglob(f"*{suffix}")):
        data = path.read_bytes()
        lines = split_lines(decode(data)[0])
        for fragment in parse_file(path.name, data).fragments:
            if fragment.kind in (FragmentKind.FUNCTION, FragmentKind.METHOD):
                texts.append("\n".join(lines[fragment.line_start - 1 : fragment.line_end]) + "\n")
    return texts


@pytest.mark.parametrize("sample", SUFFIXES)
def test_nine_of_ten_functions_are_within_a_fifth(sample: str) -> None:
    texts = functions(samples.folder() / sample, SUFFIXES[sample])
    exact, estimated = (get_counter(name).count_many(texts) for name in ("o200k_base", "estimate"))
    errors = [told / true - 1 for told, true in zip(estimated, exact, strict=True)]
    assert len(errors) > 60
    assert sum(abs(error) <= 0.2 for error in errors) >= 0.9 * len(errors)
    assert 0 <= sum(estimated) / sum(exact) - 1 < 0.08


@pytest.mark.parametrize(
    "text",
    [
        "",
        "getHTTPResponse",
        "a_b_c",
        "x = 1234567\n",
        "    return self._total(order)\n",
        "if (!ok) {\n\t\treturn;\n}\n",
    ],
)
def test_a_text_is_cut_where_the_encoding_cuts_it(text: str) -> None:
    assert 0 <= EstimateCounter().count(text) - get_counter("o200k_base").count(text) <= 1


@pytest.mark.parametrize(
    "text",
    ["A" * 400_000, " " * 400_000, "=" * 400_000, "aB" * 200_000, " \n" * 200_000, "1" * 400_000, "_a" * 200_000],
)
def test_pieces_add_up(text: str) -> None:
    """The count of a text is no more than those of its halves: what is charged by piece is a bound. Nor is any run of a
    length read twice."""
    counter = EstimateCounter()
    assert counter.count(text) <= counter.count(text[:200_000]) + counter.count(text[200_000:]) + 1
