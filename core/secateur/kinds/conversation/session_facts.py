"""The facts of an agent's session: how full the model's window is, how fast it grows, when it will be full, and how
much each strategy would cut now. They come from the session alone; its own times count, not a clock.

The tokens in the window are the provider's figure for the last request plus a count of everything since. They include
the system prompt and the definitions of tools, which few session files hold.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from statistics import median
from typing import Any, Literal

from secateur.kinds.conversation.api_formats import SESSION_FORMATS
from secateur.kinds.conversation.decisions import MeasuredTranscript
from secateur.kinds.conversation.messages import ASIDE
from secateur.kinds.conversation.session_formats.base import ReportedUsage, SessionFormat, SessionHeading
from secateur.kinds.conversation.strategies import STRATEGIES, decide
from secateur.kinds.conversation.window_contents import WindowShareShape, dead_weight, window_contents
from secateur.kinds.envelope.envelope import window_of
from secateur.settings import Settings, with_values
from secateur.shape import Count, Number, Shape

# Number of last requests that give the growth: enough for a rate, few enough to describe the current work.
RECENT_REQUESTS = 20

WIDE_WINDOW = 1_000_000  # the larger window of Anthropic's models, assumed if a request exceeded the usual window


WindowSource = Literal["reported", "model", "observed", ""]


class ReportedTokens(Shape, frozen=True):
    """Tokens of the last request, as the provider reported them; `cached` and `written` are parts of `read`."""

    read: Count
    cached: Count
    written: Count
    output: Count


class ForecastShape(Shape, frozen=True):
    """The time when the window will be full at the growth of the last requests, by the session's own times."""

    over_requests: Number
    tokens_a_request: float
    requests: Count
    minutes: float | None
    seconds_a_request: float | None


class StrategyCut(Shape, frozen=True):
    """The effect of one strategy if it ran now."""

    strategy: str
    tokens: Count
    saved: int
    results: Count
    first_changed_message: int | None
    reread_tokens: Count
    pays_after_requests: Count | None


class SessionShape(Shape, frozen=True):
    """The facts of a coding agent's session: its window, the contents, and when it will be full."""

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
    strategies: Sequence[StrategyCut]


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """One request of the agent to its model."""

    number: int  # index of the value that reports it
    filled: int  # tokens in the window after the answer
    seconds: float | None  # its time, since 1970


@dataclass(frozen=True, slots=True)
class Forecast:
    """The time when a window will be full at the growth of the last requests."""

    over: int  # number of requests that give the growth
    growth: float  # tokens a request
    requests: int  # until the window is full
    pause: float | None  # median seconds between two requests; None: the session has no times

    @property
    def minutes(self) -> float | None:
        """Minutes until the window is full at this pace."""
        return None if self.pause is None else self.requests * self.pause / 60

    def shape(self) -> ForecastShape:
        """The forecast in JSON."""
        minutes, pause = (None if value is None else round(value, 1) for value in (self.minutes, self.pause))
        return ForecastShape(self.over, round(self.growth, 1), self.requests, minutes, pause)


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """See the module docstring."""

    agent: str
    heading: SessionHeading
    requests: int  # since the last compaction
    compactions: int
    usage: ReportedUsage | None  # of the last request
    counted: int  # counted tokens of everything that is sent
    overhead: int  # tokens of the first request that the session does not hold
    since: int  # of these, the tokens after the last request
    window: int | None  # of the model
    window_from: WindowSource  # "reported", "model", "observed"; "" if unknown
    dead: int  # tokens of repeated, superseded and outdated results
    started: float | None
    ended: float | None  # time of the last value
    forecast: Forecast | None

    @property
    def filled(self) -> int:
        """Tokens in the window now."""
        return self.counted + self.overhead if self.usage is None else self.usage.filled + self.since

    @property
    def filled_from(self) -> Literal["reported", "counted"]:
        """The source of the tokens in the window."""
        return "counted" if self.usage is None else "reported"

    @property
    def unseen(self) -> int:
        """Tokens in the window that the session does not hold: system prompt, tools, differences in counting."""
        return max(0, self.filled - self.counted)


# What Cline and Roo Code write into the first message, with the folder that they work in.
_FOLDER = re.compile(r"# Current Work(?:ing|space) Directory \(([^)\n]{1,300})\)")


def session_facts(
    measured: MeasuredTranscript, windows: Mapping[str, int] | None = None, agent: str = ""
) -> SessionFacts | None:
    """Collects the facts of a measured session, once; None if it is not a session of an agent.

    Args:
        windows: the user's sizes of models' windows (`context_budget.windows`).
        agent: the agent of a session that holds nothing but messages.
    """
    form = SESSION_FORMATS.get(measured.transcript.format)
    if form is None and agent:
        messages = measured.transcript.messages
        folders = (known[1] for one in messages[:1] for part in one.parts if (known := _FOLDER.search(part.text)))
        counts = sum(one.role == "assistant" for one in messages), 0, None, measured.total, 0, 0, None
        heading = SessionHeading(folder=next(folders, ""))
        return SessionFacts(agent, heading, *counts, "", dead_weight(measured), None, None, None)
    if form is None:
        return None
    key = session_facts, tuple(sorted((windows or {}).items()))
    return measured.once(key, lambda: _make_facts(measured, form, windows))


def strategy_cuts(measured: MeasuredTranscript, settings: Settings) -> Sequence[StrategyCut]:
    """Tries each strategy under these settings, in their fixed order, without asking a model."""
    cuts = []
    for strategy in STRATEGIES:
        pruned = decide(measured, with_values(settings, {"conversation_prune.strategy": strategy}))
        cache = pruned.cache
        cuts.append(
            StrategyCut(
                strategy,
                pruned.ledger.after,
                pruned.ledger.before - pruned.ledger.after,
                pruned.results_cleaned,
                cache.first_changed,
                cache.reread_tokens,
                cache.pays_after,
            )
        )
    return cuts


def session_shape(measured: MeasuredTranscript, settings: Settings) -> SessionShape | None:
    """The facts for JSON, with the contents of the window and the strategies; None if it is not a session of an
    agent."""
    facts = session_facts(measured, settings.context_budget.windows)
    if facts is None:
        return None
    head, usage = facts.heading, facts.usage
    return SessionShape(
        agent=facts.agent,
        id=head.id,
        project=head.folder,
        title=head.title,
        model=head.model,
        version=head.version,
        parent=head.parent,
        requests=facts.requests,
        compactions=facts.compactions,
        tokens=facts.filled,
        tokens_from=facts.filled_from,
        counted=facts.counted,
        not_in_session=facts.unseen,
        dead=facts.dead,
        reported=ReportedTokens(usage.read, usage.cached, usage.written, usage.output) if usage is not None else None,
        window=facts.window,
        window_from=facts.window_from,
        forecast=facts.forecast.shape() if facts.forecast is not None else None,
        contents=[share.shape() for share in window_contents(measured)],
        strategies=strategy_cuts(measured, settings),
    )


# --- collecting the facts ---------------------------------------------------------------------------------------------


def _make_facts(measured: MeasuredTranscript, form: SessionFormat, windows: Mapping[str, int] | None) -> SessionFacts:
    transcript = measured.transcript
    values = [message.raw if isinstance(message.raw, dict) else {} for message in transcript.messages]
    heading = form.heading(values, transcript.container)
    compacted = [index for index, value in enumerate(values) if form.compacts(value)]
    start = compacted[-1] if compacted else 0
    used = _collect_usage(measured, form, values, start)
    last = max(used) if used else -1
    sums = [0, *accumulate(measured.tokens)]
    if used:
        requests = [
            SessionRequest(index, usage.filled, form.seconds(values[index])) for index, usage in sorted(used.items())
        ]
    else:
        # the last message of each answer of the model; one answer may be several messages
        roles = [(at, one.role) for at, one in enumerate(transcript.messages[start:], start) if one.role != ASIDE]
        requests = [
            SessionRequest(
                index, measured.overhead + measured.head + sums[index + 1] - sums[start], form.seconds(values[index])
            )
            for (index, role), (_, following) in pairwise((*roles, (-1, "")))
            if role == "assistant" != following
        ]
    usage = used.get(last)
    counted, since = measured.total, sums[-1] - sums[last + 1] if used else 0
    largest = max((request.filled for request in requests), default=0)
    window = window_of(heading.model, windows) if heading.model else None
    source: WindowSource = "model" if window is not None else ""
    if usage is not None and usage.window:
        window, source = usage.window, "reported"
    elif window is not None and window < largest <= WIDE_WINDOW and "claude" in heading.model.lower():
        window, source = WIDE_WINDOW, "observed"
    facts = SessionFacts(
        form.agent,
        heading,
        len(requests),
        len(compacted),
        usage,
        counted,
        measured.overhead,
        since,
        window,
        source,
        dead_weight(measured),
        next(_times(form, values), None),
        next(_times(form, reversed(values)), None),
        None,
    )
    return replace(facts, forecast=forecast(requests, facts.filled, window))


def _collect_usage(
    measured: MeasuredTranscript, form: SessionFormat, values: Sequence[Mapping[str, Any]], start: int
) -> dict[int, ReportedUsage]:
    """Collects the usage of each request since the last compaction, as the last value reports it. If answers report
    their own usage, turns that were taken back do not count; else results may follow the first value that reports it.
    """
    usages: dict[str, tuple[int, ReportedUsage]] = {}
    aside = form.tells_usage_aside
    for index in range(start, len(values)):
        if aside or measured.transcript.messages[index].role != ASIDE:
            usage = form.usage(values[index])
            if usage is not None:
                known = usages.get(usage.request) if aside else None
                usages[usage.request] = known[0] if known else index, usage
    return dict(usages.values())


def _times(form: SessionFormat, values: Iterator[Mapping[str, Any]] | Sequence[Mapping[str, Any]]) -> Iterator[float]:
    return (seconds for value in values if (seconds := form.seconds(value)) is not None)


def forecast(requests: Sequence[SessionRequest], filled: int, window: int | None) -> Forecast | None:
    """Makes the forecast from the last requests, oldest first; None if the window is unknown or does not grow."""
    recent = requests[-RECENT_REQUESTS:]
    if window is None or len(recent) < 2:
        return None
    growth = (recent[-1].filled - recent[0].filled) / (len(recent) - 1)
    if growth <= 0:
        return None
    times = [request.seconds for request in recent if request.seconds is not None]
    pauses = [later - earlier for earlier, later in pairwise(times) if later >= earlier]
    pause = median(pauses) if pauses else None
    return Forecast(len(recent), growth, math.ceil(max(0, window - filled) / growth), pause)
