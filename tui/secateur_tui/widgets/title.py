"""The title line: what is read, with which profile and counter, how many candidates, and whether the index is what is
on disk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from secateur.render.page import count_noun
from secateur.terminal import cell_width, visible

from secateur_tui.short_names import shorten_path
from secateur_tui.styled_text import Line, Span, clip_line, line, outside, width


class BenchTitle(NamedTuple):
    """A bench in the title line of the present screen."""

    key: str  # as printed; "" for none
    title: str
    open: bool
    action: str = ""  # opens it


@dataclass(frozen=True, slots=True)
class TitleFacts:
    """The facts of the line. `fresh` is None while unknown, `stale` says what changed; `activity` takes the place of
    the mark while something runs."""

    source: str
    profile: str
    changed: bool
    counter: str
    count: tuple[int, str] | None  # of what: (12, "candidate")
    fresh: bool | None
    stale: str  # "3 files changed"; "" where that is not known
    remedy: str  # "R reads again"
    activity: str
    benches: Sequence[BenchTitle]


_LEAST_SOURCE = 18  # cells of the source that come before everything behind it


def draw_title(facts: TitleFacts, cells: int) -> Line:
    """Draws one line. With too little room it drops, in this order: words before values, the counter, names of closed
    benches (their keys stay), the count, the remedy, single keys of those (neighbours become "2-6"), the reason of
    staleness, benches. A long source loses its first folders before any of these."""
    count = line(f"   {count_noun(*facts.count)}") if facts.count is not None else ()
    profile = line(outside(facts.profile), Span("*" if facts.changed else "", "accent"))
    counter = line(outside(facts.counter))
    named = [(bench, bench.title if bench.open else "") for bench in facts.benches]
    with_keys = (Span("  "), *(span for bench in facts.benches for span in _draw_bench(bench, bench.title)))
    keys = (Span("  "), *(span for bench, title in named for span in _draw_bench(bench, title)))
    runs = (Span("  "), *_draw_key_runs(facts.benches))
    mark, with_reason, with_remedy = _draw_marks(facts)
    told = Span("   profile ", "faint"), *profile, Span("   tokens ", "faint"), *counter
    start = Span("   "), *profile
    tails: list[Line] = [
        (*told, *count, *with_remedy, *with_keys),
        (*start, Span("   "), *counter, *count, *with_remedy, *with_keys),
        (*start, *count, *with_remedy, *with_keys),
        (*start, *count, *with_remedy, *keys),
        (*start, *with_remedy, *keys),
        (*start, *with_reason, *keys),
        (*start, *with_reason, *runs),
        (*start, *mark, *keys),
        (*start, *with_reason),
        (*start, *mark),
    ]
    name, source = Span(" secateur  ", "bold"), visible(facts.source)
    least = width((name,)) + min(cell_width(source), _LEAST_SOURCE)
    tail = next((tail for tail in tails if least + width(tail) <= cells), tails[-1])
    room = max(1, cells - width(tail) - width((name,)))
    return clip_line((name, Span(shorten_path(source, room)), *tail), cells)


def _draw_bench(bench: BenchTitle, title: str) -> Line:
    named = Span(f" {title}" if title else "", "bold" if bench.open else "faint", bench.action)
    return line(Span(f" {bench.key}", "accent", bench.action), named) if bench.key else (named,)


def _draw_key_runs(benches: Sequence[BenchTitle]) -> Line:
    spans: list[Span] = []
    run: list[BenchTitle] = []

    def close() -> None:
        if run:
            spans.append(Span(f" {run[0].key}", "accent", run[0].action))
        if len(run) > 1:
            spans.append(Span(f"-{run[-1].key}", "accent", run[-1].action))
        run.clear()

    for bench in benches:
        last = run[-1].key if run else ""
        follows = last.isdecimal() and bench.key.isdecimal() and int(bench.key) == int(last) + 1
        if bench.open or not follows:
            close()
        if bench.open:
            spans += _draw_bench(bench, bench.title)
        elif bench.key:
            run.append(bench)
    close()
    return tuple(spans)


def _draw_marks(facts: TitleFacts) -> tuple[Line, Line, Line]:
    if facts.activity or facts.fresh is not False:
        known = line("   ", Span("● fresh", "success")) if facts.fresh else ()
        mark = line(Span("   ◌ ", "accent"), outside(facts.activity, "accent")) if facts.activity else known
        return mark, mark, mark
    mark = line("   ", Span("○ stale", "warning"))
    with_reason = (*mark, Span(f": {facts.stale}", "warning")) if facts.stale else mark
    return mark, with_reason, (*with_reason, Span(f", {facts.remedy}", "faint")) if facts.remedy else with_reason
