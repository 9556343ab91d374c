"""Lists sessions with what fills them: project, messages, tokens, window, and the share of dead weight.

Tokens in the window are those that the agent's provider reported. If a session reports none, and for the share of dead
weight, they are estimated from characters: counting a hundred sessions would take minutes.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Annotated, Literal

from msgspec import Meta
from secateur import Count, Progress, SecateurError, Settings, Shape, Version, session_at, unreported, with_values

from secateur_agents.sessions.places import TITLES, AgentPlaceShape, FoundSession


class ListedSessionShape(Shape, frozen=True):
    """A session of the list; figures are null if it could not be read, and `error` says why."""

    id: str
    agent: str
    path: Annotated[str, Meta(description="For `secateur conversation`.")]
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
    window_from: Literal["reported", "model", "observed", ""] | None
    dead_share: Annotated[float | None, Meta(description="Of the tokens that are estimated from the session.")]
    warnings: list[str]
    error: str | None


class SessionsOutput(Shape, frozen=True):
    """The output of `secateur sessions --format json`."""

    schema_version: Version
    sessions: Sequence[ListedSessionShape]
    found: Annotated[int, Meta(description="All sessions, including those of subagents.")]
    places: list[AgentPlaceShape]


def list_sessions(
    sessions: Sequence[FoundSession],
    settings: Settings,
    environ: Mapping[str, str],
    *,
    project: Path | None = None,
    limit: int = 20,
    subagents: bool = False,
    progress: Progress = unreported,
) -> list[ListedSessionShape]:
    """Returns the first `limit` sessions, reading one by one until there are as many.

    Args:
        sessions: the newest first.
        project: only those whose agent works in this folder or below it.
        subagents: also those that another session started.
    """
    listed: list[ListedSessionShape] = []
    wanted = [session for session in sessions if subagents or not session.subagent]
    for index, session in enumerate(wanted):
        if len(listed) >= limit:
            break
        progress("reading", index if project is not None else len(listed), min(limit, len(wanted)))
        read = read_session(session, settings, environ)
        inside = project is None or (read.project and PurePath(read.project).is_relative_to(project))
        if inside and (subagents or not read.subagent):
            listed.append(read)
    return listed


def read_session(session: FoundSession, settings: Settings, environ: Mapping[str, str]) -> ListedSessionShape:
    """Reads a session with its facts."""
    facts, messages, warnings, modified = None, 0, list[str](), ""
    with suppress(OverflowError, OSError, ValueError):  # an impossible time
        modified = datetime.fromtimestamp(session.modified, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        estimating = with_values(settings, {"tokens.counter": "estimate"})
        facts, messages, warnings = session_at(session.path, estimating, environ)
        wrong = None if facts else f"is not a session of {TITLES[session.agent]} in a known format"
    except Exception as error:  # a session that cannot be read costs itself, and not the list
        wrong = error.message if isinstance(error, SecateurError) else f"unexpected {type(error).__name__}: {error}"
    return ListedSessionShape(
        id=session.id,
        agent=session.agent,
        path=session.path,
        project=(facts.heading.folder if facts else "") or _project(session),
        title=facts.heading.title if facts else "",
        model=facts.heading.model if facts else "",
        version=facts.heading.version if facts else "",
        subagent=session.subagent or bool(facts and facts.heading.parent),
        modified=modified,
        bytes=session.size,
        messages=messages if facts else 0,
        requests=facts.requests if facts else 0,
        compactions=facts.compactions if facts else 0,
        tokens=facts.filled if facts else None,
        tokens_from=None if facts is None else "reported" if facts.filled_from == "reported" else "estimated",
        window=facts.window if facts else None,
        window_from=facts.window_from if facts else None,
        dead_share=round(facts.dead / facts.counted, 4) if facts and facts.counted else None,
        warnings=list(warnings),
        error=wrong,
    )


def _project(session: FoundSession) -> str:
    path = Path(session.path)
    if session.agent == "gemini-cli":
        for inside in path.parents[1:3]:
            written = inside / ".project_root"
            with suppress(OSError):
                if written.is_file() and not written.is_symlink():
                    with written.open("rb") as file:
                        return file.read(4096).decode("utf-8", "replace").strip()
        return path.parents[1].name
    return path.parent.name if session.agent == "claude-code" else ""
