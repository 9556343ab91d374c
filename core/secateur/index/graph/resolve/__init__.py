"""From the facts of files to edges between fragments. This much is what every search needs of it: the nouns; `linking`
resolves."""

from secateur.index.graph.resolve.edges import (
    CONFIDENCE,
    COUNT_CAP,
    TRUSTED,
    CallCounts,
    EdgeBuilder,
    EdgeKind,
    Edges,
    How,
)

__all__ = ["CONFIDENCE", "COUNT_CAP", "TRUSTED", "CallCounts", "EdgeBuilder", "EdgeKind", "Edges", "How"]
