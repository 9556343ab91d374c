"""The facts of a session as text for people."""

from collections.abc import Iterator, Sequence

from secateur.kinds.conversation.decisions import MeasuredTranscript
from secateur.kinds.conversation.session_facts import Forecast, SessionFacts, StrategyCut, session_facts, strategy_cuts
from secateur.kinds.conversation.window_contents import STALE, WORDS, WindowShare, window_contents
from secateur.render.page import Column, Section, count_noun, not_shown
from secateur.settings import Settings
from secateur.terminal import clip, visible
from secateur.tokens import ScaledCounter

SHOWN_TOOLS = 15  # most rows of the window's contents that the text lists

TOOL_CELLS = 32
_CONTENTS = (
    Column(TOOL_CELLS, gap=2),
    *(Column(10, right=True, gap=1), Column(6, right=True, gap=1), Column(7, right=True, gap=1)),
    *(Column(10, right=True, gap=1), Column(10, right=True, gap=1), Column(10, right=True, gap=1)),
)
_STRATEGIES = (
    Column(12, gap=2),
    *(Column(10, right=True, gap=1), Column(10, right=True, gap=1), Column(8, right=True, gap=1)),
    *(Column(14, right=True, gap=2), Column(11, right=True, gap=1), Column(gap=2)),
)


def session_page(measured: MeasuredTranscript, settings: Settings) -> tuple[list[tuple[str, str]], list[Section]]:
    """Makes the lines of the head and the sections about a session; both empty if it is not a session of an agent."""
    if (facts := session_facts(measured, settings.context_budget.windows)) is None:
        return [], []
    head = [("session", visible(session_line(facts))), *zip(("window", "forecast"), window_lines(facts), strict=True)]
    if isinstance(measured.counter, ScaledCounter):
        head.insert(1, ("counted", f"{measured.counter.name}, the factor that the session's first requests give"))
    shares = window_contents(measured)
    rows = list(content_rows(shares[:SHOWN_TOOLS], measured.total))
    titles = "what fills the window", "tokens", "share", "results", *(reason.label for reason in STALE)
    contents = Section([titles, *rows], more=not_shown(len(shares) - len(rows)), columns=_CONTENTS)
    cut_titles = "strategy", "tokens", "saved", "results", "first changed", "read again", "pays after"
    cuts = Section([cut_titles, *cut_rows(strategy_cuts(measured, settings))], columns=_STRATEGIES)
    return head, [contents, cuts]


def session_line(facts: SessionFacts) -> str:
    """The session on one line; text from outside."""
    head = facts.heading
    version = f" {head.version}" if head.version else ""
    return ", ".join(
        part for part in (f"{facts.agent}{version}", head.model, head.folder, head.title and f"“{head.title}”") if part
    )


def window_lines(facts: SessionFacts) -> tuple[str, str]:
    """Says how full the window is, and when it will be full."""
    source = "reported for the last request" if facts.filled_from == "reported" else "counted"
    if facts.usage is not None and facts.since:
        source += f", {facts.since:,} counted since"
    if facts.window:
        observed = " as seen in use" if facts.window_from == "observed" else ""
        filled = f"{facts.filled:,} of {facts.window:,} tokens{observed}, {facts.filled / facts.window:.0%} ({source})"
    else:
        filled = f"{facts.filled:,} tokens ({source}); the model's window is not known"
    unseen = f"; {facts.unseen:,} of them are not in the session: system prompt, tools" if facts.unseen else ""
    compacted = f"; compacted {count_noun(facts.compactions, 'time')}" if facts.compactions else ""
    return f"{filled}{unseen}{compacted}", forecast_words(facts.forecast)


def forecast_words(forecast: Forecast | None, *, brief: bool = False) -> str:
    """The forecast as a clause; with `brief` without the rate."""
    if forecast is None:
        return "none: the window is not known, or does not grow"
    if not forecast.requests:
        return "it is full"
    minutes = "" if forecast.minutes is None else f", {duration(forecast.minutes)}"
    rate = "" if brief else f" at {forecast.growth:,.0f} tokens a request over the last {forecast.over:,}"
    return f"full in {count_noun(forecast.requests, 'request')}{minutes}{rate}"


def duration(minutes: float) -> str:
    """A time for people: "under a minute", "12 minutes", "3.5 hours"."""
    if minutes < 1:
        return "under a minute"
    return count_noun(round(minutes), "minute") if minutes < 120 else f"{minutes / 60:,.1f} hours"


def content_rows(shares: Sequence[WindowShare], total: int) -> Iterator[tuple[str, ...]]:
    """Cells of the window's contents: name, tokens, share, results, and tokens of each kind of dead weight."""
    for share in shares:
        part = f"{share.tokens / total:.0%}" if total else ""
        stale = (f"{tokens:,}" if tokens else "" for tokens in share.stale.values())
        name = clip(visible(share.tool), TOOL_CELLS) if share.what == "tool" else WORDS[share.what]
        yield name, f"{share.tokens:,}", part, f"{share.results:,}", *stale


def cut_rows(cuts: Sequence[StrategyCut]) -> Iterator[tuple[str, ...]]:
    """Cells of the effect of each strategy: name, tokens, saved, results, first changed, read again, pays after."""
    for cut in cuts:
        first, requests = cut.first_changed_message, cut.pays_after_requests
        at = "nothing" if first is None else f"messages[{first}]"
        pays = "never" if requests is None else count_noun(requests, "request") if requests else "at once"
        figures = f"{cut.tokens:,}", f"{cut.saved:,}", f"{cut.results:,}"
        yield cut.strategy, *figures, at, f"{cut.reread_tokens:,}", pays
