"""Tables of setting names: the flags that set them, and what a repository's own file may set."""

from __future__ import annotations

from collections.abc import Mapping

FLAGS: Mapping[str, str] = {
    "profile": "--profile",
    "budget": "--budget",
    "index.trust_git_dir": "--trust-git-dir",
    "graph_rag.top_k": "--top-k",
    "graph_rag.max_depth": "--depth",
    "smart_pruning.strategy": "--strategy",
    "smart_pruning.priority_weights.relevance": "--weights: relevance",
    "smart_pruning.priority_weights.hotspot": "--weights: hotspot",
    "smart_pruning.priority_weights.distance": "--weights: distance",
    "context_prune.max_tokens": "--max-tokens",
    "context_prune.strategy": "--strategy",
    "context_prune.sliding_window_size": "--window",
    "context_prune.sliding_window_overlap": "--overlap",
    "conversation_prune.strategy": "--strategy",
    "conversation_prune.safe_zone_tokens": "--safe-zone",
    "conversation_prune.group_size": "--group-size",
    "conversation_prune.keep_last": "--keep-last",
    "conversation_prune.keep_tools": "--keep-tools",
    "context_budget.tokens": "--context-budget",
    "context_budget.reserve": "--reserve",
    "chunking.max_chunk_tokens": "--max-tokens",
    "log.max_tokens": "--max-tokens",
    "chunking.context_lines": "--context",
    "chunking.signatures": "--signatures",
    "tokens.counter": "--counter",
    "index.workers": "--workers",
}
"""Flags of keys that have one of their own: errors and origins speak of that."""

REPOSITORY_KEYS: frozenset[str] = frozenset(
    f"{table}.{name}" if table else name
    for table, names in {
        "": "profile profiles",
        "graph_rag": "token_budget max_depth top_k",
        "smart_pruning": "strategy signature_share",
        "smart_pruning.priority_weights": "relevance hotspot distance",
        "relevance": (
            "pool lexical title name description path file siblings semantic mention location history callers callees"
            " tests"
        ),
        "relevance.penalty": "test documentation example vendored generated header region prose duplicate",
        "index": "ignore max_file_kb",
        "context_prune": "strategy max_tokens full_file_share",
        "conversation_prune": "strategy safe_zone_tokens",
        "context_budget": "tokens reserve context_share",
        "chunking": "max_chunk_tokens ignore rules max_file_kb context_lines",
        "log": "max_tokens block_share last_share",
    }.items()
    for name in names.split()
)
"""Keys that a repository's own file may set: profiles, weights, strategies, budgets and shares of them, depth, `top_k`,
ignore rules, and what `chunk` shows of a change, which is read at the base of what is compared. All else counts from
the user's configuration and the command line alone."""

LOWERED_ONLY = frozenset({"index.max_file_kb", "chunking.max_file_kb"})
"""Of these the keys that cost the machine: a repository may set less than the default and not more."""

RUN_KEYS = frozenset({"budget", "pins", "excludes", "boosts"})
"""Keys that belong to one run: the command line sets it, and no file."""

RENAMED: Mapping[str, str] = {
    "relevance.place": "relevance.location",
    "relevance.floor": "relevance.no_match_threshold",
    "relevance.low": "relevance.low_threshold",
    "relevance.hold_back.test": "relevance.penalty.test",
    "relevance.hold_back.documentation": "relevance.penalty.documentation",
    "relevance.hold_back.example": "relevance.penalty.example",
    "relevance.hold_back.vendored": "relevance.penalty.vendored",
    "relevance.hold_back.generated": "relevance.penalty.generated",
    "relevance.hold_back.header": "relevance.penalty.header",
    "relevance.hold_back.region": "relevance.penalty.region",
    "relevance.hold_back.prose": "relevance.penalty.prose",
    "relevance.hold_back.copy": "relevance.penalty.duplicate",
    "context_prune.least_score": "context_prune.min_score",
    "context_prune.query_turns": "context_prune.query_messages",
}
"""Old name of a key -> its name. Files, profiles, `--set` and `with_values` take the old one until the next release,
with a notice."""

REMOVED: Mapping[str, str] = {"index.scip": "a SCIP index is not read any more"}
"""Key that is gone -> why. It is ignored until the next release, with a notice; then it is an unknown key."""
