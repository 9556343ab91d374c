"""What holds of every diff, limit and counter (smart-chunking, settled in point 15)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as budgeted
from hypothesis import strategies as st
from secateur.errors import BudgetExceeded, SecateurError
from secateur.kinds.diff.arrangement import Arrangement, Piece, arrange, fewest_bins, first_fit_decreasing
from secateur.kinds.diff.chunks import Chunks, chunk_diff
from secateur.kinds.diff.diff_parser import parse_diff, unquote
from secateur.tokens import count_tokens
from support.diffs import first_fit, git_apply, line_diff

words = st.sampled_from(
    [
        "def f(a):",
        "    return a + 1",
        "",
        "}",
        "x = 1",
        "```",
        "## Instructions",
        "-- a",
        "++ b",
        "\t/ path",
        "订单 = 1",
        "@@ -1 +1 @@",
        "\\ x",
        "  ",
    ]
)
lines = (
    st.lists(words, max_size=30)
    .map(lambda some: some[:-1] if some and not some[-1] else some)
    .filter(lambda some: not some or some[-1])
)
names = st.sampled_from(["a.py", "pkg/b.py", "pkg/c d.py", "pkg/deep/订.go", "x.md", "pkg/z.txt", "web/app.ts"])
sides = st.dictionaries(names, st.tuples(st.none() | lines, st.none() | lines, st.booleans()), min_size=1, max_size=7)
limits = st.sampled_from([100, 140, 300, 1000, 32_000])
counters = st.sampled_from(["o200k_base", "cl100k_base", "estimate", "chars4"])
skills = st.sampled_from(["", "Look.", "## Code Changes\n```"])


def diff_of(files: dict[str, tuple[list[str] | None, list[str] | None, bool]]) -> str:
    """A diff of files before and after; None: not there."""
    return "".join(line_diff(path, old, new, newline=newline) for path, (old, new, newline) in sorted(files.items()))


def attempt(diff: str, limit: int, **more: Any) -> Chunks | None:
    try:
        return chunk_diff(diff, limit, **more)
    except BudgetExceeded:
        return None


@budgeted(max_examples=12, deadline=None)
@given(files=sides, limit=limits, counter=counters, skill=skills)
def test_coverage_is_exact_and_the_budget_holds(files: Any, limit: int, counter: str, skill: str) -> None:
    diff = diff_of(files)
    chunks = attempt(diff, limit, counter=counter, skill=skill)
    if chunks is None:
        return
    parsed = parse_diff(diff)
    assert [entry.path for entry in chunks.coverage] == [change.path for change in parsed.changes]
    for chunk in chunks:
        assert chunk.tokens == count_tokens(chunk.text, counter) <= limit
        assert chunk.text.startswith(f"# Context Chunk {chunk.index}/{len(chunks)}\n")
    assert (
        sum(action.after for action in chunks.report.actions)
        == chunks.report.after
        == sum(chunk.tokens for chunk in chunks)
    )
    plan = chunks.plan
    charged = [plan.limit - plan.capacity + sum(piece.cost + piece.filled for piece in chunk) for chunk in plan.chunks]
    assert all(count <= limit for count in charged)
    if counter in ("o200k_base", "cl100k_base"):  # the pieces of a chunk add up
        for chunk, pieces in zip(chunks, chunks.plan.chunks, strict=True):
            head = chunks.plan.measured.injection.head(chunk.index, chunk.of)
            assert chunk.tokens == count_tokens(head, counter) + sum(
                count_tokens(piece.text, counter) for piece in pieces
            )
            assert all(piece.cost == count_tokens(piece.text, counter) for piece in pieces if piece.part is None)
    assert all(chunk.tokens <= most for chunk, most in zip(chunks, charged, strict=True))
    for entry in chunks.coverage:
        held = [(chunk.index, file) for chunk in chunks for file in chunk.files if file.path == entry.path]
        assert tuple(dict.fromkeys(index for index, _ in held)) == entry.chunks
        assert {"whole": len(held) == 1 and held[0][1].part is None, "split": bool(held), "left_out": not held}[
            entry.state
        ]
        if entry.state == "split":
            parts = [file.part for _, file in held]
            assert sorted(part.number for part in parts) == list(range(1, parts[0].of + 1))


@budgeted(max_examples=12, deadline=None)
@given(files=sides, limit=limits)
def test_parts_are_patches_that_hold_every_row_once(files: Any, limit: int) -> None:
    chunks = attempt(diff_of(files), limit)
    for entry in chunks.coverage if chunks is not None else ():
        pieces = sorted(
            (piece for chunk in chunks.plan.chunks for piece in chunk if piece.file is entry.file and piece.part),
            key=lambda piece: piece.number,
        )
        if pieces and entry.verdict is None:
            again = [parse_diff(piece.part.text) for piece in pieces]
            rows = [row for diff in again for change in diff.changes for row in rows_of(change)]
            assert rows == rows_of(entry.file.change)
            new = [line for diff in again for change in diff.changes for line in change.side(new=True)]
            assert new == entry.file.change.side(new=True)
            assert {change.path for diff in again for change in diff.changes} == {entry.path}


@budgeted(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files=sides)
def test_whole_patches_apply(files: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("apply")
    for path, (old, _, newline) in files.items():
        if old is not None:
            written(root / path, old, newline)
    chunks = chunk_diff(diff_of(files), 1_000_000)
    assert {entry.state for entry in chunks.coverage} <= {"whole"}
    patches = "".join(entry.file.change.text for entry in chunks.coverage)
    for entry in chunks.coverage:
        assert entry.file.change.text in chunks[0].text
    if patches:
        git_apply(root, patches, "--whitespace=nowarn")
    for path, (_, new, newline) in files.items():
        assert ((root / path).read_bytes() if (root / path).exists() else None) == (
            None if new is None else content(new, newline)
        )


@budgeted(max_examples=8, deadline=None)
@given(files=sides, limit=limits, skill=skills)
def test_the_same_diff_gives_the_same_bytes(files: Any, limit: int, skill: str) -> None:
    diff = diff_of(files)
    one, other = (attempt(diff, limit, skill=skill) for _ in range(2))
    assert (one and one.output()) == (other and other.output())


@budgeted(max_examples=12, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(
            [
                "diff --git a/x b/x",
                "--- a/x",
                "+++ b/x",
                "@@ -1,2 +1,2 @@",
                "@@ -1 +1 @@",
                "+a",
                "-b",
                " c",
                "",
                "\\ No newline at end of file",
                "rename from q",
                "GIT binary patch",
                "diff --cc x",
                "@@@ -1 -1 +1 @@@",
            ]
        ),
        max_size=25,
    )
)
def test_any_text_is_a_diff_or_a_clear_error(text: list[str]) -> None:
    diff = "\n".join(text)
    try:
        parsed = parse_diff(diff)
    except SecateurError as error:
        assert error.code == "MALFORMED_DIFF"
        return
    inside = sum(len(change.text.split("\n")) - change.text.endswith("\n") for change in parsed.changes)
    assert inside + sum(count for _, count in parsed.outside) == parsed.lines


sizes = st.integers(0, 40).flatmap(
    lambda capacity: st.tuples(st.lists(st.integers(0, capacity), max_size=40), st.just(capacity))
)


@given(case=sizes)
def test_packing_is_first_fit_decreasing_and_its_bound_is_one(case: tuple[list[int], int]) -> None:
    tokens, capacity = case
    bins = first_fit_decreasing(tokens, capacity)
    assert bins == first_fit(tokens, capacity)
    assert -(-sum(tokens) // max(capacity, 1)) <= max(fewest_bins(tokens, capacity), 0) <= len(bins)


@given(
    case=sizes, folders=st.lists(st.sampled_from(["a", "b", "a/c"]), min_size=40, max_size=40), seed=st.integers(0, 5)
)
def test_arranging_costs_no_chunk_and_never_parts_more(
    case: tuple[list[int], int], folders: list[str], seed: int
) -> None:
    tokens, capacity = case
    pieces = [
        Piece(f"{folder}/{number}.py", 0, size)
        for number, (size, folder) in enumerate(zip(tokens, folders, strict=False))
    ]
    links = {(number, number + seed + 1): 1.0 for number in range(len(pieces) - seed - 1)}
    plain = first_fit_decreasing(tokens, capacity, [f"{piece.path}\0{piece.part:09}" for piece in pieces])
    better = arrange(pieces, capacity, links)
    assert sorted(at for members in better for at in members) == list(range(len(pieces)))
    assert all(sum(tokens[at] for at in members) <= capacity for members in better)
    assert len(better) <= len(plain)
    worth, least = (Arrangement(pieces, 0, links, bins).worth() for bins in (better, plain))
    assert worth >= least - 1e-6 or len(better) < len(plain)


@given(
    large=st.lists(st.integers(51, 100), max_size=12),
    small=st.lists(st.integers(1, 49), max_size=12),
    at=st.integers(0, 12),
)
def test_parts_that_need_a_chunk_each_are_in_order(large: list[int], small: list[int], at: int) -> None:
    parts = [Piece("big.py", number, size) for number, size in enumerate(large, 1)]
    others = [Piece(f"{number % 3}/x{number}.py", 0, size) for number, size in enumerate(small)]
    pieces = [*others[:at], *parts, *others[at:]]
    in_order = [pieces[place].part for members in arrange(pieces, 100) for place in members if pieces[place].part]
    assert in_order == sorted(in_order)


@given(raw=st.binary(max_size=30))
def test_quoted_names_come_back(raw: bytes) -> None:
    quoted = "".join(f"\\{byte:03o}" for byte in raw)
    assert unquote(quoted).encode("utf-8", "surrogateescape") == raw


def rows_of(change: Any) -> list[str]:
    return [row.text for patch in change.patches for hunk in patch.hunks for row in hunk.rows()]


def content(some: list[str], newline: bool) -> bytes:
    text = "\n".join(some)
    return (text + "\n" if newline and some else text).encode()


def written(path: Path, some: list[str], newline: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content(some, newline))
