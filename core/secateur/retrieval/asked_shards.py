"""Decides which shards a question is put to.

A shard that holds no word, name or file of the query, and is led to by calls from none that does, changes an answer
only by its size: how many fragments there are, how long they are, of what kinds. Where vectors are not compared, one
empty shard says that for all of them. The answer stays the same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from secateur.index.facts.history import CommitHistory
from secateur.index.facts.lexical import Hashes, hash_of, word_terms
from secateur.index.facts.names import NEAR_MIN_LENGTH, name_parts
from secateur.index.facts.outline import hashes, named, placed
from secateur.index.facts.postings import WordTotals
from secateur.index.facts.shard import Shard, SharedFacts
from secateur.index.facts.snapshot_arrays import build
from secateur.model import BoolArray, IntArray, distinct
from secateur.retrieval.kind_weights import weights_of_kind
from secateur.retrieval.named_code import used_name
from secateur.retrieval.query import Query
from secateur.retrieval.relevance import penalised_kinds
from secateur.retrieval.shards import Shards, ShardsHere
from secateur.retrieval.statistics import asked_terms
from secateur.settings import Settings

_linked: WeakKeyDictionary[SharedFacts, IntArray] = WeakKeyDictionary()
"""By figures of shards the number of the group of each: calls lead from one shard of a group into another, or they are
parts of one repository, whose commits the first part tells."""


@dataclass(frozen=True, eq=False)
class StandIn(Shard):
    """An empty shard that says of others how large they are."""

    counted: WordTotals

    @property
    def totals(self) -> WordTotals:
        return self.counted


def asked_shards(every: Shards, query: Query, settings: Settings) -> Shards:
    """The shards that a query without vectors is put to, and one that stands in for the others."""
    if query.empty or not isinstance(every, ShardsHere):
        return every
    shards = [shard for shard in every.snapshots if isinstance(shard, Shard)]
    if len(shards) < max(2, len(every.snapshots)) or not _all_names_known(shards, query):
        return every
    asked = _asked(shards, query, settings)
    chosen = [shard for shard, some in zip(shards, asked.tolist(), strict=True) if some]
    others = [shard for shard, some in zip(shards, asked.tolist(), strict=True) if not some]
    return replace(every, snapshots=[*chosen, _standing_in(others)]) if others else every


def _asked(shards: Sequence[Shard], query: Query, settings: Settings) -> BoolArray:
    """Tells of each shard whether it is asked."""
    words = _looked_for(query, phrases=bool(settings.relevance.phrase))
    symbols = (*settings.pins, *settings.excludes, *settings.boosts)
    asked = np.array([one.outline.holds(words) or any(one.row_of(symbol) >= 0 for symbol in symbols) for one in shards])
    group = _groups(shards)
    asked = np.isin(group, group[asked])
    told, rules = query.told, settings.relevance
    kinds = penalised_kinds(query, weights_of_kind(rules, told.kind if told else None).penalty).keys()
    some = np.array([not kinds.isdisjoint(shard.outline.kinds) for shard in shards])
    if not some[asked].any():  # the answer says whether anything here has a penalty
        asked[np.flatnonzero(some)[:1]] = True
    return asked


def _looked_for(query: Query, *, phrases: bool) -> Hashes:
    """Hashes of everything of which a shard that changes the answer holds some."""
    used = used_name(query)[-1:]
    names = [*query.plain, *used, *(part for name in query.identifiers for part in name_parts(name)[-2:])]
    files = [*query.paths, *query.told_paths, *(frame.path for frame in (*query.frames, *query.raising))]
    terms = asked_terms(query, phrases=phrases).tolist()
    terms += [term for same in query.synonym_terms for term in same]
    terms += [hash_of(term) for name in used for term in word_terms(name.strip("@$~"))[:1]]
    return np.append(hashes([*map(named, names), *map(placed, files)]), np.array(terms, dtype=np.uint64))


def _all_names_known(shards: Sequence[Shard], query: Query) -> bool:
    """True unless near names are looked for, which any shard may have."""
    tails = dict.fromkeys(parts[-1] for name in query.identifiers if (parts := name_parts(name)))
    asked = hashes(named(tail) for tail in tails if len(tail) >= NEAR_MIN_LENGTH)
    return bool(np.any([shard.outline.held(asked) for shard in shards], axis=0).all())


def _groups(shards: Sequence[Shard]) -> IntArray:
    """See `_linked`."""
    facts = shards[0].facts
    if facts not in _linked:
        begins, crossing = np.array([shard.begin for shard in shards]), facts.crossing
        ends = np.stack([np.searchsorted(begins, end, side="right") for end in (crossing.source, crossing.target)]) - 1
        pairs, _, _ = distinct(ends[0] * len(shards) + ends[1])
        group = np.cumsum([shard.files_before == 0 for shard in shards]) - 1
        for one, other in zip((pairs // len(shards)).tolist(), (pairs % len(shards)).tolist(), strict=True):
            group[group == group[other]] = group[one]
        _linked[facts] = group
    return _linked[facts]


def _standing_in(others: Sequence[Shard]) -> StandIn:
    totals = WordTotals(
        *(np.sum(figures, axis=0) for figures in zip(*(one.outline.totals for one in others), strict=True))
    )
    facts, nothing = others[0].facts, build([], CommitHistory.of(()), 0, 0)
    return StandIn(nothing.arrays, "", nothing, facts, facts.fragments, totals)
