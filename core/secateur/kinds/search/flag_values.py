"""The settings that flags of `search` stand for, where a flag is not the text of one setting."""

from __future__ import annotations

import math
from collections.abc import Sequence

from secateur.errors import UsageError
from secateur.kinds.search.knobs import WEIGHTS


def weights_of(text: str) -> dict[str, float]:
    """The settings of `--weights R,H,D`."""
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
    """The setting of every `--boost ID=FACTOR`."""
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
