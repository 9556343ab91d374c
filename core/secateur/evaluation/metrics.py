"""Figures of one decision against judgements: recall, precision, nDCG. Pure.

    figures = figures_of(kind, outcome, {"orders/money.py::Money.round": 3})
    figures.recall, figures.precision, figures.ndcg      # each in [0, 1]

A judgement is a grade: 0 does not answer, 3 answers fully. Only what leaves whole counts: of a function whose
declaration alone leaves, a model does not see how it works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from secateur.kinds.base import Kind, Outcome
from secateur.shape import Count, Shape

METRICS = ("recall", "precision", "ndcg")
"""Names of the figures, in the order in which they are reported."""

AT = 10
"""Places of a ranking that nDCG looks at: what a reader looks at first."""


Fraction = Annotated[float, Meta(ge=0, le=1)]


class Figures(Shape, frozen=True):
    """The figures of one decision."""

    recall: Annotated[
        Fraction, Meta(description="Of the grades; an item of grade 3 counts three times one of grade 1.")
    ]
    precision: Annotated[Fraction, Meta(description="Of the whole items that leave, those judged above 0.")]
    ndcg: Annotated[Fraction, Meta(description="nDCG@10 of what leaves whole, by rank, with the grades as gains.")]
    judged: Annotated[Count, Meta(description="Items judged above 0.")]
    found: Annotated[Count, Meta(description="Of them those that leave whole.")]
    leaving: Annotated[Count, Meta(description="Items that leave whole.")]

    def rounded(self) -> Figures:
        """The same to four decimals."""
        shares = round(self.recall, 4), round(self.precision, 4), round(self.ndcg, 4)
        return Figures(*shares, self.judged, self.found, self.leaving)


def figures_of(kind: Kind[Any, Any], outcome: Outcome[Any], judged: Mapping[str, int]) -> Figures | None:
    """The figures of an outcome of any kind; None where nothing is judged above 0. Instant: it may follow a knob.

    Args:
        judged: grade by id, as the `[judged]` table of a scenario has them.
    """
    if not any(grade > 0 for grade in judged.values()):
        return None
    return figures([id_ for id_, whole in kind.ranked(outcome) if whole], judged)


def figures(ranked: Sequence[str], judged: Mapping[str, int]) -> Figures:
    """The figures of ids that leave whole, best first; each id once.

    Raises:
        ValueError: nothing is judged above 0.
    """
    total = sum(judged.values())
    if total <= 0:
        raise ValueError("nothing is judged above 0")
    grades = [judged.get(id_, 0) for id_ in ranked]
    found = sum(grade > 0 for grade in grades)
    return Figures(
        recall=sum(grades) / total,
        precision=found / len(grades) if grades else 0.0,
        ndcg=ndcg(grades, list(judged.values())),
        judged=sum(grade > 0 for grade in judged.values()),
        found=found,
        leaving=len(grades),
    )


def ndcg(grades: Sequence[int], judged: Sequence[int], at: int = AT) -> float:
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002): gain = grade, discount = log2(1 + place).

    Args:
        grades: of a ranking, best place first.
        judged: all grades there are, in any order; one is above 0. The best order of them has nDCG 1.
    """
    return _gain(grades[:at]) / _gain(sorted(judged, reverse=True)[:at])


def _gain(grades: Sequence[int]) -> float:
    places = np.arange(2, len(grades) + 2, dtype=np.float64)
    return float((np.asarray(grades, dtype=np.float64) / np.log2(places)).sum())
