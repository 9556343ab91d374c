"""Where `extract` has equal relevance, what is smaller goes first; at equal size what stands first."""

from __future__ import annotations

from secateur.kinds.files.sourcecode import LOCAL, MeasuredFile, MeasuredFiles, SourceCode, SourcePiece
from secateur.kinds.files.strategies import prune
from secateur.settings import Settings, with_values

LINES = 40


def measured(*files: MeasuredFile) -> MeasuredFiles:
    return MeasuredFiles(files, "chars4", "plain", "total")


def file(name: str, cost: int, *pieces: SourcePiece, score: float = 8.0) -> MeasuredFile:
    text = "".join(f"line_{number:02} = {number:02}\n" for number in range(LINES))
    source = SourceCode(name, text, len(text) // 4)
    return MeasuredFile(source, LINES, cost, score, LOCAL, pieces=pieces)


def piece(start: int, end: int, relevance: float = 0.8) -> SourcePiece:
    return SourcePiece(start, end, f"lines_{start}", relevance, tokens=4 * (end - start + 1), header=8)


def settings(**values: object) -> Settings:
    return with_values(
        Settings(), {"tokens.counter": "chars4", **{f"context_prune.{key}": value for key, value in values.items()}}
    )


def kept_lines(one: MeasuredFile, budget: int) -> list[tuple[int, int]]:
    (entry,) = prune(measured(one), settings(max_tokens=budget, strategy="extract", full_file_share=0.0)).decisions
    return list(entry.ranges)


def test_of_equally_relevant_pieces_the_smaller_leaves() -> None:
    large, small = piece(1, 12), piece(21, 25)
    assert kept_lines(file("a.py", 400, large), 80) == [(1, 12)], "the larger fits by itself"
    assert kept_lines(file("a.py", 400, large, small), 80) == [(21, 25)]


def test_a_more_relevant_piece_leaves_before_a_smaller_one() -> None:
    assert kept_lines(file("a.py", 400, piece(1, 12, 0.9), piece(21, 25)), 80) == [(1, 12)]


def test_of_equal_pieces_the_first_leaves() -> None:
    assert kept_lines(file("a.py", 400, piece(1, 12), piece(21, 32)), 80) == [(1, 12)]


def test_of_equally_relevant_files_the_smaller_leaves_whole() -> None:
    files = measured(file("large.py", 90, piece(1, 30)), file("small.py", 60, piece(1, 20)))
    rules = settings(max_tokens=100, strategy="extract", full_file_share=1.0)
    whole = [
        entry.module_name for entry in prune(files, rules).decisions if entry.text is not None and not entry.ranges
    ]
    assert whole == ["small.py"]
