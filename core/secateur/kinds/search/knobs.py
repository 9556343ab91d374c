"""The knobs of a search."""

from __future__ import annotations

from secateur.kinds.knobs import Knob
from secateur.settings import Settings, keys, lookup
from secateur.settings.search import WEIGHT_KEYS


class PackBudget(Knob, frozen=True):
    """Shows the budget of a run, or the configured one if the run has none."""

    def in_force(self, settings: Settings) -> int:
        return settings.effective_budget


BUDGET = PackBudget("budget", "budget", rounded=True)


_WEIGHTS = {signal: Knob(key, signal, mutable=True, signal=signal) for signal, key in WEIGHT_KEYS.items()}
PREFERENCE = _WEIGHTS["preference"]
WEIGHTS = tuple(knob for knob in _WEIGHTS.values() if knob is not PREFERENCE)
SIGNATURES = Knob("smart_pruning.signature_share", "signatures", step=0.02, fine_step=0.01, mutable=True)
STRATEGY = Knob("smart_pruning.strategy", "strategy")
DEPTH = Knob("graph_rag.max_depth", "depth")
TOP_K = Knob("graph_rag.top_k", "top k")
KNOBS = (BUDGET, *WEIGHTS, PREFERENCE, SIGNATURES, STRATEGY, DEPTH, TOP_K)
"""The knobs of a search with its budget, in the order of the panel."""

_READ = ("graph_rag.", "relevance.", "index.", "embedding.", "tokens.", "preference.")
_NOT_READ = {"graph_rag.token_budget", "graph_rag.cache_dir", "graph_rag.cache_ttl"} | {
    knob.key for knob in KNOBS if knob is not TOP_K
}
"""Keys that only deciding, or the cache, reads: another depth is a mask over a deeper pool."""


def knobs_of(settings: Settings) -> tuple[Knob, ...]:
    """Returns the knobs that have an effect under these settings, without the budget."""
    return tuple(knob for knob in KNOBS[1:] if knob is not PREFERENCE or settings.preference.enabled)


def pool_key(settings: Settings) -> tuple[object, ...]:
    """Returns the values that a retrieved pool depends on, except the depth."""
    return tuple(lookup(settings, name) for name in keys() if name.startswith(_READ) and name not in _NOT_READ)
