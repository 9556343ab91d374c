"""Figures of all that is searched, which a query needs before one fragment can be scored: how rare its words are, how
many fragments and files have the names that it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from secateur.index.facts.lexical import Hashes, hash_of
from secateur.index.facts.names import NameLookup, NameMatch
from secateur.index.facts.postings import WordField, WordStatistics
from secateur.index.facts.snapshot import Snapshot
from secateur.model import BoolArray, IntArray
from secateur.retrieval.named_code import defining, named_words
from secateur.retrieval.phrase_evidence import spoken_terms
from secateur.retrieval.placed_evidence import Places
from secateur.retrieval.query import Query
from secateur.retrieval.rounds import CloseNames, Rounds, SummedFigures


class WordFields(NamedTuple):
    """The words of a shard by field, as `Snapshot.word_fields`, with the statistics of all that is searched."""

    body: WordField
    names: WordField
    descriptions: WordField
    path_words: WordField
    file_words: WordField
    commit_words: WordField


@dataclass(frozen=True, slots=True)
class QueryStatistics:
    """The figures of all that is searched, for one query, and what one shard has of what it names.

    Attributes:
        fragments, files: of all shards.
        fields: the shard's words.
        names: how well names of the shard match.
        places: the shard's files.
        named_files: per path that the query tells (`Query.told_paths`), the files of all shards that it may mean.
        own_frames: per frame from the raising one on (`Query.raising`), the files of all shards that it may mean and
            that are code of their own.
        defining: the shard's rows that have the name whose usages are asked for (`named_code.defining`).
    """

    fragments: int
    files: int
    fields: WordFields
    names: NameMatch
    places: Places
    named_files: IntArray
    own_frames: IntArray
    defining: BoolArray

    def occurring(self, query: Query) -> float:
        """The share of the query's words that occur in what is searched; synonyms are one."""
        body = self.fields.body
        words = [any(body.frequency(term) for term, _ in same) for same, _ in body.by_meaning(query.terms)]
        return sum(words) / len(words) if words else 0.0


def statistics(query: Query, snapshot: Snapshot, *, phrases: bool) -> Rounds[QueryStatistics]:
    """The statistics of a query. `phrases`: with those of the words that its phrases have."""
    terms, synonyms = asked_terms(query, phrases=phrases), query.synonym_terms
    fields = snapshot.word_fields
    lookup = NameLookup(snapshot.name_table, query.identifiers, query.plain)
    places, whole = Places(snapshot), defining(query, snapshot, owners=True)
    totals: SummedFigures = yield SummedFigures(
        {
            **snapshot.totals._asdict(),
            "held": np.stack([field.frequencies(terms) for field in fields]),
            "held_any": np.array(
                [[field.frequency_of_any(same) for same in synonyms] for field in fields], dtype=np.int64
            ),
            "names": lookup.counts,
            "words": lookup.word_counts,
            "named_files": places.counts(query.told_paths),
            "own_frames": places.own_counts(query.raising),
            "defined": np.array([whole.any()], dtype=np.int64),
        }
    )
    known = totals.figures
    unknown = lookup.unknown(known["names"])
    near = (yield CloseNames({word: snapshot.name_table.close(word) for word in unknown.values()})) if unknown else {}
    counted = zip(
        known["documents"].tolist(),
        known["lengths"].tolist(),
        (dict(zip(terms.tolist(), row.tolist(), strict=True)) for row in known["held"]),
        (dict(zip(synonyms, row.tolist(), strict=True)) for row in known["held_any"]),
        strict=True,
    )
    words = [
        WordField(field, WordStatistics(*one), snapshot.shared_names if field is snapshot.names else None)
        for field, one in zip(fields, counted, strict=True)
    ]
    fragments, files = known["sizes"].tolist()
    return QueryStatistics(
        fragments=fragments,
        files=files,
        fields=WordFields(*words),
        names=lookup.match(known["names"], known["words"], near),
        places=places,
        named_files=known["named_files"],
        own_frames=known["own_frames"],
        defining=whole if known["defined"][0] else defining(query, snapshot, owners=False),
    )


def asked_terms(query: Query, *, phrases: bool) -> Hashes:
    """All terms whose rarity any evidence of the query asks for, each once."""
    asked = [term for term, _ in (*query.terms, *query.title_terms)]
    asked += [hash_of(word) for word in sorted(named_words(query))]
    if phrases:
        asked += spoken_terms(query)
    return np.fromiter(dict.fromkeys(asked), dtype=np.uint64)
