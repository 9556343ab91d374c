"""Resolves the facts of files to edges between fragments. This package exports the nouns, which every search needs;
`linking` does the work."""

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
