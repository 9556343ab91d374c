"""Decides which pieces share a chunk: packs them by first-fit decreasing, then moves and swaps pieces so that related
ones share a chunk. Bounds the number of chunks from below (CHUNKING-PACKING).

    first_fit_decreasing([20_000, 18_000, 14_000, 12_000], 32_000)   # [[0, 3], [1, 2]]

Pieces are related if they are parts of one file, if their files are in one folder or in neighbouring folders, and if
one uses the other (a link). Moves never add a chunk, and the search ends after a fixed number of tries, so it is linear
in the pieces. Pure: a function of sizes, paths and links.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import accumulate

from secateur.errors import UsageError

EVEN_STEPS = 8  # capacities tried for even bins: to within half a percent


def first_fit_decreasing(sizes: Sequence[int], capacity: int, names: Sequence[str] | None = None) -> list[list[int]]:
    """Puts each size, from the largest to the smallest, into the first bin with room, and returns their positions by
    bin. Ties are broken by name, then by position.

    A tree over the room in the bins finds the first bin with room, so that n sizes take n log n steps. Raises
    UsageError: a size above the capacity or below 0.
    """
    if (wrong := next((size for size in sizes if not 0 <= size <= capacity), None)) is not None:
        raise UsageError(
            f"a size of {wrong:,} does not go into bins of {capacity:,}", hint="split what is larger than a bin first"
        )
    order = sorted(range(len(sizes)), key=lambda at: (-sizes[at], names[at] if names else "", at))
    leaves = 1
    while leaves < len(sizes):
        leaves *= 2
    # room[leaves + b] is the room in bin b; a node above holds the maximum of its two children
    room = [capacity] * (2 * leaves)
    bins: list[list[int]] = []
    for position in order:
        node = 1
        while node < leaves:
            node *= 2
            node += room[node] < sizes[position]
        index = node - leaves
        if index == len(bins):
            bins.append([])
        bins[index].append(position)
        room[node] -= sizes[position]
        while node > 1:
            node //= 2
            room[node] = max(room[2 * node], room[2 * node + 1])
    return bins


def fewest_bins(sizes: Sequence[int], capacity: int) -> int:
    """A lower bound for the number of bins of any packing.

    For every k: a size above capacity - k has a bin for itself, a size above half of the capacity needs its own bin,
    and the other sizes from k on need room beside those or more bins (Martello and Toth's second bound).
    """
    if not (ordered := sorted(size for size in sizes if size > 0)):
        return 1 if sizes else 0
    sums = [0, *accumulate(ordered)]
    half = capacity // 2
    large = bisect_right(ordered, half)  # from here on no two sizes share a bin
    best = len(ordered) - large
    for k in sorted({0, *(size for size in ordered if size <= half)}):
        alone = max(bisect_right(ordered, capacity - k), large)
        small = sums[large] - sums[bisect_left(ordered, k)]
        free = (alone - large) * capacity - (sums[alone] - sums[large])
        best = max(best, len(ordered) - large + max(0, -((free - small) // capacity)))
    return best


def capacity_for_even(sizes: Sequence[int], capacity: int) -> int:
    """The smallest capacity found for which first-fit decreasing needs no more bins: free room spreads over all bins
    instead of the last."""
    fewest = len(first_fit_decreasing(sizes, capacity))
    low, high = max([*sizes, -(-sum(sizes) // fewest)] if fewest else [capacity]), capacity
    for _ in range(EVEN_STEPS):
        middle = (low + high) // 2
        if len(first_fit_decreasing(sizes, middle)) <= fewest:
            high = middle
        else:
            low = middle + 1
        if low >= high:
            break
    return high


TRIES = 60_000  # most pairs of a piece and a chunk that are tried: a tenth of a second. A thousand pieces need fewer.
PASSES = 4
PLACES = 4  # chunks tried for a piece: those with the most related pieces
PARTNERS = 24  # pieces of a full chunk that are tried in exchange
# The value of having a piece in one chunk with all others of its file, its folder, neighbouring folders. A link is
# worth 1.
FILE_WEIGHT = 4.0
FOLDER_WEIGHT = 1.0
NEIGHBOUR_WEIGHT = 0.3

_LEAST_GAIN = 1e-9


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing to pack."""

    path: str
    part: int  # 0 for a whole file
    size: int


def arrange(
    pieces: Sequence[Piece], capacity: int, links: Mapping[tuple[int, int], float] | None = None
) -> list[list[int]]:
    """Returns the positions of the pieces by chunk, in no more chunks than first-fit decreasing makes.

    Pieces keep their order. Chunks are ordered by their first piece, but so that the parts of a file come one after the
    other; that is impossible only for parts that lie crosswise in two chunks.

    Args:
        links: the value of two pieces sharing a chunk, by their positions, the lower first.

    Raises:
        UsageError: a piece is larger than the capacity.
    """
    names = [f"{piece.path}\0{piece.part:09}" for piece in pieces]
    bins = first_fit_decreasing([piece.size for piece in pieces], capacity, names)
    if len(bins) > 1:
        in_order = _next_fit(pieces, capacity)
        starts = [bins, in_order] if len(in_order) <= len(bins) else [bins]
        arranged = [Arrangement(pieces, capacity, links or {}, start) for start in starts]
        for search in arranged:
            search.improve()
        bins = min(arranged, key=lambda search: (len(search.bins()), -search.worth())).bins()
    return _in_reading_order(pieces, sorted(sorted(members) for members in bins))


def _next_fit(pieces: Sequence[Piece], capacity: int) -> list[list[int]]:
    bins: list[list[int]] = []
    left = -1
    for at, piece in enumerate(pieces):
        if piece.size > left:
            bins.append([])
            left = capacity
        bins[-1].append(at)
        left -= piece.size
    return bins


def _in_reading_order(pieces: Sequence[Piece], bins: Sequence[list[int]]) -> list[list[int]]:
    """Orders the chunks so that each part follows the part before it. In a cycle the chunk that waits for fewest is
    next."""
    bin_of = {position: chunk for chunk, members in enumerate(bins) for position in members}
    positions = {(piece.path, piece.part): position for position, piece in enumerate(pieces) if piece.part}
    waits = [0] * len(bins)
    behind: dict[int, list[int]] = defaultdict(list)
    for (path, part), position in positions.items():
        before = positions.get((path, part - 1))
        if before is not None and bin_of[before] != bin_of[position]:
            behind[bin_of[before]].append(bin_of[position])
            waits[bin_of[position]] += 1
    ordered: dict[int, None] = {}
    heap = [(count, chunk) for chunk, count in enumerate(waits)]
    heapify(heap)
    while heap:
        _, chunk = heappop(heap)
        if chunk in ordered:
            continue
        ordered[chunk] = None
        for later in behind[chunk]:
            waits[later] -= 1
            heappush(heap, (waits[later], later))
    return [bins[chunk] for chunk in ordered]


class Arrangement:
    """An arrangement that is improved step by step."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        capacity: int,
        links: Mapping[tuple[int, int], float],
        bins: Sequence[Sequence[int]],
    ) -> None:
        self._sizes = [piece.size for piece in pieces]
        self._groups: list[tuple[tuple[str, float], ...]] = _groups(pieces)
        self._links: dict[int, dict[int, float]] = defaultdict(dict)
        for (first, second), worth in sorted(links.items()):
            self._links[first][second] = self._links[second][first] = worth
        self._bin = {position: chunk for chunk, members in enumerate(bins) for position in members}
        self._members: list[dict[int, None]] = [dict.fromkeys(sorted(members)) for members in bins]
        self._room = [capacity - sum(self._sizes[position] for position in members) for members in bins]
        self._held: dict[str, Counter[int]] = defaultdict(Counter)  # pieces of a group per chunk
        for position, chunk in self._bin.items():
            for group, _ in self._groups[position]:
                self._held[group][chunk] += 1
        self._tries = TRIES

    def bins(self) -> list[list[int]]:
        """The arrangement so far."""
        return [list(members) for members in self._members if members]

    def worth(self) -> float:
        """The sum of the values of all pairs that share a chunk."""
        return sum(self._affinity(at, chunk) for at, chunk in sorted(self._bin.items())) / 2

    def improve(self) -> None:
        """Moves and swaps pieces until nothing improves or the tries are spent."""
        for _ in range(PASSES):
            moved = False
            for at in range(len(self._sizes)):
                if self._tries <= 0:
                    return
                moved |= self._improve_place(at)
            if not moved:
                return

    def _improve_place(self, position: int) -> bool:
        home = self._bin[position]
        here = self._affinity(position, home)
        for target in self._target_chunks(position):
            gain = self._affinity(position, target) - here
            self._tries -= 1
            if gain <= _LEAST_GAIN:
                continue
            if self._room[target] >= self._sizes[position]:
                self._move(position, target)
                return True
            if (partner := self._find_partner(position, home, target, gain)) is not None:
                self._move(partner, home)
                self._move(position, target)
                return True
        return False

    def _target_chunks(self, at: int) -> list[int]:
        worth: dict[int, float] = {}
        for group, weight in self._groups[at]:
            for chunk, count in self._held[group].items():
                if count:
                    worth[chunk] = worth.get(chunk, 0.0) + weight * count
        for other, weight in self._links.get(at, {}).items():
            worth[self._bin[other]] = worth.get(self._bin[other], 0.0) + weight
        worth.pop(self._bin[at], None)
        self._tries -= len(worth) // PLACES
        return sorted(worth, key=lambda chunk: (-worth[chunk], chunk))[:PLACES]

    def _find_partner(self, at: int, home: int, target: int, gain: float) -> int | None:
        least, most = self._sizes[at] - self._room[target], self._sizes[at] + self._room[home]
        best, best_gain = None, _LEAST_GAIN
        tried = 0
        for other in self._members[target]:
            if not least <= self._sizes[other] <= most:
                continue
            tried += 1
            if tried > PARTNERS:
                break
            self._tries -= 1
            total = gain + self._affinity(other, home) - self._affinity(other, target) - 2 * self._pair_value(at, other)
            if total > best_gain:
                best, best_gain = other, total
        return best

    def _affinity(self, at: int, chunk: int) -> float:
        own = self._bin[at] == chunk
        worth = sum(weight * (self._held[group][chunk] - own) for group, weight in self._groups[at])
        return worth + sum(weight for other, weight in self._links.get(at, {}).items() if self._bin[other] == chunk)

    def _pair_value(self, first: int, second: int) -> float:
        shared = dict(self._groups[first])
        linked = self._links.get(first, {}).get(second, 0.0)
        return sum(shared.get(group, 0.0) for group, _ in self._groups[second]) + linked

    def _move(self, at: int, target: int) -> None:
        home = self._bin[at]
        del self._members[home][at]
        self._members[target][at] = None
        self._room[home] += self._sizes[at]
        self._room[target] -= self._sizes[at]
        for group, _ in self._groups[at]:
            self._held[group][home] -= 1
            self._held[group][target] += 1
        self._bin[at] = target


def _groups(pieces: Sequence[Piece]) -> list[tuple[tuple[str, float], ...]]:
    """Returns the groups of each piece, with the value of each other member: the weight shared by all others."""
    names = []
    for piece in pieces:
        folder = piece.path.rpartition("/")[0]
        above = folder.rpartition("/")[0] if "/" in folder else ""
        near = [(f"n{above}", NEIGHBOUR_WEIGHT)] if above else []
        names.append([(f"f{piece.path}", FILE_WEIGHT), (f"d{folder}", FOLDER_WEIGHT), *near])
    sizes = Counter(name for groups in names for name, _ in groups)
    return [tuple((name, weight / (sizes[name] - 1)) for name, weight in groups if sizes[name] > 1) for groups in names]
