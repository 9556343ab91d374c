"""The shapes of what is said of coding agents' sessions."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from secateur.render.shared_shapes import Count, Number, Shape, Version

AgentName = Literal["claude-code", "codex", "gemini-cli", "opencode"]
WindowSource = Literal["reported", "model", "observed", ""]


class ReportedTokens(Shape):
    """Tokens of the last request, as the provider reported them; `cached` and `written` are parts of `read`."""

    read: Count
    cached: Count
    written: Count
    output: Count


class ForecastShape(Shape):
    """The time when the window will be full, if it grows as over the last requests; by the session's own times."""

    over_requests: Number
    tokens_a_request: float
    requests: Count
    minutes: float | None
    seconds_a_request: float | None


class WindowShareShape(Shape):
    """Tokens of a tool's calls and results, or of what somebody said; of results, those that are dead weight."""

    what: Literal["tool", "user", "assistant", "thinking", "system", "unreadable"]
    tool: str
    tokens: Count
    calls: Count
    results: Count
    call_tokens: Count
    repeated: Count
    superseded: Count
    outdated: Count
    largest: Count


class StrategyShape(Shape):
    """The effect that one strategy would have now."""

    strategy: str
    tokens: Count
    saved: int
    results: Count
    first_changed_message: int | None
    reread_tokens: Count
    pays_after_requests: Count | None


class SessionShape(Shape):
    """The facts of the session of a coding agent: its window, what fills it, and when it will be full."""

    agent: str
    id: str
    project: str
    title: str
    model: str
    version: str
    parent: str
    requests: Count
    compactions: Count
    tokens: Count
    tokens_from: Literal["reported", "counted"]
    counted: Count
    not_in_session: Count
    dead: Count
    reported: ReportedTokens | None
    window: Count | None
    window_from: WindowSource
    forecast: ForecastShape | None
    contents: list[WindowShareShape]
    strategies: list[StrategyShape]


class AgentPlaceShape(Shape):
    """A place that was looked at."""

    agent: AgentName
    path: str
    exists: bool


class ListedSessionShape(Shape):
    """A session of the list; figures are null where it could not be read, and `error` says why."""

    id: str
    agent: AgentName
    path: Annotated[str, Meta(description="As `secateur conversation` takes it.")]
    project: str
    title: str
    model: str
    version: str
    subagent: bool
    modified: str
    bytes: Annotated[int | None, Meta(description="Null: it is in a database.")]
    messages: Count
    requests: Count
    compactions: Count
    tokens: Count | None
    tokens_from: Literal["reported", "estimated"] | None
    window: Count | None
    window_from: WindowSource | None
    dead_share: Annotated[float | None, Meta(description="Of the tokens that are estimated from the session.")]
    warnings: list[str]
    error: str | None


class SessionsOutput(Shape):
    """The output of `secateur sessions --format json`."""

    schema_version: Version
    sessions: list[ListedSessionShape]
    found: Annotated[int, Meta(description="Sessions that there are, those of subagents too.")]
    places: list[AgentPlaceShape]
