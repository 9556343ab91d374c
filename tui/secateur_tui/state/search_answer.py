"""A selection as the inspector shows it: an answer over the columns of its pool."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from secateur.kinds.base import Outcome
from secateur.kinds.search.kind import SearchDecision
from secateur.model import FloatArray, Reason, Selection, State
from secateur.settings import Settings

from secateur_tui.state.answer import Facets, SameColumn, ShownAnswer, folders_of, label_codes


class SearchAnswer(ShownAnswer[SearchDecision]):
    """A selection and the settings it was decided with. An item is a row of its pool."""

    @classmethod
    def of(cls, settings: Settings, outcome: Outcome[SearchDecision]) -> SearchAnswer:
        """Returns the answer; its tokens are a bound until they are counted."""
        selection = outcome.payload.selection
        pool = selection.pool
        facets: Facets = {
            "state": partial(label_codes, State, selection.state),
            "kind": lambda: pool.kind,
            "language": lambda: pool.language,
            "folder": partial(folders_of, SameColumn(pool.path)),
            "reason": partial(label_codes, Reason, selection.reason),
        }
        figures: dict[str, FloatArray] = {
            "tokens": pool.tokens.astype(np.float64),
            "priority": selection.priority,
            "relevance": pool.relevance,
            "hotspot": pool.hotspot,
            "distance": np.where(pool.distance > 0, 1 / np.maximum(pool.distance, 1), 0.0),
            **({"preference": pool.preference} if pool.preference.any() else {}),
        }
        return cls(
            settings,
            outcome,
            pool.symbol_id,
            pool.qualname,
            pool.path,
            facets,
            figures,
            selection.order,
            np.array(selection.pack_rows, dtype=np.int64),
            selection.state,
            selection.reason,
            pool.tokens,
            selection.tokens_after,
            selection.used + selection.last_line,
            counted=False,
            rank=selection.rank,
        )

    @property
    def selection(self) -> Selection:
        """The decisions on the candidates."""
        return self.outcome.payload.selection

    @cached_property
    def place_of(self) -> Mapping[str, int]:
        return self.selection.pool.row_of

    def sought_names(self) -> Sequence[str]:
        return self.names

    @property
    def ordered_by(self) -> str:
        """The name of the score that the candidates are ordered by."""
        strategy, short = self.selection.strategy, self.selection.pool.short_query
        return "priority" if strategy == "density" and short else strategy

    def count(self) -> None:
        """Counts the tokens of the pack. Slow; reads the texts."""
        self.tokens, self.counted = self.ledger.after, True

    @cached_property
    def highest(self) -> float:
        """The highest priority: the length of a full bar."""
        return float(self.selection.priority.max()) if len(self) else 0.0


def query_terms(answer: Any) -> Collection[str]:
    """Returns the words that the items were looked for by, as the search counts them; none where nothing was."""
    terms: Mapping[str, Any] = answer.selection.pool.facts.get("terms", {}) if isinstance(answer, SearchAnswer) else {}
    return terms.keys()
