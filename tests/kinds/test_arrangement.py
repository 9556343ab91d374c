"""Which pieces share a chunk."""

from __future__ import annotations

import pytest
from secateur import chunk_diff
from secateur.errors import UsageError
from secateur.kinds.diff.arrangement import (
    Arrangement,
    Piece,
    arrange,
    capacity_for_even,
    fewest_bins,
    first_fit_decreasing,
)
from secateur.kinds.diff.file_parts import Outline
from secateur.kinds.diff.measured_diff import links
from secateur.languages.syntax.fragments import parse_file
from support.diffs import added


def together(pieces: list[Piece], capacity: int, pairs: dict[tuple[int, int], float] | None = None) -> list[set[str]]:
    return [{pieces[at].path for at in members} for members in arrange(pieces, capacity, pairs)]


def test_files_of_a_folder_come_together_where_it_costs_nothing() -> None:
    pieces = [Piece(f"{folder}/{number}.py", 0, 10) for number in range(3) for folder in ("api", "web")]
    assert together(pieces, 30) == [{"api/0.py", "api/1.py", "api/2.py"}, {"web/0.py", "web/1.py", "web/2.py"}]


def test_a_full_chunk_gives_one_back_in_exchange() -> None:
    pieces = [Piece("a/1", 0, 6), Piece("b/1", 0, 5), Piece("a/2", 0, 4), Piece("b/2", 0, 5)]
    assert together(pieces, 10) == [{"a/1", "a/2"}, {"b/1", "b/2"}]


def test_a_link_decides_between_strangers() -> None:
    pieces = [Piece(name, 0, 5) for name in "pqrs"]
    pieces = [Piece(f"{piece.path}/x", 0, 5) for piece in pieces]
    assert together(pieces, 10, {(0, 3): 1.0}) == [{"p/x", "s/x"}, {"q/x", "r/x"}]


def test_what_shares_a_chunk_does_not_depend_on_the_order_of_equal_pieces() -> None:
    pieces = [Piece(f"{name}/x.py", 0, 10) for name in "abcdef"] + [Piece("g.py", part, 10) for part in (1, 2)]
    groups = []
    for order in (pieces, pieces[::-1], pieces[3:] + pieces[:3]):
        bins = arrange(order, 30)
        groups.append({frozenset((order[at].path, order[at].part) for at in members) for members in bins})
    assert groups[0] == groups[1] == groups[2]


def test_a_link_is_worth_what_it_says_where_its_ends_share_a_chunk() -> None:
    pieces = [Piece(f"{name}/x.py", 0, 5) for name in "abc"]
    links = {(0, 1): 0.75}
    apart, beside = [[0], [1], [2]], [[0, 1], [2]]
    apart_alone, beside_alone = (Arrangement(pieces, 0, {}, bins).worth() for bins in (apart, beside))
    assert Arrangement(pieces, 0, links, apart).worth() == apart_alone
    assert Arrangement(pieces, 0, links, beside).worth() == pytest.approx(beside_alone + 0.75)


def test_it_never_costs_a_chunk() -> None:
    pieces = [Piece("a/1", 0, 20), Piece("a/2", 0, 18), Piece("b/1", 0, 14), Piece("b/2", 0, 12)]
    assert together(pieces, 32) == [{"a/1", "b/2"}, {"a/2", "b/1"}]


def test_parts_of_a_file_stay_together_where_they_can() -> None:
    pieces = [Piece("big.py", part, 10) for part in (1, 2, 3)] + [Piece(f"o{n}/x.py", 0, 10) for n in range(3)]
    assert {frozenset(members) for members in arrange(pieces, 30)} == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}


def test_a_part_comes_after_the_part_before_it() -> None:
    pieces = [
        Piece("a.py", 0, 2),
        *(Piece("big.py", part, size) for part, size in ((1, 9), (2, 10), (3, 7))),
        Piece("z.py", 0, 1),
    ]
    assert arrange(pieces, 10) == [[1], [2], [0, 3, 4]]


def test_parts_that_lie_crosswise_lose_no_chunk() -> None:
    pieces = [Piece("f.py", 1, 6), Piece("f.py", 2, 4), Piece("g.py", 1, 4), Piece("g.py", 2, 6)]
    assert sorted(map(sorted, arrange(pieces, 10))) == [[0, 1], [2, 3]]
    crossed = [Piece("f.py", 1, 7), Piece("f.py", 2, 5), Piece("g.py", 1, 5), Piece("g.py", 2, 3)]
    assert sorted(at for members in arrange(crossed, 10) for at in members) == [0, 1, 2, 3]


def test_ten_thousand_pieces_end() -> None:
    pieces = [Piece(f"pkg{number % 97}/m{number}.py", 0, 50 + number * 7919 % 900) for number in range(10_000)]
    bins = arrange(pieces, 32_000)
    assert (
        len(bins)
        == len(first_fit_decreasing([piece.size for piece in pieces], 32_000))
        == fewest_bins([piece.size for piece in pieces], 32_000)
    )


def test_what_is_larger_than_a_bin_is_refused() -> None:
    with pytest.raises(UsageError, match="a size of 11 does not go into bins of 10"):
        first_fit_decreasing([3, 11], 10)


def test_even_bins_are_as_many_as_full_ones() -> None:
    sizes = [9, 8, 7, 6, 5, 4, 3, 2, 1]
    even = capacity_for_even(sizes, 24)
    assert len(first_fit_decreasing(sizes, even)) == len(first_fit_decreasing(sizes, 24)) == 2
    assert even == 23
    assert capacity_for_even([], 24) == 24
    assert capacity_for_even([24, 1], 24) == 24


def test_links_are_calls_of_what_one_file_defines_and_tests() -> None:
    files = {
        "shop/money.py": "def round_total(x):\n    return x\n\n\ndef helper():\n    pass\n",
        "shop/refund.py": (
            "from shop.money import round_total\n\n\ndef refund(parts):\n    return round_total(sum(parts))\n"
        ),
        "other.py": "def helper():\n    pass\n",
        "caller.py": "def go():\n    helper()\n",
        "tests/test_money.py": "def test_it():\n    assert 1\n",
    }
    outlines = {
        number: Outline.of(parse_file(path, text.encode()), text.split("\n"))
        for number, (path, text) in enumerate(files.items())
    }
    assert links(outlines, dict(enumerate(files))) == {(0, 1): 0.5, (0, 4): 1.0}


def test_callers_and_callees_share_a_chunk() -> None:
    def patch(path: str, lines: list[str]) -> str:
        body = [*lines, *(f"X{number} = {number}" for number in range(60))]
        return (
            added(path, 0).rsplit("@@ -0,0", 1)[0]
            + f"@@ -0,0 +1,{len(body)} @@\n"
            + "".join(f"+{line}\n" for line in body)
        )

    names = ["one", "two", "six", "ten"]
    diff = "".join(
        patch(f"{name}/{name}.py", [f"def {name}_total():", f"    return {names[-1 - at]}_total()"])
        for at, name in enumerate(names)
    )
    chunks = chunk_diff(diff, 1000)
    assert [[file.path for file in chunk.files] for chunk in chunks] == [
        ["one/one.py", "ten/ten.py"],
        ["six/six.py", "two/two.py"],
    ]
