"""Figures of one decision compared with judgements: recall, precision, nDCG. Pure.

    figures = figures_of(outcome, {"orders/money.py::Money.round": 3})
    figures.recall, figures.precision, figures.ndcg      # each in [0, 1]

A judgement is a grade: 0 does not answer, 3 answers fully. Only whole items count: the declaration of a function does
not show a model how it works.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta
from secateur import Count, Outcome, Shape

METRICS = ("recall", "precision", "ndcg")  # names of the figures, in the order of reports
AT = 10  # ranks that nDCG uses: the first ones that a reader sees


Fraction = Annotated[float, Meta(ge=0, le=1)]


class Figures(Shape, frozen=True):
    """The figures of one decision."""

    recall: Annotated[
        Fraction, Meta(description="Share of the grades; an item of grade 3 counts three times one of grade 1.")
    ]
    precision: Annotated[Fraction, Meta(description="Share of the whole items in the output that are judged above 0.")]
    ndcg: Annotated[Fraction, Meta(description="nDCG@10 of the whole items in the output, with the grades as gains.")]
    judged: Annotated[Count, Meta(description="Items judged above 0.")]
    found: Annotated[Count, Meta(description="Those of them that are whole in the output.")]
    leaving: Annotated[Count, Meta(description="Items that are whole in the output.")]

    def rounded(self) -> Figures:
        """Returns the figures rounded to four decimals."""
        shares = round(self.recall, 4), round(self.precision, 4), round(self.ndcg, 4)
        return Figures(*shares, self.judged, self.found, self.leaving)


def figures_of(outcome: Outcome[Any], judged: Mapping[str, int]) -> Figures | None:
    """Measures an outcome of any kind; None if no grade is above 0. Fast enough to follow a knob. `judged`: grade by
    id, from the `[judged]` table of a scenario."""
    if not any(grade > 0 for grade in judged.values()):
        return None
    return figures([id_ for id_, whole in outcome.ledger.ranked if whole], judged)


def figures(ranked: Sequence[str], judged: Mapping[str, int]) -> Figures:
    """Measures ids that are whole in the output, best first; each id once. Raises ValueError: no grade is above 0."""
    total = sum(judged.values())
    if total <= 0:
        raise ValueError("no grade is above 0")
    grades = [judged.get(id_, 0) for id_ in ranked]
    judged_count = sum(grade > 0 for grade in grades)
    return Figures(
        recall=sum(grades) / total,
        precision=judged_count / len(grades) if grades else 0.0,
        ndcg=ndcg(grades, list(judged.values())),
        judged=sum(grade > 0 for grade in judged.values()),
        found=judged_count,
        leaving=len(grades),
    )


def ndcg(grades: Sequence[int], judged: Sequence[int], at: int = AT) -> float:
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002): gain = grade, discount = log2(1 + rank).

    Args:
        grades: of a ranking, best rank first.
        judged: all grades in any order, one of them above 0. Their best order has nDCG 1.
    """
    return _gain(grades[:at]) / _gain(sorted(judged, reverse=True)[:at])


def _gain(grades: Sequence[int]) -> float:
    places = np.arange(2, len(grades) + 2, dtype=np.float64)
    return float((np.asarray(grades, dtype=np.float64) / np.log2(places)).sum())
