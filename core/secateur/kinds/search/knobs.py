"""The knobs of a search."""

from __future__ import annotations

from secateur.kinds.knobs import Knob
from secateur.settings import Settings


class PackBudget(Knob, frozen=True):
    """Shows the budget of a run, or the configured one if the run has none."""

    def in_force(self, settings: Settings) -> int:
        return settings.effective_budget


BUDGET = PackBudget("budget", "budget", rounded=True)


def _weight(key: str, signal: str) -> Knob:
    return Knob(key, signal, mutable=True, signal=signal)


WEIGHTS = tuple(
    _weight(f"smart_pruning.priority_weights.{signal}", signal) for signal in ("relevance", "hotspot", "distance")
)
PREFERENCE = _weight("preference.weight", "preference")
SIGNATURES = Knob("smart_pruning.signature_share", "signatures", step=0.02, fine_step=0.01, mutable=True)
STRATEGY = Knob("smart_pruning.strategy", "strategy")
DEPTH = Knob("graph_rag.max_depth", "depth")
TOP_K = Knob("graph_rag.top_k", "top k")


def knobs_of(settings: Settings) -> tuple[Knob, ...]:
    """Returns the knobs that have an effect under these settings, in the order of the panel."""
    preference = (PREFERENCE,) if settings.preference.enabled else ()
    return (*WEIGHTS, *preference, SIGNATURES, STRATEGY, DEPTH, TOP_K)
