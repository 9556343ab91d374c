"""Names of settings that were: of keys that are called otherwise now, and of keys that are gone."""

from __future__ import annotations

from collections.abc import Mapping

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
