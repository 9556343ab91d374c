"""The settings that a retrieved pool depends on."""

from __future__ import annotations

from secateur.settings import Settings, lookup
from secateur.settings import keys as setting_keys

_POOL_TABLES = (
    "graph_rag.anchors",
    "graph_rag.enabled",
    "graph_rag.only",
    "graph_rag.top_k",
    "relevance.",
    "index.",
    "embedding.",
    "tokens.",
    "preference.enabled",
)
"""Prefixes of the keys that change what is retrieved. `graph_rag.max_depth` is not among them: a smaller depth is a
mask over a deeper pool."""


def pool_key(settings: Settings) -> tuple[object, ...]:
    """Returns the values that a pool depends on, except the depth."""
    return tuple(lookup(settings, name) for name in setting_keys() if name.startswith(_POOL_TABLES))
