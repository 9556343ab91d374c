"""The facts of a shard that are known without searching it: its sizes, the kinds of its files and fragments, and the
hashes of all words and names by which a query may find something in it.

    outline = outline_of(shard)
    outline.holds(hashes(["refund", named("round_total"), placed("money.py")]))
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

from secateur.index.facts.lexical import Hashes, hash_of
from secateur.index.facts.postings import WordTotals
from secateur.index.facts.snapshot import KINDS, Snapshot
from secateur.index.store.arrayfile import Arrays, pack_strings, unpack_strings
from secateur.model import BoolArray

VERSION = 1
"""Changes when the same snapshot has another outline."""


class ShardOutline(msgspec.Struct, frozen=True, eq=False):
    """See the module docstring.

    Attributes:
        totals: as of the snapshot.
        kinds: of its fragments, and of the files that hold any: what a penalty may be for.
        hashes: of its words, names (`named`) and files (`placed`), ascending.
    """

    totals: WordTotals
    kinds: frozenset[str]
    hashes: Hashes

    def holds(self, asked: Hashes) -> bool:
        """Tells whether it holds any of what is asked."""
        return bool(self.held(asked).any())

    def held(self, asked: Hashes) -> BoolArray:
        """Tells of each of what is asked whether it holds it."""
        at = np.searchsorted(self.hashes, asked)
        return at < np.searchsorted(self.hashes, asked, side="right")

    def to_arrays(self) -> Arrays:
        """Named arrays for a file."""
        return self.totals._asdict() | {"kinds": pack_strings(sorted(self.kinds)), "hashes": self.hashes}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> ShardOutline:
        """The inverse of `to_arrays`. Raises KeyError: they are something else."""
        totals = WordTotals(*(arrays[name] for name in WordTotals._fields))
        return cls(totals, frozenset(unpack_strings(arrays["kinds"])), arrays["hashes"])


def outline_of(snapshot: Snapshot) -> ShardOutline:
    """The outline of a shard."""
    words = [field.terms for field in snapshot.word_fields]
    tails = {name.rpartition(".")[2].lower() for name in snapshot.qualnames}
    names = hashes(named(tail) for tail in tails | {tail.rstrip("!?") for tail in tails})
    files = hashes(placed(path) for path in snapshot.paths)
    flags = {flag for file in np.unique(snapshot.file).tolist() for flag in snapshot.flags[file]}
    kinds = {str(KINDS[kind]) for kind in np.unique(snapshot.column("kind")).tolist()}
    return ShardOutline(snapshot.totals, frozenset(flags | kinds), np.unique(np.concatenate([*words, names, files])))


def named(tail: str) -> str:
    """The text that the last part of a name, in small letters, is hashed as: with a sign that is in no word."""
    return f".{tail}"


def placed(path: str) -> str:
    """The text that a file is hashed as: the last part of its path, with a sign that is in no word."""
    return f"/{path.rpartition('/')[2]}"


def hashes(texts: Iterable[str]) -> Hashes:
    """The hashes of words, names and files, as an outline holds them."""
    return np.fromiter(map(hash_of, texts), dtype=np.uint64)
