"""Writes the command line of a search."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from secateur.errors import UsageError
from secateur.kinds.command_line import CommandWords, number
from secateur.kinds.search.knobs import DEPTH, STRATEGY, TOP_K, WEIGHTS
from secateur.settings import Settings, lookup


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
    return {"boosts": dict(_boost(text) for text in texts)}


def _boost(text: str) -> tuple[str, float]:
    symbol, equals, factor = text.rpartition("=")
    try:
        value = float(factor)
    except ValueError:
        value = math.nan
    if not equals or not math.isfinite(value):
        raise UsageError(
            f"--boost {text!r} is not ID=FACTOR", hint="for example --boost orders/money.py::Money.round=1.5"
        )
    return symbol, value


def search_command(
    keys: Iterable[str], query: str, path: str, settings: Settings, opened: Settings, rev: str | None = None
) -> str:
    """Writes `secateur search …` with the value of every knob, so that no configuration file can change the answer.
    `keys`: the settings that change it, of which those without a flag are written as `--set`."""
    pruning, rag = settings.smart_pruning, settings.graph_rag
    flag_like = query.startswith("-") or path.startswith("-")
    words = CommandWords("search", settings, opened, *([] if flag_like else [query, path]))
    words.flag("--budget", str(settings.effective_budget), "graph_rag.token_budget")
    values = ",".join(number(lookup(settings, knob.key)) for knob in WEIGHTS)
    words.flag("--weights", values, *(knob.key for knob in WEIGHTS))
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
