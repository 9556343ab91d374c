"""Factors on weights and penalties of `[relevance]`, by the kind of a query. The terms stay the same, and still print
and sum.

An issue or a trace says much, and its words are weighed as `[relevance]` has them. A short query says one thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from secateur.retrieval.query_kind import QueryKind
from secateur.settings import Relevance

FACTORS: Mapping[QueryKind, Mapping[str, float]] = {
    # Who writes a name wants its definition: a class is defined by its header, what repeats the name most is seldom the
    # definition, and of copies one is enough.
    QueryKind.SYMBOL: {"penalty.header": 0.0, "penalty.duplicate": 4.0, "lexical": 0.4, "semantic": 0.4},
    QueryKind.PHRASE: {"penalty.header": 0.0, "penalty.duplicate": 4.0},
    # Who asks where something is used knows its definition.
    QueryKind.USAGE: {"mention": 0.0, "name": 0.0, "title_name": 0.0},
    # Few words are like those of many commits. What answers is as long as it is, often called by what holds the words,
    # and may be a class.
    QueryKind.QUESTION: {
        "history": 0.4,
        "lexical_length": 0.5,
        "title_name": 2.0,
        "near": 3.0,
        "penalty.header": 0.5,
    },
    # The words of a message stand in the code that says it.
    QueryKind.MESSAGE: {"history": 0.4, "lexical": 2.0, "lexical_length": 0.5},
    QueryKind.ISSUE: {},
    QueryKind.TRACE: {},
}
"""By kind, the factor on a weight, or on a penalty; 1 for what is not listed."""


def weights_of_kind(weights: Relevance, kind: QueryKind | None) -> Relevance:
    """The weights and penalties for a kind of query; as they are without one. No share of a penalty exceeds 1."""
    factors = FACTORS[kind] if kind else {}
    if not factors:
        return weights
    shares = {
        name: min(1.0, getattr(weights.penalty, name) * factor)
        for key, factor in factors.items()
        if (name := key.removeprefix("penalty.")) != key
    }
    parts = {key: getattr(weights, key) * factor for key, factor in factors.items() if "." not in key}
    return replace(weights, penalty=replace(weights.penalty, **shares), **parts)
