"""The shapes of a conversation that was pruned."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from secateur.render.session_shapes import SessionShape
from secateur.render.shared_shapes import Count, PrunedOutput, ReportShape, Shape


class Statistics(Shape):
    """The figures of a clean-up; `compression_ratio` is what is left of what was."""

    original_tokens: Count
    pruned_tokens: Count
    tokens_saved: int
    compression_ratio: float
    tool_results_cleaned: Count
    total_messages: Count


class CacheShape(Shape):
    """The part that a server's prompt cache still holds after the prune."""

    first_changed_message: int | None
    prefix_tokens: Count
    reread_tokens: Count
    tokens_saved: int
    pays_after_requests: Count | None


class ConversationOutput(PrunedOutput):
    """The output of `secateur conversation --format json`; messages have the shape in which they came in."""

    messages: list[dict[str, Any]]
    format: Literal["anthropic", "openai", "text", "claude-code", "codex", "gemini-cli", "opencode"]
    statistics: Statistics
    cache: CacheShape
    report: ReportShape
    session: SessionShape | UnsetType = UNSET
