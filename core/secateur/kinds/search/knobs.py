"""The knobs of a search, the values of them that `tune` tries, and the command line that spells them out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from secateur.errors import UsageError
from secateur.kinds.command_line import CommandWords, number
from secateur.kinds.environment import Rehearsal
from secateur.kinds.knobs import Knob
from secateur.model import Pool, State
from secateur.selection import select
from secateur.settings import Settings, keys, lookup
from secateur.settings.search import WEIGHT_KEYS


class PackBudget(Knob, frozen=True):
    """Shows the budget of a run, or the configured one if the run has none."""

    def in_force(self, settings: Settings) -> int:
        return settings.effective_budget

    def text(self, settings: Settings) -> str:
        return f"{self.in_force(settings):,}"


BUDGET = PackBudget("budget", "budget", rounded=True)


_WEIGHTS = {signal: Knob(key, signal, mutable=True, signal=signal) for signal, key in WEIGHT_KEYS.items()}
PREFERENCE = _WEIGHTS["preference"]
WEIGHTS = tuple(knob for knob in _WEIGHTS.values() if knob is not PREFERENCE)
SIGNATURES = Knob("smart_pruning.signature_share", "signatures", step=0.02, fine_step=0.01, mutable=True)
STRATEGY = Knob("smart_pruning.strategy", "strategy")
DEPTH = Knob("graph_rag.max_depth", "depth")
TOP_K = Knob("graph_rag.top_k", "top k")
# The knobs of a search with its budget, in the order of the panel.
KNOBS = (BUDGET, *WEIGHTS, PREFERENCE, SIGNATURES, STRATEGY, DEPTH, TOP_K)

_READ = ("graph_rag.", "relevance.", "index.", "embedding.", "tokens.", "preference.")
# Keys that only deciding, or the cache, reads: another depth is a mask over a deeper pool.
_NOT_READ = {"graph_rag.token_budget", "graph_rag.cache_dir", "graph_rag.cache_ttl"} | {
    knob.key for knob in KNOBS if knob is not TOP_K
}


def knobs_of(settings: Settings) -> tuple[Knob, ...]:
    """Returns the knobs that have an effect under these settings, without the budget."""
    return tuple(knob for knob in KNOBS[1:] if knob is not PREFERENCE or settings.preference.enabled)


def pool_key(settings: Settings) -> tuple[object, ...]:
    """Returns the values that a retrieved pool depends on, except the depth."""
    return tuple(lookup(settings, name) for name in keys() if name.startswith(_READ) and name not in _NOT_READ)


# Weights of hotspot and distance to try, if relevance has 1.
_BONUSES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
_MOST_WEIGHT = 10.0


def tunable(settings: Settings) -> dict[str, Sequence[float | str]]:
    """Returns the settings that a retrieved pool can be decided under, each with the values to try, among them its
    present value.

    The share for declarations is missing: judged candidates count only if kept whole, which does not measure it.
    """
    weights = settings.smart_pruning.priority_weights
    scale = weights.relevance or 1.0
    values: dict[str, Sequence[float | str]] = {}
    for name in ("hotspot", "distance"):
        tried = {round(min(_MOST_WEIGHT, scale * factor), 3) for factor in _BONUSES} | {getattr(weights, name)}
        values[WEIGHT_KEYS[name]] = tuple(sorted(tried))
    return values | {STRATEGY.key: keys()[STRATEGY.key].choices}


def rehearsal_of(pool: Pool) -> Rehearsal:
    """Returns the decision on a pool as a function of the settings: (id, whether it is kept whole), best first."""

    def ranked(settings: Settings) -> Sequence[tuple[str, bool]]:
        selection = select(pool, settings)
        state = selection.state.tolist()
        rows = (row for row in selection.order.tolist() if state[row] != State.DROPPED)
        return [(pool.symbol_id[row], state[row] == State.KEPT) for row in rows]

    return ranked


def weights_of(text: str) -> dict[str, float]:
    """Parses `--weights R,H,D` into settings."""
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        parts = []
    if len(parts) != len(WEIGHTS) or not all(math.isfinite(part) for part in parts):
        raise UsageError(
            f"--weights {text!r} is not three numbers",
            hint="for example --weights 0.4,0.3,0.3 (relevance, hotspot, distance)",
        )
    return {knob.key: part for knob, part in zip(WEIGHTS, parts, strict=True)}


def boosts_of(texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Parses every `--boost ID=FACTOR` into one setting."""
    boosts: dict[str, float] = {}
    for text in texts:
        symbol, equals, factor = text.rpartition("=")
        try:
            boosts[symbol] = float(factor)
        except ValueError:
            boosts[symbol] = math.nan
        if not equals or not math.isfinite(boosts[symbol]):
            raise UsageError(
                f"--boost {text!r} is not ID=FACTOR", hint="for example --boost orders/money.py::Money.round=1.5"
            )
    return {"boosts": boosts}


def search_command(
    keys: Iterable[str], query: str, path: str, settings: Settings, opened: Settings, rev: str | None = None
) -> str:
    """Writes `secateur search …` with its profile, its budget, and the value of every knob that the profile has not.
    `keys`: the settings that change it, of which those without a flag are written as `--set`."""
    pruning, rag = settings.smart_pruning, settings.graph_rag
    flag_like = query.startswith("-") or path.startswith("-")
    words = CommandWords("search", settings, opened, *([] if flag_like else [query, path]))
    words.flag("--budget", str(settings.effective_budget), "graph_rag.token_budget", always=True)
    words.flag(
        "--weights", ",".join(number(lookup(settings, knob.key)) for knob in WEIGHTS), *(knob.key for knob in WEIGHTS)
    )
    words.flag("--top-k", str(rag.top_k), TOP_K.key)
    words.flag("--depth", str(rag.max_depth), DEPTH.key)
    words.flag("--strategy", pruning.strategy, STRATEGY.key)
    if rev is not None:
        words.words("--rev", rev)
    words.differing(keys)
    words.words(*(word for symbol in settings.pins for word in ("--pin", symbol)))
    words.words(*(word for symbol in settings.excludes for word in ("--exclude", symbol)))
    words.words(
        *(word for symbol, factor in settings.boosts.items() for word in ("--boost", f"{symbol}={number(factor)}"))
    )
    return words.line(*([query, path] if flag_like else []))
