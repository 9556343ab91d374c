"""Decides which pieces share a chunk: they are packed into as few chunks as first-fit decreasing finds, then moved and
swapped so that what belongs together is together.

Pieces belong together as parts of one file, as files of one folder or neighbouring folders, and where one uses the
other: a link. Moves never add a chunk, and the search ends after a fixed number of tries, so it is linear in the
pieces. Pure: a function of sizes, paths and links.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from secateur.kinds.diff.bin_packing import first_fit_decreasing

TRIES = 60_000
"""Pairs of a piece and a place that are looked at: a tenth of a second. A thousand pieces need fewer."""

PASSES = 4
PLACES = 4
"""Chunks tried for a piece: those that hold most of what it belongs to."""

PARTNERS = 24
"""Pieces of a full chunk that are tried in exchange."""

FILE_WEIGHT = 4.0
FOLDER_WEIGHT = 1.0
NEIGHBOUR_WEIGHT = 0.3
"""Values for a piece of being with all others of its file, its folder, the folders beside it; a link is worth 1."""

_LEAST_GAIN = 1e-9


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing to pack."""

    path: str
    part: int  # 0 for a whole file
    size: int


def arrange(
    pieces: Sequence[Piece],
    capacity: int,
    links: Mapping[tuple[int, int], float] | None = None,
    *,
    together: bool = True,
) -> list[list[int]]:
    """Positions of the pieces in chunks, never more chunks than first-fit decreasing makes; pieces in their order,
    chunks so that the parts of a file come one after the other, else in that of their first piece. Only parts that lie
    crosswise in two chunks cannot be in order everywhere.

    Args:
        links: worth of having two pieces in one chunk, by their positions, the lower first.
        together: False: first-fit decreasing alone.

    Raises:
        UsageError: a piece is larger than the capacity.
    """
    names = [f"{piece.path}\0{piece.part:09}" for piece in pieces]
    bins = first_fit_decreasing([piece.size for piece in pieces], capacity, names)
    if together and len(bins) > 1:
        arranged = [_Search(pieces, capacity, links or {}, bins)]
        in_order = _next_fit(pieces, capacity)
        if len(in_order) <= len(bins):
            arranged.append(_Search(pieces, capacity, links or {}, in_order))
        for search in arranged:
            search.run()
        fewest = min(len(search.bins()) for search in arranged)
        bins = max(
            (search for search in arranged if len(search.bins()) == fewest), key=lambda search: search.worth()
        ).bins()
    return _in_reading_order(pieces, sorted(sorted(members) for members in bins))


def togetherness(
    pieces: Sequence[Piece], bins: Sequence[Sequence[int]], links: Mapping[tuple[int, int], float] | None = None
) -> float:
    """The value of an arrangement: the sum over all pairs that share a chunk."""
    return _Search(pieces, 0, links or {}, bins).worth()


def _next_fit(pieces: Sequence[Piece], capacity: int) -> list[list[int]]:
    """In the order of the pieces, a new chunk whenever the last is full."""
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
    """The chunks so that a part comes after the part before it; where they go in circles, the chunk that waits for
    fewest goes next."""
    bin_of = {at: number for number, members in enumerate(bins) for at in members}
    place = {(piece.path, piece.part): at for at, piece in enumerate(pieces) if piece.part}
    waits = [0] * len(bins)
    behind: dict[int, list[int]] = defaultdict(list)
    for (path, part), at in place.items():
        before = place.get((path, part - 1))
        if before is not None and bin_of[before] != bin_of[at]:
            behind[bin_of[before]].append(bin_of[at])
            waits[bin_of[at]] += 1
    ordered: dict[int, None] = {}
    heap = [(count, number) for number, count in enumerate(waits)]
    heapify(heap)
    while heap:
        _, number = heappop(heap)
        if number in ordered:
            continue
        ordered[number] = None
        for later in behind[number]:
            waits[later] -= 1
            heappush(heap, (waits[later], later))
    return [bins[number] for number in ordered]


class _Search:
    """An arrangement that gets better step by step."""

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
        for (one, other), worth in sorted(links.items()):
            self._links[one][other] = self._links[other][one] = worth
        self._bin = {at: number for number, members in enumerate(bins) for at in members}
        self._members: list[dict[int, None]] = [dict.fromkeys(sorted(members)) for members in bins]
        self._room = [capacity - sum(self._sizes[at] for at in members) for members in bins]
        self._held: dict[str, Counter[int]] = defaultdict(Counter)  # pieces of a group per chunk
        for at, number in self._bin.items():
            for group, _ in self._groups[at]:
                self._held[group][number] += 1
        self._tries = TRIES

    def bins(self) -> list[list[int]]:
        """The arrangement so far."""
        return [list(members) for members in self._members if members]

    def worth(self) -> float:
        """The sum over all pairs in one chunk."""
        return sum(self._affinity(at, number) for at, number in sorted(self._bin.items())) / 2

    def run(self) -> None:
        """Move and swap until nothing gets better or the tries are spent."""
        for _ in range(PASSES):
            moved = False
            for at in range(len(self._sizes)):
                if self._tries <= 0:
                    return
                moved |= self._improve(at)
            if not moved:
                return

    def _improve(self, at: int) -> bool:
        home = self._bin[at]
        here = self._affinity(at, home)
        for place in self._places(at):
            gain = self._affinity(at, place) - here
            self._tries -= 1
            if gain <= _LEAST_GAIN:
                continue
            if self._room[place] >= self._sizes[at]:
                self._move(at, place)
                return True
            partner = self._partner(at, home, place, gain)
            if partner is not None:
                self._move(partner, home)
                self._move(at, place)
                return True
        return False

    def _places(self, at: int) -> list[int]:
        """Other chunks that hold something it belongs to, the best first."""
        worth: dict[int, float] = {}
        for group, weight in self._groups[at]:
            for number, count in self._held[group].items():
                if count:
                    worth[number] = worth.get(number, 0.0) + weight * count
        for other, weight in self._links.get(at, {}).items():
            worth[self._bin[other]] = worth.get(self._bin[other], 0.0) + weight
        worth.pop(self._bin[at], None)
        self._tries -= len(worth) // PLACES
        return sorted(worth, key=lambda number: (-worth[number], number))[:PLACES]

    def _partner(self, at: int, home: int, place: int, gain: float) -> int | None:
        """The piece of a full chunk that goes the other way at the least loss, if both together get better."""
        least, most = self._sizes[at] - self._room[place], self._sizes[at] + self._room[home]
        best, best_gain = None, _LEAST_GAIN
        tried = 0
        for other in self._members[place]:
            if not least <= self._sizes[other] <= most:
                continue
            tried += 1
            if tried > PARTNERS:
                break
            self._tries -= 1
            total = gain + self._affinity(other, home) - self._affinity(other, place) - 2 * self._between(at, other)
            if total > best_gain:
                best, best_gain = other, total
        return best

    def _affinity(self, at: int, number: int) -> float:
        """The value for a piece of being in a chunk, itself not counted."""
        own = self._bin[at] == number
        worth = sum(weight * (self._held[group][number] - own) for group, weight in self._groups[at])
        return worth + sum(weight for other, weight in self._links.get(at, {}).items() if self._bin[other] == number)

    def _between(self, one: int, other: int) -> float:
        shared = dict(self._groups[one])
        return sum(shared.get(group, 0.0) for group, _ in self._groups[other]) + self._links.get(one, {}).get(
            other, 0.0
        )

    def _move(self, at: int, place: int) -> None:
        home = self._bin[at]
        del self._members[home][at]
        self._members[place][at] = None
        self._room[home] += self._sizes[at]
        self._room[place] -= self._sizes[at]
        for group, _ in self._groups[at]:
            self._held[group][home] -= 1
            self._held[group][place] += 1
        self._bin[at] = place


def _groups(pieces: Sequence[Piece]) -> list[tuple[tuple[str, float], ...]]:
    """Per piece the groups it is in, each with what one other member of it is worth; all others together are worth the
    group's weight."""
    names = []
    for piece in pieces:
        folder = piece.path.rpartition("/")[0]
        above = folder.rpartition("/")[0] if "/" in folder else ""
        names.append(
            (
                (f"f{piece.path}", FILE_WEIGHT),
                (f"d{folder}", FOLDER_WEIGHT),
                *(((f"n{above}", NEIGHBOUR_WEIGHT),) if above else ()),
            )
        )
    sizes = Counter(name for each in names for name, _ in each)
    return [tuple((name, weight / (sizes[name] - 1)) for name, weight in each if sizes[name] > 1) for each in names]
