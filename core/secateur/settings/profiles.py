"""The built-in profiles: named tables of settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from secateur.errors import ConfigError
from secateur.suggestions import suggestion

PROFILES: Mapping[str, Mapping[str, Any]] = {
    # The specs, literally: 0.4 / 0.3 / 0.3, greedy with skip, top_k 10, depth 2, 8000 tokens. One clause is not:
    # relevance, and so the anchors, is words more than vectors (REQ-GRAG-001); `graph_rag.anchors = "embedding"` is
    # that clause literally.
    "spec": {
        "graph_rag": {"max_depth": 2, "token_budget": 8000, "top_k": 10},
        "smart_pruning": {
            "strategy": "priority",
            "signature_share": 0.0,
            "priority_weights": {"relevance": 0.4, "hotspot": 0.3, "distance": 0.3},
        },
        "relevance": {
            "pool": "anchors",
            "query_kind": "off",
            "lexical": 0.5,
            "name": 0.15,
            "path": 0.05,
            "semantic": 0.3,
            "mention": 0.0,
            "no_match_threshold": 0.35,
            "low_threshold": 0.45,
        },
    },
    # Relevance dominates, slightly reduced for large fragments; hotspot and distance are small bonuses; every relevant
    # fragment competes; fragments that did not fit leave declarations; only snippets of files are kept;
    # conversations are cut rarely, and then by as much as a prompt cache pays for.
    "recommended": {
        "context_prune": {"full_file_share": 0.0},
        "conversation_prune": {
            "cut_to": 0.5,
            "keep_errors": 3,
            "keep_first": True,
            "keep_last": 3,
            "strategy": "staged",
        },
        "smart_pruning": {
            "strategy": "density",
            "density_exponent": 0.06,
            "signature_share": 0.08,
            "priority_weights": {"relevance": 0.95, "hotspot": 0.02, "distance": 0.03},
        },
        "relevance": {
            "pool": "all",
            "query_kind": "auto",
            "no_match_threshold": 0.05,
            "low_threshold": 0.35,
            "lexical": 2.0,
            "title": 0.28,
            "name": 0.3,
            "path": 0.22,
            "file": 0.1,
            "semantic": 0.6,
            "mention": 0.4,
            "definition": 2.0,
            "usage": 2.0,
            "history": 2.6,
            "title_name": 0.25,
            "phrase": 0.5,
            "named_file": 0.2,
            "trace": 0.4,
            "near": 0.3,
            "issue_forms": True,
            "penalty": {
                "test": 0.85,
                "documentation": 0.5,
                "example": 0.8,
                "vendored": 0.7,
                "generated": 0.6,
                "header": 0.7,
                "region": 0.75,
                "prose": 0.85,
                "duplicate": 0.2,
            },
        },
    },
}


def profile_table(name: Any, own: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    """Returns the table of a profile, built in or one of the user's `own`. Raises ConfigError: there is none."""
    table: Mapping[str, Any] | None = (PROFILES.get(name) or own.get(name)) if isinstance(name, str) else None
    if table is None:
        profile_names = (*PROFILES, *sorted(own))
        near = suggestion(name, profile_names) if isinstance(name, str) else ""
        hint = (f"did you mean {near}? " if near else "") + f"profiles: {', '.join(profile_names)}"
        raise ConfigError(
            f"{place} {name} is not allowed" if place == "--profile" else f"{place}: unknown profile {name!r}",
            hint=hint,
        )
    return table
