"""Writes the command line of a search."""

from __future__ import annotations

import math
from collections.abc import Sequence

from secateur.errors import UsageError
from secateur.kinds.command_line import differing, number, quote_word, toml
from secateur.kinds.search.knobs import WEIGHTS
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


_SEARCH_TABLES = (
    "graph_rag.anchors",
    "graph_rag.enabled",
    "graph_rag.only",
    "smart_pruning.signature_share",
    "relevance.",
    "embedding.",
    "tokens.",
    "preference.",
    "index.",
)
"""Prefixes of keys that affect a search and have no flag."""


def search_command(query: str, path: str, settings: Settings, opened: Settings, rev: str | None = None) -> str:
    """Writes `secateur search …` with the value of every knob, so that no configuration file can change the answer.

    A key without a flag is written if it differs from the profile's value, or from the value the inspector was opened
    with, which may come from a configuration file.
    """
    weights = settings.smart_pruning.priority_weights
    flag_like = query.startswith("-") or path.startswith("-")
    words = ["secateur", "search", *([] if flag_like else [query, path])]
    words += ["--profile", settings.profile, "--budget", str(settings.effective_budget)]
    words += ["--weights", ",".join(number(value) for value in (weights.relevance, weights.hotspot, weights.distance))]
    words += [
        "--top-k",
        str(settings.graph_rag.top_k),
        "--depth",
        str(settings.graph_rag.max_depth),
        "--strategy",
        settings.smart_pruning.strategy,
    ]
    if rev is not None:
        words += ["--rev", rev]
    for name in differing(_SEARCH_TABLES, settings, opened):
        words += ["--set", f"{name}={toml(lookup(settings, name))}"]
    words += [word for symbol in settings.pins for word in ("--pin", symbol)]
    words += [word for symbol in settings.excludes for word in ("--exclude", symbol)]
    words += [word for symbol, factor in settings.boosts.items() for word in ("--boost", f"{symbol}={number(factor)}")]
    if flag_like:
        # After `--` no word counts as a flag.
        words += ["--", query, path]
    return " ".join(quote_word(word) for word in words)
