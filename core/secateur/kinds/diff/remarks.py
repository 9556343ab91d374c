"""Fills the free room of a chunk with lines beside its changes: remarks of linters and signatures. They never cost a
further chunk.

Remarks have medium priority: the diff is packed without them, then each chunk takes as many as fit, first those about
changed lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from secateur.kinds.diff.chunk_text import note_ends
from secateur.tokens import Counter


@dataclass(frozen=True, slots=True)
class Offer:
    """A candidate line to put behind a piece of a chunk."""

    piece: int  # position in the chunk
    title: str
    rank: tuple[int, ...]  # lower goes first
    text: str  # one line, with its end
    cost: int  # tokens


@dataclass(frozen=True, slots=True)
class Filling:
    """The lines put behind one piece."""

    title: str
    text: str
    cost: int
    lines: int


def fill(offers: Sequence[Offer], paths: Sequence[str], room: int, counter: Counter) -> dict[int, list[Filling]]:
    """Chooses the lines that fit, by piece.

    Args:
        paths: the path of each piece of the chunk.
        room: tokens left in it.
    """
    taken: dict[tuple[int, str], list[Offer]] = {}
    shells: dict[tuple[int, str], int] = {}
    for offer in sorted(offers, key=lambda offer: (offer.rank, offer.piece, offer.title, offer.text)):
        key = (offer.piece, offer.title)
        if key not in shells:
            shells[key] = sum(counter.count_many(note_ends(offer.title, paths[offer.piece])))
        cost = offer.cost + (0 if key in taken else shells[key])
        if cost <= room:
            taken.setdefault(key, []).append(offer)
            room -= cost
    fillings: dict[int, list[Filling]] = {}
    for (piece, title), lines in sorted(taken.items(), key=lambda item: item[0]):
        ordered = sorted(lines, key=lambda offer: (offer.rank[1:], offer.text))
        start, end = note_ends(title, paths[piece])
        text = "".join([start, *(offer.text for offer in ordered), end])
        fillings.setdefault(piece, []).append(
            Filling(title, text, sum(offer.cost for offer in lines) + shells[piece, title], len(lines))
        )
    return fillings
