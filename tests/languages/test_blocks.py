"""Units of code that no grammar reads, of real-looking files: `unparsed/NAME.txt` and `unparsed/NAME.units`."""

from __future__ import annotations

from pathlib import Path

import pytest
from secateur.languages.syntax.fragments import parse_file, split_lines

SOURCES = Path(__file__).parent / "unparsed"


def describe(name: str) -> list[str]:
    facts = parse_file(f"src/{name}", (SOURCES / f"{name}.txt").read_bytes())
    return [f"{part.line_start}-{part.line_end} {part.kind} {part.qualname}" for part in facts.fragments]


@pytest.mark.parametrize("name", sorted(path.name.removesuffix(".txt") for path in SOURCES.glob("*.txt")))
def test_units_of(name: str) -> None:
    assert describe(name) == (SOURCES / f"{name}.units").read_text().splitlines()


def test_calls_of_macros() -> None:
    facts = parse_file("revenue.sql", (SOURCES / "revenue.sql.txt").read_bytes())
    assert {call.name for call in facts.calls} == {"config", "ref", "net_of_refunds", "is_incremental"}


@pytest.mark.parametrize("path", ["a.pl", "a.hs", "a.erb", "a.html", "a.sql", "a.lisp"])
@pytest.mark.parametrize(
    "source",
    [
        "\n" * 100_000,
        "x" * 1_000_000,
        "{% " * 300_000,
        "end " * 250_000,
        "\n".join(" " * depth + "f(x) {" for depth in range(1_500)),
        "\n".join("f(x) {\n  y" for _ in range(20_000)),
        "/*\n" * 50_000,
        "{{\n\n  a(\n\n" * 10_000,
    ],
)
def test_unusual_files_are_read_whole(path: str, source: str) -> None:
    fragments = parse_file(path, source.encode()).fragments
    covered = [row for part in fragments for row in range(part.line_start, part.line_end + 1)]
    assert len(covered) == len(set(covered))
    assert set(covered) >= {row for row, line in enumerate(split_lines(source), 1) if line.strip()}
